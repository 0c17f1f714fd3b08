/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on memory of GPUs, through the host. Each piece: members copy their part into the
 * stage, run the collective of the host there, and copy the result out. A barrier follows, because
 * the next piece, or the next collective of the team, may write to a member's stage as soon as it
 * begins on any member. PEs that reach each other's heaps need no stage: gpu_direct.c.
 */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Bytes of a piece of which the stage holds this many; a multiple of the unit. */
static size_t piece_of(size_t stage, size_t parts, size_t unit, const struct set *set)
{
	size_t bytes = stage / parts / unit * unit;

	if (bytes == 0)
		rte_die(set->routine,
			"memory of a GPU on %d PEs: the buffers on the host (%zu bytes for a team) are too small; set "
			"SHMEM_SYMMETRIC_SIZE higher",
			set->group->size, stage);
	return bytes;
}

#define UNIT 64 /* keeps parts of the stage aligned for all types */

void gpu_broadcast(const struct set *set, char *dest, const char *source, size_t bytes, int root, bool root_too)
{
	bool mine = set->group->me == root;
	size_t stage, most;
	char *to = gpu_stage(set, &stage), *from;

	if (gpu_is_direct(set, dest)) {
		gpu_direct_broadcast(set, dest, source, bytes, root, root_too);
		return;
	}
	most = piece_of(stage, 2, UNIT, set);
	from = to + most;
	for (size_t at = 0; at < bytes; at += most) {
		size_t now = least(bytes - at, most);

		if (mine)
			comms.device->copy(from, source + at, now);
		set_broadcast(set, to, from, now, root, false);
		if (!mine)
			comms.device->copy(dest + at, to, now);
		set_sync(set);
	}
	if (mine && root_too && dest != source)
		comms.device->copy(dest, source, bytes);
}

void gpu_fcollect(const struct set *set, char *dest, const char *source, size_t bytes)
{
	size_t n = (size_t)set->group->size, stage, most;
	char *to = gpu_stage(set, &stage), *from;

	if (gpu_is_direct(set, dest)) {
		gpu_direct_fcollect(set, dest, source, bytes);
		return;
	}
	most = piece_of(stage, n + 1, UNIT, set);
	from = to + n * most;
	for (size_t at = 0; at < bytes; at += most) {
		size_t now = least(bytes - at, most);

		comms.device->copy(from, source + at, now);
		set_fcollect(set, to, from, now);
		comms.device->copy_blocks(dest + at, bytes, to, now, now, n);
		set_sync(set);
	}
}

/* The part of a member's block in the piece that begins at this offset of each block. */
static size_t part_of(size_t block, size_t at, size_t most)
{
	return at < block ? least(block - at, most) : 0;
}

static void copy_parts_out(char *dest, const char *from, const uint64_t *bytes, int n, size_t at, size_t most)
{
	for (int i = 0; i < n; i++) {
		size_t now = part_of(bytes[i], at, most);

		comms.device->copy(dest + at, from, now);
		from += now;
		dest += bytes[i];
	}
}

void gpu_collect(const struct set *set, char *dest, const char *source, size_t bytes)
{
	size_t n = (size_t)set->group->size, stage, most, longest = 0;
	uint64_t *blocks = malloc(n * sizeof *blocks), mine = bytes;
	char *to = gpu_stage(set, &stage), *from;

	if (!blocks)
		rte_die(set->routine, "no memory for the sizes of %zu PEs", n);
	most = piece_of(stage, n + 1, UNIT, set);
	from = to + n * most;
	memcpy(from, &mine, sizeof mine);
	set_fcollect(set, to, from, sizeof mine);
	memcpy(blocks, to, n * sizeof *blocks);
	set_sync(set);
	for (size_t i = 0; i < n; i++) {
		longest = blocks[i] > longest ? blocks[i] : longest;
	}
	if (gpu_is_direct(set, dest)) {
		gpu_direct_collect(set, dest, source, blocks);
		longest = 0;
	}
	for (size_t at = 0; at < longest; at += most) {
		size_t now = part_of(bytes, at, most);

		comms.device->copy(from, source + at, now);
		set_collect(set, to, from, now);
		copy_parts_out(dest, to, blocks, (int)n, at, most);
		set_sync(set);
	}
	free(blocks);
}

