/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of PEs that reach each other's heaps on the GPU. A GPU takes turns of some 100 us
 * with the processes that use it, so of the members on one GPU the first, its worker, does the
 * copies and computes for all of them, if their sources are in their heaps; otherwise each copies
 * its own.
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

/* The first member that uses the same GPU. */
static int worker_of(const struct set *set, int member)
{
	for (int i = 0; i < member; i++)
		if (comms_gpu_is_shared(set_pe(set, i), set_pe(set, member)))
			return i;
	return member;
}

/* True on all members if all sources are in the heap. They are all ready then, in either case. */
static bool sources_are_symmetric(const struct set *set, const void *source)
{
	return set_reduce_and(set, comms.device->reach(source, comms.pe) != NULL);
}

/* A block of each member's source goes to each member's dest, at an offset. */
struct blocks_moved {
	const struct set *set;
	char *dest;
	const char *source;
	const uint64_t *bytes; /* of each member's block; NULL: all have `each` */
	size_t each;
	size_t source_step; /* between the blocks for different members; 0: they are one */
};

static size_t bytes_from(const struct blocks_moved *m, int member)
{
	return m->bytes ? m->bytes[member] : m->each;
}

static void move_block(const struct blocks_moved *m, const char *source, int from, int to, size_t at)
{
	comms_gpu_copy(at_member(m->set, m->dest, to) + at, source + (size_t)to * m->source_step, bytes_from(m, from));
}

static void move_blocks(const struct blocks_moved *m)
{
	bool all = sources_are_symmetric(m->set, m->source);
	int n = m->set->group->size, me = m->set->group->me;
	size_t at = 0;

	for (int from = 0; from < n; from++) {
		const char *source = all ? at_member(m->set, m->source, from) : m->source;

		for (int to = 0; to < n; to++)
			if (all ? worker_of(m->set, to) == me : from == me)
				move_block(m, source, from, to, at);
		at += bytes_from(m, from);
	}
	finish(m->set);
}

void gpu_direct_fcollect(const struct set *set, char *dest, const char *source, size_t bytes)
{
	move_blocks(&(struct blocks_moved){set, dest, source, NULL, bytes, 0});
}

void gpu_direct_collect(const struct set *set, char *dest, const char *source, const uint64_t *bytes)
{
	move_blocks(&(struct blocks_moved){set, dest, source, bytes, 0, 0});
}

void gpu_direct_alltoall(const struct set *set, char *dest, const char *source, size_t bytes)
{
	move_blocks(&(struct blocks_moved){set, dest, source, NULL, bytes, bytes});
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
	int workers, mine; /* number of this member's part */
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

/* The workers divide the elements among them. */
static size_t part_begin(const struct direct_reduction *r, int part)
{
	return r->numbers.count * (size_t)part / (size_t)r->workers * r->numbers.width;
}

static void combine_part(const struct direct_reduction *r, int part)
{
	size_t at = part_begin(r, part), end = part_begin(r, part + 1);

	while (at < end) {
		size_t bytes = end - at < COMBINED_BYTES ? end - at : COMBINED_BYTES;

		if (!combine_piece(r, at, bytes / r->numbers.width))
			rte_die(r->set->routine, "the GPU's driver cannot run the library's kernel; update the driver");
		at += bytes;
	}
}

/* To this member, or to all that use its GPU if it is their worker. */
static void hand_out(const struct direct_reduction *r, int to)
{
	for (int i = 0, part = 0; i < r->set->group->size; i++) {
		size_t at = part_begin(r, part);

		if (worker_of(r->set, i) != i)
			continue;
		if (i != to)
			comms_gpu_copy(at_member(r->set, r->dest, to) + at, at_member(r->set, r->dest, i) + at,
				       part_begin(r, part + 1) - at);
		part++;
	}
}

static void count_workers(struct direct_reduction *r)
{
	for (int i = 0; i < r->set->group->size; i++) {
		if (i == r->set->group->me)
			r->mine = r->workers;
		r->workers += worker_of(r->set, i) == i;
	}
}

bool gpu_direct_reduce(const struct set *set, char *dest, const char *source, size_t count, combine_t *combine)
{
	struct direct_reduction r = {.set = set, .dest = dest, .source = source};
	int me = set->group->me;
	bool works = worker_of(set, me) == me;

	if (!sources_are_symmetric(set, source) || !find_kernel(combine, &r.op, &r.numbers) ||
	    ((uintptr_t)dest | (uintptr_t)source) % r.numbers.width || !comms_gpu_can_combine(r.op, &r.numbers))
		return false;
	r.numbers.count = count;
	count_workers(&r);
	if (works)
		combine_part(&r, r.mine);
	if (r.workers > 1)
		finish(set); /* all parts are there */
	for (int i = 0; works && i < set->group->size; i++)
		if (worker_of(set, i) == me)
			hand_out(&r, i);
	finish(set);
	return true;
}
