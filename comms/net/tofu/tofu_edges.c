/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data between pairs by the NIC: comms/core/sessions.h defines it, and session_queues.h the queues.
 *
 * ready    a session queue that receives one packet from each PE that this PE puts to, when that PE
 *          is ready. For n PEs it has n - 1 empty commands; the last packet thus releases the first
 *          of the packets that start the data session queues
 * data     a session queue on each TNI that leads to others: for each edge the data, and a word
 *          behind it. In groups
 * asks     packets to the ready queues of all PEs that put to this one, sent at once on an ordinary
 *          queue
 *
 * A PE is ready for the next run only after its data has arrived, and then all PEs were ready
 * before: packets of one run cannot be mistaken for those of another.
 */
#include "session_queues.h"

#include <stdlib.h>

#include "rte/rte.h"

static int edge_pieces(size_t bytes)
{
	return (int)((bytes + tofu.most_bytes - 1) / tofu.most_bytes);
}

static int session_queue_of(int pe)
{
	return tofu_peer(comms_connect(pe))->tni;
}

/* Counts each session queue's commands. Returns false if that is more than a queue may have. */
static bool count_commands(const struct comms_edge_out *out, int outs, int commands[TOFU_TNIS])
{
	for (int i = 0; i < outs; i++) {
		int *of_session_queue = &commands[session_queue_of(out[i].pe)];

		if (out[i].bytes / tofu.most_bytes >= MOST_COMMANDS)
			return false;
		*of_session_queue += edge_pieces(out[i].bytes) + 1;
		if (*of_session_queue > MOST_COMMANDS)
			return false;
	}
	return outs < MOST_COMMANDS;
}

static int open_session_queues(struct comms_session *session, const int *commands)
{
	int code = UTOFU_SUCCESS;
	utofu_tni_id_t *tnis;
	size_t all;

	tofu_check(utofu.get_onesided_tnis(&tnis, &all), "utofu_get_onesided_tnis");
	session_queue_add(session, tnis[(size_t)comms.pe % all], &code);
	for (int e = 0; e < tofu.tnis; e++)
		if (commands[e] > 0) {
			session->data[e] = session_queue_add(session, tnis[e], &code);
			session->data[e]->left = commands[e];
		}
	free(tnis);
	return code;
}

struct comms_session *tofu_session_open_edges(const struct comms_edge_out *out, int outs, int ins,
					      uint64_t *ready_queue)
{
	struct comms_session *session = calloc(1, sizeof *session);
	int commands[TOFU_TNIS] = {0}, code = UTOFU_SUCCESS;

	if (!session || ins > MOST_COMMANDS || !count_commands(out, outs, commands)) {
		free(session);
		return NULL;
	}
	tofu_lock();
	if (outs > 0)
		code = open_session_queues(session, commands);
	session->last = session_queue_add_on(session, tofu.queue[0].vcq);
	tofu_unlock();
	*ready_queue = session->session_queue[0].id;
	return session_queues_opened(session, code);
}

static void write_ready_queue(struct comms_session *session, int outs)
{
	struct session_queue *ready_queue = &session->session_queue[0];
	int session_queues = session->session_queues - 2;

	for (int i = 1; i < outs; i++)
		session_queue_pause(ready_queue);
	if (session_queues > 1)
		session_queue_signal(ready_queue, ready_queue->id, session_queue_flags(session_queues, false));
	for (int l = 1; l <= session_queues; l++)
		session_queue_signal(ready_queue, session->session_queue[l].id,
				     session_queue_flags(session_queue_group(session->session_queue[l].left), false));
}

/* In strong order: the word behind the data. */
static void write_edge_out(struct session_queue *session_queue, const struct comms_edge_out *out, const void *word)
{
	uint64_t queue = tofu_peer(comms_connect(out->pe))->vcq;

	for (size_t at = 0, piece; at < out->bytes; at += piece) {
		piece = out->bytes - at < tofu.most_bytes ? out->bytes - at : tofu.most_bytes;
		session_queue_put(session_queue, queue, out->dest + at, out->source + at, piece,
				  session_queue_flags(0, false));
		session_queue_next(session_queue);
	}
	session_queue_put(session_queue, queue, (const void *)out->word, word, sizeof(uint64_t),
			  session_queue_flags(0, session_queue->left == 1));
	session_queue_next(session_queue);
}

void tofu_session_write_edges(struct comms_session *session, const struct comms_edges *edges, _Atomic uint64_t *run)
{
	tofu_lock();
	if (edges->outs > 0)
		write_ready_queue(session, edges->outs);
	for (int i = 0; i < edges->outs; i++)
		write_edge_out(session->data[session_queue_of(edges->out[i].pe)], &edges->out[i], (const void *)run);
	for (int e = 0; e < TOFU_TNIS; e++)
		if (session->data[e])
			session->data[e]->reports = true;
	for (int i = 0; i < edges->ins; i++)
		session_queue_signal(session->last, edges->in[i].ready_queue, session_queue_flags(1, false));
	if (edges->outs > 0)
		session->word[session->words++] = run;
	tofu_unlock();
}
