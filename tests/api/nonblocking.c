/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 mixed3=7 split=3 tofu-few=3 ofi=3 */
/*
 * Nonblocking collectives: all types and operations against a plain reference, many under way at
 * once and waited for in another order, long ones, with PEs that come late, again with plans that
 * exist and after they were discarded, on the world and on a part of it; and syncs and barriers.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#include <complex.h>
#include <shmemx.h>

#define MOST 700 /* elements */
#define BLOCKS 16
#define LONGEST 20000 /* elements */
#define LARGEST sizeof(long double)

static unsigned char *dest, *source, *expected;

static void maybe_late(uint64_t seed)
{
	if (noise(seed) % (uint64_t)npes == (uint64_t)me)
		usleep((unsigned)(noise(seed + 1) % 1000));
}

static void complete(shmemx_req_h *request, uint64_t seed)
{
	if (seed % 2)
		while (shmemx_req_test(request) != 0)
			;
	else
		CHECK_EQUAL(shmemx_req_wait(request), 0);
	CHECK(*request == SHMEMX_REQ_INVALID);
	CHECK_EQUAL(shmemx_req_test(request), 0);
	CHECK_EQUAL(shmemx_req_wait(request), 0);
}

/* Small, so that no result is rounded. */
static long value_of(int pe, size_t i, uint64_t seed)
{
	return (long)(noise(seed * 1000003 + (uint64_t)pe * 4099 + i) % 3);
}

static void bring(void *at, size_t bytes, int from, int to, uint64_t seed)
{
	fill_noise(at, bytes, (seed * 64 + (uint64_t)from) * 64 + (uint64_t)to);
}

/* A member brings as many elements less as its number, and some none. */
static size_t brought(size_t count, int member)
{
	return count > (size_t)member ? count - (size_t)member : 0;
}

#define COLLECTS(NAME, TYPE, LEAST, GREATEST)                                                                      \
	static void collect_##NAME(shmem_team_t team, size_t count, uint64_t seed)                                 \
	{                                                                                                          \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                                     \
		TYPE *to = (TYPE *)(void *)dest, *from = (TYPE *)(void *)source, *want = (TYPE *)(void *)expected; \
		shmemx_req_h request = SHMEMX_REQ_INVALID;                                                         \
		size_t all = 0;                                                                                    \
                                                                                                                   \
		bring(from, brought(count, mine) * sizeof(TYPE), mine, 0, seed);                                   \
		memset(to, 0x77, (size_t)n *count * sizeof(TYPE));                                                 \
		memset(want, 0x77, (size_t)n *count * sizeof(TYPE));                                               \
		for (int i = 0; i < n; all += brought(count, i++))                                                 \
			bring(want + all, brought(count, i) * sizeof(TYPE), i, 0, seed);                           \
		shmem_team_sync(team);                                                                             \
		maybe_late(seed);                                                                                  \
		CHECK_EQUAL(shmemx_##NAME##_collect_nb(team, to, from, brought(count, mine), &request), 0);        \
		complete(&request, seed);                                                                          \
		CHECK_BYTES(to, want, (size_t)n *count * sizeof(TYPE));                                            \
		shmem_team_sync(team);                                                                             \
	}
RMA_TYPES(COLLECTS)

/* Strides of up to 3, so a third of the elements has room. */
#define ALLTOALLS(NAME, TYPE, LEAST, GREATEST)                                                                     \
	static void alltoalls_##NAME(shmem_team_t team, size_t count, uint64_t seed)                               \
	{                                                                                                          \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                                     \
		size_t each = count / 3, dst = 1 + seed % 3, sst = 1 + seed / 3 % 3, bytes = sizeof(TYPE);         \
		TYPE *to = (TYPE *)(void *)dest, *from = (TYPE *)(void *)source, *want = (TYPE *)(void *)expected; \
		shmemx_req_h request = SHMEMX_REQ_INVALID;                                                         \
                                                                                                                   \
		memset(to, 0x77, (size_t)n *count *bytes);                                                         \
		memset(want, 0x77, (size_t)n *count *bytes);                                                       \
		for (int i = 0; i < n; i++)                                                                        \
			for (size_t k = 0; k < each; k++) {                                                        \
				bring(from + ((size_t)i * each + k) * sst, bytes, mine, i, seed + 1000 * k);       \
				bring(want + ((size_t)i * each + k) * dst, bytes, i, mine, seed + 1000 * k);       \
			}                                                                                          \
		shmem_team_sync(team);                                                                             \
		maybe_late(seed);                                                                                  \
		CHECK_EQUAL(shmemx_##NAME##_alltoalls_nb(team, to, from, (ptrdiff_t)dst, (ptrdiff_t)sst, each,     \
							 &request),                                                \
			    0);                                                                                    \
		complete(&request, seed);                                                                          \
		CHECK_BYTES(to, want, (size_t)n *count *bytes);                                                    \
		shmem_team_sync(team);                                                                             \
	}
