/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any collective on any team or active set, with its expected result, as a step of a row that runs
 * without anything between the steps. A PE may run ahead of others, so a step has a dest, a pSync
 * and a pWrk of its own in an arena, all made ready before a barrier in front of the row. The
 * source is one and the same for all steps: it is filled right before a call and overwritten right
 * after it.
 */
#ifndef TESTS_LIB_STEPS_H
#define TESTS_LIB_STEPS_H

#include <complex.h>
#include <signal.h>

#include "shapes.h"

enum kind { BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, REDUCE, INSCAN, EXSCAN, SYNC, BARRIER, KINDS };
static const char *const kind_names[] = {"broadcast", "collect", "fcollect", "alltoall", "alltoalls",
					 "reduce",    "inscan",	 "exscan",   "sync",	 "barrier"};

struct step {
	enum kind kind;
	const struct shape *shape;
	bool active;   /* the deprecated routine, on the active set of the same members */
	bool in_place; /* dest is source; only in broadcasts, reductions and scans */
	int root;      /* taken modulo the members */
	int type;      /* which of the reductions below */
	/* Of an element: 1 (teams only), 4 or 8; reductions and scans take that of their type. */
	size_t size;
	size_t count;
	ptrdiff_t dst, sst; /* 1 to MOST_STRIDE */
	uint64_t seed;
	/* Filled in when it is added */
	size_t at, dest_bytes, sync_at, work_at;
	uint64_t number;
};

#define MOST_STRIDE 3
#define MOST_STEPS 500
#ifndef ARENA_BYTES
#define ARENA_BYTES ((size_t)24 << 20)
#endif
#define UNTOUCHED 0x5b
#define GAP 64

static char *heap_arena, *arena, *step_source, *step_expected;
static size_t arena_size, arena_used;
static struct step steps[MOST_STEPS];
static int n_steps;
static uint64_t steps_added, reached; /* reached: the number of the last barrier this PE entered */
static uint64_t step_from;	      /* what put_nbi puts before a barrier */

/* What a step's name is in a message. */
static const char *steps_of = "";

/* --- Reductions and scans: X(team type, active-set type, C type, operation, joined, value) --- */

static int small(uint64_t seed, int pe, size_t i)
{
	return (int)(noise(seed * 0x1000000 + (uint64_t)pe * 0x10001 + i) % 3) + 1;
}

/* Bits that have a chance to survive and */
static uint64_t bits(uint64_t seed, int pe, size_t i)
{
	return noise(seed * 0x1000000 + (uint64_t)pe * 0x10001 + i) | noise(seed + i);
}

#define COMPLEX_SMALL(seed, pe, i) (small(seed, pe, i) + small(seed + 1, pe, i) * I)
#define SUMS(X)                                      \
	X(long, long, long, sum, a + b, small)       \
	X(short, short, short, sum, a + b, small)    \
	X(double, double, double, sum, a + b, small) \
	X(complexd, complexd, double _Complex, sum, a + b, COMPLEX_SMALL)
#define REDUCTIONS(X)                                                     \
	SUMS(X)                                                           \
	X(float, float, float, prod, a *b, small)                         \
	X(int, int, int, max, a > b ? a : b, bits)                        \
	X(longdouble, longdouble, long double, min, a < b ? a : b, small) \
	X(int64, longlong, long long, and, a &b, bits)                    \
	X(int32, int, int, or, a | b, bits)                               \
	X(int16, short, short, xor, a ^ b, bits)

/*
 * The values as this PE brings them, those that are expected of the members first to last, and the
 * calls.
 */
