/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange with neighbours as a plan: the edges that the user gives, each with a port. The ends
 * find each other as in a neighbour exchange: each publishes one station per edge, and checks that
 * the other end's fits.
 */
#include "plans.h"

struct station {
	int64_t pe, edge; /* of the other end */
	uint64_t send_bytes, receive_bytes;
	struct spot source, dest;
};

static void check_neighbours(const struct maker *m, const shmemx_neighbour_t *edges, int n_edges)
{
	const char *routine = m->set.routine;

	if (n_edges < 0)
		rte_misuse(routine, "n_edges=%d is negative", n_edges);
	for (int i = 0; i < n_edges && !rte_is_broken(); i++) {
		if ((unsigned)edges[i].pe >= (unsigned)m->set.group->size)
			rte_misuse(routine, "edges[%d].pe=%d: the team has PEs 0 to %d", i, edges[i].pe,
				   m->set.group->size - 1);
		if (edges[i].edge < 0)
			rte_misuse(routine, "edges[%d].edge=%d is negative", i, edges[i].edge);
		if (edges[i].send_bytes > 0)
			comms_check_symmetric(edges[i].source, edges[i].send_bytes, "source", routine);
		if (edges[i].receive_bytes > 0)
			comms_check_symmetric(edges[i].dest, edges[i].receive_bytes, "dest", routine);
	}
}

static void publish_ends(const struct maker *m, const shmemx_neighbour_t *edges, int n_edges)
{
	struct station *mine = (struct station *)m->plan->staging;

	for (int i = 0; i < n_edges; i++)
		mine[i] = (struct station){.pe = set_pe(&m->set, edges[i].pe),
					   .edge = edges[i].edge,
					   .send_bytes = edges[i].send_bytes,
					   .receive_bytes = edges[i].receive_bytes,
					   .source = spot_of(edges[i].source, edges[i].send_bytes),
					   .dest = spot_of(edges[i].dest, edges[i].receive_bytes)};
}

static void check_end(const struct maker *m, int i, int pe, const struct station *mine, const struct station *theirs)
{
	if (theirs->pe != comms.pe || theirs->edge != i) {
		api_let_lower_speak(pe);
		rte_misuse(m->set.routine,
			   "edges[%d] leads to edge %d of PE %d, but that one leads to edge %d of PE %d", i,
			   (int)mine->edge, pe, (int)theirs->edge, (int)theirs->pe);
	} else if (theirs->receive_bytes != mine->send_bytes)
		rte_misuse(m->set.routine,
			   "edges[%d].send_bytes=%zu, but PE %d receives %zu bytes on that edge; give the same", i,
			   (size_t)mine->send_bytes, pe, (size_t)theirs->receive_bytes);
}

static struct station find_other_end(struct maker *m, int i)
{
	const struct station *mine = (struct station *)m->plan->staging + i;
	const struct plan_block *block = plan_block_of(m, (int)mine->pe);
	struct station theirs = {.pe = -1};

	if (rte_is_broken())
		return theirs;
	if (mine->edge >= (int64_t)block->edges) {
		api_let_lower_speak((int)mine->pe);
		rte_misuse(m->set.routine, "edges[%d].edge=%d, but PE %d has no such edge", i, (int)mine->edge,
			   (int)mine->pe);
		return theirs;
	}
	comms_get(&theirs, plan_staging(m, (int)mine->pe) + (size_t)mine->edge * sizeof theirs, sizeof theirs,
		  (int)mine->pe, m->set.routine);
	if (!rte_is_broken())
		check_end(m, i, (int)mine->pe, mine, &theirs);
	return theirs;
}

/* Whether an edge is near depends on the location of the giver's data. */
static void write_neighbour(struct maker *m, struct edges *edges, int i)
{
	const struct station *mine = (struct station *)m->plan->staging + i;
	struct station theirs = find_other_end(m, i);
	struct edge_end end = {(int)mine->pe, (size_t)i, (size_t)mine->edge};

	if (rte_is_broken()) /* the other end may be missing */
		return;
	if (mine->receive_bytes > 0) {
		m->near = comms_shared((enum comms_segment_id)theirs.source.segment);
		plan_edge_in(m, edges, end, spot_address(&mine->dest), spot_address(&theirs.source),
			     mine->receive_bytes);
	}
	if (mine->send_bytes > 0) {
		m->near = comms_shared((enum comms_segment_id)mine->source.segment);
		plan_edge_out(m, edges, end, spot_address(&theirs.dest), spot_address(&mine->source), mine->send_bytes);
	}
}

API int shmemx_neighbours_init(shmem_team_t team, const shmemx_neighbour_t *edges, int n_edges, int executor,
			       shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, 0, __func__);
	struct edges queues;

	*plan = SHMEMX_PLAN_INVALID;
	check_neighbours(&m, edges, n_edges);
	if (rte_is_broken())
		return 1;
	for (int i = 0; i < n_edges; i++)
		m.bytes += edges[i].receive_bytes;
	if (!plan_begin(&m, (size_t)n_edges, (size_t)n_edges * sizeof(struct station), (size_t)n_edges))
		return 1;
	publish_ends(&m, edges, n_edges);
	set_sync(&m.set);
	plan_edges_begin(&m, &queues, 2 * (size_t)n_edges);
	for (int i = 0; i < n_edges; i++)
		write_neighbour(&m, &queues, i);
	plan_edges_end(&m, &queues, false);
	return plan_end(&m, plan) ? 0 : 1;
}
