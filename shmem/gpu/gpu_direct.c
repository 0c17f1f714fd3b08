/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of PEs that reach each other's heaps on the GPU: members copy straight into the dest
 * of the others, or, in a reduction, let the GPU combine the sources of all.
 */
#include "gpu.h"

#include <pthread.h>

#include "comms/gpu/gpu.h"
#include "shmem/operators.h"

bool gpu_is_direct(const struct set *set, const void *dest)
{
	return set->team && set->group->on_node && api_device_shared && api_device_shared->group.size == comms.n_node &&
	       comms.device->reach(dest, comms.pe);
}

static char *at_member(const struct set *set, const void *address, int member)
{
	return comms.device->reach(address, set_pe(set, member));
}

/* What this PE has copied is there, and so is what others have copied to this PE. */
static void finish(const struct set *set)
{
	comms_gpu_finish();
	set_sync(set);
}

void gpu_direct_broadcast(const struct set *set, char *dest, const char *source, size_t bytes, int root, bool root_too)
{
	for (int i = 0; set->group->me == root && i < set->group->size; i++)
		if (i != root || (root_too && dest != source))
			comms_gpu_copy(at_member(set, dest, i), source, bytes);
	finish(set);
}

void gpu_direct_gather(const struct set *set, char *dest, const char *source, size_t bytes, size_t at)
{
	int n = set->group->size;

	for (int i = 0; i < n; i++) {
		int to = (set->group->me + i) % n;

		comms_gpu_copy(at_member(set, dest, to) + at, source, bytes);
	}
	finish(set);
}

void gpu_direct_alltoall(const struct set *set, char *dest, const char *source, size_t bytes)
{
	size_t mine = (size_t)set->group->me * bytes;
	int n = set->group->size;

	for (int i = 0; i < n; i++) {
		int to = (set->group->me + i) % n;

		comms_gpu_copy(at_member(set, dest, to) + mine, source + (size_t)to * bytes, bytes);
	}
	finish(set);
}

/* --- Reductions --- */

/*
 * Elements that a member combines at a time; the sum of a piece lies in the scratch until it is
 * complete.
 */
#define COMBINED_BYTES (4UL << 20)

static bool find_kernel(combine_t *combine, enum gpu_operator *op, struct gpu_numbers *numbers)
{
	static const enum gpu_operator operators[] = {
		[SHMEMX_SUM] = GPU_SUM, [SHMEMX_PROD] = GPU_PROD, [SHMEMX_MIN] = GPU_MIN, [SHMEMX_MAX] = GPU_MAX,
		[SHMEMX_AND] = GPU_AND, [SHMEMX_OR] = GPU_OR,	  [SHMEMX_XOR] = GPU_XOR,
	};
	static const enum gpu_kind kinds[] =
		{[WORDS_UNSIGNED] = GPU_UNSIGNED, [WORDS_SIGNED] = GPU_SIGNED, [WORDS_FLOATING] = GPU_FLOAT};
	enum words_number number;
	shmemx_op_t operation;

	if (!set_find_operation(combine, &operation, &number, &numbers->width) || number == WORDS_NO_NUMBER)
		return false;
	*op = operators[operation];
	numbers->kind = kinds[number];
	return true;
}

struct direct_reduction {
	const struct set *set;
	char *dest;
	const char *source;
	enum gpu_operator op;
	struct gpu_numbers numbers;
};

/* The order of the members is that of the team, so all elements are combined alike. */
static bool combine_piece(const struct direct_reduction *r, size_t at, size_t count)
{
	struct gpu_numbers numbers = {r->numbers.kind, r->numbers.width, count};
	static pthread_mutex_t scratch = PTHREAD_MUTEX_INITIALIZER;
	size_t bytes = count * numbers.width;
	bool good = true;
	char *sum;

	/* The GPU does all of this in order, so the lock covers no more than the calls. */
	pthread_mutex_lock(&scratch);
	sum = comms_gpu_scratch(COMBINED_BYTES);
	comms_gpu_copy(sum, at_member(r->set, r->source, 0) + at, bytes);
	for (int i = 1; good && i < r->set->group->size; i++)
		good = comms_gpu_combine(r->op, &numbers, sum, sum, at_member(r->set, r->source, i) + at);
	comms_gpu_copy(r->dest + at, sum, bytes);
	pthread_mutex_unlock(&scratch);
	return good;
}

/* This member's part of the elements, and those of the others afterwards. */
static size_t part_begin(const struct direct_reduction *r, int member)
{
	return r->numbers.count * (size_t)member / (size_t)r->set->group->size * r->numbers.width;
}

static void combine_part(const struct direct_reduction *r)
{
	size_t at = part_begin(r, r->set->group->me), end = part_begin(r, r->set->group->me + 1);

	while (at < end) {
		size_t bytes = end - at < COMBINED_BYTES ? end - at : PIECE_BYTES;

		if (!combine_piece(r, at, bytes / r->numbers.width))
			rte_die(r->set->routine, "the GPU's driver cannot run the library's kernel; update the driver");
		at += bytes;
	}
}

static void fetch_parts(const struct direct_reduction *r)
{
	int n = r->set->group->size;

	for (int i = 1; i < n; i++) {
		int from = (r->set->group->me + i) % n;
		size_t at = part_begin(r, from), end = part_begin(r, from + 1);

		comms_gpu_copy(r->dest + at, at_member(r->set, r->dest, from) + at, end - at);
	}
}

bool gpu_direct_reduce(const struct set *set, char *dest, const char *source, size_t count, combine_t *combine)
{
	struct direct_reduction r = {.set = set, .dest = dest, .source = source};

	if (!comms.device->reach(source, comms.pe) || !find_kernel(combine, &r.op, &r.numbers) ||
	    ((uintptr_t)dest | (uintptr_t)source) % r.numbers.width || !comms_gpu_can_combine(r.op, &r.numbers))
		return false;
	r.numbers.count = count;
	set_sync(set); /* all sources are there */
	combine_part(&r);
	finish(set); /* all parts are there, and no source is read any more */
	fetch_parts(&r);
	finish(set); /* no dest is read any more */
	return true;
}
