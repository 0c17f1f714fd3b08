/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast as a plan. Between nodes down trees like shmem/broadcast.c's; on a node, the others take it from the one that has it. It is
 * over for a PE when its dest is right and nobody reads its source, or its dest, any more.
 */
#include "plans.h"

#define AT_ONCE_UP_TO 65536 /* bytes that are not worth a chain */
#define CHAIN_SEGMENT (128UL << 10)

static struct wood choose_wood(struct maker *m, const struct nodes *nodes, int root)
{
	struct wood wood = {.kind = BINOMIAL, .nodes = nodes, .root = plan_node_of(nodes, root), .trees = 1, .bytes = m->bytes};
	struct set_trees trees = {0};

	wood.root_pe = set_pe(&m->set, root);
	if (nodes->count > 1 && (nodes->levels != NULL) == (m->set.group->levels != NULL))
		trees = set_broadcast_trees(&m->set, m->bytes, root);
	wood.segment = m->bytes;
	if (trees.forest.trees > 0) {
		plan_wood_on_torus(&wood, &trees);
	} else if (m->bytes > AT_ONCE_UP_TO) {
		wood.kind = CHAIN;
		wood.segment = CHAIN_SEGMENT;
	}
	return wood;
}

static void write_down(struct maker *m, const struct nodes *nodes, const struct wood *wood, char *dest, const char *source, int root)
{
	int first = plan_first(nodes, root), end = plan_queue(m);
	bool here = wood->root == nodes->mine;

	if (nodes->count > 1 && plan_down_by_card(m, wood, nodes->place == first, end, dest, source)) {
		;
	} else if (nodes->count > 1 && nodes->place == first) {
		plan_down(m, wood, dest, source, true, false);
		plan_await_down(m, end, wood, false);
	}
	if (nodes->size > 1)
		plan_share(m, nodes, first, end, dest, here ? source : dest, m->bytes);
	if (m->set.group->me == root && dest != source)
		plan_copy(m, plan_queue(m), AT_ONCE, dest, source, m->bytes);
}

API int shmemx_broadcast_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int PE_root, int engine,
			      shmemx_plan_t *plan)
{
	COMMS_CALL(__func__, bytes, COMMS_NOBODY);
	struct maker m = plan_maker(team, engine, bytes, __func__);
	struct nodes nodes;
	struct wood wood;

	*plan = SHMEMX_PLAN_INVALID;
	set_check_agreement(&m.set, "the number of bytes", (long)bytes, "PE_root", PE_root, dest);
	if (PE_root < 0 || PE_root >= m.set.group->size)
		rte_die_together(__func__, "PE_root=%d: there are PEs 0 to %d", PE_root, m.set.group->size - 1);
	plan_check_data(&m, dest, bytes, source, bytes);
	set_check_overlap(&m.set, (struct set_span){dest, bytes}, (struct set_span){source, bytes}, true);
	nodes = plan_nodes(&m);
	if (!plan_begin(&m, PORTS_NODE + (size_t)nodes.size, 0, 0))
		return 1;
	if (bytes > 0) {
		wood = choose_wood(&m, &nodes, PE_root);
		write_down(&m, &nodes, &wood, dest, source, PE_root);
	}
	plan_end(&m, plan);
	return 0;
}
