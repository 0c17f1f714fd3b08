/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions as plans: to a root, or for all.
 *
 * On a node each PE combines one part of all sources, in memory that all reach: on a single node,
 * into its own dest and from there to the others'; otherwise into the dest of the node's leader.
 * This works in place, too: each part begins with the data that its result overwrites.
 *
 * Between nodes the result goes up trees, which combine it, and, if all PEs get it, down again,
 * each segment as soon as the root has it. Slots stage segments going up. The parent notifies the
 * child of the number it has read, in all runs, so a child may be ahead by as many segments as
 * there are slots. Going down needs no such credit: when a segment arrives, the parent has already
 * read this PE's contribution to it. An all-reduce uses the rings of a torus if the collective does
 * (plan_rings.c).
 */
#include "plans.h"

#include "shmem/numbers/divide.h"

#define STRIP (64UL << 10)  /* bytes combined at a time */
#define AT_ONCE_UP_TO 16384 /* bytes that are too few for a chain */
#define CHAIN_SEGMENT (64UL << 10)
#define STAGING (512UL << 10)
#define MOST_SLOTS 16

struct reduction {
	struct maker *m;
	struct nodes nodes;
	struct tree_set tree_set;
	size_t slots;
	bool by_rings; /* between nodes, instead of the trees */
	int root;      /* -1: all */
	int first;     /* index of the leader on this node */
	char *dest;
	const char *source;
	size_t count, size;
	combine_t *combine;
};

/* --- On a node --- */

static size_t node_part_begin(const struct reduction *r, int place)
{
	size_t n = (size_t)r->nodes.size, each = r->count / n, left = r->count % n;

	return each * (size_t)place + ((size_t)place < left ? (size_t)place : left);
}

static struct when node_port(const struct reduction *r, int place, int which)
{
	return (struct when){&r->m->plan->ports[PORTS_NODE + place].came[which], 1, 1};
}

static void notify_about_place(const struct reduction *r, int queue, int place, int which)
{
	int pe = plan_node_pe(&r->nodes, place);
	struct port *theirs = plan_port(r->m, pe, PORTS_NODE + (size_t)r->nodes.place);

	plan_notify(r->m, queue, pe, (struct when){&theirs->came[which], 1, 1});
}

static bool for_all_here(const struct reduction *r)
{
	return r->root < 0 && r->nodes.count == 1;
}

/*
 * Combines the elements of a strip, beginning with the source of the PE whose dest gets the result.
 */
static void write_strip(const struct reduction *r, int queue, size_t at, size_t count)
{
	int n = r->nodes.size, to = for_all_here(r) ? r->nodes.place : r->first;
	char *out = (char *)plan_here(r->m, r->dest, plan_node_pe(&r->nodes, to)) + at;
	const char *so_far = (const char *)plan_here(r->m, r->source, plan_node_pe(&r->nodes, to)) + at;

	for (int i = 1; i < n; i++) {
		const char *with = (const char *)plan_here(r->m, r->source, plan_node_pe(&r->nodes, (to + i) % n)) + at;

		plan_combine(r->m, queue, AT_ONCE, &(struct combination){out, so_far, with, count, r->combine});
		so_far = out;
	}
	for (int i = 1; for_all_here(r) && i < n; i++)
		plan_copy(r->m, queue, AT_ONCE,
			  (char *)plan_here(r->m, r->dest, plan_node_pe(&r->nodes, (to + i) % n)) + at, out,
			  count * r->size);
}

static void await_places(const struct reduction *r, int queue, int which)
{
	for (int i = 0; i < r->nodes.size; i++)
		if (i != r->nodes.place)
			plan_await(r->m, queue, node_port(r, i, which));
}

