/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on memory of GPUs: every routine between the memories of GPU and host, on the world
 * and on teams of some PEs, in sizes from one element to more than what is staged at once;
 * reductions of every type by every operator.
 */
#include "gpu.h"

#define LARGE 40000

static char *expected, *part;
static uint64_t step;

/* Pairs of dest and source that have a GPU in them. */
static const enum where pairs[][2] = {{ON_GPU, ON_GPU},
				      {ON_GPU, ON_HOST},
				      {ON_HOST, ON_GPU},
				      {ON_GPU, IN_GLOBALS},
				      {IN_GLOBALS, ON_GPU}};
#define PAIRS (sizeof pairs / sizeof pairs[0])

struct team {
	shmem_team_t team;
	int me, size;
	const char *name;
};

static uint64_t seed_of(int member)
{
	return step * 100 + (uint64_t)member;
}

static void prepare(const struct team *team, enum where to, enum where from, size_t dest_bytes, size_t bytes)
{
	step++;
	clear(dests[to], dest_bytes + 64);
	write_noise(sources[from], bytes, seed_of(team->me));
	memset(expected, UNTOUCHED, dest_bytes + 64);
	shmem_team_sync(team->team);
}

static void compare(const struct team *team, enum where to, size_t bytes)
{
	CHECK_BYTES(read_from(dests[to], bytes + 64), expected, bytes + 64);
	shmem_team_sync(team->team);
}

/* --- Routines that move data --- */

static void try_broadcast(const struct team *team, enum where to, enum where from, size_t bytes)
{
	int root = (int)(step % (uint64_t)team->size);

	prepare(team, to, from, bytes, bytes);
	CHECK_EQUAL(shmem_broadcastmem(team->team, dests[to], sources[from], bytes, root), 0);
	fill_noise(expected, bytes, seed_of(root));
	compare(team, to, bytes);
}

static void try_fcollect(const struct team *team, enum where to, enum where from, size_t bytes)
{
	size_t all = bytes * (size_t)team->size;

	prepare(team, to, from, all, bytes);
	CHECK_EQUAL(shmem_fcollectmem(team->team, dests[to], sources[from], bytes), 0);
	for (int i = 0; i < team->size; i++)
		fill_noise(expected + (size_t)i * bytes, bytes, seed_of(i));
	compare(team, to, all);
}

/* Members give different amounts, one of them nothing. */
static size_t share(const struct team *team, int member, size_t bytes)
{
	return team->size > 1 && member == 1 ? 0 : bytes + 3 * (size_t)member;
}

static void try_collect(const struct team *team, enum where to, enum where from, size_t bytes)
{
	size_t all = 0, mine = share(team, team->me, bytes);

	for (int i = 0; i < team->size; i++)
		all += share(team, i, bytes);
	prepare(team, to, from, all, mine);
	CHECK_EQUAL(shmem_collectmem(team->team, dests[to], sources[from], mine), 0);
	all = 0;
	for (int i = 0; i < team->size; i++) {
		fill_noise(expected + all, share(team, i, bytes), seed_of(i));
		all += share(team, i, bytes);
	}
	compare(team, to, all);
}

static void try_alltoall(const struct team *team, enum where to, enum where from, size_t bytes)
{
	size_t all = bytes * (size_t)team->size;

	prepare(team, to, from, all, all);
	CHECK_EQUAL(shmem_alltoallmem(team->team, dests[to], sources[from], bytes), 0);
	for (int i = 0; i < team->size; i++) {
		fill_noise(part, all, seed_of(i));
		memcpy(expected + (size_t)i * bytes, part + (size_t)team->me * bytes, bytes);
	}
	compare(team, to, all);
}

/* Elements of 4 bytes, with strides. */
static void try_alltoalls(const struct team *team, enum where to, enum where from, size_t bytes)
{
	size_t count = bytes / 12 + 1, dst = 2, sst = 3, n = (size_t)team->size;

	prepare(team, to, from, n * count * dst * 4, n * count * sst * 4);
	CHECK_EQUAL(shmem_int_alltoalls(team->team, (int *)(void *)dests[to], (int *)(void *)sources[from],
					(ptrdiff_t)dst, (ptrdiff_t)sst, count),
		    0);
	for (size_t i = 0; i < n; i++) {
		fill_noise(part, n * count * sst * 4, seed_of((int)i));
		for (size_t k = 0; k < count; k++)
			memcpy(expected + (i * count + k) * dst * 4, part + ((size_t)team->me * count + k) * sst * 4,
			       4);
	}
	compare(team, to, n * count * dst * 4);
}

