/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 split=3 tofu-few=3 ofi=3 */
/*
 * Reductions: every operation on every type it is for, in place and not, from no element to a
 * hundred thousand.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define MOST 130
#define LARGE 100000

/*
 * One operation on one type. VALUE(NAME, TYPE, pe, i) is what PE pe has in element i, STEP(TYPE, a,
 * b) joins two; the expected result is joined here from the values of all PEs. All are such that
 * the result is exact in any order.
 */
#define OPERATION(NAME, TYPE, OP, VALUE, STEP)                                                 \
	static void OP##_##NAME(size_t n, bool in_place)                                       \
	{                                                                                      \
		static TYPE source[MOST + 1], dest[MOST + 1];                                  \
		TYPE *from = in_place ? dest : source;                                         \
                                                                                               \
		memset(dest, 0x11, sizeof dest);                                               \
		for (size_t i = 0; i < n; i++)                                                 \
			from[i] = VALUE(NAME, TYPE, me, i);                                    \
		shmem_sync_all(); /* dest must be ready everywhere */                          \
		CHECK_EQUAL(shmem_##NAME##_##OP##_reduce(SHMEM_TEAM_WORLD, dest, from, n), 0); \
		for (size_t i = 0; i < n; i++) {                                               \
			TYPE expected = VALUE(NAME, TYPE, 0, i);                               \
                                                                                               \
			for (int pe = 1; pe < npes; pe++) {                                    \
				TYPE value = VALUE(NAME, TYPE, pe, i);                         \
                                                                                               \
				expected = (TYPE)STEP(expected, value);                        \
			}                                                                      \
			CHECK_EQUAL(dest[i], expected);                                        \
			CHECK(in_place || source[i] == VALUE(NAME, TYPE, me, i));              \
		}                                                                              \
		CHECK_FILL(&dest[n], 0x11, sizeof dest[n]);                                    \
	}

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/*
 * From 1 to 3; beyond eight PEs to 2, and beyond 24 it is 1: a product is to fit into an int, and
 * into what a float has for digits.
 */
static int small(int pe, size_t i)
{
	return (int)(noise((uint64_t)pe * LARGE + i) % (pe < 8 ? 3 : pe < 24 ? 2 : 1)) + 1;
}
#define SMALL(NAME, TYPE, pe, i) ((TYPE)small(pe, i))

/* Beyond eight PEs rotations by right angles, which lengthen no product. */
static double complex small_complex(int pe, size_t i)
{
	static const double complex rotations[] = {1, I, -1, -I};

	return pe < 8 ? small(pe, i) + small(pe + 50, i) * I : rotations[noise((uint64_t)pe * LARGE + i) % 4];
}
#define COMPLEX_SMALL(NAME, TYPE, pe, i) ((TYPE)small_complex(pe, i))

/* Bits that have a chance to survive and */
static uint64_t bits(int pe, size_t i)
{
	return noise(i * 64 + (uint64_t)pe) | noise(i);
}
#define PATTERN(NAME, TYPE, pe, i) ((TYPE)bits(pe, i))

/* Now and then the ends of the range: unsigned types must be compared as such. */
#define EXTREME(NAME, TYPE, pe, i) extreme_##NAME(pe, i)
#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                       \
	static TYPE extreme_##NAME(int pe, size_t i)                                             \
	{                                                                                        \
		uint64_t dice = noise((uint64_t)pe * LARGE + i) % 6;                             \
                                                                                                 \
		return dice == 0 ? (TYPE)LEAST : dice == 1 ? (TYPE)GREATEST : (TYPE)(20 * dice); \
	}                                                                                        \
	OPERATION(NAME, TYPE, max, EXTREME, MAX)                                                 \
	OPERATION(NAME, TYPE, min, EXTREME, MIN)                                                 \
	OPERATION(NAME, TYPE, sum, SMALL, ADD)                                                   \
	OPERATION(NAME, TYPE, prod, SMALL, MULTIPLY)
RMA_TYPES(TYPED)

#define COMPLEX(NAME, TYPE, LEAST, GREATEST)           \
	OPERATION(NAME, TYPE, sum, COMPLEX_SMALL, ADD) \
	OPERATION(NAME, TYPE, prod, COMPLEX_SMALL, MULTIPLY)
COMPLEX_TYPES(COMPLEX)

#define LOGIC(NAME, TYPE, LEAST, GREATEST)       \
	OPERATION(NAME, TYPE, and, PATTERN, AND) \
	OPERATION(NAME, TYPE, or, PATTERN, OR)   \
	OPERATION(NAME, TYPE, xor, PATTERN, XOR)
LOGIC_TYPES(LOGIC)

static const struct {
	const char *name;
	void (*run)(size_t n, bool in_place);
} operations[] = {
#define ROW(NAME, OP) {#NAME "_" #OP, OP##_##NAME},
#define TYPED_ROWS(NAME, TYPE, LEAST, GREATEST) ROW(NAME, max) ROW(NAME, min) ROW(NAME, sum) ROW(NAME, prod)
#define COMPLEX_ROWS(NAME, TYPE, LEAST, GREATEST) ROW(NAME, sum) ROW(NAME, prod)
#define LOGIC_ROWS(NAME, TYPE, LEAST, GREATEST) ROW(NAME, and) ROW(NAME, or) ROW(NAME, xor)
	RMA_TYPES(TYPED_ROWS) COMPLEX_TYPES(COMPLEX_ROWS) LOGIC_TYPES(LOGIC_ROWS)};

/* More than fits into any buffer of the library's own, in the heap. */
static void check_large(size_t n)
{
	double *source = symmetric(n * sizeof *source), *dest = symmetric(n * sizeof *dest);
	uint8_t *bytes = symmetric(n);

	NOTE("large, %zu elements", n);
	for (size_t i = 0; i < n; i++) {
		source[i] = small(me, i);
		bytes[i] = (uint8_t)bits(me, i);
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n), 0);
	CHECK_EQUAL(shmem_double_max_reduce(SHMEM_TEAM_WORLD, source, source, n), 0);
	CHECK_EQUAL(shmem_uint8_xor_reduce(SHMEM_TEAM_WORLD, bytes, bytes, n), 0);
	for (size_t i = 0; i < n; i++) {
		double sum = 0, most = 0;
		uint8_t exclusive = 0;

		for (int pe = 0; pe < npes; pe++) {
			sum += small(pe, i);
			most = MAX(most, small(pe, i));
			exclusive = (uint8_t)(exclusive ^ bits(pe, i));
		}
		CHECK_EQUAL(dest[i], sum);
		CHECK_EQUAL(source[i], most);
		CHECK_EQUAL(bytes[i], exclusive);
	}
	shmem_free(bytes);
	shmem_free(dest);
	shmem_free(source);
}

