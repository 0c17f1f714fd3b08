/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, scatter, and all-gather and all-to-all of blocks that differ in size, as plans: an edge
 * for every pair of members that have something for each other. All four are the same here: blocks
 * in dest and in source, by member. So that source may be a part of dest, or the reverse, and
 * differ between members, each shows the others where its blocks are. On a torus the last two go
 * from neighbour to neighbour where the collectives do (plan_rings.c, plan_links.c).
 */
#include "plans.h"

#include "shmem/gather.h"
#include "shmem/vectors/vectors.h"

/* order.op: what the program passes */
enum { PASSES_NELEMS, PASSES_COUNTS, PASSES_TWO };

/* What a member shows of its blocks from and for another one. */
struct shown {
	struct spot to, from;
	size_t to_bytes, from_bytes;
};

static char *block_in(const struct plan_order *order, int member)
{
	return (char *)order->dest + order->to->at[member];
}

static const char *block_out(const struct plan_order *order, int member)
{
	return (const char *)order->source + order->from->at[member];
}

static void show_blocks(const struct maker *m, const struct plan_order *order)
{
	struct shown *mine = (struct shown *)(void *)m->plan->staging;

	for (int i = 0; i < m->set.group->size; i++) {
		size_t to = order->to->bytes[i], from = order->from->bytes[i];

		mine[i] = (struct shown){spot_of(block_in(order, i), to), spot_of(block_out(order, i), from), to, from};
	}
	set_sync(&m->set);
}

static struct shown shown_by(struct maker *m, int member)
{
	int pe = set_pe(&m->set, member);
	struct shown shown = {.to_bytes = 0}; /* nothing comes in a broken job */

	comms_get(&shown, plan_staging(m, pe) + (size_t)m->set.group->me * sizeof shown, sizeof shown, pe,
		  m->set.routine);
	return shown;
}

static void check_pair(const struct maker *m, const struct plan_order *order, int member, size_t theirs)
{
	vectors_check_pair(&(struct vector_pair){&m->set, member, order->from->bytes[member], theirs,
						 (shmemx_type_t)order->type, order->op == PASSES_TWO});
}

/*
 * Whether an edge is near depends on the location of the giver's data. Ports have the other's
 * number.
 */
static void add_pair(struct maker *m, struct edges *edges, const struct plan_order *order, int member)
{
	struct shown theirs = shown_by(m, member);
	struct edge_end end = {set_pe(&m->set, member), (size_t)member, (size_t)m->set.group->me};
	size_t out = order->from->bytes[member];

	check_pair(m, order, member, theirs.to_bytes);
	if (rte_is_broken())
		return;
	if (theirs.from_bytes > 0) {
		m->near = comms_shared((enum comms_segment_id)theirs.from.segment);
		plan_edge_in(m, edges, end, block_in(order, member), spot_address(&theirs.from), theirs.from_bytes);
	}
	if (out > 0) {
		m->near = comms_shared(comms_find_segment(block_out(order, member)));
		plan_edge_out(m, edges, end, spot_address(&theirs.to), block_out(order, member), out);
	}
}

static void write_pairs(struct maker *m, const struct plan_order *order)
{
	int n = m->set.group->size, me = m->set.group->me;
	struct edges edges;

	plan_edges_begin(m, &edges, 2 * (size_t)n);
	for (int k = 1; k < n; k++)
		add_pair(m, &edges, order, (me + k) % n);
	check_pair(m, order, me, order->to->bytes[me]);
	plan_edges_end(m, &edges, false);
	if (order->to->bytes[me] > 0 && block_in(order, me) != block_out(order, me))
		plan_copy(m, plan_queue(m), AT_ONCE, block_in(order, me), block_out(order, me), order->to->bytes[me]);
}

static void check_pairs(struct maker *m, const struct plan_order *order)
{
	int n = m->set.group->size, me = m->set.group->me;

	for (int i = 0; i < n; i++)
		check_pair(m, order, i, i == me ? order->to->bytes[me] : shown_by(m, i).to_bytes);
	set_sync(&m->set); /* all have read what this member shows */
}