static void try_moves(const struct team *team)
{
	static const size_t sizes[] = {1, 8, 100, 4096, 100001};
	static void (*const routines[])(const struct team *, enum where, enum where,
					size_t) = {try_broadcast, try_fcollect, try_collect, try_alltoall,
						   try_alltoalls};
	static const char *const names[] = {"broadcast", "fcollect", "collect", "alltoall", "alltoalls"};

	for (size_t r = 0; r < 5; r++)
		for (size_t pair = 0; pair < PAIRS; pair++)
			for (size_t i = 0; i < 5; i++) {
				NOTE("%s of %zu bytes from %s to %s on %s", names[r], sizes[i],
				     where_names[pairs[pair][1]], where_names[pairs[pair][0]], team->name);
				routines[r](team, pairs[pair][0], pairs[pair][1], sizes[i]);
			}
}

/* --- Reductions and scans --- */

typedef int reduction(shmem_team_t team, void *dest, const void *source, size_t count);

/* The values are such that the result is exact in any order: 1, 2 or 3, and any bits for logic. */
#define VALUE(TYPE, pe, i) ((TYPE)(noise((uint64_t)(pe)*LARGE + (i)) % 3 + 1))
#define REDUCTION(NAME, TYPE, OP, STEP)                                                         \
	static int OP##_##NAME(shmem_team_t team, void *dest, const void *source, size_t count) \
	{                                                                                       \
		return shmem_##NAME##_##OP##_reduce(team, dest, source, count);                 \
	}                                                                                       \
	static void expect_##OP##_##NAME(int size, size_t count)                                \
	{                                                                                       \
		TYPE *out = (TYPE *)(void *)expected;                                           \
                                                                                                \
		for (size_t i = 0; i < count; i++) {                                            \
			TYPE all = VALUE(TYPE, 0, i);                                           \
                                                                                                \
			for (int pe = 1; pe < size; pe++) {                                     \
				TYPE one = VALUE(TYPE, pe, i);                                  \
                                                                                                \
				all = (TYPE)(STEP);                                             \
			}                                                                       \
			out[i] = all;                                                           \
		}                                                                               \
	}
#define SUMS(NAME, TYPE, LEAST, GREATEST) REDUCTION(NAME, TYPE, sum, all + one) REDUCTION(NAME, TYPE, prod, all *one)
#define EXTREMES(NAME, TYPE, LEAST, GREATEST) \
	REDUCTION(NAME, TYPE, min, all < one ? all : one) REDUCTION(NAME, TYPE, max, all > one ? all : one)
#define LOGICS(NAME, TYPE, LEAST, GREATEST) \
	REDUCTION(NAME, TYPE, and, all &one) REDUCTION(NAME, TYPE, or, all | one) REDUCTION(NAME, TYPE, xor, all ^ one)
/* A double for every type, but for those with more digits. */
#define SOURCE(NAME, TYPE, LEAST, GREATEST)                       \
	static void source_##NAME(void *to, int pe, size_t count) \
	{                                                         \
		for (size_t i = 0; i < count; i++)                \
			((TYPE *)to)[i] = VALUE(TYPE, pe, i);     \
	}
RMA_TYPES(SUMS)
RMA_TYPES(EXTREMES)
LOGIC_TYPES(LOGICS)
COMPLEX_TYPES(SUMS)
RMA_TYPES(SOURCE)
COMPLEX_TYPES(SOURCE)

static const struct {
	const char *name;
	size_t width;
	void (*source)(void *to, int pe, size_t count);
	reduction *call;
	void (*expect)(int size, size_t count);
} reductions[] = {
#define ROW(NAME, TYPE, OP) {#NAME "_" #OP, sizeof(TYPE), source_##NAME, OP##_##NAME, expect_##OP##_##NAME},
#define SUM_ROWS(NAME, TYPE, LEAST, GREATEST) ROW(NAME, TYPE, sum) ROW(NAME, TYPE, prod)
#define EXTREME_ROWS(NAME, TYPE, LEAST, GREATEST) ROW(NAME, TYPE, min) ROW(NAME, TYPE, max)
#define LOGIC_ROWS(NAME, TYPE, LEAST, GREATEST) ROW(NAME, TYPE, and) ROW(NAME, TYPE, or) ROW(NAME, TYPE, xor)
	RMA_TYPES(SUM_ROWS) RMA_TYPES(EXTREME_ROWS) LOGIC_TYPES(LOGIC_ROWS) COMPLEX_TYPES(SUM_ROWS)};