static void combine_on_node(const struct reduction *r)
{
	int notify = plan_queue(r->m), work = plan_queue(r->m), me = r->nodes.place;
	size_t end = node_part_begin(r, me + 1), most = STRIP / r->size;

	for (int i = 0; i < r->nodes.size; i++)
		if (i != me)
			notify_about_place(r, notify, i, 0);
	await_places(r, work, 0);
	for (size_t at = node_part_begin(r, me); at < end; at += most)
		write_strip(r, work, at * r->size, end - at < most ? end - at : most);
	for (int i = 0; i < r->nodes.size; i++)
		if (i != me && (for_all_here(r) || i == r->first))
			notify_about_place(r, work, i, 1);
	if (for_all_here(r) || me == r->first)
		await_places(r, work, 1);
	if (me == r->first)
		plan_notify(r->m, work, comms.pe, (struct when){&r->m->plan->ports[PORTS_NODE + me].own, 1, 1});
}

/* The result of this node is in its leader's dest. */
static struct when node_done(const struct reduction *r)
{
	return r->nodes.size > 1 ? (struct when){&r->m->plan->ports[PORTS_NODE + r->first].own, 1, 1} : AT_ONCE;
}

/* --- Between nodes --- */

/* By the rules of the collective. Sets by_rings. */
static struct tree_set agree_on_reduce_trees(struct reduction *r)
{
	const struct nodes *nodes = &r->nodes;
	struct maker *m = r->m;
	int root = r->root;
	struct tree_set tree_set = {.kind = BINOMIAL, .nodes = nodes, .trees = 1, .bytes = m->bytes};
	struct set_trees trees = {0};

	tree_set.root = root < 0 ? 0 : plan_node_of(nodes, root);
	if ((nodes->levels != NULL) == (m->set.group->levels != NULL)) {
		trees = set_agree_on_reduce_trees(&m->set, m->bytes, true, root < 0 ? -1 : tree_set.root);
		r->by_rings = root < 0 && set_agree_on_ring_allreduce(&m->set, m->bytes, true, &trees.tree_choice);
	}
	if (root < 0 && trees.tree_choice.trees > 0)
		tree_set.root = m->set.team->topology->sites.node[torus_topology_middle(m->set.team->topology)];
	tree_set.segment = (m->bytes + 63) / 64 * 64;
	if (trees.tree_choice.trees > 0) {
		plan_tree_set_on_torus(&tree_set, &trees);
	} else if (m->bytes > AT_ONCE_UP_TO) {
		tree_set.kind = CHAIN;
		tree_set.segment = CHAIN_SEGMENT;
	}
	if (root >= 0)
		tree_set.root_pe = set_pe(&m->set, root);
	else
		tree_set.root_pe = nodes->levels ? comms_group_pe(&nodes->levels->leaders, tree_set.root)
						 : set_pe(&m->set, tree_set.root);
	return tree_set;
}

static size_t slots_of(const struct tree_set *tree_set)
{
	size_t directions = plan_tree_set_directions(tree_set), slots = STAGING / (directions * tree_set->segment);

	if (slots < 2)
		slots = 2;
	return slots < MOST_SLOTS ? slots : MOST_SLOTS;
}

/* The slot in a PE's staging for segment i of an edge. */
static char *slot_address(const struct reduction *r, int pe, int port, size_t i)
{
	return plan_staging(r->m, pe) + ((size_t)port * r->slots + i % r->slots) * r->tree_set.segment;
}

static void write_from_child(const struct reduction *r, int queue, const struct tree_node *tree_node,
			     struct tree_edge child, size_t i, const char *so_far)
{
	int64_t n = (int64_t)tree_node->segments, nth = (int64_t)i + 1;
	size_t at = tree_node->at + i * r->tree_set.segment, port = PORTS_UP + (size_t)child.port;

	plan_combine(r->m, queue, (struct when){&r->m->plan->ports[port].came[i % CAME], n, nth},
		     &(struct combination){r->dest + at, so_far, slot_address(r, comms.pe, child.port, i),
					   tree_node_bytes(&r->tree_set, tree_node, i) / r->size, r->combine});
	if ((i + 1) % (r->slots / 2) == 0 || i + 1 == tree_node->segments)
		plan_notify(r->m, queue, child.pe, (struct when){&plan_port(r->m, child.pe, port)->answer, n, nth});
}

