/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2,3,4 ucx-tcp=2,4 ucx-shm=3 mixed=4 split=3 tofu-few=4 ofi=3 time=120 */
/*
 * litmus [--runs N] [--only NAME] [--seed N] [--list]: runs the programs of litmus.def and counts
 * what they see. Ends with exit code 1 if one has seen what docs/memory-model.md excludes. It uses
 * nothing but OpenSHMEM 1.4 (1.5 for signals), so tests/litmus tries other libraries by it, too.
 *
 * A run of a program has words of its own, a slot; all slots are used one after the other without a
 * synchronisation in between, since that would hide what is weak. Each PE starts each slot at about
 * the same time, which varies by a random part of the time that a program takes.
 */
#include <shmem.h>

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 200
#define WORDS 4	       /* that a run can see */
#define LONGEST 100000 /* ns between two slots */
#define LINE __attribute__((aligned(64)))

static struct slot {
	LINE long x;
	LINE long y;
	LINE long z;
	LINE uint64_t s;
	LINE long block[64];
} slots[SLOTS];
static LINE long seen[WORDS * SLOTS], copy[WORDS * SLOTS]; /* A, B, C, D */
static long locks[SLOTS];
static LINE long from[64]; /* what nonblocking puts send: until the quiet it stays as it is */
static LINE long one = 1;
static shmem_ctx_t other;
static int me, npes, shift;
static uint64_t dice_now = 1;

/* --- What the programs are written in --- */

#define DO(...) __VA_ARGS__
#define NONE (void)0
#define NEVER 0
#define LAST(who, ...)                 \
	do {                           \
		if (role == (who))     \
			(__VA_ARGS__); \
	} while (0)
#define A seen[i]
#define B seen[SLOTS + i]
#define C seen[2 * SLOTS + i]
#define D seen[3 * SLOTS + i]
#define AT(role) pe_of(role)

#define P(word, to, value) shmem_long_p(&slots[i].word, value, AT(to))
#define P_OF(ctx, word, to, value) shmem_ctx_long_p(ctx, &slots[i].word, value, AT(to))
#define PUT_NBI(word, to, value) shmem_long_put_nbi(&slots[i].word, &one, 1, AT(to))
#define PUT_BLOCK(to, value) shmem_long_put(slots[i].block, from, 64, AT(to))
#define PUT_BLOCK_NBI(to, value) shmem_long_put_nbi(slots[i].block, from, 64, AT(to))
#define PUT_BLOCK_OF(ctx, to, value) shmem_ctx_long_put_nbi(ctx, slots[i].block, from, 64, AT(to))
#define PUT_SIGNAL(to, value, word) \
	shmem_long_put_signal(slots[i].block, from, 64, &slots[i].word, value, SHMEM_SIGNAL_SET, AT(to))
#define PUT_SIGNAL_NBI(to, value, word) \
	shmem_long_put_signal_nbi(slots[i].block, from, 64, &slots[i].word, value, SHMEM_SIGNAL_SET, AT(to))
#define ADD_SIGNAL(word, to, value) \
	shmem_long_put_signal(&slots[i].z, &one, 1, &slots[i].word, value, SHMEM_SIGNAL_ADD, AT(to))
#define G(word, from) shmem_long_g(&slots[i].word, AT(from))
#define GET_NBI(word, from) get_nbi(&slots[i].word, AT(from))
#define GET_BLOCK(from) get_block(slots[i].block, AT(from))
#define STORE_AT(word, to, value) store_at(&slots[i].word, AT(to), value)
#define SET(word, to, value) shmem_long_atomic_set(&slots[i].word, value, AT(to))
#define FETCH(word, from) shmem_long_atomic_fetch(&slots[i].word, AT(from))
#define ADD(word, to, value) shmem_long_atomic_add(&slots[i].word, value, AT(to))
#define FADD(word, to, value) shmem_long_atomic_fetch_add(&slots[i].word, value, AT(to))
#define SWAP(word, to, value) shmem_long_atomic_swap(&slots[i].word, value, AT(to))
#define CSWAP(word, to, old, value) shmem_long_atomic_compare_swap(&slots[i].word, old, value, AT(to))
#define LOCK() shmem_set_lock(&locks[i])
#define UNLOCK() shmem_clear_lock(&locks[i])
#ifndef FENCE /* left out by those who try whether that is seen */
#define FENCE() shmem_fence()
#endif
#define FENCE_OF(ctx) shmem_ctx_fence(ctx)
#define QUIET() shmem_quiet()
#define QUIET_OF(ctx) shmem_ctx_quiet(ctx)
#define BARRIER() shmem_barrier_all()
#define SYNC() shmem_sync_all()

