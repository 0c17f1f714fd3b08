/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over all PEs, by the interface with active sets that every OpenSHMEM has (or had),
 * and by teams where there are any.
 *
 * They run one after another without a barrier between. Each PE is the root of a broadcast in turn:
 * so each broadcast begins where the one before has arrived, and no root runs ahead of all others.
 *
 * The standard wants destinations, work arrays and synchronisation arrays not to be in use any more
 * when the next collective begins. A PE that has finished a collective in which each receives from
 * each may find the others in it, but not in the one before: two alternating destinations are
 * enough. A PE may lie behind by as many broadcasts as there are PEs less one, for then it is the
 * root itself. Synchronisation arrays have a barrier before they are used again.
 */
#include "bench.h"

#include <stdlib.h>

#ifdef SHMEM_REDUCE_SYNC_SIZE
#define HAS_SETS 1
#else
#define HAS_SETS 0
#endif

enum { MOST_BUFFERS = 256 };

struct collective {
	long *from, *to[MOST_BUFFERS]; /* destinations, used one after the other */
	int buffers, current;	       /* how many; the last used */
	size_t count;		       /* words that a PE gives (to one, in alltoall) */
	unsigned spot;
	int root; /* of the last broadcast */
	int kind;
};

enum kind { BROADCAST, REDUCE, COLLECT, FCOLLECT, ALLTOALL };

#define LOOP(name, operation)                           \
	static double name(void *context, long n)       \
	{                                               \
		struct collective *c = context;         \
		double start = now_ns();                \
                                                        \
		for (long i = 0; i < n; i++) {          \
			long *to = next_destination(c); \
                                                        \
			operation;                      \
		}                                       \
		return now_ns() - start;                \
	}

static inline long *next_destination(struct collective *c)
{
	if (++c->current >= c->buffers)
		c->current = 0;
	return c->to[c->current];
}

#if HAS_SETS

enum { SYNC_ARRAYS = 32 };
static long *sync_arrays[SYNC_ARRAYS], *work_arrays[2];

static long *next_work(const struct collective *c)
{
	return work_arrays[c->current % 2];
}

static long *next_sync(void)
{
	static int next;

	next = (next + 1) % SYNC_ARRAYS;
	if (next == 0)
		shmem_barrier_all();
	return sync_arrays[next];
}

static size_t longest_sync(void)
{
	static const size_t lengths[] = {SHMEM_BCAST_SYNC_SIZE, SHMEM_REDUCE_SYNC_SIZE, SHMEM_COLLECT_SYNC_SIZE,
					 SHMEM_ALLTOALL_SYNC_SIZE};
	size_t longest = 0;

	for (int i = 0; i < 4; i++)
		longest = lengths[i] > longest ? lengths[i] : longest;
	return longest;
}

static void take_sync_arrays(size_t reduced)
{
	size_t length = (longest_sync() + 7) / 8 * 8;
	size_t work = reduced / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? reduced / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
	long *all = heap_take(SYNC_ARRAYS * length * sizeof *all);

	for (size_t i = 0; i < SYNC_ARRAYS * length; i++)
		all[i] = SHMEM_SYNC_VALUE;
	for (int i = 0; i < SYNC_ARRAYS; i++)
		sync_arrays[i] = all + (size_t)i * length;
	for (int i = 0; i < 2; i++)
		work_arrays[i] = heap_take(work * sizeof *work_arrays[i]);
	group_barrier();
}

static void give_sync_arrays(void)
{
	heap_give(work_arrays[0]);
	heap_give(work_arrays[1]);
	heap_give(sync_arrays[0]);
}

LOOP(broadcast_set, c->root = (c->root + 1) % group.size;
     shmem_broadcast64(to, c->from, c->count, c->root, 0, 0, group.size, next_sync()))
LOOP(reduce_set, shmem_long_sum_to_all(to, c->from, (int)c->count, 0, 0, group.size, next_work(c), next_sync()))
LOOP(collect_set, shmem_collect64(to, c->from, c->count, 0, 0, group.size, next_sync()))
LOOP(fcollect_set, shmem_fcollect64(to, c->from, c->count, 0, 0, group.size, next_sync()))
LOOP(alltoall_set, shmem_alltoall64(to, c->from, c->count, 0, 0, group.size, next_sync()))
static sampler *const by_set[] = {broadcast_set, reduce_set, collect_set, fcollect_set, alltoall_set};
#endif

#if HAS_15
LOOP(broadcast_team, c->root = (c->root + 1) % group.size;
     shmem_long_broadcast(SHMEM_TEAM_WORLD, to, c->from, c->count, c->root))