RMA_TYPES(ALLTOALLS)

#define MOVES(NAME, TYPE, LEAST, GREATEST)                                                                         \
	static void move_##NAME(shmem_team_t team, size_t count, uint64_t seed)                                    \
	{                                                                                                          \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team), root = (int)(seed % (uint64_t)n);   \
		size_t bytes = count * sizeof(TYPE);                                                               \
		TYPE *to = (TYPE *)(void *)dest, *from = (TYPE *)(void *)source, *want = (TYPE *)(void *)expected; \
		shmemx_req_h request = SHMEMX_REQ_INVALID;                                                         \
                                                                                                                   \
		NOTE("%zu elements of " #NAME ", %d PEs", count, n);                                               \
		for (int i = 0; i < n; i++)                                                                        \
			bring(from + (size_t)i * count, bytes, mine, i, seed);                                     \
		shmem_team_sync(team);                                                                             \
		maybe_late(seed);                                                                                  \
		CHECK_EQUAL(shmemx_##NAME##_alltoall_nb(team, to, from, count, &request), 0);                      \
		complete(&request, seed);                                                                          \
		for (int i = 0; i < n; i++)                                                                        \
			bring(want + (size_t)i * count, bytes, i, mine, seed);                                     \
		CHECK_BYTES(to, want, (size_t)n *bytes);                                                           \
		shmem_team_sync(team);                                                                             \
		CHECK_EQUAL(shmemx_##NAME##_fcollect_nb(team, to, from, count, &request), 0);                      \
		complete(&request, seed + 1);                                                                      \
		for (int i = 0; i < n; i++)                                                                        \
			bring(want + (size_t)i * count, bytes, i, 0, seed);                                        \
		CHECK_BYTES(to, want, (size_t)n *bytes);                                                           \
		shmem_team_sync(team);                                                                             \
		CHECK_EQUAL(shmemx_##NAME##_broadcast_nb(team, to, from, count, root, &request), 0);               \
		complete(&request, seed);                                                                          \
		bring(want, bytes, root, 0, seed);                                                                 \
		CHECK_BYTES(to, want, bytes);                                                                      \
		shmem_team_sync(team);                                                                             \
		collect_##NAME(team, count, seed);                                                                 \
		alltoalls_##NAME(team, count, seed);                                                               \
	}
RMA_TYPES(MOVES)

#define PLAIN_SET(at, value) (*(at) = (__typeof__(*(at)))(value))
#define PLAIN_GET(at) ((long)*(at))
/* Averages bring multiples of the number of PEs. */
#define REDUCTION(NAME, TYPE, OP, SET, GET, TIMES, JOIN)                                               \
	static void NAME##_##OP(shmem_team_t team, size_t count, uint64_t seed)                        \
	{                                                                                              \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                         \
		TYPE *to = (TYPE *)(void *)dest, *from = seed % 3 ? (TYPE *)(void *)source : to, want; \
		shmemx_req_h request = SHMEMX_REQ_INVALID;                                             \
                                                                                                       \
		NOTE(#OP " of %zu elements of " #NAME ", %d PEs", count, n);                           \
		for (size_t i = 0; i < count; i++)                                                     \
			SET(from + i, value_of(mine, i, seed) * (TIMES));                              \
		shmem_team_sync(team);                                                                 \
		maybe_late(seed);                                                                      \
		CHECK_EQUAL(shmemx_##NAME##_##OP##_reduce_nb(team, to, from, count, &request), 0);     \
		complete(&request, seed);                                                              \
		for (size_t i = 0; i < count; i++) {                                                   \
			long a = value_of(0, i, seed);                                                 \
                                                                                                       \
			for (int pe = 1; pe < n; pe++) {                                               \
				long b = value_of(pe, i, seed);                                        \
                                                                                                       \
				a = JOIN;                                                              \
			}                                                                              \
			SET(&want, a);                                                                 \
			CHECK_EQUAL(GET(to + i), GET(&want));                                          \
		}                                                                                      \
		shmem_team_sync(team);                                                                 \
	}
#define LOGIC(NAME, TYPE, ...)                                    \
	REDUCTION(NAME, TYPE, and, PLAIN_SET, PLAIN_GET, 1, a &b) \
	REDUCTION(NAME, TYPE, or, PLAIN_SET, PLAIN_GET, 1, a | b) \
	REDUCTION(NAME, TYPE, xor, PLAIN_SET, PLAIN_GET, 1, a ^ b)
#define EXTREMES_BY(NAME, TYPE, SET, GET)                      \
	REDUCTION(NAME, TYPE, min, SET, GET, 1, a < b ? a : b) \
	REDUCTION(NAME, TYPE, max, SET, GET, 1, a > b ? a : b)
#define SUMS_BY(NAME, TYPE, SET, GET)                  \
	REDUCTION(NAME, TYPE, sum, SET, GET, 1, a + b) \
	REDUCTION(NAME, TYPE, prod, SET, GET, 1, a *b)
#define EXTREMES(NAME, TYPE, ...) EXTREMES_BY(NAME, TYPE, PLAIN_SET, PLAIN_GET)
#define SUMS(NAME, TYPE, ...) SUMS_BY(NAME, TYPE, PLAIN_SET, PLAIN_GET)
#define AVERAGE(NAME, TYPE) REDUCTION(NAME, TYPE, avg, PLAIN_SET, PLAIN_GET, n, a + b)
LOGIC_TYPES(LOGIC)
RMA_TYPES(EXTREMES)
RMA_TYPES(SUMS)
COMPLEX_TYPES(SUMS)
AVERAGE(float, float)
AVERAGE(double, double)
AVERAGE(longdouble, long double)

#define NARROW(NAME)                                                 \
	static void set_##NAME(shmemx_##NAME##_t *at, long value)    \
	{                                                            \
		float wide = (float)value;                           \
                                                                     \
		shmemx_##NAME##_from_float(at, &wide, 1);            \
	}                                                            \
	static long get_##NAME(const shmemx_##NAME##_t *at)          \
	{                                                            \
		float wide;                                          \
                                                                     \
		shmemx_##NAME##_to_float(&wide, at, 1);              \
		return (long)wide;                                   \
	}                                                            \
	EXTREMES_BY(NAME, shmemx_##NAME##_t, set_##NAME, get_##NAME) \
	SUMS_BY(NAME, shmemx_##NAME##_t, set_##NAME, get_##NAME)     \
	REDUCTION(NAME, shmemx_##NAME##_t, avg, set_##NAME, get_##NAME, n, a + b)
NARROW(half)
NARROW(bfloat16)

/* In place or not; as a request, or as a plan that runs twice, if it is not in place. */
#define SCAN(NAME, TYPE, KIND, INCLUSIVE)                                                                       \
	static void NAME##_##KIND(shmem_team_t team, size_t count, uint64_t seed)                               \
	{                                                                                                       \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                                  \
		TYPE *to = (TYPE *)(void *)dest, *from = seed % 3 ? (TYPE *)(void *)source : to;                \
		shmemx_req_h request = SHMEMX_REQ_INVALID;                                                      \
		shmemx_plan_t plan;                                                                             \
                                                                                                                \
		NOTE(#KIND " of %zu elements of " #NAME ", %d PEs", count, n);                                  \
		for (size_t i = 0; i < count; i++)                                                              \
			from[i] = (TYPE)value_of(mine, i, seed);                                                \
		shmem_team_sync(team);                                                                          \
		maybe_late(seed);                                                                               \
		if (seed % 4) {                                                                                 \
			CHECK_EQUAL(shmemx_##NAME##_sum_##KIND##_nb(team, to, from, count, &request), 0);       \
			complete(&request, seed);                                                               \
		} else {                                                                                        \
			CHECK_EQUAL(shmemx_sum_##KIND##_init(team, to, from, count, (shmemx_type_t)code_##NAME, \
							     SHMEMX_PLAN_AUTO, &plan),                          \
				    0);                                                                         \
			for (int run = 0; run < (to == from ? 1 : 3); run++) {                                  \
				shmemx_plan_start(plan);                                                        \
				shmemx_plan_wait(plan);                                                         \
			}                                                                                       \
			shmemx_plan_free(plan);                                                                 \
		}                                                                                               \
		for (size_t i = 0; i < count; i++) {                                                            \
			long sum = 0;                                                                           \
                                                                                                                \
			for (int pe = 0; pe < mine + (INCLUSIVE); pe++)                                         \
				sum += value_of(pe, i, seed);                                                   \
			CHECK(to[i] == (TYPE)sum);                                                              \
		}                                                                                               \
		shmem_team_sync(team);                                                                          \
	}
#define SCANS(NAME, TYPE, ...) SCAN(NAME, TYPE, inscan, 1) SCAN(NAME, TYPE, exscan, 0)
/* The codes of the types by name, from the library's table. */
#define CODE(NAME, CODE) code_##NAME = SHMEMX_##CODE,
#include "include/types.def"
enum { FOR_CODES(CODE) };
RMA_TYPES(SCANS)
COMPLEX_TYPES(SCANS)

typedef void one_call(shmem_team_t team, size_t count, uint64_t seed);
#define MOVE_ROW(NAME, ...) move_##NAME,
#define LOGIC_ROW(NAME, ...) NAME##_and, NAME##_or, NAME##_xor,
#define EXTREMES_ROW(NAME, ...) NAME##_min, NAME##_max,
#define SUMS_ROW(NAME, ...) NAME##_sum, NAME##_prod,
#define SCANS_ROW(NAME, ...) NAME##_inscan, NAME##_exscan,
static one_call *const calls[] = {
	RMA_TYPES(MOVE_ROW) LOGIC_TYPES(LOGIC_ROW) RMA_TYPES(EXTREMES_ROW) RMA_TYPES(SUMS_ROW) COMPLEX_TYPES(SUMS_ROW)
		RMA_TYPES(SCANS_ROW) COMPLEX_TYPES(SCANS_ROW) EXTREMES_ROW(half) SUMS_ROW(half) EXTREMES_ROW(bfloat16)
			SUMS_ROW(bfloat16) half_avg,
	bfloat16_avg,
	float_avg,
	double_avg,
	longdouble_avg,
};
#define CALLS (sizeof calls / sizeof calls[0])

/* Each call makes plans, more than a team keeps, so the first are discarded meanwhile. */
static void check_calls(shmem_team_t team, size_t part, size_t of)
{
	static const size_t counts[] = {1, 5, MOST, 0};

	for (size_t i = part; i < CALLS; i += of)
		if (is_selected(i / of))
			calls[i](team, counts[i / of % 4], i);
}

/* Elements of other sizes, with the same arrays, strides and bytes. */
static void check_sizes(void)
{
	size_t n = (size_t)npes * 8;
	long *to = symmetric(n * sizeof *to), *from = symmetric(n * sizeof *from);
	shmemx_req_h request;

	NOTE("elements of two sizes");
	for (size_t i = 0; i < n; i++)
		from[i] = me * 1000000000000L + (long)i;
	shmem_sync_all();
	CHECK_EQUAL(shmemx_int32_alltoalls_nb(SHMEM_TEAM_WORLD, (int32_t *)(void *)to, (int32_t *)(void *)from, 2, 2, 8,
					      &request),
		    0);
	complete(&request, 0);
	shmem_sync_all();
	CHECK_EQUAL(shmemx_int64_alltoalls_nb(SHMEM_TEAM_WORLD, (int64_t *)(void *)to, (int64_t *)(void *)from, 2, 2, 4,
					      &request),
		    0);
	complete(&request, 1);
	for (int pe = 0; pe < npes; pe++)
		for (size_t i = 0; i < 4; i++)
			CHECK_EQUAL(to[((size_t)pe * 4 + i) * 2],
				    pe * 1000000000000L + (long)(((size_t)me * 4 + i) * 2));
	shmem_sync_all();
}

/*
 * More than a slot of a plan holds, three times: alltoalls, scans and reduce-scatters go in pieces.
 */
static void check_long(void)
{
	size_t each = LONGEST / 2, size = sizeof(long);
	long *to = symmetric((size_t)npes * LONGEST * size), *from = symmetric((size_t)npes * LONGEST * size);
	shmemx_req_h request;

	for (long round = 0; round < 3; round++) {
		NOTE("long, round %ld", round);
		for (size_t i = 0; i < (size_t)npes * LONGEST; i++)
			from[i] = me * 1000000000L + (long)i + round;
		shmem_sync_all();
		maybe_late((uint64_t)round);
		CHECK_EQUAL(shmemx_alltoalls_nb(SHMEM_TEAM_WORLD, to, from, 2, 1, each, &request), 0);
		complete(&request, (uint64_t)round);
		for (int pe = 0; pe < npes; pe++)
			for (size_t i = 0; i < each; i++)
				CHECK_EQUAL(to[((size_t)pe * each + i) * 2],
					    pe * 1000000000L + (long)((size_t)me * each + i) + round);
		shmem_sync_all();
		CHECK_EQUAL(shmemx_sum_exscan_nb(SHMEM_TEAM_WORLD, to, from, LONGEST, &request), 0);
		complete(&request, (uint64_t)round + 1);
		for (size_t i = 0; i < LONGEST; i++)
			CHECK_EQUAL(to[i], me * (me - 1) / 2 * 1000000000L + me * ((long)i + round));
		shmem_sync_all();
		CHECK_EQUAL(shmemx_reduce_scatter_nb(SHMEM_TEAM_WORLD, to, from, LONGEST, SHMEMX_LONG, SHMEMX_SUM,
						     &request),
			    0);
		complete(&request, (uint64_t)round);
		for (size_t i = 0; i < LONGEST; i++)
			CHECK_EQUAL(to[i], npes * (npes - 1) / 2 * 1000000000L +
						   npes * ((long)((size_t)me * LONGEST + i) + round));
		shmem_sync_all();
		CHECK_EQUAL(shmemx_collect_nb(SHMEM_TEAM_WORLD, to, from, LONGEST - (size_t)me, &request), 0);
		complete(&request, (uint64_t)round);
		for (size_t i = 0, at = 0; i < (size_t)npes; at += LONGEST - i, i++)
			CHECK_EQUAL(to[at + 17], (long)i * 1000000000L + 17 + round);
		shmem_sync_all();
	}
	shmem_free(from);
	shmem_free(to);
}

/* Many at once: a sum of each block, waited for from the last to the first, again and again. */
static void check_many(void)
{
	long *to = (long *)(void *)dest, *from = (long *)(void *)source;
	shmemx_req_h requests[BLOCKS];

	for (long round = 0; round < eased(20); round++) {
		NOTE("many at once, round %ld", round);
		for (int b = 0; b < BLOCKS; b++)
			from[b] = me + b + round;
		shmem_sync_all();
		maybe_late((uint64_t)round);
		for (int b = 0; b < BLOCKS; b++)
			CHECK_EQUAL(shmemx_sum_reduce_nb(SHMEM_TEAM_WORLD, to + b, from + b, 1, &requests[b]), 0);
		for (int b = BLOCKS - 1; b >= 0; b--) {
			complete(&requests[b], (uint64_t)(round + b));
			CHECK_EQUAL(to[b], (long)npes * (npes - 1) / 2 + npes * (b + round));
		}
	}
}

/* Nobody passes before all have come. More of them at once than a team has plans for them. */
static void check_syncs(void)
{
	static long come[2];
	shmemx_req_h requests[11];

	for (long round = 1; round <= eased(30); round++) {
		NOTE("syncs, round %ld", round);
		maybe_late((uint64_t)round);
		for (int pe = 0; pe < npes; pe++)
			shmem_long_atomic_inc(&come[round % 2], pe);
		CHECK_EQUAL(shmemx_barrier_all_nb(&requests[0]), 0);
		for (int i = 1; i < 11; i++)
			CHECK_EQUAL(i % 2 ? shmemx_sync_all_nb(&requests[i])
					  : shmemx_sync_nb(SHMEM_TEAM_WORLD, &requests[i]),
				    0);
		for (int i = 0; i < 11; i++)
			complete(&requests[i], (uint64_t)(i + round));
		CHECK_EQUAL(shmem_long_atomic_fetch(&come[round % 2], me), npes * ((round + 1) / 2));
		shmem_barrier_all();
	}
}

/* Between start and wait a PE may do anything, other collectives of the team included. */
static void check_mixed(void)
{
	long *to = (long *)(void *)dest, *from = (long *)(void *)source, sum = 0;
	static long other[2];
	shmemx_req_h request;

	for (long round = 0; round < eased(20); round++) {
		NOTE("mixed, round %ld", round);
		from[0] = me + round;
		other[0] = me;
		shmem_sync_all();
		CHECK_EQUAL(shmemx_max_reduce_nb(SHMEM_TEAM_WORLD, to, from, 1, &request), 0);
		shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &other[1], &other[0], 1);
		CHECK_EQUAL(other[1], (long)npes * (npes - 1) / 2);
		complete(&request, (uint64_t)round);
		CHECK_EQUAL(to[0], npes - 1 + round);
		sum += to[0];
	}
	CHECK(sum > 0 || npes == 1);
}

int main(void)
{
	shmem_team_t odd;

	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	begin();
	dest = symmetric((size_t)npes * MOST * LARGEST + BLOCKS * 8);
	source = symmetric((size_t)npes * MOST * LARGEST + BLOCKS * 8);
	expected = malloc((size_t)npes * MOST * LARGEST);
	check_calls(SHMEM_TEAM_WORLD, 0, 1);
	check_sizes();
	check_long();
	check_many();
	check_syncs();
	check_mixed();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 1, 1, npes > 1 ? npes - 1 : 1, NULL, 0, &odd);
	if (odd != SHMEM_TEAM_INVALID) {
		check_calls(odd, 1, 3);
		shmem_team_destroy(odd);
	}
	free(expected);
	return end();
}