/* On the PE itself. */
#define WAIT(word, value) shmem_long_wait_until(&slots[i].word, SHMEM_CMP_EQ, value)
#define WAIT_SIGNAL(word, value) shmem_signal_wait_until(&slots[i].word, SHMEM_CMP_EQ, value)
#define TEST(word, value) shmem_long_test(&slots[i].word, SHMEM_CMP_EQ, value)
#define READ(word) (*(volatile long *)&slots[i].word)
#define READ_SIGNAL(word) (long)shmem_signal_fetch(&slots[i].word)
#define READ_BLOCK() least(slots[i].block)
#define STORE(word, value) (*(volatile long *)&slots[i].word = (value))

/* The PE that has the role in this round. */
static int pe_of(int role)
{
	return (role + shift) % npes;
}

/* 1 if all words are there. */
static long least(const long *words)
{
	const volatile long *word = words;
	long result = word[0];

	for (int k = 1; k < 64; k++)
		result = word[k] < result ? word[k] : result;
	return result;
}

static long get_block(const long *words, int pe)
{
	long here[64];

	shmem_long_get(here, words, 64, pe);
	return least(here);
}

static long get_nbi(const long *word, int pe)
{
	long here = -1;

	shmem_long_get_nbi(&here, word, 1, pe);
	shmem_quiet();
	return *(volatile long *)&here;
}

/* By a put where the memory cannot be reached. */
static void store_at(long *word, int pe, long value)
{
	long *there = (long *)shmem_ptr(word, pe);

	if (there)
		*(volatile long *)there = value;
	else
		shmem_long_p(word, value, pe);
}

/* --- The programs --- */

/* PEs beyond a program's do what PE 3 does: nothing, or what all do together. */
#define LITMUS(name, pes, about, r0, r1, r2, r3, last, forbidden, weak) \
	static void run_##name(int role, int i)                         \
	{                                                               \
		switch (pes < 4 && role > 3 ? 3 : role) {               \
		case 0: r0; break;                                      \
		case 1: r1; break;                                      \
		case 2: r2; break;                                      \
		case 3: r3; break;                                      \
		}                                                       \
		(void)i;                                                \
	}                                                               \
	static void end_##name(int role, int i)                         \
	{                                                               \
		last;                                                   \
		(void)role;                                             \
		(void)i;                                                \
	}                                                               \
	static bool excluded_##name(int i)                              \
	{                                                               \
		(void)i;                                                \
		return forbidden;                                       \
	}                                                               \
	static bool weak_##name(int i)                                  \
	{                                                               \
		(void)i;                                                \
		return weak;                                            \
	}
#include "litmus.def"
#undef LITMUS

