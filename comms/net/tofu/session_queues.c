/* SPDX-License-Identifier: BSD-3-Clause */
/* Session-mode queues: opening, preparing, running. */
#include "session_queues.h"

#include <stdlib.h>

#include "comms/wait/wait.h"
#include "rte/rte.h"

enum { GROUP = 14, LONGEST_DESCRIPTOR = 64 };

/* --- Queues --- */

static int open_session_queue(struct session_queue *session_queue, utofu_tni_id_t tni)
{
	int code = utofu.create_vcq(tni, UTOFU_VCQ_FLAG_SESSION_MODE, &session_queue->vcq);

	session_queue->open = code == UTOFU_SUCCESS;
	session_queue->by = session_queue->vcq;
	if (session_queue->open)
		code = utofu.query_vcq_id(session_queue->vcq, &session_queue->id);
	for (unsigned i = 0; i < COMMS_MOST_SEGMENTS && code == UTOFU_SUCCESS; i++)
		if (comms_segment_is_in_use((enum comms_segment_id)i)) {
			code = utofu.reg_mem_with_stag(session_queue->vcq, comms.segments[i].base,
						       comms.segments[i].size, i, 0, &session_queue->memory[i]);
			session_queue->registered |= 1U << i;
		}
	return code;
}

static void close_session_queue(struct session_queue *session_queue)
{
	free(session_queue->commands);
	if (!session_queue->open)
		return;
	for (unsigned i = 0; i < COMMS_MOST_SEGMENTS; i++)
		if (session_queue->registered >> i & 1)
			utofu.dereg_mem(session_queue->vcq, session_queue->memory[i], 0);
	tofu_check(utofu.free_vcq(session_queue->vcq), "utofu_free_vcq");
}

void tofu_session_close(struct comms_session *session)
{
	tofu_lock();
	for (int i = 0; i < session->session_queues; i++)
		close_session_queue(&session->session_queue[i]);
	tofu_unlock();
	free(session);
	atomic_fetch_sub_explicit(&tofu.sessions, 1, memory_order_relaxed);
}

struct session_queue *session_queue_add(struct comms_session *session, utofu_tni_id_t tni, int *code)
{
	struct session_queue *session_queue = &session->session_queue[session->session_queues++];

	if (*code == UTOFU_SUCCESS)
		*code = open_session_queue(session_queue, tni);
	return session_queue;
}

struct session_queue *session_queue_add_on(struct comms_session *session, utofu_vcq_hdl_t queue)
{
	struct session_queue *session_queue = &session->session_queue[session->session_queues++];

	session_queue->by = queue;
	return session_queue;
}

struct comms_session *session_queues_opened(struct comms_session *session, int code)
{
	atomic_fetch_add_explicit(&tofu.sessions, 1, memory_order_relaxed);
	if (code == UTOFU_SUCCESS)
		return session;
	tofu_session_close(session);
	return NULL;
}

/* --- Preparing --- */

static void *room_for_command(struct session_queue *session_queue)
{
	if (session_queue->bytes + LONGEST_DESCRIPTOR > session_queue->room) {
		session_queue->room = 2 * session_queue->room + 16 * LONGEST_DESCRIPTOR;
		session_queue->commands = realloc(session_queue->commands, session_queue->room);
		if (!session_queue->commands)
			rte_die("shmemx_plan", "no memory for the NIC's commands");
	}
	return session_queue->commands + session_queue->bytes;
}

static void count_command_bytes(struct session_queue *session_queue, int code, const size_t *bytes)
{
	tofu_check(code, "utofu_prepare");
	session_queue->bytes += *bytes;
}

static utofu_vcq_id_t with_path(utofu_vcq_id_t queue)
{
	tofu_check(utofu.set_vcq_id_path(&queue, NULL), "utofu_set_vcq_id_path");
	return queue;
}