#define REDUCTIONS (sizeof reductions / sizeof reductions[0])

/* In place where source is where dest is: the result then takes the place of the source. */
static void try_reduction(const struct team *team, size_t r, size_t pair, size_t count, bool in_place)
{
	enum where to = pairs[pair][0], from = pairs[pair][1];
	size_t width = reductions[r].width, bytes = count * width;
	char *source = in_place ? dests[to] : sources[from];

	NOTE("%s of %zu elements from %s to %s%s on %s", reductions[r].name, count, where_names[from], where_names[to],
	     in_place ? ", in place" : "", team->name);
	step++;
	clear(dests[to], bytes + 64);
	memset(scratch, 0, bytes);
	reductions[r].source(scratch, team->me, count);
	write_to(source, scratch, bytes);
	shmem_team_sync(team->team);
	CHECK_EQUAL(reductions[r].call(team->team, dests[to], source, count), 0);
	reductions[r].expect(team->size, count);
	read_from(dests[to], bytes + 64);
	CHECK_FILL(scratch + bytes, UNTOUCHED, 64);
	for (size_t i = 0; i < count; i++) /* of a long double some bytes mean nothing */
		CHECK_BYTES(scratch + i * width, expected + i * width,
			    strncmp(reductions[r].name, "longdouble", 10) ? width : 10);
	shmem_team_sync(team->team);
}

static void try_reductions(const struct team *team, size_t large)
{
	for (size_t r = 0; r < REDUCTIONS; r++) {
		if (!is_selected(r))
			continue;
		try_reduction(team, r, r % PAIRS, 1 + r % 7, false);
		try_reduction(team, r, 0, 333, r & 1);
	}
	for (size_t r = 0; r < REDUCTIONS; r += 5)
		try_reduction(team, r, r % PAIRS, large, false);
}

#define SCAN(KIND, FIRST, LAST)                                                                               \
	static void try_##KIND(const struct team *team, enum where to, enum where from, size_t count)         \
	{                                                                                                     \
		long *out = (long *)(void *)expected;                                                         \
                                                                                                              \
		NOTE(#KIND " of %zu elements from %s to %s on %s", count, where_names[from], where_names[to], \
		     team->name);                                                                             \
		clear(dests[to], count * sizeof(long));                                                       \
		source_long(scratch, team->me, count);                                                        \
		write_to(sources[from], scratch, count * sizeof(long));                                       \
		shmem_team_sync(team->team);                                                                  \
		CHECK_EQUAL(shmem_long_sum_##KIND(team->team, (long *)(void *)dests[to],                      \
						  (long *)(void *)sources[from], count),                      \
			    0);                                                                               \
		for (size_t i = 0; i < count; i++) {                                                          \
			out[i] = 0;                                                                           \
			for (int pe = FIRST; pe < LAST; pe++)                                                 \
				out[i] += VALUE(long, pe, i);                                                 \
		}                                                                                             \
		CHECK_BYTES(read_from(dests[to], count * sizeof(long)), expected, count * sizeof(long));      \
		shmem_team_sync(team->team);                                                                  \
	}
SCAN(inscan, 0, team->me + 1)
SCAN(exscan, 0, team->me)

static void try_team(const struct team *team, size_t large)
{
	try_moves(team);
	try_reductions(team, large);
	for (size_t pair = 0; pair < PAIRS; pair++) {
		try_inscan(team, pairs[pair][0], pairs[pair][1], 77);
		try_exscan(team, pairs[pair][0], pairs[pair][1], 5000);
	}
}

int main(void)
{
	struct team world = {SHMEM_TEAM_WORLD, 0, 0, "the world"}, some = {SHMEM_TEAM_INVALID, 0, 0, "a team"};

	begin_gpu(SHMEM_THREAD_SINGLE);
	open_rooms((size_t)2 << 20);
	expected = malloc(room);
	part = malloc(room);
	world.me = me;
	world.size = npes;
	try_team(&world, LARGE);
	/* All but the first, or the first alone. */
	shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, npes > 2, 1, npes > 2 ? npes - 1 : 1, NULL, 0, &some.team);
	if (some.team != SHMEM_TEAM_INVALID) {
		some.me = shmem_team_my_pe(some.team);
		some.size = shmem_team_n_pes(some.team);
		try_team(&some, 1000);
		shmem_team_destroy(some.team);
	}
	free(expected);
	free(part);
	close_rooms();
	return end();
}
