/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 ofi=3 */
/*
 * Collect and fcollect: every type, on teams of all shapes, equal and unequal counts and nothing at
 * all, back to back.
 */
#include "tests/lib/shapes.h"
#include "tests/lib/types.h"

#define MOST 9 /* elements of a member, in the typed tests */
#define UNTOUCHED 0x3c

static _Alignas(16) unsigned char dest[MOST_PES * MOST * 16 + 16], source[MOST * 16];

/* How many elements member i brings: with unequal counts some bring nothing. */
static size_t count_of(int i, size_t count, bool unequal)
{
	return unequal ? (count + (size_t)i * 3) % MOST : count;
}

/* Fills source, calls, and checks every byte of dest. */
static void try(const struct shape *shape, size_t count, size_t size, bool unequal, uint64_t seed,
		int (*call)(shmem_team_t, void *, const void *, size_t))
{
	unsigned char expected[MOST * 16], *at = dest;
	size_t mine = count_of(shape->me, count, unequal);

	memset(dest, UNTOUCHED, sizeof dest);
	fill_noise(source, mine * size, seed * 64 + (uint64_t)me);
	CHECK_EQUAL(shmem_team_sync(shape->team), 0); /* dest must be ready everywhere */
	CHECK_EQUAL(call(shape->team, dest, source, mine), 0);
	memset(source, 0xff, sizeof source); /* ours again */
	for (int i = 0; i < shape->n; i++) {
		size_t bytes = count_of(i, count, unequal) * size;

		fill_noise(expected, bytes, seed * 64 + (uint64_t)shape->pes[i]);
		CHECK_BYTES(at, expected, bytes);
		at += bytes;
	}
	CHECK_FILL(at, UNTOUCHED, (size_t)(dest + sizeof dest - at));
}

#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                  \
	static int collect_##NAME(shmem_team_t team, void *to, const void *from, size_t n)  \
	{                                                                                   \
		return shmem_##NAME##_collect(team, to, from, n);                           \
	}                                                                                   \
	static int fcollect_##NAME(shmem_team_t team, void *to, const void *from, size_t n) \
	{                                                                                   \
		return shmem_##NAME##_fcollect(team, to, from, n);                          \
	}
RMA_TYPES(TYPED)

static const struct {
	const char *name;
	size_t size;
	int (*collect)(shmem_team_t, void *, const void *, size_t);
	int (*fcollect)(shmem_team_t, void *, const void *, size_t);
} types[] = {
#define ROW(NAME, TYPE, LEAST, GREATEST) {#NAME, sizeof(TYPE), collect_##NAME, fcollect_##NAME},
	RMA_TYPES(ROW){"mem", 1, shmem_collectmem, shmem_fcollectmem},
};

static void check_types(const struct shape *shape)
{
	static const size_t counts[] = {0, 1, MOST};
	uint64_t seed = 1;

	for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
		for (size_t i = 0; i < 3; i++, seed++) {
			if (!is_selected(t + i))
				continue;
			NOTE("%s on %s, %zu elements", types[t].name, shape->name, counts[i]);
			try(shape, counts[i], types[t].size, false, seed, types[t].fcollect);
			try(shape, counts[i], types[t].size, false, seed, types[t].collect);
			NOTE("%s on %s, unequal from %zu", types[t].name, shape->name, counts[i]);
			try(shape, counts[i], types[t].size, true, seed, types[t].collect);
		}
}

/*
 * Nothing between the calls but the calls, each to a place of its own; a source is written to as
 * soon as it is back.
 */
static void check_in_a_row(const struct shape *shape, long rounds)
{
	static long mine[2], all[2][2 * MOST_PES];

	NOTE("in a row on %s", shape->name);
	CHECK_EQUAL(shmem_team_sync(shape->team), 0);
	for (long round = 0; round < rounds; round++) {
		long *to = all[round % 2];

		mine[0] = round * 100 + me;
		mine[1] = -mine[0];
		if (round % 4 < 2)
			CHECK_EQUAL(shmem_long_fcollect(shape->team, to, mine, 2), 0);
		else
			CHECK_EQUAL(shmem_long_collect(shape->team, to, mine, 2), 0);
		mine[0] = mine[1] = -1;
		for (int i = 0; i < shape->n; i++) {
			CHECK_EQUAL(to[2 * i], round * 100 + shape->pes[i]);
			CHECK_EQUAL(to[2 * i + 1], -(round * 100 + shape->pes[i]));
		}
	}
}

/* Much, from the heap; in collect, only the last member's share is small. */
static void check_large(const struct shape *shape, size_t count)
{
	uint64_t *from = symmetric(count * sizeof *from), *to = symmetric(count * (size_t)npes * sizeof *to);

	NOTE("%zu words on %s", count, shape->name);
	for (size_t i = 0; i < count; i++)
		from[i] = noise((uint64_t)me * count + i);
	if (shape->me >= 0) {
		size_t mine = shape->me == shape->n - 1 ? 3 : count;

		CHECK_EQUAL(shmem_uint64_fcollect(shape->team, to, from, count), 0);
		for (size_t i = 0; i < count * (size_t)shape->n; i++)
			CHECK_EQUAL(to[i], noise((uint64_t)shape->pes[i / count] * count + i % count));
		memset(to, 0, count * (size_t)shape->n * sizeof *to);
		CHECK_EQUAL(shmem_team_sync(shape->team), 0);
		CHECK_EQUAL(shmem_uint64_collect(shape->team, to, from, mine), 0);
		for (size_t i = 0; i < count * ((size_t)shape->n - 1) + 3; i++)
			CHECK_EQUAL(to[i], noise((uint64_t)shape->pes[i / count] * count + i % count));
	}
	shmem_free(to);
	shmem_free(from);
}

int main(void)
{
	begin();
	make_shapes();
	FOR_SHAPES(shape)
	{
		if (shape->me >= 0) {
			check_types(shape);
			check_in_a_row(shape, eased(200));
		}
	}
	check_large(&shapes[0], 50000);
	check_large(&shapes[1], 10001);
	shmem_barrier_all();
	destroy_shapes();
	return end();
}