void gpu_alltoall(const struct set *set, char *dest, const char *source, size_t bytes)
{
	size_t n = (size_t)set->group->size, stage, most;
	char *to = gpu_stage(set, &stage), *from;

	if (gpu_is_direct(set, dest)) {
		gpu_direct_alltoall(set, dest, source, bytes);
		return;
	}
	most = piece_of(stage, 2 * n, UNIT, set);
	from = to + n * most;
	for (size_t at = 0; at < bytes; at += most) {
		size_t now = least(bytes - at, most);

		comms.device->copy_blocks(from, now, source + at, bytes, now, n);
		set_alltoall(set, to, from, now);
		comms.device->copy_blocks(dest + at, bytes, to, now, now, n);
		set_sync(set);
	}
}

/* Elements travel packed. */
void gpu_alltoalls(const struct set *set, char *dest, const char *source, struct set_strided elements)
{
	size_t n = (size_t)set->group->size, size = elements.size, stage, most;
	size_t dst = (size_t)elements.dst * size, sst = (size_t)elements.sst * size;
	char *to = gpu_stage(set, &stage), *from;

	if (elements.dst < 1 || elements.sst < 1)
		rte_die(set->routine, "dst=%td, sst=%td: a stride must be at least 1", elements.dst, elements.sst);
	most = piece_of(stage, 2 * n, size, set) / size;
	from = to + n * most * size;
	for (size_t at = 0; at < elements.count; at += most) {
		size_t now = least(elements.count - at, most);

		for (size_t i = 0; i < n; i++)
			comms.device->copy_blocks(from + i * now * size, size, source + (i * elements.count + at) * sst,
						  sst, size, now);
		set_alltoall(set, to, from, now * size);
		for (size_t i = 0; i < n; i++)
			comms.device->copy_blocks(dest + (i * elements.count + at) * dst, dst, to + i * now * size,
						  size, size, now);
		set_sync(set);
	}
}

/* Collectives that work on each element for itself. run does some of them, from and to the host. */
struct by_elements {
	const struct set *set;
	char *dest;
	const char *source;
	size_t count, size;
	combine_t *combine;
	const struct reduce_narrow *narrow;
	bool inclusive;
	void (*run)(const struct by_elements *e, char *dest, const char *source, size_t count);
};

static void run_by_elements(const struct by_elements *e)
{
	size_t stage, most;
	char *to = gpu_stage(e->set, &stage), *from;

	most = piece_of(stage, 2, UNIT, e->set) / e->size;
	from = to + stage / 2 / UNIT * UNIT;
	for (size_t at = 0; at < e->count; at += most) {
		size_t now = least(e->count - at, most);

		comms.device->copy(from, e->source + at * e->size, now * e->size);
		e->run(e, to, from, now);
		comms.device->copy(e->dest + at * e->size, to, now * e->size);
		set_sync(e->set);
	}
}

static void reduce_piece(const struct by_elements *e, char *dest, const char *source, size_t count)
{
	set_reduce(e->set, dest, source, count, e->size, e->combine);
}

void gpu_reduce(const struct set *set, char *dest, const char *source, size_t count, size_t size, combine_t *combine)
{
	if (count > 0 && gpu_is_direct(set, dest) && gpu_direct_reduce(set, dest, source, count, combine))
		return;
	run_by_elements(&(struct by_elements){.set = set,
					      .dest = dest,
					      .source = source,
					      .count = count,
					      .size = size,
					      .combine = combine,
					      .run = reduce_piece});
}

static void reduce_narrow_piece(const struct by_elements *e, char *dest, const char *source, size_t count)
{
	set_reduce_narrow(e->set, dest, source, count, e->narrow);
}

void gpu_reduce_narrow(const struct set *set, char *dest, const char *source, size_t count,
		       const struct reduce_narrow *narrow)
{
	run_by_elements(&(struct by_elements){.set = set,
					      .dest = dest,
					      .source = source,
					      .count = count,
					      .size = sizeof(uint16_t),
					      .narrow = narrow,
					      .run = reduce_narrow_piece});
}

static void scan_piece(const struct by_elements *e, char *dest, const char *source, size_t count)
{
	set_scan(&(struct scan){e->set, dest, source, count, e->size, e->combine, e->inclusive});
}

void gpu_scan(const struct scan *s)
{
	run_by_elements(&(struct by_elements){.set = s->set,
					      .dest = s->dest,
					      .source = s->source,
					      .count = s->count,
					      .size = s->size,
					      .combine = s->combine,
					      .inclusive = s->inclusive,
					      .run = scan_piece});
}
