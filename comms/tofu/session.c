/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts by the card: see ../sessions.h for what they are.
 *
 * lane      a session-mode queue, and what is posted on it in each run. All of that is written down when the session is made; a start
 *           only posts it. A tree has one for each child, on different TNIs as far as there are some, and one is for readiness
 * a tree's  what comes from the parent comes to its first lane, and moves that one's pointer (SPS): for each segment, and in the end the word, there
 *           are a put to the first child and a packet to each other lane of the tree, which lets that one's put go. The word's source is the word
 *           that came, so nothing depends on the run
 * the       nobody's packets come to the root's lanes. There a put to itself lets the next fourteen go, the last of which is another
 * root's    such put; the first of them is the root's lane for readiness
 * readiness a PE with c children has c - 1 empty commands, then the word to its parent: so the last child's word lets that go. At the root the
 *           last child's word lets all trees begin
 *
 * Nothing asks for notices but the last command of each lane with children: its source is free then.
 */
#include "inside.h"

#include <stdlib.h>

#include "comms/sessions.h"
#include "rte/rte.h"

enum { GROUP = 14, LONGEST_DESCRIPTOR = 64, LANES = 40 };

struct lane {
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_SEGMENTS];
	bool open, tells;
	bool over; /* in this run */
	char *commands;
	size_t bytes, room;
};

struct tree {
	struct lane *first, *more[TOFU_ENGINES]; /* more: from 1 on */
	int lanes;
	_Atomic uint64_t *word; /* the root's */
};

struct comms_session {
	int trees, lanes;
	struct tree tree[COMMS_SESSION_TREES];
	struct lane lane[LANES], *readiness;
	utofu_vcq_hdl_t says_ready; /* an ordinary queue where there are no children */
};

/* --- Queues --- */

static int open_lane(struct lane *lane, utofu_tni_id_t tni)
{
	int code = utofu.create_vcq(tni, UTOFU_VCQ_FLAG_SESSION_MODE, &lane->vcq);

	lane->open = code == UTOFU_SUCCESS;
	if (lane->open)
		code = utofu.query_vcq_id(lane->vcq, &lane->id);
	for (unsigned i = 0; i < COMMS_SEGMENTS && code == UTOFU_SUCCESS; i++)
		if (comms.segments[i].size > 0)
			code = utofu.reg_mem_with_stag(lane->vcq, comms.segments[i].base, comms.segments[i].size, i, 0, &lane->memory[i]);
	return code;
}

static void close_lane(struct lane *lane)
{
	free(lane->commands);
	if (!lane->open)
		return;
	for (unsigned i = 0; i < COMMS_SEGMENTS; i++)
		if (comms.segments[i].size > 0)
			utofu.dereg_mem(lane->vcq, lane->memory[i], 0);
	tofu_check(utofu.free_vcq(lane->vcq), "utofu_free_vcq");
}

void tofu_session_close(struct comms_session *session)
{
	tofu_lock();
	for (int i = 0; i < session->lanes; i++)
		close_lane(&session->lane[i]);
	tofu_unlock();
	free(session);
}

static struct lane *add_lane(struct comms_session *session, utofu_tni_id_t tni, int *code)
{
	struct lane *lane = &session->lane[session->lanes++];

	if (*code == UTOFU_SUCCESS)
		*code = open_lane(lane, tni);
	return lane;
}