/*
 * Waits until the parent has read the earlier segment in the slot of segment i, from this run or
 * the run before.
 */
static struct when slot_free(const struct reduction *r, const struct tree_node *tree_node, size_t i)
{
	int64_t n = (int64_t)tree_node->segments, slots = (int64_t)r->slots, nth = (int64_t)i + 1 - slots;

	if (nth <= 0)
		nth = (int64_t)i + 1 + (n - 1 - (int64_t)i) / slots * slots - n;
	return (struct when){&r->m->plan->ports[PORTS_UP + tree_node->parent.port].answer, n, nth};
}

static void write_to_parent(const struct reduction *r, int queue, const struct tree_node *tree_node, size_t i,
			    const char *data)
{
	int64_t n = (int64_t)tree_node->segments, nth = (int64_t)i + 1;
	size_t port = PORTS_UP + (size_t)tree_node->parent.port;
	struct port *theirs = plan_port(r->m, tree_node->parent.pe, port);

	plan_put(r->m, queue, slot_free(r, tree_node, i), tree_node->parent.pe,
		 (struct comms_piece){slot_address(r, tree_node->parent.pe, tree_node->parent.port, i), data,
				      tree_node_bytes(&r->tree_set, tree_node, i)},
		 (struct when){&theirs->came[i % CAME], n, nth});
}

static void write_up_tree(const struct reduction *r, int tree)
{
	const char *brought = r->nodes.size > 1 ? r->dest : r->source;
	struct tree_node tree_node = plan_tree_node(&r->tree_set, tree);
	int queue = plan_queue(r->m);

	if (node_done(r).word)
		plan_await(r->m, queue, node_done(r));
	for (size_t i = 0; i < tree_node.segments; i++) {
		size_t at = tree_node.at + i * r->tree_set.segment;
		const char *so_far = brought + at;

		for (int c = 0; c < tree_node.children; c++, so_far = r->dest + at)
			write_from_child(r, queue, &tree_node, tree_node.child[c], i, so_far);
		if (tree_node.parent.pe >= 0)
			write_to_parent(r, queue, &tree_node, i, so_far);
		else
			plan_notify(r->m, queue, comms.pe,
				    (struct when){&r->m->plan->ports[tree].own, (int64_t)tree_node.segments,
						  (int64_t)i + 1});
	}
}

/* --- All of it --- */

/* In a reduction to a root, the others on a node only wait until their sources have been read. */
static void write_sources_read(const struct reduction *r, int end)
{
	if (r->nodes.place != r->first) {
		plan_await(r->m, end, node_port(r, r->first, 2));
		return;
	}
	plan_await(r->m, end, node_done(r));
	for (int i = 0; i < r->nodes.size; i++)
		if (i != r->first)
			notify_about_place(r, end, i, 2);
}

static void write_rings(const struct reduction *r, int end)
{
	if (node_done(r).word)
		plan_await(r->m, end, node_done(r));
	plan_rings_add(r->m, end,
		       &(struct plan_rings){r->dest, r->nodes.size > 1 ? r->dest : r->source, r->combine, r->size,
					    false});
}

static void write_between(const struct reduction *r, int end)
{
	if (r->by_rings) {
		write_rings(r, end);
		return;
	}
	for (int t = 0; t < r->tree_set.trees; t++)
		write_up_tree(r, t);
	if (r->root >= 0)
		return;
	plan_down(r->m, &r->tree_set, r->dest, r->dest, false, true);
	plan_await_down(r->m, end, &r->tree_set, true);
}

