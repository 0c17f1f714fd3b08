/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 split=3 tofu-few=3 ofi=3 */
/*
 * Reduce-scatter against a plain reference: types of all sizes and operations, from no element to
 * more than any buffer of the library, in place and not, on the world and on a part of it.
 */
#include "tests/lib/check.h"

#include <complex.h>
#include <shmemx.h>

#define MOST 150000 /* elements of a block: more than a window of 256 KiB */

static char *source, *dest;

/* What PE pe of the team has in element i of all blocks: small, so that no result is rounded. */
static long value_of(int pe, size_t i)
{
	return (long)(noise((uint64_t)pe * 1000003 + i) % 3);
}

struct type {
	const char *name;
	shmemx_type_t code;
	size_t size;
	void (*store)(void *to, long value);
	long (*load)(const void *from);
};

#define PLAIN(NAME, TYPE)                              \
	static void store_##NAME(void *to, long value) \
	{                                              \
		*(TYPE *)to = (TYPE)value;             \
	}                                              \
	static long load_##NAME(const void *from)      \
	{                                              \
		return (long)*(const TYPE *)from;      \
	}
#define NARROW(NAME, TYPE)                                \
	static void store_##NAME(void *to, long value)    \
	{                                                 \
		float wide = (float)value;                \
                                                          \
		shmemx_##NAME##_from_float(to, &wide, 1); \
	}                                                 \
	static long load_##NAME(const void *from)         \
	{                                                 \
		float wide;                               \
                                                          \
		shmemx_##NAME##_to_float(&wide, from, 1); \
		return (long)wide;                        \
	}
PLAIN(uint8, uint8_t)
PLAIN(int, int)
PLAIN(double, double)
PLAIN(longdouble, long double)
PLAIN(complexd, double complex)
NARROW(half, shmemx_half_t)
NARROW(bfloat16, shmemx_bfloat16_t)

static const struct type types[] = {
#define ROW(NAME, CODE, TYPE)                                        \
	{                                                            \
#NAME, CODE, sizeof(TYPE), store_##NAME, load_##NAME \
	}
	ROW(uint8, SHMEMX_UINT8, uint8_t),
	ROW(int, SHMEMX_INT, int),
	ROW(double, SHMEMX_DOUBLE, double),
	ROW(longdouble, SHMEMX_LONGDOUBLE, long double),
	ROW(complexd, SHMEMX_COMPLEXD, double complex),
	ROW(half, SHMEMX_HALF, shmemx_half_t),
	ROW(bfloat16, SHMEMX_BFLOAT16, shmemx_bfloat16_t),
};

static bool has(const struct type *type, shmemx_op_t op)
{
	if (type->code == SHMEMX_UINT8)
		return op != SHMEMX_AVG;
	if (op == SHMEMX_AND || op == SHMEMX_OR || op == SHMEMX_XOR)
		return false;
	if (type->code == SHMEMX_COMPLEXD)
		return op == SHMEMX_SUM || op == SHMEMX_PROD;
	return op != SHMEMX_AVG || type->code != SHMEMX_INT;
}

static long joined(shmemx_op_t op, long a, long b)
{
	switch (op) {
	case SHMEMX_PROD: return a * b;
	case SHMEMX_MIN: return a < b ? a : b;
	case SHMEMX_MAX: return a > b ? a : b;
	case SHMEMX_AND: return a & b;
	case SHMEMX_OR: return a | b;
	case SHMEMX_XOR: return a ^ b;
	default: return a + b;
	}
}

/* What is averaged is a multiple of the number of PEs. */
static long brought(shmemx_op_t op, int pe, size_t i, int n)
{
	return op == SHMEMX_AVG ? n * value_of(pe, i) : value_of(pe, i);
}

