/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather and all-to-all as plans: an edge for every pair of members. An all-gather of several
 * PEs per node, or of much data, goes along a ring of the nodes instead, so that each block uses
 * each link once. If the NIC can carry it, it sends to all members in parallel, over all links.
 */
#include "plans.h"

#include "shmem/gather.h"
#include "shmem/vectors/vectors.h"

#define RING_FROM 65536 /* bytes of the whole dest */

/* The start in this PE's source of the data for each member; with a step of 0 all get the same. */
static bool write_pairs(struct maker *m, char *dest, const char *source, size_t step, bool only_by_nic)
{
	int n = m->set.group->size, me = m->set.group->me;
	struct edges edges;

	plan_edges_begin(m, &edges, 2 * (size_t)n);
	for (int i = 1; i < n; i++) {
		int to = (me + i) % n, from = (me + n - i) % n;

		plan_edge_out(m, &edges, (struct edge_end){set_pe(&m->set, to), (size_t)to, (size_t)me},
			      dest + (size_t)me * m->bytes, source + (size_t)to * step, m->bytes);
		plan_edge_in(m, &edges, (struct edge_end){set_pe(&m->set, from), (size_t)from, (size_t)me},
			     dest + (size_t)from * m->bytes, source + (size_t)me * step, m->bytes);
	}
	if (!plan_edges_end(m, &edges, only_by_nic))
		return false;
	if (dest + (size_t)me * m->bytes != source + (size_t)me * step)
		plan_copy(m, plan_queue(m), AT_ONCE, dest + (size_t)me * m->bytes, source + (size_t)me * step,
			  m->bytes);
	return true;
}

/* --- Along a ring --- */

static int member_of(const struct nodes *nodes, int node, int i)
{
	return nodes->levels ? nodes->levels->places[nodes->levels->first[node] + i] : node;
}

static int members_of(const struct nodes *nodes, int node)
{
	return nodes->levels ? nodes->levels->first[node + 1] - nodes->levels->first[node] : 1;
}

static int leader_of(const struct nodes *nodes, int node)
{
	return set_pe(nodes->set, member_of(nodes, node, 0));
}

/* The members of a node collect their blocks in the leader's dest. */
static void write_node_gather(struct maker *m, const struct nodes *nodes, char *dest, const char *source)
{
	struct port *node = &m->plan->ports[PORTS_NODE];
	int leader = leader_of(nodes, nodes->mine), notify = plan_queue(m), copy = plan_queue(m);

	if (nodes->place > 0) {
		plan_notify(m, notify, leader,
			    (struct when){&plan_port(m, leader, PORTS_NODE + (size_t)nodes->place)->came[0], 1, 1});
		return;
	}
	if (dest + (size_t)m->set.group->me * m->bytes != source)
		plan_copy(m, copy, AT_ONCE, dest + (size_t)m->set.group->me * m->bytes, source, m->bytes);
	for (int i = 1; i < nodes->size; i++)
		plan_copy(m, copy, (struct when){&node[i].came[0], 1, 1},
			  dest + (size_t)member_of(nodes, nodes->mine, i) * m->bytes,
			  plan_here(m, source, plan_node_pe(nodes, i)), m->bytes);
	plan_notify(m, copy, comms.pe, (struct when){&node->own, 1, 1});
}

/*
 * The member of the i-th block in the order in which blocks travel the ring behind a node, its own
 * first.
 */
struct walk {
	const struct nodes *nodes;
	int node, i;
};

static int next_block(struct walk *walk)
{
	int member = member_of(walk->nodes, walk->node, walk->i);

	if (++walk->i == members_of(walk->nodes, walk->node)) {
		walk->i = 0;
		walk->node = (walk->node + walk->nodes->count - 1) % walk->nodes->count;
	}
	return member;
}

/* The number of blocks from a node to the next: all but the next one's own. */
static size_t count_blocks_sent(const struct nodes *nodes, int from)
{
	return (size_t)(nodes->set->group->size - members_of(nodes, (from + 1) % nodes->count));
}

