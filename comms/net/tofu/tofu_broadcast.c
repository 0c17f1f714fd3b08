/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts by the card: see net/sessions.h for what they are, and session_queues.h.
 *
 * a tree's  one lane for each child, on different TNIs as far as there are some. What comes from the parent comes to the first, and
 *           moves that one's pointer (SPS): for each segment, and in the end the word, there are a put to the first child and a packet to each other
 *           lane of the tree, which lets that one's put go. The word's source is the word that came, so nothing depends on the run
 * the       nobody's packets come to the root's lanes. There a put to itself lets the next fourteen go, the last of which is another
 * root's    such put; the first of them is the root's lane for readiness
 * readiness a PE with c children has c - 1 empty commands, then the word to its parent: so the last child's word lets that go. At the root the
 *           last child's word lets all trees begin
 */
#include "session_queues.h"

#include <stdlib.h>

/* --- Queues --- */

/* What comes down a tree takes a TNI of its own, and so does what goes on, as far as there are enough. */
static void open_trees(struct comms_session *session, const int *children, const utofu_tni_id_t *tnis, int count, int *code)
{
	int sending[TOFU_ENGINES] = {0}, least;

	for (int t = 0; t < session->trees; t++) {
		session->tree[t].first = lane_add(session, tnis[t % count], code);
		session->tree[t].lanes = children[t] < count ? children[t] : count;
		sending[t % count] += children[t] > 0;
	}
	for (int t = 0; t < session->trees; t++)
		for (int l = 1; l < session->tree[t].lanes; l++) {
			least = 0;
			for (int n = 1; n < count; n++)
				if (sending[n] < sending[least])
					least = n;
			sending[least]++;
			session->tree[t].more[l] = lane_add(session, tnis[least], code);
		}
}

/* Of a tree's children, how many a lane has. */
static int children_of(int children, int lanes, int lane)
{
	return lanes ? (children - lane + lanes - 1) / lanes : 0;
}

/* How many commands one that comes down a tree lets go: of the first lane. */
static int lets_go(int children, int lanes)
{
	return children ? children_of(children, lanes, 0) + lanes - 1 : 0;
}

static bool are_too_many(int trees, const int *children, int count)
{
	int lanes = trees + 1;

	for (int t = 0; t < trees; t++)
		lanes += children[t] < count ? children[t] : count;
	return lanes > LANES;
}

/* Such queues are few, and who cannot have one does without. */
struct comms_session *tofu_session_open(int trees, const int *children, struct comms_session_shown *shown)
{
	struct comms_session *session = calloc(1, sizeof *session);
	int count = tofu.engines, code = UTOFU_SUCCESS;
	utofu_tni_id_t *tnis;
	size_t all;

	if (!session || are_too_many(trees, children, count)) {
		free(session);
		return NULL;
	}
	session->trees = trees;
	tofu_lock();
	tofu_check(utofu.get_onesided_tnis(&tnis, &all), "utofu_get_onesided_tnis");
	open_trees(session, children, tnis, count, &code);
	session->last = lane_add(session, tnis[(size_t)trees % all], &code);
	free(tnis);
	tofu_unlock();
	for (int t = 0; t < trees; t++) {
		shown->queue[t] = session->tree[t].first->id;
		shown->lets_go[t] = (uint8_t)lets_go(children[t], session->tree[t].lanes);
	}
	shown->queue[trees] = session->last->id;
	return lanes_opened(session, code);
}

/* --- Writing down --- */

static size_t segments_of(const struct comms_branch *branch)
{
	return (branch->bytes + branch->segment - 1) / branch->segment;
}

/* What a tree's first lane has to do, at the root in groups. */
static int commands_of(const struct tree *tree, const struct comms_branch *branch)
{
	return lets_go(branch->children, tree->lanes) * (int)(segments_of(branch) + 1);
}

struct writer {
	struct tree *tree;
	const struct comms_branch *branch;
	size_t segments, segment; /* the one that is written; behind the last, the word */
};

/* Segment or word, from this PE to a child. */
static void write_piece(struct writer *w, struct lane *lane, const struct comms_session_child *child, bool last)
{
	const struct comms_branch *branch = w->branch;
	const char *from = branch->is_root ? branch->source : branch->dest;
	size_t at = w->segment * branch->segment, left = branch->bytes - at;
	unsigned long flags = lane_flags(child->lets_go, last);

	if (w->segment == w->segments)
		lane_put(lane, child->queue, (const void *)child->word, (const void *)branch->word, sizeof(uint64_t), flags);
	else
		lane_put(lane, child->queue, branch->dest + at, from + at, left < branch->segment ? left : branch->segment, flags);
}

/* At the root the first lane lets itself go on. */
static void count_one(struct writer *w)
{
	if (w->branch->is_root)
		lane_next(w->tree->first);
	else
		w->tree->first->left--;
}

static void write_segment(struct writer *w)
{
	const struct comms_branch *branch = w->branch;
	struct lane *first = w->tree->first;
	int lanes = w->tree->lanes;

	for (int c = 0; c < branch->children; c += lanes) {
		write_piece(w, first, &branch->child[c], first->left == 1);
		count_one(w);
	}
	for (int l = 1; l < lanes; l++) {
		struct lane *lane = w->tree->more[l];

		for (int c = l; c < branch->children; c += lanes)
			write_piece(w, lane, &branch->child[c], w->segment == w->segments && c + lanes >= branch->children);
		lane_signal(first, lane->id, lane_flags(children_of(branch->children, lanes, l), first->left == 1));
		count_one(w);
	}
}

static void write_tree(struct comms_session *session, int t, const struct comms_branch *branch)
{
	struct tree *tree = &session->tree[t];
	struct writer w = {tree, branch, segments_of(branch), 0};

	tree->first->left = commands_of(tree, branch);
	for (w.segment = 0; w.segment <= w.segments && branch->children > 0; w.segment++)
		write_segment(&w);
	tree->first->tells = branch->children > 0;
	for (int l = 1; l < tree->lanes; l++)
		tree->more[l]->tells = true;
	if (branch->is_root)
		session->word[session->words++] = branch->word;
}

static void write_readiness(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready)
{
	struct lane *lane = session->last;

	if (ready->children == 0)
		lane->by = tofu.queue[0].vcq;
	for (int i = 1; i < ready->children; i++)
		lane_pause(lane);
	if (ready->parent >= 0) {
		lane_signal(lane, ready->queue, lane_flags(1, false));
		return;
	}
	lane_signal(lane, lane->id, lane_flags(session->trees, false));
	for (int t = 0; t < session->trees; t++)
		lane_signal(lane, session->tree[t].first->id, lane_flags(lane_group(commands_of(&session->tree[t], &branches[t])), false));
}

void tofu_session_write(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready)
{
	tofu_lock();
	for (int t = 0; t < session->trees; t++)
		write_tree(session, t, &branches[t]);
	write_readiness(session, branches, ready);
	tofu_unlock();
}