static void write_reduction(const struct reduction *r)
{
	int end = plan_queue(r->m);

	if (r->nodes.size > 1)
		combine_on_node(r);
	if (r->nodes.count > 1 && r->nodes.place == r->first)
		write_between(r, end);
	if (r->nodes.size > 1 && r->root >= 0)
		write_sources_read(r, end);
	else if (r->nodes.size > 1 && !for_all_here(r))
		plan_share(r->m, &r->nodes, r->first, end, (struct comms_piece){r->dest, r->dest, r->m->bytes});
	if (r->m->set.group->size == 1 && r->dest != r->source)
		plan_copy(r->m, plan_queue(r->m), AT_ONCE, r->dest, r->source, r->m->bytes);
}

static bool make_reduction(struct maker *m, const struct plan_order *order)
{
	struct reduction r = {.m = m,
			      .nodes = plan_nodes(m),
			      .root = order->root,
			      .dest = order->dest,
			      .source = order->source,
			      .count = order->count};
	size_t staging = 0;

	if (order->op == SHMEMX_AVG && narrow_of_type((shmemx_type_t)order->type))
		r.source = r.dest; /* where a start puts what it has divided */
	r.combine = set_combine((shmemx_op_t)order->op, (shmemx_type_t)order->type, &r.size);
	r.first = plan_first(&r.nodes, r.root);
	if (m->bytes > 0 && r.nodes.count > 1) {
		r.tree_set = agree_on_reduce_trees(&r);
		r.slots = slots_of(&r.tree_set);
		staging = r.by_rings ? plan_rings_staging(m, false)
				     : plan_tree_set_directions(&r.tree_set) * r.slots * r.tree_set.segment;
	}
	if (!plan_begin(m, PORTS_NODE + (size_t)r.nodes.size, staging, 0))
		return false;
	if (m->bytes > 0)
		write_reduction(&r);
	return true;
}

static void check_reduction(struct maker *m, const struct plan_order *order)
{
	struct set_span dest = {order->dest, m->bytes}, source = {order->source, m->bytes};

	set_check_agreement(&m->set, "the number of elements", (long)order->count, "PE_root", order->root, order->dest);
	set_check_agreement(&m->set, "op", order->op, "type", order->type, NULL);
	plan_check_data(m, order->dest, m->bytes, order->source, m->bytes);
	set_check_overlap(&m->set, dest, source, true);
}

const struct plan_kind plan_reduction = {check_reduction, make_reduction, .again = true, .divides = true};

combine_t *plan_operation(const struct plan_order *order, size_t *size, const char *routine)
{
	combine_t *combine;

	*size = 0;
	combine = set_combine((shmemx_op_t)order->op, (shmemx_type_t)order->type, size);
	if (!combine)
		rte_misuse_together(routine,
				    "op=%d, type=%d: there is no such reduction; give SHMEMX_SUM and the like for an "
				    "operation that the type has",
				    order->op, order->type);
	return combine;
}

static size_t reduction_bytes(const struct plan_order *order, const char *routine)
{
	size_t size;

	plan_operation(order, &size, routine);
	return order->count * size;
}

API int shmemx_reduce_init(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			   shmemx_op_t op, int PE_root, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nreduce, COMMS_NOBODY);
	struct plan_order order =
		{.dest = dest, .source = source, .count = nreduce, .root = PE_root, .op = (int)op, .type = (int)type};
	struct maker m = plan_maker(team, executor, reduction_bytes(&order, __func__), __func__);

	if (PE_root < 0 || PE_root >= m.set.group->size)
		rte_misuse_together(__func__, "PE_root=%d: there are PEs 0 to %d", PE_root, m.set.group->size - 1);
	return plan_of_kind(&m, &plan_reduction, order, plan);
}

API int shmemx_allreduce_init(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			      shmemx_op_t op, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nreduce, COMMS_NOBODY);
	struct plan_order order =
		{.dest = dest, .source = source, .count = nreduce, .root = -1, .op = (int)op, .type = (int)type};
	struct maker m = plan_maker(team, executor, reduction_bytes(&order, __func__), __func__);

	return plan_of_kind(&m, &plan_reduction, order, plan);
}
