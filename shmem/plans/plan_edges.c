/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of a plan: the maker adds all of them, and then their commands. The NIC takes those between
 * nodes if it can on all members: each member publishes where it expects notifications that others
 * are ready, and then all agree.
 */
#include "plans.h"

#include <stdlib.h>

#include "comms/plans/offload.h"

#define QUEUES 8

struct plan_edge {
	struct edge_end end;
	bool out, near;
	char *dest;
	const char *source;
	size_t bytes;
};

struct spot spot_of(const void *address, size_t bytes)
{
	enum comms_segment_id segment = bytes ? comms_find_segment(address) : COMMS_HEAP;

	if (segment == COMMS_NO_SEGMENT) /* misuse of a job whose errors return */
		return (struct spot){COMMS_HEAP, 0};
	return (struct spot){segment, bytes ? (uint64_t)((const char *)address - comms.segments[segment].base) : 0};
}

void *spot_address(const struct spot *spot)
{
	return comms.segments[spot->segment].base + spot->offset;
}

void plan_edges_begin(const struct maker *m, struct edges *edges, size_t most)
{
	*edges = (struct edges){.edge = calloc(most + 1, sizeof *edges->edge)};
	if (!edges->edge)
		rte_die(m->set.routine, "no memory for %zu edges", most);
}

void plan_edge_in(const struct maker *m, struct edges *edges, struct edge_end end, void *dest, const void *source,
		  size_t bytes)
{
	edges->edge[edges->count++] = (struct plan_edge){end, false, plan_is_near(m, end.pe), dest, source, bytes};
}

void plan_edge_out(const struct maker *m, struct edges *edges, struct edge_end end, void *dest, const void *source,
		   size_t bytes)
{
	edges->edge[edges->count++] = (struct plan_edge){end, true, plan_is_near(m, end.pe), dest, source, bytes};
}

/* --- By commands --- */

/* Queues shared by several edges. */
struct queues {
	int notify, end, in[QUEUES], out[QUEUES], ins, outs;
};

static struct queues make_queues(struct maker *m)
{
	struct queues queues = {.notify = plan_queue(m), .end = plan_queue(m)};

	for (int i = 0; i < QUEUES; i++)
		queues.in[i] = plan_queue(m);
	for (int i = 0; i < QUEUES; i++)
		queues.out[i] = plan_queue(m);
	return queues;
}

static void write_in(struct maker *m, struct queues *queues, const struct plan_edge *edge)
{
	struct port *mine = &m->plan->ports[edge->end.mine], *theirs = plan_port(m, edge->end.pe, edge->end.theirs);
	int queue = queues->in[queues->ins++ % QUEUES];

	if (!edge->near) {
		plan_notify(m, queues->notify, edge->end.pe, (struct when){&theirs->answer, 1, 1});
		plan_await(m, queues->end, (struct when){&mine->came[0], 1, 1});
		return;
	}
	plan_copy(m, queue, (struct when){&mine->came[0], 1, 1}, edge->dest, plan_here(m, edge->source, edge->end.pe),
		  edge->bytes);
	plan_notify(m, queue, edge->end.pe, (struct when){&theirs->answer, 1, 1});
}

static void write_out(struct maker *m, struct queues *queues, const struct plan_edge *edge)
{
	struct port *mine = &m->plan->ports[edge->end.mine], *theirs = plan_port(m, edge->end.pe, edge->end.theirs);

	if (!edge->near) {
		plan_put(m, queues->out[queues->outs++ % QUEUES], (struct when){&mine->answer, 1, 1}, edge->end.pe,
			 (struct comms_piece){edge->dest, edge->source, edge->bytes},
			 (struct when){&theirs->came[0], 1, 1});
		return;
	}
	plan_notify(m, queues->notify, edge->end.pe, (struct when){&theirs->came[0], 1, 1});
	plan_await(m, queues->end, (struct when){&mine->answer, 1, 1});
}

