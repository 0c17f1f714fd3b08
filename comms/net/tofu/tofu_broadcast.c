/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts by the NIC: comms/core/sessions.h defines them, and session_queues.h the queues.
 *
 * tree       one session queue for each child, on different TNIs if possible. Data from the parent
 *            goes to the first queue and advances its scheduling pointer (SPS): for each segment,
 *            and at last for the word, the queue has a put to the first child and a packet to each
 *            other session queue of the tree, which releases that queue's put. The source of the
 *            word's put is the word that arrived, so nothing depends on the run
 * root       no packets arrive at the root's session queues. Instead, a put to itself releases the
 *            next fourteen commands, of which the last is another such put; the root's session
 *            queue for readiness sends the first
 * readiness  a PE with c children has c - 1 empty commands, then the word to its parent, which the
 *            last child's word releases. At the root the last child's word starts all trees
 */
#include "session_queues.h"

#include <stdlib.h>

/* --- Queues --- */

/*
 * Adds the queues of each tree: the first one, which receives and sends, and further ones that only
 * send, at most one for each child. The first queues are spread over the TNIs in turn; each further
 * one goes to the TNI with the fewest sending queues.
 */
static void open_trees(struct comms_session *session, const int *children, const utofu_tni_id_t *tnis, int count,
		       int *code)
{
	int sending[TOFU_TNIS] = {0}, least;

	for (int t = 0; t < session->trees; t++) {
		session->tree[t].first = session_queue_add(session, tnis[t % count], code);
		session->tree[t].session_queues = children[t] < count ? children[t] : count;
		sending[t % count] += children[t] > 0;
	}
	for (int t = 0; t < session->trees; t++)
		for (int l = 1; l < session->tree[t].session_queues; l++) {
			least = 0;
			for (int n = 1; n < count; n++)
				if (sending[n] < sending[least])
					least = n;
			sending[least]++;
			session->tree[t].more[l] = session_queue_add(session, tnis[least], code);
		}
}

/* Number of a tree's children that a session queue serves. */
static int children_of_queue(int children, int session_queues, int session_queue)
{
	return session_queues ? (children - session_queue + session_queues - 1) / session_queues : 0;
}

/* Number of commands that an arrival down the tree releases in the first session queue. */
static int commands_let_go(int children, int session_queues)
{
	return children ? children_of_queue(children, session_queues, 0) + session_queues - 1 : 0;
}

static bool need_too_many_queues(int trees, const int *children, int count)
{
	int session_queues = trees + 1;

	for (int t = 0; t < trees; t++)
		session_queues += children[t] < count ? children[t] : count;
	return session_queues > SESSION_QUEUES;
}

/* There are few such queues; a PE that gets none does without. */
struct comms_session *tofu_session_open(int trees, const int *children, struct comms_session_shown *shown)
{
	struct comms_session *session = calloc(1, sizeof *session);
	int count = tofu.tnis, code = UTOFU_SUCCESS;
	utofu_tni_id_t *tnis;
	size_t all;

	if (!session || need_too_many_queues(trees, children, count)) {
		free(session);
		return NULL;
	}
	session->trees = trees;
	tofu_lock();
	tofu_check(utofu.get_onesided_tnis(&tnis, &all), "utofu_get_onesided_tnis");
	open_trees(session, children, tnis, count, &code);
	session->last = session_queue_add(session, tnis[(size_t)trees % all], &code);
	free(tnis);
	tofu_unlock();
	for (int t = 0; t < trees; t++) {
		shown->queue[t] = session->tree[t].first->id;
		shown->lets_go[t] = (uint8_t)commands_let_go(children[t], session->tree[t].session_queues);
	}
	shown->queue[trees] = session->last->id;
	return session_queues_opened(session, code);
}

/* --- Preparing --- */

static size_t tree_segments(const struct comms_session_tree *session_tree)
{
	return (session_tree->bytes + session_tree->segment - 1) / session_tree->segment;
}