/* What members show each other is where the words and slots of a torus are then. */
static bool make_vectors(struct maker *m, const struct plan_order *order)
{
	int n = m->set.group->size;
	struct layout layout = {.at = order->to->at, .last = n, .bytes = order->to->bytes};
	size_t longest = 0;

	if (order->op == PASSES_COUNTS && order->to->sum > 0 && !plan_wants_nic(m) &&
	    gather_agrees_on_torus(&m->set, &layout))
		return plan_gather_by_rings(m, &layout, order->dest, order->source);
	if (order->op == PASSES_TWO)
		longest = plan_agree_on_links(m, order);
	if (!plan_begin_links(m, (size_t)n, (size_t)n * sizeof(struct shown), &longest))
		return false;
	show_blocks(m, order);
	if (longest > 0) {
		check_pairs(m, order);
		plan_links_add(m, order, longest);
	} else {
		write_pairs(m, order);
	}
	return true;
}

/* This member's own block may be in its place. */
static void check_vectors(struct maker *m, const struct plan_order *order)
{
	struct set_span dest = {order->dest, order->to->end}, source = {order->source, order->from->end};
	int me = m->set.group->me;

	set_check_agreement(&m->set, "PE_root", order->root,
			    order->op == PASSES_NELEMS ? "nelems" : "the checksum of counts and displacements",
			    (long)order->count, NULL);
	plan_check_data(m, dest.data, dest.bytes, source.data, source.bytes);
	if (block_in(order, me) != block_out(order, me))
		set_check_overlap(&m->set, dest, source, false);
}

const struct plan_kind plan_vectors = {check_vectors, make_vectors, .again = false};

/* Takes the vectors. */
static int init_vectors(struct maker *m, struct plan_order order, struct vector to, struct vector from,
			shmemx_plan_t *plan)
{
	int status;

	order.to = &to;
	order.from = &from;
	m->bytes = to.sum > from.sum ? to.sum : from.sum;
	status = plan_of_kind(m, &plan_vectors, order, plan);
	vector_free(&to);
	vector_free(&from);
	return status;
}

API int shmemx_gather_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			   int PE_root, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, 0, __func__);
	struct plan_order order = {.dest = dest, .source = source, .type = (int)type, .root = PE_root};
	struct vectors_rooted blocks = vectors_gather(&m.set, nelems, type, PE_root);

	order.count = nelems;
	return init_vectors(&m, order, blocks.to, blocks.from, plan);
}

API int shmemx_scatter_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			    int PE_root, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, 0, __func__);
	struct plan_order order = {.dest = dest, .source = source, .type = (int)type, .root = PE_root};
	struct vectors_rooted blocks = vectors_scatter(&m.set, nelems, type, PE_root);

	order.count = nelems;
	return init_vectors(&m, order, blocks.to, blocks.from, plan);
}

API int shmemx_allgatherv_init(shmem_team_t team, void *dest, const void *source, const size_t *counts,
			       const size_t *displs, shmemx_type_t type, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, vectors_counted(team, counts, type, false), COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, 0, __func__);
	struct plan_order order = {.dest = dest, .source = source, .type = (int)type, .op = PASSES_COUNTS};
	struct vector to = vector_make(&m.set, &(struct vector_arguments){counts, displs, type, "dest"});

	order.count = (size_t)vector_checksum(&to, m.set.group->size);
	return init_vectors(&m, order, to, vector_of_equal(&m.set, to.bytes[m.set.group->me], 0, -1), plan);
}

API int shmemx_alltoallv_init(shmem_team_t team, void *dest, const void *source, const size_t *dest_counts,
			      const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			      shmemx_type_t type, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, vectors_counted(team, source_counts, type, true), COMMS_NOBODY);
	struct maker m = plan_maker(team, executor, 0, __func__);
	struct plan_order order = {.dest = dest, .source = source, .type = (int)type, .op = PASSES_TWO};

	return init_vectors(&m, order,
			    vector_make(&m.set, &(struct vector_arguments){dest_counts, dest_displs, type, "dest"}),
			    vector_make(&m.set,
					&(struct vector_arguments){source_counts, source_displs, type, "source"}),
			    plan);
}