static bool are_any(const struct edges *edges, bool far_too)
{
	for (size_t i = 0; i < edges->count; i++)
		if (far_too || edges->edge[i].near)
			return true;
	return false;
}

static void write_by_commands(struct maker *m, const struct edges *edges, bool far_too)
{
	struct queues queues;

	if (!are_any(edges, far_too))
		return;
	queues = make_queues(m);
	for (size_t i = 0; i < edges->count; i++) {
		const struct plan_edge *edge = &edges->edge[i];

		m->near = edge->near; /* its words use the same path as its data */
		if (!edge->near && !far_too)
			continue;
		if (edge->out)
			write_out(m, &queues, edge);
		else
			write_in(m, &queues, edge);
	}
}

/* --- By the NIC --- */

static struct comms_edges far_of(struct maker *m, const struct edges *edges)
{
	struct comms_edges far = {calloc(edges->count + 1, sizeof *far.out), calloc(edges->count + 1, sizeof *far.in),
				  0, 0};

	if (!far.out || !far.in)
		rte_die(m->set.routine, "no memory for %zu edges", edges->count);
	for (size_t i = 0; i < edges->count; i++) {
		const struct plan_edge *edge = &edges->edge[i];

		if (edge->near)
			continue;
		if (!edge->out)
			far.ins++;
		else
			far.out[far.outs++] =
				(struct comms_edge_out){edge->end.pe, edge->dest, edge->source, edge->bytes,
							&plan_port(m, edge->end.pe, edge->end.theirs)->came[0]};
	}
	return far;
}

/* The ready queues of the PEs that put to this PE. Call after all have published theirs. */
static void find_ready_queues(struct maker *m, const struct edges *edges, struct comms_edge_in *in)
{
	m->known_pe = -1;
	for (size_t i = 0; i < edges->count; i++)
		if (!edges->edge[i].near && !edges->edge[i].out)
			(in++)->ready_queue = plan_block_of(m, edges->edge[i].end.pe)->ready_queue;
}

static struct comms_session *open_for_all(struct maker *m, const struct comms_edges *far)
{
	enum { NOT_NEEDED, WANTED, NOT_TO_BE_HAD };
	struct comms_session *session =
		comms_session_open_edges(far->out, far->outs, far->ins, &team_scratch(m->set.team)->plan.ready_queue);
	uint64_t mine = !session ? NOT_TO_BE_HAD : far->outs + far->ins ? WANTED : NOT_NEEDED;

	if (set_max(&m->set, mine) == WANTED)
		return session;
	if (session)
		comms_session_close(session);
	return NULL;
}

bool plan_wants_nic(const struct maker *m)
{
	return comms_sessions_are_there() && (m->executor == SHMEMX_PLAN_AUTO || m->executor == SHMEMX_PLAN_NIC);
}

static bool write_by_nic(struct maker *m, const struct edges *edges)
{
	struct comms_session *session;
	struct comms_edges far;
	int queue;

	if (!plan_wants_nic(m))
		return false;
	far = far_of(m, edges);
	session = open_for_all(m, &far);
	if (session) {
		find_ready_queues(m, edges, far.in);
		comms_session_write_edges(session, &far, &m->plan->ports[0].own);
		queue = plan_queue(m);
		plan_by_nic(m, queue, session);
		for (size_t i = 0; i < edges->count; i++)
			if (!edges->edge[i].near && !edges->edge[i].out)
				plan_await(m, queue,
					   (struct when){&m->plan->ports[edges->edge[i].end.mine].came[0], 1, 1});
		plan_nic_is_done(m, queue);
	}
	free(far.out);
	free(far.in);
	return session;
}

bool plan_edges_end(struct maker *m, struct edges *edges, bool only_by_nic)
{
	bool by_nic = write_by_nic(m, edges);

	if (by_nic || !only_by_nic)
		write_by_commands(m, edges, !by_nic);
	free(edges->edge);
	return by_nic || !only_by_nic;
}