/* Symmetric memory of the PE that owns a queue. */
static utofu_stadd_t remote_stadd(utofu_vcq_id_t queue, const void *address)
{
	enum comms_segment_id segment = comms_find_segment(address);
	utofu_stadd_t stadd;

	tofu_check(utofu.query_stadd(queue, segment, &stadd), "utofu_query_stadd");
	return stadd + (uint64_t)((const char *)address - comms.segments[segment].base);
}

static utofu_stadd_t local_stadd(const struct session_queue *session_queue, const void *address)
{
	enum comms_segment_id segment = comms_find_segment(address);

	return session_queue->memory[segment] + (uint64_t)((const char *)address - comms.segments[segment].base);
}

unsigned long session_queue_flags(int lets_go, bool last)
{
	return UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_SPS(lets_go) |
	       (last ? UTOFU_ONESIDED_FLAG_TCQ_NOTICE : 0);
}

void session_queue_put(struct session_queue *session_queue, utofu_vcq_id_t queue, const void *dest, const void *source,
		       size_t bytes, unsigned long flags)
{
	void *at = room_for_command(session_queue);
	size_t used;

	count_command_bytes(session_queue,
			    utofu.prepare_put(session_queue->by, with_path(queue), local_stadd(session_queue, source),
					      remote_stadd(queue, dest), bytes, 0, flags, at, &used),
			    &used);
}

void session_queue_signal(struct session_queue *session_queue, utofu_vcq_id_t queue, unsigned long flags)
{
	uint64_t nothing = 0;
	void *at = room_for_command(session_queue);
	size_t used;

	count_command_bytes(session_queue,
			    utofu.prepare_put_piggyback(session_queue->by, with_path(queue), &nothing,
							remote_stadd(queue, &comms.system->nothing), sizeof nothing, 0,
							flags, at, &used),
			    &used);
}

void session_queue_pause(struct session_queue *session_queue)
{
	void *at = room_for_command(session_queue);
	size_t used;

	count_command_bytes(session_queue, utofu.prepare_nop(session_queue->by, 0, at, &used), &used);
}

int session_queue_group(int left)
{
	return left > GROUP ? GROUP + 1 : left;
}

void session_queue_next(struct session_queue *session_queue)
{
	session_queue->left--;
	if (++session_queue->written % GROUP == 0 && session_queue->left > 0)
		session_queue_signal(session_queue, session_queue->id,
				     session_queue_flags(session_queue_group(session_queue->left), false));
}

/* --- Runs --- */

static void post_session_queue(struct session_queue *session_queue)
{
	int code = UTOFU_SUCCESS;

	session_queue->over = !session_queue->reports;
	if (session_queue->bytes > 0)
		do {
			tofu_lock();
			code = utofu.post_toq(session_queue->by, session_queue->commands, session_queue->bytes,
					      session_queue);
			tofu_unlock();
		} while (code == UTOFU_ERR_BUSY && (comms_spin(), true));
	tofu_check(code, "utofu_post_toq");
}

void tofu_session_start(struct comms_session *session, uint64_t run)
{
	for (int i = 0; i < session->words; i++)
		atomic_store_explicit(session->word[i], run, memory_order_release);
	for (int l = 0; l < session->session_queues; l++)
		if (&session->session_queue[l] != session->last)
			post_session_queue(&session->session_queue[l]);
	post_session_queue(session->last);
}

static bool session_queue_is_sent(struct session_queue *session_queue)
{
	void *which;
	int code = utofu.poll_tcq(session_queue->vcq, 0, &which);

	if (code != UTOFU_ERR_NOT_FOUND && code != UTOFU_SUCCESS)
		tofu_fail("a plan of the NIC", -1, code);
	return code == UTOFU_SUCCESS;
}

bool tofu_session_is_over(struct comms_session *session)
{
	bool over = true;

	tofu_lock();
	for (int l = 0; l < session->session_queues; l++) {
		struct session_queue *session_queue = &session->session_queue[l];

		session_queue->over =
			session_queue->over || !session_queue->reports || session_queue_is_sent(session_queue);
		over &= session_queue->over;
	}
	tofu_unlock();
	return over;
}
