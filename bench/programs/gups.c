/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random updates of a table that is shared out to all PEs: 8 bytes each, anywhere. By an atomic
 * xor, by fetch-and-add, and by get and put as benchmarks did before there were atomics. Random
 * numbers follow a xorshift generator; to check, the same updates are done again: xor undoes
 * itself.
 */
#include "bench.h"

#include <string.h>

struct table {
	unsigned long *words;
	size_t count;  /* on each PE, a power of two */
	uint64_t seed; /* of the next sample */
};

enum { BATCH = 256 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t first_seed(void)
{
	return 0x9e3779b97f4a7c15u * (uint64_t)(group.me + 1) | 1;
}

/* Which word of which PE; without a division, which would cost more than the update. */
static unsigned long *choose(const struct table *t, uint64_t random, int *pe)
{
	*pe = (int)(((random >> 32) * (uint64_t)group.size) >> 32);
	return &t->words[random & (t->count - 1)];
}

#define UPDATES(name, operation)                                                    \
	static double name(void *context, long n)                                   \
	{                                                                           \
		struct table *t = context;                                          \
		uint64_t random = t->seed;                                          \
		double start = now_ns();                                            \
                                                                                    \
		for (long i = 0; i < n * BATCH; i++) {                              \
			int pe;                                                     \
			unsigned long *word = choose(t, next_random(&random), &pe); \
                                                                                    \
			operation;                                                  \
		}                                                                   \
		shmem_quiet();                                                      \
		t->seed = random;                                                   \
		return now_ns() - start;                                            \
	}

UPDATES(by_xor, shmem_ulong_atomic_xor(word, random, pe))
UPDATES(by_fetch_add, (void)shmem_ulong_atomic_fetch_add(word, 1, pe))
UPDATES(by_get_put, shmem_ulong_p(word, shmem_ulong_g(word, pe) ^ random, pe))

/* Every update once more: the table becomes what it was. */
static bool is_undone(void *context)
{
	const struct table *t = context;
	uint64_t random = first_seed();

	while (random != t->seed) {
		int pe;
		unsigned long *word = choose(t, next_random(&random), &pe);

		shmem_ulong_atomic_xor(word, random, pe);
	}
	group_barrier();
	for (size_t i = 0; i < t->count; i++)
		if (t->words[i])
			return false;
	return true;
}

static void measure(const char *variant, sampler *sample, bool (*check)(void *), struct table *t)
{
	group_barrier();
	memset(t->words, 0, t->count * sizeof *t->words);
	t->seed = first_seed();
	harness_measure(&(struct spot){.measure = "gups",
				       .variant = variant,
				       .bytes = 8,
				       .sample = sample,
				       .context = t,
				       .operations = BATCH,
				       .check = check});
}

/* The table is larger than the caches of a core, except with --quick. */
void gups_random_access(void)
{
	struct table t = {.count = (options.quick ? MIB : 32 * MIB) / sizeof *t.words};

	t.words = heap_take(t.count * sizeof *t.words);
	measure("atomic-xor", by_xor, is_undone, &t);
	measure("fetch-add", by_fetch_add, NULL, &t);
	measure("get+put", by_get_put, NULL, &t);
	heap_give(t.words);
}
