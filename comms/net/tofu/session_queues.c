/* SPDX-License-Identifier: BSD-3-Clause */
/* Session-mode queues: opening, writing down, runs. */
#include "session_queues.h"

#include <stdlib.h>

#include "comms/wait/wait.h"
#include "rte/rte.h"

enum { GROUP = 14, LONGEST_DESCRIPTOR = 64 };

/* --- Queues --- */

static int open_lane(struct lane *lane, utofu_tni_id_t tni)
{
	int code = utofu.create_vcq(tni, UTOFU_VCQ_FLAG_SESSION_MODE, &lane->vcq);

	lane->open = code == UTOFU_SUCCESS;
	lane->by = lane->vcq;
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
	atomic_fetch_sub_explicit(&tofu.sessions, 1, memory_order_relaxed);
}

struct lane *lane_add(struct comms_session *session, utofu_tni_id_t tni, int *code)
{
	struct lane *lane = &session->lane[session->lanes++];

	if (*code == UTOFU_SUCCESS)
		*code = open_lane(lane, tni);
	return lane;
}

struct lane *lane_add_on(struct comms_session *session, utofu_vcq_hdl_t queue)
{
	struct lane *lane = &session->lane[session->lanes++];

	lane->by = queue;
	return lane;
}

struct comms_session *lanes_opened(struct comms_session *session, int code)
{
	atomic_fetch_add_explicit(&tofu.sessions, 1, memory_order_relaxed);
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
			rte_die("shmemx_plan", "no memory for what the card is to do");
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

unsigned long lane_flags(int lets_go, bool last)
{
	return UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_SPS(lets_go) | (last ? UTOFU_ONESIDED_FLAG_TCQ_NOTICE : 0);
}

void lane_put(struct lane *lane, utofu_vcq_id_t queue, const void *dest, const void *source, size_t bytes, unsigned long flags)
{
	void *at = room_for_one(lane);
	size_t used;

	written(lane, utofu.prepare_put(lane->by, with_path(queue), local(lane, source), remote(queue, dest), bytes, 0, flags, at, &used), &used);
}

void lane_signal(struct lane *lane, utofu_vcq_id_t queue, unsigned long flags)
{
	uint64_t nothing = 0;
	void *at = room_for_one(lane);
	size_t used;

	written(lane,
		utofu.prepare_put_piggyback(lane->by, with_path(queue), &nothing, remote(queue, &comms.system->nothing), sizeof nothing, 0, flags,
					    at, &used),
		&used);
}

void lane_pause(struct lane *lane)
{
	void *at = room_for_one(lane);
	size_t used;

	written(lane, utofu.prepare_nop(lane->by, 0, at, &used), &used);
}

int lane_group(int left)
{
	return left > GROUP ? GROUP + 1 : left;
}

void lane_next(struct lane *lane)
{
	lane->left--;
	if (++lane->written % GROUP == 0 && lane->left > 0)
		lane_signal(lane, lane->id, lane_flags(lane_group(lane->left), false));
}

/* --- Runs --- */

static void post(struct lane *lane)
{
	int code = UTOFU_SUCCESS;

	lane->over = !lane->tells;
	if (lane->bytes > 0)
		do {
			tofu_lock();
			code = utofu.post_toq(lane->by, lane->commands, lane->bytes, lane);
			tofu_unlock();
		} while (code == UTOFU_ERR_BUSY && (comms_spin(), true));
	tofu_check(code, "utofu_post_toq");
}

void tofu_session_start(struct comms_session *session, uint64_t run)
{
	for (int i = 0; i < session->words; i++)
		atomic_store_explicit(session->word[i], run, memory_order_release);
	for (int l = 0; l < session->lanes; l++)
		if (&session->lane[l] != session->last)
			post(&session->lane[l]);
	post(session->last);
}

static bool is_sent(struct lane *lane)
{
	void *which;
	int code = utofu.poll_tcq(lane->vcq, 0, &which);

	if (code != UTOFU_ERR_NOT_FOUND && code != UTOFU_SUCCESS)
		tofu_fail("a plan of the card", -1, code);
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
