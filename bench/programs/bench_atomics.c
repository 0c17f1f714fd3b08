/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each kind of atomic: by PE 0 alone on a word of PE 1, and by all PEs at once on a word of PE 0.
 */
#include "bench.h"

#include <stdlib.h>

struct target {
	uint64_t *word;
	int pe;
	bool alone; /* only PE 0 works */
	long done;  /* operations of this PE so far */
};

static uint64_t global_word;

#define ATOMIC(name, operation)                                          \
	static double name(void *context, long n)                        \
	{                                                                \
		struct target *t = context;                              \
		unsigned long *word = (unsigned long *)t->word, old = 0; \
		int pe = t->pe;                                          \
		double start = now_ns();                                 \
                                                                         \
		if (t->alone && group.me)                                \
			return 0;                                        \
		for (long i = 0; i < n; i++) {                           \
			operation;                                       \
		}                                                        \
		shmem_quiet();                                           \
		keep(&old);                                              \
		t->done += n;                                            \
		return now_ns() - start;                                 \
	}

ATOMIC(add, shmem_ulong_atomic_add(word, 1, pe))
ATOMIC(increment, shmem_ulong_atomic_inc(word, pe))
ATOMIC(set, shmem_ulong_atomic_set(word, (unsigned long)i, pe))
ATOMIC(xor, shmem_ulong_atomic_xor(word, (unsigned long)i, pe))
ATOMIC(and, shmem_ulong_atomic_and(word, (unsigned long)i, pe))
ATOMIC(or, shmem_ulong_atomic_or(word, (unsigned long)i, pe))
ATOMIC(fetch, old += shmem_ulong_atomic_fetch(word, pe))
ATOMIC(fetch_add, old += shmem_ulong_atomic_fetch_add(word, 1, pe))
ATOMIC(fetch_inc, old += shmem_ulong_atomic_fetch_inc(word, pe))
ATOMIC(fetch_xor, old += shmem_ulong_atomic_fetch_xor(word, (unsigned long)i, pe))
ATOMIC(fetch_and, old += shmem_ulong_atomic_fetch_and(word, (unsigned long)i, pe))
ATOMIC(fetch_or, old += shmem_ulong_atomic_fetch_or(word, (unsigned long)i, pe))
ATOMIC(swap, old += shmem_ulong_atomic_swap(word, (unsigned long)i, pe))
/* It guesses what the word has become since; alone, every guess is right. */
ATOMIC(compare_swap, old = shmem_ulong_atomic_compare_swap(word, old, old + 1, pe))
ATOMIC(fetch_add_int, old += (unsigned long)shmem_int_atomic_fetch_add((int *)word, 1, pe))

#if HAS_15
ATOMIC(fetch_add_nbi, shmem_ulong_atomic_fetch_add_nbi(&old, word, 1, pe))
#endif

static const struct kind {
	const char *name;
	sampler *sample;
	bool counts; /* the word is afterwards the number of operations */
} kinds[] = {{"fetch-add", fetch_add, true},
	     {"compare-swap", compare_swap, false},
	     {"swap", swap, false},
	     {"fetch", fetch, false},
	     {"set", set, false},
	     {"add", add, true},
	     {"inc", increment, true},
	     {"fetch-inc", fetch_inc, true},
	     {"and", and, false},
	     {"or", or, false},
	     {"xor", xor, false},
	     {"fetch-and", fetch_and, false},
	     {"fetch-or", fetch_or, false},
	     {"fetch-xor", fetch_xor, false},
	     {"fetch-add-int", fetch_add_int, false},
#if HAS_15
	     {"fetch-add-nbi", fetch_add_nbi, true},
#endif
	     {NULL, NULL, false}};

/* No addition may be lost. Asked of everybody; PE 0 knows the sum. */
static bool all_counted(void *context)
{
	const struct target *t = context;
	double *all = malloc((size_t)group.size * sizeof *all), sum = 0;
	long expected, there;

	if (!all)
		group_fail("no memory for %d numbers", group.size);
	group_gather((double)t->done, all);
	for (int i = 0; group.me == 0 && i < group.size; i++)
		sum += all[i];
	free(all);
	expected = group_broadcast((long)sum);
	there = shmem_long_g((const long *)t->word, t->pe);
	return there == expected;
}

static void measure_kind(const char *measure, const struct kind *k, const char *where, struct target *t)
{
	char variant[40];

	snprintf(variant, sizeof variant, "%s%s", k->name, where);
	*t->word = 0;
	t->done = 0;
	harness_measure(&(struct spot){.measure = measure,
				       .variant = variant,
				       .bytes = 8,
				       .sample = k->sample,
				       .context = t,
				       .check = k->counts ? all_counted : NULL});
}

void atomics_alone(void)
{
	uint64_t *word = heap_take(64);

	for (const struct kind *k = kinds; k->name; k++)
		measure_kind("atomic", k, "", &(struct target){.word = word, .pe = 1, .alone = true});
	for (const struct kind *k = kinds; k->name; k++)
		measure_kind("atomic", k, ":global", &(struct target){.word = &global_word, .pe = 1, .alone = true});
	heap_give(word);
}

void atomics_contended(void)
{
	uint64_t *word = heap_take(64);

	for (const struct kind *k = kinds; k->name; k++)
		measure_kind("atomic-all", k, "", &(struct target){.word = word, .pe = 0});
	heap_give(word);
}