/* Prepares a tree's first session queue, at the root in groups. */
static int commands_of_tree(const struct tree *tree, const struct comms_session_tree *session_tree)
{
	return commands_let_go(session_tree->children, tree->session_queues) * (int)(tree_segments(session_tree) + 1);
}

struct writer {
	struct tree *tree;
	const struct comms_session_tree *session_tree;
	/* The segment to prepare; the number after the last is the word. */
	size_t segments, segment;
};

/* A segment or the word, from this PE to a child. */
static void write_piece(struct writer *w, struct session_queue *session_queue, const struct comms_session_child *child,
			bool last)
{
	const struct comms_session_tree *session_tree = w->session_tree;
	const char *from = session_tree->is_root ? session_tree->source : session_tree->dest;
	size_t at = w->segment * session_tree->segment, left = session_tree->bytes - at;
	unsigned long flags = session_queue_flags(child->lets_go, last);

	if (w->segment == w->segments)
		session_queue_put(session_queue, child->queue, (const void *)child->word,
				  (const void *)session_tree->word, sizeof(uint64_t), flags);
	else
		session_queue_put(session_queue, child->queue, session_tree->dest + at, from + at,
				  left < session_tree->segment ? left : session_tree->segment, flags);
}

/* At the root the first session queue releases its own next commands. */
static void count_command(struct writer *w)
{
	if (w->session_tree->is_root)
		session_queue_next(w->tree->first);
	else
		w->tree->first->left--;
}

static void write_segment(struct writer *w)
{
	const struct comms_session_tree *session_tree = w->session_tree;
	struct session_queue *first = w->tree->first;
	int session_queues = w->tree->session_queues;

	for (int c = 0; c < session_tree->children; c += session_queues) {
		write_piece(w, first, &session_tree->child[c], first->left == 1);
		count_command(w);
	}
	for (int l = 1; l < session_queues; l++) {
		struct session_queue *session_queue = w->tree->more[l];

		for (int c = l; c < session_tree->children; c += session_queues)
			write_piece(w, session_queue, &session_tree->child[c],
				    w->segment == w->segments && c + session_queues >= session_tree->children);
		session_queue_signal(first, session_queue->id,
				     session_queue_flags(children_of_queue(session_tree->children, session_queues, l),
							 first->left == 1));
		count_command(w);
	}
}

static void write_tree(struct comms_session *session, int t, const struct comms_session_tree *session_tree)
{
	struct tree *tree = &session->tree[t];
	struct writer w = {tree, session_tree, tree_segments(session_tree), 0};

	tree->first->left = commands_of_tree(tree, session_tree);
	for (w.segment = 0; w.segment <= w.segments && session_tree->children > 0; w.segment++)
		write_segment(&w);
	tree->first->reports = session_tree->children > 0;
	for (int l = 1; l < tree->session_queues; l++)
		tree->more[l]->reports = true;
	if (session_tree->is_root)
		session->word[session->words++] = session_tree->word;
}

static void write_readiness(struct comms_session *session, const struct comms_session_tree *session_trees,
			    const struct comms_readiness *ready)
{
	struct session_queue *session_queue = session->last;

	if (ready->children == 0)
		session_queue->by = tofu.queue[0].vcq;
	for (int i = 1; i < ready->children; i++)
		session_queue_pause(session_queue);
	if (ready->parent >= 0) {
		session_queue_signal(session_queue, ready->queue, session_queue_flags(1, false));
		return;
	}
	session_queue_signal(session_queue, session_queue->id, session_queue_flags(session->trees, false));
	for (int t = 0; t < session->trees; t++)
		session_queue_signal(session_queue, session->tree[t].first->id,
				     session_queue_flags(session_queue_group(commands_of_tree(&session->tree[t],
											      &session_trees[t])),
							 false));
}

void tofu_session_write(struct comms_session *session, const struct comms_session_tree *session_trees,
			const struct comms_readiness *ready)
{
	tofu_lock();
	for (int t = 0; t < session->trees; t++)
		write_tree(session, t, &session_trees[t]);
	write_readiness(session, session_trees, ready);
	tofu_unlock();
}