/* Blocking, nonblocking, or as a plan that runs again unless it would reduce its own result. */
static void reduce_scatter(shmem_team_t team, char *to, size_t count, const struct type *type, shmemx_op_t op)
{
	static int calls;
	bool again = to == dest;
	shmemx_req_h request;
	shmemx_plan_t plan;

	switch (calls++ % 3) {
	case 0: CHECK_EQUAL(shmemx_reduce_scatter(team, to, source, count, type->code, op), 0); return;
	case 1:
		CHECK_EQUAL(shmemx_reduce_scatter_nb(team, to, source, count, type->code, op, &request), 0);
		CHECK_EQUAL(shmemx_req_wait(&request), 0);
		return;
	default:
		CHECK_EQUAL(shmemx_reduce_scatter_init(team, to, source, count, type->code, op,
						       calls % 2 ? SHMEMX_PLAN_AUTO : SHMEMX_PLAN_THREAD, &plan),
			    0);
		for (int run = 0; run < (again ? 3 : 1); run++) {
			shmemx_plan_start(plan);
			shmemx_plan_wait(plan);
		}
		shmemx_plan_free(plan);
	}
}

static void check_case(shmem_team_t team, const struct type *type, shmemx_op_t op, size_t count, bool in_place)
{
	int mine = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
	size_t first = (size_t)mine * count, bytes = count * type->size;
	char *to = in_place ? source + first * type->size : dest;

	NOTE("%s, operation %d, %zu elements%s, %d PEs", type->name, (int)op, count, in_place ? " in place" : "", n);
	for (size_t i = 0; i < count * (size_t)n; i++)
		type->store(source + i * type->size, brought(op, mine, i, n));
	memset(dest, 0x11, bytes + type->size);
	reduce_scatter(team, to, count, type, op);
	for (size_t i = 0; i < count; i++) {
		long expected = brought(op, 0, first + i, n);

		for (int pe = 1; pe < n; pe++)
			expected = joined(op, expected, brought(op, pe, first + i, n));
		if (op == SHMEMX_AVG)
			expected /= n;
		CHECK_EQUAL(type->load(to + i * type->size), expected);
	}
	if (!in_place)
		CHECK_FILL(dest + bytes, 0x11, type->size);
	for (size_t i = 0; i < count * (size_t)n && !in_place; i += 97)
		CHECK_EQUAL(type->load(source + i * type->size), brought(op, mine, i, n));
	shmem_team_sync(team);
}

static void check_all(shmem_team_t team)
{
	static const size_t counts[] = {0, 1, 3, 700};
	size_t combination = 0;

	for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
		for (shmemx_op_t op = SHMEMX_SUM; op <= SHMEMX_AVG; op++) {
			if (!has(&types[t], op))
				continue;
			for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
				if (is_selected(combination++))
					check_case(team, &types[t], op, counts[i], (t + i + op) % 2);
		}
	}
}

/* A dest that is not symmetric, and calls in a row without anything between them. */
static void check_in_a_row(void)
{
	static long words[64];

	NOTE("in a row");
	for (long i = 0; i < eased(200); i++) {
		long sum = -1;

		for (int pe = 0; pe < npes; pe++)
			words[pe] = me + pe + i;
		shmemx_reduce_scatter(SHMEM_TEAM_WORLD, &sum, words, 1, SHMEMX_LONG, SHMEMX_SUM);
		CHECK_EQUAL(sum, (long)npes * (npes - 1) / 2 + npes * (me + i));
	}
}

int main(void)
{
	shmem_team_t odd;

	setenv("SHMEM_SYMMETRIC_SIZE", "64m", 1);
	begin();
	CHECK(npes <= 64);
	source = symmetric((size_t)npes * MOST * sizeof(int) + 16);
	dest = symmetric((MOST + 1) * sizeof(int) + 16);
	check_all(SHMEM_TEAM_WORLD);
	check_case(SHMEM_TEAM_WORLD, &types[1], SHMEMX_SUM, MOST, false);
	check_case(SHMEM_TEAM_WORLD, &types[6], SHMEMX_AVG, MOST, true);
	check_in_a_row();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 1, 1, npes > 1 ? npes - 1 : 1, NULL, 0, &odd);
	if (odd != SHMEM_TEAM_INVALID) {
		check_all(odd);
		shmem_team_destroy(odd);
	}
	return end();
}