/* What comes down a tree takes a TNI of its own, and so does what goes on, as far as there are enough. */
static void open_trees(struct comms_session *session, const int *children, const utofu_tni_id_t *tnis, int count, int *code)
{
	int sending[TOFU_ENGINES] = {0}, least;

	for (int t = 0; t < session->trees; t++) {
		session->tree[t].first = add_lane(session, tnis[t % count], code);
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
			session->tree[t].more[l] = add_lane(session, tnis[least], code);
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
	session->readiness = add_lane(session, tnis[(size_t)trees % all], &code);
	free(tnis);
	tofu_unlock();
	for (int t = 0; t < trees; t++) {
		shown->queue[t] = session->tree[t].first->id;
		shown->lets_go[t] = (uint8_t)lets_go(children[t], session->tree[t].lanes);
	}
	shown->queue[trees] = session->readiness->id;
	if (code == UTOFU_SUCCESS)
		return session;
	tofu_session_close(session);
	return NULL;
}

/* --- Writing down --- */

static void *room_for_one(struct lane *lane)
{
	if (lane->bytes + LONGEST_DESCRIPTOR > lane->room) {
		lane->room = 2 * lane->room + 16 * LONGEST_DESCRIPTOR;
		lane->commands = realloc(lane->commands, lane->room);
		if (!lane->commands)
			rte_die("shmemx_broadcast_init", "no memory for a session's commands");
	}
	return lane->commands + lane->bytes;
}

static void written(struct lane *lane, int code, const size_t *bytes)
{
	tofu_check(code, "utofu_prepare");
	lane->bytes += *bytes;
}

static utofu_vcq_id_t with_path(utofu_vcq_id_t queue)
{
	tofu_check(utofu.set_vcq_id_path(&queue, NULL), "utofu_set_vcq_id_path");
	return queue;
}

/* Symmetric memory of the PE that a queue is of. */
static utofu_stadd_t remote(utofu_vcq_id_t queue, const void *address)
{
	enum comms_segment_id segment = comms_find_segment(address);
	utofu_stadd_t stadd;

	tofu_check(utofu.query_stadd(queue, segment, &stadd), "utofu_query_stadd");
	return stadd + (uint64_t)((const char *)address - comms.segments[segment].base);
}

static utofu_stadd_t local(const struct lane *lane, const void *address)
{
	enum comms_segment_id segment = comms_find_segment(address);

	return lane->memory[segment] + (uint64_t)((const char *)address - comms.segments[segment].base);
}

static unsigned long flags_of(int lets_go, bool last)
{
	return UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_SPS(lets_go) | (last ? UTOFU_ONESIDED_FLAG_TCQ_NOTICE : 0);
}

static void write_put(struct lane *lane, utofu_vcq_id_t queue, const void *dest, const void *source, size_t bytes, unsigned long flags)
{
	void *at = room_for_one(lane);
	size_t used;

	written(lane, utofu.prepare_put(lane->vcq, with_path(queue), local(lane, source), remote(queue, dest), bytes, 0, flags, at, &used), &used);
}

/* A packet that brings nothing anybody reads. */
static void write_word(struct lane *lane, utofu_vcq_hdl_t by, utofu_vcq_id_t queue, const void *dest, unsigned long flags)
{
	uint64_t nothing = 0;
	void *at = room_for_one(lane);
	size_t used;

	written(lane, utofu.prepare_put_piggyback(by, with_path(queue), &nothing, remote(queue, dest), sizeof nothing, 0, flags, at, &used), &used);
}

/* How many of those that are left one packet lets go. */
static int group(int left)
{
	return left > GROUP ? GROUP + 1 : left;
}

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
	const void *spare; /* where packets go that bring nothing */
	size_t segments, segment; /* the one that is written; behind the last, the word */
	int left;
};

/* Segment or word, from this PE to a child. */
static void write_piece(struct writer *w, struct lane *lane, const struct comms_session_child *child, bool last)
{
	const struct comms_branch *branch = w->branch;
	const char *from = branch->is_root ? branch->source : branch->dest;
	size_t at = w->segment * branch->segment, left = branch->bytes - at;
	unsigned long flags = flags_of(child->lets_go, last);

	if (w->segment == w->segments)
		write_put(lane, child->queue, (const void *)child->word, (const void *)branch->word, sizeof(uint64_t), flags);
	else
		write_put(lane, child->queue, branch->dest + at, from + at, left < branch->segment ? left : branch->segment, flags);
}

/* At the root the first lane lets itself go on. */
static void count_one(struct writer *w, int all)
{
	w->left--;
	if (w->branch->is_root && (all - w->left) % GROUP == 0 && w->left > 0)
		write_word(w->tree->first, w->tree->first->vcq, w->tree->first->id, w->spare, flags_of(group(w->left), false));
}

