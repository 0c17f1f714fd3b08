/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter: member i gets the i-th block of the result. Each block is computed by the member
 * that gets it, from the sources of all, which it loads or gets window by window: so every byte
 * crosses once, and the result needs no second step. Few elements are reduced as a whole instead,
 * in a copy, because then the number of messages counts. On a torus with one member to a node,
 * blocks travel the ring schedule backwards and are combined on the way: then a byte crosses each
 * link once, and not all links of a route.
 */
#include <stdlib.h>
#include <string.h>

#include "divide.h"
#include "shmem/operators.h"
#include "shmem/reduce.h"
#include "comms/collectives/torus_allreduce.h"

struct block {
	char *dest;
	size_t count;
};

static void copy_block(char *dest, const char *source, size_t bytes)
{
	if (dest != source)
		memcpy(dest, source, bytes);
}

static void reduce_whole(struct reduction *r, const struct block *block)
{
	size_t bytes = block->count * r->size, mine = bytes * (size_t)r->set->group->me;
	_Alignas(64) char all[ROW_BYTES];

	memcpy(all, r->source, r->count * r->size);
	r->dest = all;
	r->source = all;
	if (r->narrow)
		narrow_reduce_small(r);
	else
		reduce_small(r);
	copy_block(block->dest, all + mine, bytes);
}

/* Elements of this member's block: source is where they begin in everybody's source. */
static void reduce_window(const struct reduction *r, char *dest, const char *source, size_t count, void *window)
{
	int n = r->set->group->size, me = r->set->group->me;
	float *sum = r->narrow ? narrow_sum_begin(r, source, count) : NULL;
	char *acc = sum ? (char *)sum : dest;

	if (!sum)
		copy_block(dest, source, count * r->size);
	for (int i = 1; i < n; i++)
		reduce_member(r, (me + i) % n, acc, source, count, window);
	if (sum)
		narrow_sum_end(r, dest, sum, count);
}

static void reduce_block(const struct reduction *r, const struct block *block)
{
	size_t most = REDUCE_WINDOW / r->size, mine = block->count * r->size * (size_t)r->set->group->me;
	void *window = malloc(REDUCE_WINDOW);

	if (!window)
		rte_die(r->set->routine, "no memory for a buffer of %lu bytes", REDUCE_WINDOW);
	set_sync(r->set);
	for (size_t at = 0; at < block->count; at += most)
		reduce_window(r, block->dest + at * r->size, r->source + mine + at * r->size,
			      block->count - at < most ? block->count - at : most, window);
	set_sync(r->set);
	free(window);
}

/* Nodes are members here. 16-bit numbers are combined as such, so an average divides first. */
static void reduce_along_rings(struct reduction *r, const struct block *block)
{
	struct shmemx_team *team = r->set->team;
	const struct torus_topology *topology = team->topology;
	struct torus_area *area = team_torus(team);
	int places = topology->sites.shape.places;
	bool divides = r->narrow && r->narrow->divisor > 1;
	size_t bytes = block->count * r->size, *blocks = malloc((size_t)places * sizeof *blocks);
	char *divided = divides ? malloc(r->count * r->size) : NULL;

	if (!blocks || (divides && !divided))
		rte_die(r->set->routine, "no memory for a copy of %zu bytes", r->count * r->size);
	for (int p = 0; p < places; p++)
		blocks[p] = (size_t)topology->sites.node[p] * bytes;
	r->dest = divided;
	if (divides)
		narrow_divide_first(r);
	torus_reduce_scatter(&(struct torus_ring_allreduce){
		.topology = topology,
		.number = ++team->torus_collectives,
		.room = {&area->up, &area->across, area->staging, NULL},
		.source = r->source,
		.bytes = r->count * r->size,
		.combine = r->combine,
		.element = r->size,
		.routine = r->set->routine,
		.blocks = blocks,
		.own = block->dest,
	});
	free(divided);
	free(blocks);
}

static void check_arguments(const struct reduction *r, const struct block *block, shmemx_type_t type, shmemx_op_t op)
{
	const struct set *set = r->set;
	size_t bytes = block->count * r->size, all = r->count * r->size;

	set_note(set, block->dest, bytes, r->source, all);
	set_check_agreement(set, "the number of elements", (long)block->count, NULL, 0, NULL);
	set_check_agreement(set, "op", (long)op, "type", (long)type, NULL);
	if (block->count == 0 || rte_is_broken() || !comms_check_symmetric(r->source, all, "source", set->routine))
		return;
	if (block->dest != r->source + bytes * (size_t)set->group->me)
		set_check_overlap(set, (struct set_span){block->dest, bytes}, (struct set_span){r->source, all}, false);
}

static void reduce_scatter(struct reduction *r, const struct block *block)
{
	if (block->count == 0 || rte_is_broken())
		return;
	comms_group_prepare(r->set->group);
	if (r->count * r->size <= ROW_BYTES)
		reduce_whole(r, block);
	else if (set_agree_on_ring_reduce_scatter(r->set, block->count * r->size))
		reduce_along_rings(r, block);
	else
		reduce_block(r, block);
}

API int shmemx_reduce_scatter(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			      shmemx_op_t op)
{
	COMMS_CALL_OR(1, __func__, nreduce, COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct block block = {dest, nreduce};
	struct reduction r = {.set = &set, .source = source, .count = nreduce * (size_t)set.group->size};
	const struct narrow *narrow = narrow_of_type(type);
	struct reduce_narrow as_floats;

	r.combine = set_combine(op, type, &r.size);
	if (!r.combine)
		rte_misuse_together(__func__,
				    "op=%d, type=%d: there is no such reduction; give SHMEMX_SUM and the like for an "
				    "operation that the type has",
				    (int)op, (int)type);
	if (rte_is_broken())
		return 1;
	check_arguments(&r, &block, type, op);
	if (narrow && op != SHMEMX_MIN && op != SHMEMX_MAX) {
		as_floats = (struct reduce_narrow){narrow, r.combine,
						   op == SHMEMX_PROD ? combine_float_prod : combine_float_sum,
						   op == SHMEMX_AVG ? set.group->size : 1};
		r.narrow = &as_floats;
	}
	reduce_scatter(&r, &block);
	if (op == SHMEMX_AVG && !narrow && !rte_is_broken())
		numbers_divide((struct numbers){type, nreduce}, dest, dest, set.group->size);
	return rte_is_broken();
}