static void write_ring_commands(struct maker *m, const struct nodes *nodes, char *dest, int end)
{
	int n = nodes->count, me = nodes->mine, next = leader_of(nodes, (me + 1) % n),
	    before = leader_of(nodes, (me + n - 1) % n);
	size_t out = count_blocks_sent(nodes, me), in = count_blocks_sent(nodes, (me + n - 1) % n);
	struct walk walk = {nodes, me, 0};
	struct port *mine = m->plan->ports, *theirs = plan_port(m, next, 0);
	int queue = plan_queue(m);

	plan_notify(m, plan_queue(m), before, (struct when){&plan_port(m, before, 0)->answer, 1, 1});
	plan_await(m, queue, (struct when){&mine->answer, 1, 1});
	for (size_t i = 0; i < out; i++) {
		int own = members_of(nodes, me), member = next_block(&walk);
		struct when ready = {&mine[PORTS_NODE].own, 1, 1};

		if (i >= (size_t)own)
			ready = (struct when){&mine->came[(i - (size_t)own) % CAME], (int64_t)in, (int64_t)i - own + 1};
		plan_put(m, queue, ready, next,
			 (struct comms_piece){dest + (size_t)member * m->bytes, dest + (size_t)member * m->bytes,
					      m->bytes},
			 (struct when){&theirs->came[i % CAME], (int64_t)out, (int64_t)i + 1});
	}
	plan_await(m, end, (struct when){&mine[PORTS_NODE].own, 1, 1});
	for (size_t i = in > CAME ? in - CAME : 0; i < in; i++)
		plan_await(m, end, (struct when){&mine->came[i % CAME], (int64_t)in, (int64_t)i + 1});
}

static void write_along_ring(struct maker *m, const struct nodes *nodes, char *dest, const char *source)
{
	int end = plan_queue(m);

	write_node_gather(m, nodes, dest, source);
	if (nodes->place == 0)
		write_ring_commands(m, nodes, dest, end);
	if (nodes->size > 1)
		plan_share(m, nodes, 0, end, (struct comms_piece){dest, dest, (size_t)m->set.group->size * m->bytes});
}

static void check_allgather(struct maker *m, const struct plan_order *order)
{
	set_check_agreement(&m->set, "the number of bytes", (long)m->bytes, NULL, 0, order->dest);
	plan_check_data(m, order->dest, (size_t)m->set.group->size * m->bytes, order->source, m->bytes);
}

static bool make_allgather(struct maker *m, const struct plan_order *order)
{
	struct nodes nodes = plan_nodes(m);
	size_t ports = (size_t)m->set.group->size, all = ports * m->bytes;
	bool ring = nodes.count > 1 && (nodes.levels || all >= RING_FROM);
	struct layout layout = {m->bytes, NULL, 0, m->set.group->size, NULL};

	if (m->bytes > 0 && !plan_wants_nic(m) && gather_agrees_on_torus(&m->set, &layout))
		return plan_gather_by_rings(m, &layout, order->dest, order->source);
	if (ring && ports < PORTS_NODE + (size_t)nodes.size)
		ports = PORTS_NODE + (size_t)nodes.size;
	if (!plan_begin(m, ports, 0, 0))
		return false;
	if (m->bytes > 0 && (nodes.levels || !write_pairs(m, order->dest, order->source, 0, ring)))
		write_along_ring(m, &nodes, order->dest, order->source);
	return true;
}

static void check_alltoall(struct maker *m, const struct plan_order *order)
{
	size_t all = (size_t)m->set.group->size * m->bytes;

	set_check_agreement(&m->set, "the number of bytes", (long)m->bytes, NULL, 0, order->dest);
	plan_check_data(m, order->dest, all, order->source, all);
	set_check_overlap(&m->set, (struct set_span){order->dest, all}, (struct set_span){order->source, all}, false);
}

/* As an alltoallv whose blocks are equal. */
static bool make_alltoall(struct maker *m, const struct plan_order *order)
{
	struct vector blocks = vector_of_equal(&m->set, m->bytes, m->bytes, -1);
	struct plan_order linked = {.dest = order->dest, .source = order->source, .to = &blocks, .from = &blocks};
	size_t longest = plan_agree_on_links(m, &linked);
	bool begun = plan_begin_links(m, (size_t)m->set.group->size, 0, &longest);

	if (begun && longest > 0)
		plan_links_add(m, &linked, longest);
	else if (begun && m->bytes > 0)
		write_pairs(m, order->dest, order->source, m->bytes, false);
	vector_free(&blocks);
	return begun;
}

const struct plan_kind plan_allgather = {check_allgather, make_allgather, .again = false};
const struct plan_kind plan_alltoall = {check_alltoall, make_alltoall, .again = false};

API int shmemx_allgather_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int executor,
			      shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, bytes, COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, bytes, __func__);

	return plan_of_kind(&m, &plan_allgather, (struct plan_order){.dest = dest, .source = source}, plan);
}

API int shmemx_alltoall_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int executor,
			     shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, bytes, COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, bytes, __func__);

	return plan_of_kind(&m, &plan_alltoall, (struct plan_order){.dest = dest, .source = source}, plan);
}
