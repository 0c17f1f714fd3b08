/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast as a plan. Between nodes data goes down trees like those of shmem/broadcast.c; on a
 * node, the other PEs copy it from the PE that has it. The broadcast ends for a PE when its dest is
 * complete and no PE reads its source or its dest any more.
 */
#include "plans.h"

#define AT_ONCE_UP_TO 65536 /* bytes that are too few for a chain */
#define CHAIN_SEGMENT (128UL << 10)

static struct tree_set agree_on_broadcast_trees(struct maker *m, const struct nodes *nodes, int root)
{
	struct tree_set tree_set = {.kind = BINOMIAL,
				    .nodes = nodes,
				    .root = plan_node_of(nodes, root),
				    .trees = 1,
				    .bytes = m->bytes};
	struct set_trees trees = {0};

	tree_set.root_pe = set_pe(&m->set, root);
	if (nodes->count > 1 && (nodes->levels != NULL) == (m->set.group->levels != NULL))
		trees = set_agree_on_broadcast_trees(&m->set, m->bytes, root);
	tree_set.segment = m->bytes;
	if (trees.tree_choice.trees > 0) {
		plan_tree_set_on_torus(&tree_set, &trees);
	} else if (m->bytes > AT_ONCE_UP_TO) {
		tree_set.kind = CHAIN;
		tree_set.segment = CHAIN_SEGMENT;
	}
	return tree_set;
}

static void write_broadcast(struct maker *m, const struct nodes *nodes, const struct tree_set *tree_set, char *dest,
			    const char *source, int root)
{
	int first = plan_first(nodes, root), end = plan_queue(m);
	bool here = tree_set->root == nodes->mine;

	if (nodes->count > 1 && plan_down_by_nic(m, tree_set, nodes->place == first, end, dest, source)) {
		;
	} else if (nodes->count > 1 && nodes->place == first) {
		plan_down(m, tree_set, dest, source, true, false);
		plan_await_down(m, end, tree_set, false);
	}
	if (nodes->size > 1)
		plan_share(m, nodes, first, end, (struct comms_piece){dest, here ? source : dest, m->bytes});
	if (m->set.group->me == root && dest != source)
		plan_copy(m, plan_queue(m), AT_ONCE, dest, source, m->bytes);
}

/* Choosing trees may remake other plans, so it comes first. */
static bool make_broadcast(struct maker *m, const struct plan_order *order)
{
	struct nodes nodes = plan_nodes(m);
	struct tree_set tree_set = {0};

	if (order->bytes > 0)
		tree_set = agree_on_broadcast_trees(m, &nodes, order->root);
	if (!plan_begin(m, PORTS_NODE + (size_t)nodes.size, 0, 0))
		return false;
	if (order->bytes > 0)
		write_broadcast(m, &nodes, &tree_set, order->dest, order->source, order->root);
	return true;
}

static void check_broadcast(struct maker *m, const struct plan_order *order)
{
	struct set_span dest = {order->dest, m->bytes}, source = {order->source, m->bytes};

	set_check_agreement(&m->set, "the number of bytes", (long)m->bytes, "PE_root", order->root, order->dest);
	if (order->root < 0 || order->root >= m->set.group->size)
		rte_misuse_together(m->set.routine, "PE_root=%d: there are PEs 0 to %d", order->root,
				    m->set.group->size - 1);
	plan_check_data(m, order->dest, m->bytes, order->source, m->bytes);
	set_check_overlap(&m->set, dest, source, true);
}

const struct plan_kind plan_broadcast = {check_broadcast, make_broadcast, .again = true};

API int shmemx_broadcast_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int PE_root,
			      int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, bytes, COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, bytes, __func__);

	return plan_of_kind(&m, &plan_broadcast, (struct plan_order){.dest = dest, .source = source, .root = PE_root},
			    plan);
}