static void write_segment(struct writer *w, int all)
{
	const struct comms_branch *branch = w->branch;
	int lanes = w->tree->lanes;

	for (int c = 0; c < branch->children; c += lanes) {
		write_piece(w, w->tree->first, &branch->child[c], w->left == 1);
		count_one(w, all);
	}
	for (int l = 1; l < lanes; l++) {
		struct lane *lane = w->tree->more[l];

		for (int c = l; c < branch->children; c += lanes)
			write_piece(w, lane, &branch->child[c], w->segment == w->segments && c + lanes >= branch->children);
		write_word(w->tree->first, w->tree->first->vcq, lane->id, w->spare,
			   flags_of(children_of(branch->children, lanes, l), w->left == 1));
		count_one(w, all);
	}
}

static void write_tree(struct tree *tree, const struct comms_branch *branch, const void *spare)
{
	struct writer w = {tree, branch, spare, segments_of(branch), 0, commands_of(tree, branch)};
	int all = w.left;

	for (w.segment = 0; w.segment <= w.segments && branch->children > 0; w.segment++)
		write_segment(&w, all);
	tree->first->tells = branch->children > 0;
	for (int l = 1; l < tree->lanes; l++)
		tree->more[l]->tells = true;
	tree->word = branch->is_root ? branch->word : NULL;
}

static void write_readiness(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready)
{
	struct lane *lane = session->readiness;
	const void *mine = (const void *)ready->mine;

	session->says_ready = ready->children > 0 ? lane->vcq : tofu.queue[0].vcq;
	for (int i = 1; i < ready->children; i++) {
		void *at = room_for_one(lane);
		size_t used;

		written(lane, utofu.prepare_nop(lane->vcq, 0, at, &used), &used);
	}
	if (ready->parent >= 0) {
		write_word(lane, session->says_ready, ready->queue, (const void *)ready->word, flags_of(1, false));
		return;
	}
	write_word(lane, lane->vcq, lane->id, mine, flags_of(session->trees, false));
	for (int t = 0; t < session->trees; t++)
		write_word(lane, lane->vcq, session->tree[t].first->id, mine, flags_of(group(commands_of(&session->tree[t], &branches[t])), false));
}

void tofu_session_write(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready)
{
	tofu_lock();
	for (int t = 0; t < session->trees; t++)
		write_tree(&session->tree[t], &branches[t], (const void *)ready->mine);
	write_readiness(session, branches, ready);
	tofu_unlock();
}

/* --- Runs --- */

static void post(utofu_vcq_hdl_t vcq, struct lane *lane)
{
	int code = UTOFU_SUCCESS;

	lane->over = !lane->tells;
	if (lane->bytes > 0)
		do {
			tofu_lock();
			code = utofu.post_toq(vcq, lane->commands, lane->bytes, lane);
			tofu_unlock();
		} while (code == UTOFU_ERR_BUSY && (comms_spin(), true));
	tofu_check(code, "utofu_post_toq");
}

void tofu_session_start(struct comms_session *session, uint64_t run)
{
	for (int t = 0; t < session->trees; t++)
		if (session->tree[t].word)
			atomic_store_explicit(session->tree[t].word, run, memory_order_release);
	for (int l = 0; l < session->lanes; l++)
		if (&session->lane[l] != session->readiness)
			post(session->lane[l].vcq, &session->lane[l]);
	post(session->says_ready, session->readiness);
}

static bool is_sent(struct lane *lane)
{
	void *which;
	int code = utofu.poll_tcq(lane->vcq, 0, &which);

	if (code != UTOFU_ERR_NOT_FOUND && code != UTOFU_SUCCESS)
		tofu_fail("a broadcast by the card", -1, code);
	return code == UTOFU_SUCCESS;
}

bool tofu_session_is_over(struct comms_session *session)
{
	bool over = true;

	tofu_lock();
	for (int l = 0; l < session->lanes; l++) {
		struct lane *lane = &session->lane[l];

		lane->over = lane->over || !lane->tells || is_sent(lane);
		over &= lane->over;
	}
	tofu_unlock();
	return over;
}
