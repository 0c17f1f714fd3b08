/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts by the card: see ../sessions.h for what they are.
 *
 * lane      a session-mode queue, and what is posted on it in each run. All of that is written down when the session is made; a start
 *           only posts it. There is one for each tree, and one for readiness
 * a tree's  for each segment a put to each child, then a put of the word. What comes from the parent moves the pointer by the number of children
 *           (SPS), so each segment, and in the end the word, lets its own copies go. The word's source is the word that came, so nothing
 *           depends on the run
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

enum { GROUP = 14, LONGEST_DESCRIPTOR = 64, LANES = COMMS_SESSION_TREES + 1 };

struct lane {
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_SEGMENTS];
	bool open, tells;
	bool over; /* in this run */
	char *commands;
	size_t bytes, room;
	_Atomic uint64_t *word; /* the root's, of a tree */
};

struct comms_session {
	int trees;
	struct lane lane[LANES];
	utofu_vcq_hdl_t says_ready; /* the queue of a PE without children; 0: the lane for readiness */
};

static struct lane *readiness_of(struct comms_session *session)
{
	return &session->lane[session->trees];
}

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
	for (int i = 0; i <= session->trees; i++)
		close_lane(&session->lane[i]);
	tofu_unlock();
	free(session);
}

/* Such queues are few, and who cannot have one does without. */
struct comms_session *tofu_session_open(int trees, uint64_t *ids)
{
	struct comms_session *session = calloc(1, sizeof *session);
	utofu_tni_id_t *tnis;
	size_t count;
	int code;

	if (!session)
		return NULL;
	session->trees = trees;
	tofu_lock();
	code = utofu.get_onesided_tnis(&tnis, &count);
	for (int i = 0; i <= trees && code == UTOFU_SUCCESS; i++) {
		code = open_lane(&session->lane[i], tnis[(size_t)i % count]);
		ids[i] = session->lane[i].id;
	}
	free(tnis);
	tofu_unlock();
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

static void write_put(struct lane *lane, utofu_vcq_id_t queue, const void *dest, const void *source, size_t bytes, int lets_go, bool last)
{
	unsigned long flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_SPS(lets_go) | (last ? UTOFU_ONESIDED_FLAG_TCQ_NOTICE : 0);
	void *at = room_for_one(lane);
	size_t used;

	written(lane, utofu.prepare_put(lane->vcq, with_path(queue), local(lane, source), remote(queue, dest), bytes, 0, flags, at, &used), &used);
}

/* A packet that brings nothing anybody reads. */
static void write_word(struct lane *lane, utofu_vcq_hdl_t by, utofu_vcq_id_t queue, const void *dest, int lets_go)
{
	unsigned long flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_SPS(lets_go);
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

struct writer {
	struct lane *lane;
	_Atomic uint64_t *spare; /* where packets go that bring nothing */
	bool is_root;
	int written, commands;
};

static void write_next(struct writer *w, utofu_vcq_id_t queue, const void *dest, const void *source, size_t bytes, int lets_go)
{
	int left = w->commands - ++w->written;

	write_put(w->lane, queue, dest, source, bytes, lets_go, left == 0);
	if (w->is_root && w->written % GROUP == 0 && left > 0)
		write_word(w->lane, w->lane->vcq, w->lane->id, (const void *)w->spare, group(left));
}

static size_t segments_of(const struct comms_branch *branch)
{
	return (branch->bytes + branch->segment - 1) / branch->segment;
}

static void write_tree(struct lane *lane, const struct comms_branch *branch, _Atomic uint64_t *spare)
{
	size_t segments = segments_of(branch);
	const char *from = branch->is_root ? branch->source : branch->dest;
	struct writer w = {lane, spare, branch->is_root, 0, branch->children * (int)(segments + 1)};

	for (size_t i = 0; i <= segments; i++)
		for (int c = 0; c < branch->children; c++) {
			const struct comms_session_child *child = &branch->child[c];
			size_t at = i * branch->segment, left = branch->bytes - at;

			if (i == segments)
				write_next(&w, child->queue, (const void *)child->word, (const void *)branch->word, sizeof(uint64_t), child->lets_go);
			else
				write_next(&w, child->queue, branch->dest + at, from + at, left < branch->segment ? left : branch->segment,
					   child->lets_go);
		}
	lane->tells = branch->children > 0;
	lane->word = branch->is_root ? branch->word : NULL;
}

static void write_readiness(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready)
{
	struct lane *lane = readiness_of(session);
	const void *mine = (const void *)ready->mine;

	session->says_ready = ready->children > 0 ? lane->vcq : tofu.queue[0].vcq;
	for (int i = 1; i < ready->children; i++) {
		void *at = room_for_one(lane);
		size_t used;

		written(lane, utofu.prepare_nop(lane->vcq, 0, at, &used), &used);
	}
	if (ready->parent >= 0) {
		write_word(lane, session->says_ready, ready->queue, (const void *)ready->word, 1);
		return;
	}
	write_word(lane, lane->vcq, lane->id, mine, session->trees);
	for (int t = 0; t < session->trees; t++)
		write_word(lane, lane->vcq, session->lane[t].id, mine, group(branches[t].children * (int)(segments_of(&branches[t]) + 1)));
}

void tofu_session_write(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready)
{
	tofu_lock();
	for (int t = 0; t < session->trees; t++)
		write_tree(&session->lane[t], &branches[t], ready->mine);
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
	for (int t = 0; t < session->trees; t++) {
		struct lane *lane = &session->lane[t];

		if (lane->word)
			atomic_store_explicit(lane->word, run, memory_order_release);
		post(lane->vcq, lane);
	}
	post(session->says_ready, readiness_of(session));
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
	for (int t = 0; t < session->trees; t++) {
		struct lane *lane = &session->lane[t];

		lane->over = lane->over || is_sent(lane);
		over &= lane->over;
	}
	tofu_unlock();
	return over;
}