static const struct program {
	const char *name;
	int pes;
	const char *about;
	void (*run)(int role, int i);
	void (*end)(int role, int i);
	bool (*excluded)(int i), (*weak)(int i);
	const char *excluded_text, *weak_text;
} programs[] = {
#define LITMUS(name, pes, about, r0, r1, r2, r3, last, forbidden, weak) \
	{#name, pes, about, run_##name, end_##name, excluded_##name, weak_##name, #forbidden, #weak},
#include "litmus.def"
#undef LITMUS
};

/* --- Running them --- */

/* splitmix64 */
static uint64_t dice(void)
{
	uint64_t z = dice_now += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static long nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Other PEs may need this processor. */
static void sleep_until(long when)
{
	while (nanoseconds() < when)
		sched_yield();
}

/*
 * All slots once, one each period. Returns how long the program takes, without the time in between.
 */
static long run_slots(const struct program *program, long period)
{
	int role = (me - shift + npes) % npes;
	long start, busy = 0;

	memset(slots, 0, sizeof slots);
	memset(seen, 0, sizeof seen);
	memset(locks, 0, sizeof locks);
	shmem_barrier_all();
	start = nanoseconds();
	for (int i = 0; i < SLOTS; i++) {
		if (period)
			sleep_until(start + i * period + (long)(dice() % (uint64_t)period));
		busy -= nanoseconds();
		program->run(role, i);
		busy += nanoseconds();
	}
	shmem_barrier_all();
	for (int i = 0; i < SLOTS; i++)
		program->end(role, i);
	shmem_barrier_all();
	return busy / SLOTS < LONGEST ? busy / SLOTS : LONGEST;
}

struct counts {
	long runs, excluded, weak;
};

/* PE 0 has the words that each role has seen. */
static void count(const struct program *program, struct counts *counts)
{
	for (int pe = 1; pe < npes; pe++) {
		shmem_long_get(copy, seen, (size_t)WORDS * SLOTS, pe);
		for (int i = 0; i < WORDS * SLOTS; i++)
			seen[i] |= copy[i]; /* one role alone writes it */
	}
	for (int i = 0; i < SLOTS; i++) {
		counts->runs++;
		counts->weak += program->weak(i);
		if (!program->excluded(i))
			continue;
		if (!counts->excluded++)
			printf("%s: A=%ld B=%ld C=%ld D=%ld after %ld runs\n", program->name, A, B, C, D, counts->runs);
	}
}

static bool run_program(const struct program *program, long runs)
{
	struct counts counts = {0, 0, 0};
	long period = 0;

	if (npes < program->pes)
		return true;
	for (shift = 0; counts.runs < runs; shift = (shift + 1) % npes) {
		period = run_slots(program, period);
		if (me == 0)
			count(program, &counts);
		counts.runs += me ? SLOTS : 0;
		shmem_barrier_all();
	}
	if (me == 0) {
		printf("%-24s %9ld runs %9ld excluded %9ld weak\n", program->name, counts.runs, counts.excluded,
		       counts.weak);
		fflush(stdout);
	}
	return !counts.excluded;
}

static void list(void)
{
	for (size_t k = 0; k < sizeof programs / sizeof programs[0]; k++)
		printf("%s\t%d\t%s\t%s\t%s\n", programs[k].name, programs[k].pes, programs[k].about,
		       programs[k].excluded_text, programs[k].weak_text);
}

static int wrong_use(const char *what)
{
	fprintf(stderr, "litmus: %s; usage: litmus [--runs N] [--only NAME] [--seed N] [--list], on 2 PEs or more\n",
		what);
	return 2;
}

int main(int argc, char **argv)
{
	const char *only = NULL, *eased = getenv("TEST_EASE"), *wanted = getenv("LITMUS_RUNS");
	long runs = wanted ? atol(wanted) : 3 * SLOTS;
	bool right = true;

	if (!wanted && eased && atol(eased) > 1)
		runs /= atol(eased);
	for (int k = 1; k < argc; k++) {
		if (!strcmp(argv[k], "--list"))
			return list(), 0;
		if (k + 1 == argc)
			return wrong_use(argv[k]);
		if (!strcmp(argv[k], "--runs"))
			runs = atol(argv[++k]);
		else if (!strcmp(argv[k], "--only"))
			only = argv[++k];
		else if (!strcmp(argv[k], "--seed"))
			dice_now = strtoull(argv[++k], NULL, 0);
		else
			return wrong_use(argv[k]);
	}
	shmem_init();
	me = shmem_my_pe(), npes = shmem_n_pes();
	if (npes < 2) {
		shmem_finalize();
		return me ? 2 : wrong_use("too few PEs");
	}
	dice_now += (uint64_t)me << 32;
	for (int k = 0; k < 64; k++)
		from[k] = 1;
	if (shmem_ctx_create(0, &other))
		other = SHMEM_CTX_DEFAULT;
	for (size_t k = 0; k < sizeof programs / sizeof programs[0]; k++)
		if (!only || strstr(programs[k].name, only))
			right &= run_program(&programs[k], runs);
	shmem_finalize();
	return right ? 0 : 1;
}
