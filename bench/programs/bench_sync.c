/* SPDX-License-Identifier: BSD-3-Clause */
/* What only synchronises. */
#include "bench.h"

#define LOOP(name, operation)                     \
	static double name(void *context, long n) \
	{                                         \
		double start = now_ns();          \
                                                  \
		(void)context;                    \
		for (long i = 0; i < n; i++)      \
			operation;                \
		return now_ns() - start;          \
	}

LOOP(barrier_all, shmem_barrier_all())
LOOP(sync_all, shmem_sync_all())
LOOP(quiet, shmem_quiet())
LOOP(fence, shmem_fence())

#ifdef SHMEM_BARRIER_SYNC_SIZE
static long barrier_sync[SHMEM_BARRIER_SYNC_SIZE];

LOOP(barrier_set, shmem_barrier(0, 0, group.size, barrier_sync))
#endif
#if HAS_15
LOOP(sync_team, shmem_team_sync(SHMEM_TEAM_WORLD))
#endif

static void measure(const char *variant, sampler *sample)
{
	harness_measure(&(struct spot){.measure = "sync", .variant = variant, .sample = sample});
}

void sync_all_members(void)
{
	measure("barrier_all", barrier_all);
	measure("sync_all", sync_all);
#ifdef SHMEM_BARRIER_SYNC_SIZE
	for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
		barrier_sync[i] = SHMEM_SYNC_VALUE;
	group_barrier();
	measure("barrier-set", barrier_set);
#endif
#if HAS_15
	measure("team-sync", sync_team);
#endif
	measure("quiet", quiet);
	measure("fence", fence);
}