LOOP(reduce_team, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, c->from, c->count))
LOOP(collect_team, shmem_long_collect(SHMEM_TEAM_WORLD, to, c->from, c->count))
LOOP(fcollect_team, shmem_long_fcollect(SHMEM_TEAM_WORLD, to, c->from, c->count))
LOOP(alltoall_team, shmem_long_alltoall(SHMEM_TEAM_WORLD, to, c->from, c->count))
static sampler *const by_team[] = {broadcast_team, reduce_team, collect_team, fcollect_team, alltoall_team};
#endif

/* --- What must come out --- */

static bool is_sum(const struct collective *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->to[c->current][i] != (long)group.size * (group.size + 1) / 2 + group.size * (long)(i + c->spot))
			return false;
	return true;
}

static bool is_right(void *context)
{
	const struct collective *c = context;
	const long *to = c->to[c->current];
	size_t bytes = c->count * 8;

	switch (c->kind) {
	case BROADCAST:
		/* The deprecated broadcast leaves the root's destination alone. */
		return group.me == c->root || pattern_is(to, bytes, c->root, c->spot);
	case REDUCE: return is_sum(c);
	case ALLTOALL:
		for (int pe = 0; pe < group.size; pe++)
			if (!pattern_is(to + (size_t)pe * c->count, bytes, pe * group.size + group.me, c->spot))
				return false;
		return true;
	default:
		for (int pe = 0; pe < group.size; pe++)
			if (!pattern_is(to + (size_t)pe * c->count, bytes, pe, c->spot))
				return false;
		return true;
	}
}

static void fill(struct collective *c)
{
	if (c->kind == REDUCE)
		for (size_t i = 0; i < c->count; i++)
			c->from[i] = group.me + 1 + (long)(i + c->spot);
	else if (c->kind == ALLTOALL)
		for (int pe = 0; pe < group.size; pe++)
			pattern_write(c->from + (size_t)pe * c->count, c->count * 8, group.me * group.size + pe,
				      c->spot);
	else
		pattern_write(c->from, c->count * 8, group.me, c->spot);
}

/* --- Measuring --- */

static void measure_sizes(const char *measure, const char *variant, sampler *sample, struct collective *c, size_t most)
{
	for (int i = 0; options.sizes[i] && options.sizes[i] <= most; i++) {
		if (options.sizes[i] % 8)
			continue;
		c->count = options.sizes[i] / 8;
		c->spot++;
		group_barrier();
		fill(c);
		harness_measure(&(struct spot){.measure = measure,
					       .variant = variant,
					       .bytes = options.sizes[i],
					       .sample = sample,
					       .context = c,
					       .check = is_right});
	}
}

static void take_memory(struct collective *c, size_t most)
{
	size_t all = most * (size_t)group.size;

	c->buffers = c->kind == BROADCAST ? group.size : 2;
	if (c->buffers > MOST_BUFFERS)
		group_fail("broadcast can be measured on at most %d PEs", MOST_BUFFERS);
	c->from = heap_take(c->kind == ALLTOALL ? all : most);
	for (int i = 0; i < c->buffers; i++)
		c->to[i] = heap_take(c->kind == BROADCAST || c->kind == REDUCE ? most : all);
}

/* Sizes end at 16 MiB: beyond, nothing new is seen. */
static void measure_collective(const char *measure, enum kind kind)
{
	size_t most = largest_size() < 16 * MIB ? largest_size() : 16 * MIB;
	struct collective c = {.kind = (int)kind};

	take_memory(&c, most);
#if HAS_SETS
	take_sync_arrays(kind == REDUCE ? most / 8 : 0);
	measure_sizes(measure, "set", by_set[kind], &c, most);
	group_barrier();
	give_sync_arrays();
#endif
#if HAS_15
	measure_sizes(measure, "team", by_team[kind], &c, most);
#endif
	group_barrier();
	for (int i = 0; i < c.buffers; i++)
		heap_give(c.to[i]);
	heap_give(c.from);
}

void collective_broadcast(void)
{
	measure_collective("broadcast", BROADCAST);
}

void collective_reduce(void)
{
	measure_collective("reduce", REDUCE);
}

void collective_collect(void)
{
	measure_collective("collect", COLLECT);
}

void collective_fcollect(void)
{
	measure_collective("fcollect", FCOLLECT);
}

void collective_alltoall(void)
{
	measure_collective("alltoall", ALLTOALL);
}
