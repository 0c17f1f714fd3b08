/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts in bins shared out to all PEs: an atomic increment for each throw, few bins or many. No throw may be lost. */
#include "bench.h"

#include <string.h>

struct bins {
	long *counts;
	size_t count; /* per PE, a power of two */
	uint64_t random;
	long thrown;
};

enum { BATCH = 256 };

static double throw_many(void *context, long n)
{
	struct bins *b = context;
	uint64_t random = b->random;
	double start = now_ns();

	for (long i = 0; i < n * BATCH; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		shmem_long_atomic_inc(&b->counts[random & (b->count - 1)],
				      (int)(((random >> 32) * (uint64_t)group.size) >> 32));
	}
	shmem_quiet();
	b->random = random;
	b->thrown += n * BATCH;
	return now_ns() - start;
}

static bool none_lost(void *context)
{
	const struct bins *b = context;
	long *sum = heap_take(sizeof *sum), mine = 0, left;

	for (size_t i = 0; i < b->count; i++)
		mine += b->counts[i];
	*sum = 0;
	group_barrier();
	shmem_long_atomic_add(sum, mine - b->thrown, 0);
	group_barrier();
	left = shmem_long_g(sum, 0);
	group_barrier();
	heap_give(sum);
	return left == 0;
}

void histogram_bins(void)
{
	static const size_t counts[] = {8, 4096};
	char variant[40];

	for (int i = 0; i < 2; i++) {
		struct bins b = {.counts = heap_take(counts[i] * sizeof *b.counts),
				 .count = counts[i],
				 .random = 0x9e3779b97f4a7c15u * (uint64_t)(group.me + 1) | 1};

		memset(b.counts, 0, counts[i] * sizeof *b.counts);
		group_barrier();
		snprintf(variant, sizeof variant, "%zu-bins", counts[i]);
		harness_measure(&(struct spot){.measure = "histogram",
					       .variant = variant,
					       .bytes = 8,
					       .sample = throw_many,
					       .context = &b,
					       .operations = BATCH,
					       .check = none_lost});
		heap_give(b.counts);
	}
}
