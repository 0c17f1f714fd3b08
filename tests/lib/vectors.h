/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, scatter, allgatherv and alltoallv against a plain reference: blocks are bytes that say
 * where they come from. For tests/api/vectors.c, requests.c and torus_vectors.c, which say how much
 * memory there is, and, in `way`, how the collectives are called: blocking, nonblocking, or as a
 * plan, which runs twice.
 */
#ifndef TESTS_LIB_VECTORS_H
#define TESTS_LIB_VECTORS_H

#include "tests/lib/check.h"

#include <complex.h>
#include <shmemx.h>

#define MOST_PES 64
#define UNTOUCHED 0x5a

static enum way { BLOCKING, NONBLOCKING, PLAN, WAYS } way;
static const char *const way_names[] = {"blocking", "nonblocking", "a plan"};
static shmemx_plan_t plan;
static shmemx_req_h request;

/* CALL(NAME, arguments of the blocking routine): a collective in the way that is chosen. */
#define CALL(NAME, ...)                                                                           \
	do {                                                                                      \
		if (way == BLOCKING) {                                                            \
			CHECK_EQUAL(shmemx_##NAME(__VA_ARGS__), 0);                               \
		} else if (way == NONBLOCKING) {                                                  \
			CHECK_EQUAL(shmemx_##NAME##_nb(__VA_ARGS__, &request), 0);                \
			complete(&request, seed);                                                 \
		} else {                                                                          \
			CHECK_EQUAL(shmemx_##NAME##_init(__VA_ARGS__, executor(seed), &plan), 0); \
			shmemx_plan_start(plan);                                                  \
			shmemx_plan_wait(plan);                                                   \
		}                                                                                 \
	} while (0)

static int executor(uint64_t seed)
{
	return seed % 3 == 0 ? SHMEMX_PLAN_AUTO : seed % 3 == 1 ? SHMEMX_PLAN_LIST : SHMEMX_PLAN_THREAD;
}

static void complete(shmemx_req_h *handle, uint64_t seed)
{
	if (seed % 2)
		while (shmemx_req_test(handle) != 0)
			;
	else
		CHECK_EQUAL(shmemx_req_wait(handle), 0);
	CHECK(*handle == SHMEMX_REQ_INVALID);
}

/* Runs the plan again, and frees it: what it brings must be the same. */
static void end_plan(void)
{
	if (way != PLAN)
		return;
	shmemx_plan_start(plan);
	while (!shmemx_plan_test(plan))
		;
	shmemx_plan_free(plan);
}

static unsigned char *dest, *source, *expected;
static size_t room; /* bytes of each of the three */

static const struct vector_type {
	const char *name;
	shmemx_type_t code;
	size_t size;
} vector_types[] = {
	{"float", SHMEMX_FLOAT, sizeof(float)},
	{"double", SHMEMX_DOUBLE, sizeof(double)},
	{"longdouble", SHMEMX_LONGDOUBLE, sizeof(long double)},
	{"char", SHMEMX_CHAR, 1},
	{"schar", SHMEMX_SCHAR, 1},
	{"short", SHMEMX_SHORT, sizeof(short)},
	{"int", SHMEMX_INT, sizeof(int)},
	{"long", SHMEMX_LONG, sizeof(long)},
	{"longlong", SHMEMX_LONGLONG, sizeof(long long)},
	{"uchar", SHMEMX_UCHAR, 1},
	{"ushort", SHMEMX_USHORT, sizeof(short)},
	{"uint", SHMEMX_UINT, sizeof(int)},
	{"ulong", SHMEMX_ULONG, sizeof(long)},
	{"ulonglong", SHMEMX_ULONGLONG, sizeof(long long)},
	{"int8", SHMEMX_INT8, 1},
	{"int16", SHMEMX_INT16, 2},
	{"int32", SHMEMX_INT32, 4},
	{"int64", SHMEMX_INT64, 8},
	{"uint8", SHMEMX_UINT8, 1},
	{"uint16", SHMEMX_UINT16, 2},
	{"uint32", SHMEMX_UINT32, 4},
	{"uint64", SHMEMX_UINT64, 8},
	{"size", SHMEMX_SIZE, sizeof(size_t)},
	{"ptrdiff", SHMEMX_PTRDIFF, sizeof(ptrdiff_t)},
	{"complexd", SHMEMX_COMPLEXD, sizeof(double complex)},
	{"complexf", SHMEMX_COMPLEXF, sizeof(float complex)},
	{"half", SHMEMX_HALF, 2},
	{"bfloat16", SHMEMX_BFLOAT16, 2},
};
#define VECTOR_TYPES (sizeof vector_types / sizeof vector_types[0])

static void make_room(size_t bytes)
{
	room = bytes;
	dest = symmetric(room);
	source = symmetric(room);
	expected = malloc(room);
	CHECK(expected != NULL && npes <= MOST_PES);
}

/* The block that one member has for another. */
static void bring(unsigned char *at, size_t bytes, int from, int to, uint64_t seed)
{
	fill_noise(at, bytes, (seed * 64 + (uint64_t)from) * 64 + (uint64_t)to);
}

static void start_case(shmem_team_t team)
{
	memset(dest, UNTOUCHED, room);
	memset(expected, UNTOUCHED, room);
	shmem_team_sync(team);
}

static void check_gather(shmem_team_t team, const struct vector_type *type, size_t count, int root, uint64_t seed)
{
	int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
	size_t bytes = count * type->size;
	bool in_place = mine == root && seed % 2;
	unsigned char *from = in_place ? dest + (size_t)mine * bytes : source;

	NOTE("%s: gather of %zu elements of %s, %d PEs, root %d%s", way_names[way], count, type->name, n, root,
	     in_place ? ", in place" : "");
	start_case(team);
	bring(from, bytes, mine, root, seed);
	for (int i = 0; i < n && mine == root; i++)
		bring(expected + (size_t)i * bytes, bytes, i, root, seed);
	CALL(gather, team, dest, from, count, type->code, root);
	end_plan();
	CHECK_BYTES(dest, expected, room);
}

static void check_scatter(shmem_team_t team, const struct vector_type *type, size_t count, int root, uint64_t seed)
{
	int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
	size_t bytes = count * type->size;
	bool in_place = mine == root && seed % 2;
	unsigned char *to = in_place ? source + (size_t)mine * bytes : dest;

	NOTE("%s: scatter of %zu elements of %s, %d PEs, root %d%s", way_names[way], count, type->name, n, root,
	     in_place ? ", in place" : "");
	start_case(team);
	for (int i = 0; i < n && mine == root; i++)
		bring(source + (size_t)i * bytes, bytes, root, i, seed);
	bring(expected, bytes, root, mine, seed);
	CALL(scatter, team, to, source, count, type->code, root);
	end_plan();
	CHECK_BYTES(to, expected, bytes);
	if (!in_place)
		CHECK_FILL(dest + bytes, UNTOUCHED, room - bytes);
	memset(source, 0xff, (size_t)n * bytes); /* ours again */
}

/*
 * Blocks of an array, the same on all PEs that pass the same seed: kind 0 without displacements,
 * 1 with gaps, 2 in reverse order.
 */
struct blocks {
	size_t counts[MOST_PES], displs[MOST_PES], all;
	const size_t *passed; /* displacements */
};

static void lay_out(struct blocks *blocks, int n, int kind)
{
	blocks->all = 0;
	for (int k = 0; k < n; k++) {
		int i = kind == 2 ? n - 1 - k : k;

		blocks->displs[i] = blocks->all;
		blocks->all += blocks->counts[i] + (kind == 1 ? (size_t)(i % 3) : 0);
	}
	blocks->passed = kind ? blocks->displs : NULL;
}

/* How much one member has for another. Some have nothing, some much. */
static size_t count_of(int from, int to, size_t most, uint64_t seed)
{
	uint64_t n = noise(seed * 4096 + (uint64_t)from * 64 + (uint64_t)to);

	return n % 4 == 0 ? 0 : n % 4 == 1 ? most : n / 4 % (most + 1);
}

static void check_allgatherv(shmem_team_t team, const struct vector_type *type, size_t most, int kind, uint64_t seed)
{
	int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
	struct blocks blocks;
	unsigned char *from = source;

	NOTE("%s: allgatherv of up to %zu elements of %s, %d PEs, kind %d, seed %d", way_names[way], most, type->name,
	     n, kind, (int)seed);
	for (int i = 0; i < n; i++)
		blocks.counts[i] = count_of(i, 0, most, seed);
	lay_out(&blocks, n, kind);
	start_case(team);
	if (seed % 2)
		from = dest + blocks.displs[mine] * type->size;
	bring(from, blocks.counts[mine] * type->size, mine, 0, seed);
	for (int i = 0; i < n; i++)
		bring(expected + blocks.displs[i] * type->size, blocks.counts[i] * type->size, i, 0, seed);
	shmem_team_sync(team);
	CALL(allgatherv, team, dest, from, blocks.counts, blocks.passed, type->code);
	end_plan();
	CHECK_BYTES(dest, expected, room);
}

static void check_alltoallv(shmem_team_t team, const struct vector_type *type, size_t most, int kind, uint64_t seed)
{
	int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
	struct blocks to, from;

	NOTE("%s: alltoallv of up to %zu elements of %s, %d PEs, kind %d, seed %d", way_names[way], most, type->name, n,
	     kind, (int)seed);
	for (int i = 0; i < n; i++) {
		to.counts[i] = count_of(i, mine, most, seed);
		from.counts[i] = count_of(mine, i, most, seed);
	}
	lay_out(&to, n, kind);
	lay_out(&from, n, (kind + mine) % 3);
	start_case(team);
	for (int i = 0; i < n; i++) {
		bring(source + from.displs[i] * type->size, from.counts[i] * type->size, mine, i, seed);
		bring(expected + to.displs[i] * type->size, to.counts[i] * type->size, i, mine, seed);
	}
	CALL(alltoallv, team, dest, source, to.counts, to.passed, from.counts, from.passed, type->code);
	end_plan();
	memset(source, 0xff, from.all * type->size); /* ours again */
	CHECK_BYTES(dest, expected, room);
}

#endif