/*
 * Reductions and broadcasts in a row without anything between them, the same variables again and
 * again.
 */
static void check_in_a_row(long count)
{
	static long mine, sum, most, announced;

	NOTE("in a row");
	for (long i = 0; i < count; i++) {
		mine = me + i;
		CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1), 0);
		CHECK_EQUAL(sum, (long)npes * (npes - 1) / 2 + npes * i);
		mine = -1; /* ours as soon as the call is back */
		mine = sum + me;
		CHECK_EQUAL(shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &mine, 1), 0);
		CHECK_EQUAL(most, sum + npes - 1);
		CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, &announced, &mine, 1, (int)(i % npes)), 0);
		CHECK_EQUAL(announced, sum + i % npes);
	}
}

/* Whatever the order in which they are added: all PEs must agree on every bit. */
static void check_agreement(void)
{
	static double source[50], sums[50], of_first[50];

	NOTE("agreement");
	for (size_t i = 0; i < 50; i++)
		source[i] = 1.0 / (double)(1 + noise((uint64_t)me * 50 + i) % 1000003);
	shmem_sync_all();
	CHECK_EQUAL(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, sums, source, 50), 0);
	shmem_barrier_all();
	shmem_double_get(of_first, sums, 50, 0);
	CHECK_BYTES(sums, of_first, sizeof sums);
}

int main(void)
{
	static const size_t lengths[] = {0, 1, 3, MOST};

	begin();
	for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++) {
		for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
			NOTE("%s, %zu elements", operations[o].name, lengths[i]);
			if (is_selected(o + i))
				operations[o].run(lengths[i], false);
			if (is_selected(o + i + 2))
				operations[o].run(lengths[i], true);
		}
	}
	check_large(4097);
	check_large(LARGE);
	check_in_a_row(eased(1000));
	check_agreement();
	return end();
}