#define REDUCTION(NAME, OLD, TYPE, OP, JOINED, VALUE)                                                        \
	static void bring_##NAME##_##OP(const struct step *s, void *to)                                      \
	{                                                                                                    \
		TYPE *values = to;                                                                           \
                                                                                                             \
		for (size_t i = 0; i < s->count; i++)                                                        \
			values[i] = (TYPE)VALUE(s->seed, me, i);                                             \
	}                                                                                                    \
	static void expect_##NAME##_##OP(const struct step *s, int last, void *to)                           \
	{                                                                                                    \
		TYPE *values = to;                                                                           \
                                                                                                             \
		for (size_t i = 0; i < s->count; i++) {                                                      \
			TYPE a = (TYPE)VALUE(s->seed, s->shape->pes[0], i);                                  \
                                                                                                             \
			for (int k = 1; k <= last; k++) {                                                    \
				TYPE b = (TYPE)VALUE(s->seed, s->shape->pes[k], i);                          \
                                                                                                             \
				a = (TYPE)(JOINED);                                                          \
			}                                                                                    \
			values[i] = last < 0 ? 0 : a;                                                        \
		}                                                                                            \
	}                                                                                                    \
	static bool same_##NAME##_##OP(const void *x, const void *y, size_t i)                               \
	{                                                                                                    \
		return ((const TYPE *)x)[i] == ((const TYPE *)y)[i];                                         \
	}                                                                                                    \
	static int reduce_##NAME##_##OP(const struct step *s, void *dest, const void *source)                \
	{                                                                                                    \
		return shmem_##NAME##_##OP##_reduce(s->shape->team, dest, source, s->count);                 \
	}                                                                                                    \
	static void to_all_##NAME##_##OP(const struct step *s, void *dest, void *source, int start, int log) \
	{                                                                                                    \
		shmem_##OLD##_##OP##_to_all(dest, source, (int)s->count, start, log, s->shape->n,            \
					    (void *)(arena + s->work_at), (long *)(arena + s->sync_at));     \
	}
REDUCTIONS(REDUCTION)

#define SCAN(NAME, OLD, TYPE, OP, JOINED, VALUE)                                                  \
	static int scan_##NAME(const struct step *s, void *dest, const void *source)              \
	{                                                                                         \
		if (s->kind == INSCAN)                                                            \
			return shmem_##NAME##_sum_inscan(s->shape->team, dest, source, s->count); \
		return shmem_##NAME##_sum_exscan(s->shape->team, dest, source, s->count);         \
	}
SUMS(SCAN)

static const struct {
	const char *name;
	size_t size;
	void (*bring)(const struct step *s, void *to);
	void (*expect)(const struct step *s, int last, void *to);
	bool (*same)(const void *x, const void *y, size_t i);
	int (*reduce)(const struct step *s, void *dest, const void *source);
	void (*to_all)(const struct step *s, void *dest, void *source, int start, int log);
} reductions[] = {
#define REDUCTION_ROW(NAME, OLD, TYPE, OP, JOINED, VALUE)                                     \
	{#NAME "_" #OP,	     sizeof(TYPE),	   bring_##NAME##_##OP, expect_##NAME##_##OP, \
	 same_##NAME##_##OP, reduce_##NAME##_##OP, to_all_##NAME##_##OP},
	REDUCTIONS(REDUCTION_ROW)};
#define N_REDUCTIONS ((int)(sizeof reductions / sizeof reductions[0]))

static int (*const scans[])(const struct step *s, void *dest, const void *source) = {
#define SCAN_ROW(NAME, OLD, TYPE, OP, JOINED, VALUE) scan_##NAME,
	SUMS(SCAN_ROW)};
#define N_SCANS ((int)(sizeof scans / sizeof scans[0]))

/* --- What a step is about --- */

static bool has_types(const struct step *s)
{
	return s->kind == REDUCE || s->kind == INSCAN || s->kind == EXSCAN;
}

static bool is_barrier(const struct step *s)
{
	return s->kind == SYNC || s->kind == BARRIER;
}

/*
 * The active set of a team's members: log2 of its stride, or -1 if it is none. All PEs must answer
 * alike, whatever their row.
 */
static int active_log(const struct shape *shape)
{
	int stride = shape->n > 1 ? shape->pes[1] - shape->pes[0] : 1;

	if (shape->own || stride < 1 || (stride & (stride - 1)) != 0)
		return -1;
	return __builtin_ctz((unsigned)stride);
}

static int root_of(const struct step *s)
{
	return s->root % s->shape->n;
}

/* How much member i of a collect brings: from nothing to count, every fourth time all the same. */
static size_t count_of(const struct step *s, int i)
{
	if (s->kind != COLLECT || s->seed % 4 == 0 || s->count < 2)
		return s->count;
	return noise(s->seed * 64 + (uint64_t)i) % (s->count + 1);
}

static void step_note(const struct step *s)
{
	NOTE("%sstep %lu: %s%s%s of %zu%s%s x %zu bytes on %s of %d, root %d, strides %td %td", steps_of,
	     (unsigned long)s->number, s->active ? "active-set " : "", kind_names[s->kind],
	     s->in_place ? " in place" : "", s->count, has_types(s) ? " " : "",
	     has_types(s) ? reductions[s->type].name : "", s->size, s->shape->name, s->shape->n, root_of(s), s->dst,
	     s->sst);
}

/* Room for the dest of a step, the same on all PEs whatever their row or column. */
static size_t dest_room(const struct step *s)
{
	size_t one = s->count * s->size, all = one * (size_t)npes;

	switch (s->kind) {
	case COLLECT:
	case FCOLLECT:
	case ALLTOALL: return all;
	case ALLTOALLS: return all * MOST_STRIDE;
	case SYNC:
	case BARRIER: return sizeof(uint64_t);
	default: return one;
	}
}

static size_t reserve(size_t bytes)
{
	size_t at = arena_used;

	arena_used += (bytes + GAP + 63) / 64 * 64;
	return at;
}

/* --- A row of steps --- */

/* The runner's patience is over, or another PE has failed: say where this one is. */
static void ended(int signal)
{
	char text[sizeof check_note + 40];
	int length = snprintf(text, sizeof text, "PE %d is in %s\n", me, check_note);

	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(1);
	_exit(128 + signal);
}

static void begin_steps(void)
{
	struct sigaction term = {.sa_handler = ended};

	sigaction(SIGTERM, &term, NULL);
	heap_arena = symmetric(ARENA_BYTES);
	step_source = symmetric(ARENA_BYTES);
	step_expected = malloc(ARENA_BYTES);
	CHECK(step_expected != NULL);
	arena = heap_arena;
	arena_size = ARENA_BYTES;
}

static void end_steps(void)
{
	free(step_expected);
	shmem_free(step_source);
	shmem_free(heap_arena);
}

/* Adds a step to the row. False: there is no room for it, run the others first. */
static bool add_step(struct step s)
{
	size_t before = arena_used;

	s.in_place &= has_types(&s) || s.kind == BROADCAST;
	if (has_types(&s)) {
		s.type %= s.kind == REDUCE ? N_REDUCTIONS : N_SCANS;
		s.size = reductions[s.type].size;
	}
	if (n_steps == MOST_STEPS)
		return false;
	s.dest_bytes = dest_room(&s);
	s.at = reserve(s.dest_bytes + 8);
	if (s.size == 1 && !is_barrier(&s))
		s.at += s.seed % 8; /* a mem routine takes any address */
	s.sync_at = reserve(SHMEM_SYNC_SIZE * sizeof(long));
	s.work_at = reserve(s.active ? (s.count / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * s.size : 0);
	if (arena_used > arena_size) {
		arena_used = before;
		return false;
	}
	s.number = ++steps_added;
	steps[n_steps++] = s;
	return true;
}

/* What this PE brings. */
static void fill_source(const struct step *s, char *source)
{
	if (has_types(s)) {
		reductions[s->type].bring(s, source);
	} else if (s->kind == ALLTOALLS) {
		for (size_t e = 0; e < s->count * (size_t)s->shape->n; e++)
			fill_noise(source + e * (size_t)s->sst * s->size, s->size,
				   s->seed * 64 + (uint64_t)me + e * 0x10000);
	} else if (s->kind == ALLTOALL) {
		for (int i = 0; i < s->shape->n; i++)
			fill_noise(source + (size_t)i * s->count * s->size, s->count * s->size,
				   (s->seed * 64 + (uint64_t)me) * 64 + (uint64_t)i);
	} else {
		fill_noise(source, count_of(s, s->shape->me) * s->size, s->seed * 64 + (uint64_t)me);
	}
}

static size_t source_bytes(const struct step *s)
{
	size_t one = s->count * s->size;

	if (s->kind == ALLTOALL)
		return one * (size_t)s->shape->n;
	return s->kind == ALLTOALLS ? one * (size_t)s->shape->n * (size_t)s->sst : one;
}

/*
 * Must be done before anybody begins: in place, dest is ready only if it holds what this PE brings.
 */
static void prepare_step(const struct step *s)
{
	long *psync = (long *)(arena + s->sync_at);

	for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
		psync[i] = SHMEM_SYNC_VALUE;
	if (s->shape->me < 0 || !s->in_place)
		return;
	if (has_types(s) || s->shape->me == root_of(s))
		fill_source(s, arena + s->at);
}

/* The whole of dest as it must be; what has no place in it stays untouched. */
static size_t expect_moved(const struct step *s, char *expected)
{
	const struct shape *t = s->shape;
	size_t one = s->count * s->size, at = 0;

	switch (s->kind) {
	case BROADCAST:
		if (!s->active || t->me != root_of(s) || s->in_place)
			fill_noise(expected, one, s->seed * 64 + (uint64_t)t->pes[root_of(s)]);
		return one;
	case ALLTOALL:
		for (int i = 0; i < t->n; i++)
			fill_noise(expected + (size_t)i * one, one,
				   (s->seed * 64 + (uint64_t)t->pes[i]) * 64 + (uint64_t)t->me);
		return one * (size_t)t->n;
	case ALLTOALLS:
		for (int i = 0; i < t->n; i++)
			for (size_t e = 0; e < s->count; e++)
				fill_noise(expected + ((size_t)i * s->count + e) * (size_t)s->dst * s->size, s->size,
					   s->seed * 64 + (uint64_t)t->pes[i] +
						   ((size_t)t->me * s->count + e) * 0x10000);
		return one * (size_t)t->n * (size_t)s->dst;
	default:
		for (int i = 0; i < t->n; i++) {
			size_t bytes = count_of(s, i) * s->size;

			fill_noise(expected + at, bytes, s->seed * 64 + (uint64_t)t->pes[i]);
			at += bytes;
		}
		return at;
	}
}

static void check_moved(const struct step *s)
{
	const char *dest = arena + s->at;
	size_t bytes = dest_room(s);

	memset(step_expected, UNTOUCHED, bytes);
	expect_moved(s, step_expected);
	CHECK_BYTES(dest, step_expected, bytes);
}

static void check_reduced(const struct step *s)
{
	int last = s->kind == INSCAN ? s->shape->me : s->kind == EXSCAN ? s->shape->me - 1 : s->shape->n - 1;

	reductions[s->type].expect(s, last, step_expected);
	for (size_t i = 0; i < s->count; i++)
		if (!reductions[s->type].same(arena + s->at, step_expected, i))
			check_failed(__FILE__, __LINE__, "element %zu of %zu is wrong", i, s->count);
}

/*
 * Nobody may have left who went before a member came; and what was put before a barrier is there.
 */
static void check_met(const struct step *s)
{
	const struct shape *t = s->shape;

	for (int k = 0; k < 2; k++) {
		int pe = t->pes[(s->seed + (uint64_t)(k * t->me)) % (uint64_t)t->n];
		uint64_t theirs = shmem_uint64_atomic_fetch(&reached, pe);

		if (theirs < s->number)
			check_failed(__FILE__, __LINE__, "left while PE %d was at %lu", pe, (unsigned long)theirs);
	}
	if (s->kind == BARRIER)
		CHECK_EQUAL(*(uint64_t *)(arena + s->at), s->number * 64 + (uint64_t)t->pes[(t->me + t->n - 1) % t->n]);
}

static void barrier_of(const struct step *s)
{
	const struct shape *t = s->shape;
	long *psync = (long *)(arena + s->sync_at);
	int start = t->pes[0], log = active_log(t);

	shmem_uint64_atomic_set(&reached, s->number, me);
	shmem_quiet();
	if (s->kind == BARRIER) {
		step_from = s->number * 64 + (uint64_t)me;
		shmem_uint64_put_nbi((uint64_t *)(arena + s->at), &step_from, 1, t->pes[(t->me + 1) % t->n]);
	}
	if (s->active && s->kind == BARRIER) {
		shmem_barrier(start, log, t->n, psync);
	} else if (s->active) {
		shmem_sync(start, log, t->n, psync);
	} else {
		if (s->kind == BARRIER)
			shmem_quiet();
		CHECK_EQUAL(shmem_team_sync(t->team), 0);
	}
}

#define BY_SIZE(of_mem, of_32, of_64) (s->size == 1 ? (of_mem) : s->size == 4 ? (of_32) : (of_64))

static int call_on_team(const struct step *s, void *to, const void *from)
{
	shmem_team_t team = s->shape->team;
	int root = root_of(s);
	size_t n = count_of(s, s->shape->me);

	switch (s->kind) {
	case BROADCAST:
		return BY_SIZE(shmem_broadcastmem(team, to, from, n, root),
			       shmem_int32_broadcast(team, to, from, n, root),
			       shmem_int64_broadcast(team, to, from, n, root));
	case COLLECT:
		return BY_SIZE(shmem_collectmem(team, to, from, n), shmem_int32_collect(team, to, from, n),
			       shmem_int64_collect(team, to, from, n));
	case FCOLLECT:
		return BY_SIZE(shmem_fcollectmem(team, to, from, n), shmem_int32_fcollect(team, to, from, n),
			       shmem_int64_fcollect(team, to, from, n));
	case ALLTOALL:
		return BY_SIZE(shmem_alltoallmem(team, to, from, n), shmem_int32_alltoall(team, to, from, n),
			       shmem_int64_alltoall(team, to, from, n));
	case ALLTOALLS:
		return BY_SIZE(shmem_alltoallsmem(team, to, from, s->dst, s->sst, n),
			       shmem_int32_alltoalls(team, to, from, s->dst, s->sst, n),
			       shmem_int64_alltoalls(team, to, from, s->dst, s->sst, n));
	case REDUCE: return reductions[s->type].reduce(s, to, from);
	default: return scans[s->type](s, to, from);
	}
}

#define SET start, log, s->shape->n, psync
#define CALL_OF_OLD(name, ...) (s->size == 4 ? shmem_##name##32(__VA_ARGS__) : shmem_##name##64(__VA_ARGS__))

static void call_on_set(const struct step *s, void *to, void *from)
{
	int start = s->shape->pes[0], log = active_log(s->shape);
	long *psync = (long *)(arena + s->sync_at);
	size_t n = count_of(s, s->shape->me);

	if (s->kind == BROADCAST)
		CALL_OF_OLD(broadcast, to, from, n, root_of(s), SET);
	else if (s->kind == COLLECT)
		CALL_OF_OLD(collect, to, from, n, SET);
	else if (s->kind == FCOLLECT)
		CALL_OF_OLD(fcollect, to, from, n, SET);
	else if (s->kind == ALLTOALL)
		CALL_OF_OLD(alltoall, to, from, n, SET);
	else if (s->kind == ALLTOALLS)
		CALL_OF_OLD(alltoalls, to, from, s->dst, s->sst, n, SET);
	else
		reductions[s->type].to_all(s, to, from, start, log);
}

static void run_step(const struct step *s)
{
	char *from = s->in_place ? arena + s->at : step_source;

	if (is_barrier(s)) {
		barrier_of(s);
		check_met(s);
		return;
	}
	if (!s->in_place)
		fill_source(s, from);
	if (s->active)
		call_on_set(s, arena + s->at, from);
	else
		CHECK_EQUAL(call_on_team(s, arena + s->at, from), 0);
	if (!s->in_place)
		memset(from, 0xff, source_bytes(s)); /* ours again */
	if (has_types(s))
		check_reduced(s);
	else
		check_moved(s);
}

/* When all is over: nothing behind dest, and pSync is as before. */
static void check_left(const struct step *s)
{
	const long *psync = (const long *)(arena + s->sync_at);

	CHECK_FILL(arena + s->at + s->dest_bytes, UNTOUCHED, GAP - 8);
	CHECK_FILL(psync + SHMEM_SYNC_SIZE, UNTOUCHED, GAP);
	for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
		CHECK_EQUAL(psync[i], SHMEM_SYNC_VALUE);
}

/* Runs the steps that were added; before_each may be NULL. */
static void run_steps(void (*before_each)(void))
{
	memset(arena, UNTOUCHED, arena_used);
	for (int i = 0; i < n_steps; i++)
		prepare_step(&steps[i]);
	shmem_barrier_all();
	for (int i = 0; i < n_steps; i++) {
		if (steps[i].shape->me < 0)
			continue;
		step_note(&steps[i]);
		if (before_each)
			before_each();
		run_step(&steps[i]);
	}
	shmem_barrier_all();
	for (int i = 0; i < n_steps; i++) {
		step_note(&steps[i]);
		check_left(&steps[i]);
	}
	arena_used = 0;
	n_steps = 0;
}

#endif
