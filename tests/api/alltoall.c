/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 ofi=3 */
/*
 * Alltoall and alltoalls: every type, on teams of all shapes, with and without gaps, back to back.
 */
#include "tests/lib/shapes.h"
#include "tests/lib/types.h"

#define MOST 3	 /* elements of a block, in the typed tests */
#define STRIDE 3 /* at most */
#define ROOM (MOST_PES * MOST * STRIDE * 16)
#define UNTOUCHED 0x5a

static _Alignas(16) unsigned char dest[ROOM], source[ROOM], expected[ROOM];

typedef int call_t(shmem_team_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t);

/* What PE from has for member k of the team, element e. */
static void element(void *at, size_t size, uint64_t seed, int from, int k, size_t e)
{
	fill_noise(at, size, ((seed * 64 + (uint64_t)from) * 64 + (uint64_t)k) * 16 + e);
}

static void try(const struct shape *shape, size_t count, size_t size, ptrdiff_t dst, ptrdiff_t sst, uint64_t seed,
		call_t *call)
{
	size_t used = (size_t)shape->n * count * STRIDE * size;

	memset(dest, UNTOUCHED, used);
	memset(expected, UNTOUCHED, used);
	for (int k = 0; k < shape->n; k++) {
		for (size_t e = 0; e < count; e++) {
			size_t place = (size_t)k * count + e;

			element(source + place * (size_t)sst * size, size, seed, me, k, e);
			element(expected + place * (size_t)dst * size, size, seed, shape->pes[k], shape->me, e);
		}
	}
	CHECK_EQUAL(shmem_team_sync(shape->team), 0); /* dest must be ready everywhere */
	CHECK_EQUAL(call(shape->team, dest, source, dst, sst, count), 0);
	memset(source, 0xff, used); /* ours again */
	CHECK_BYTES(dest, expected, used);
}

#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                                           \
	static int dense_##NAME(shmem_team_t team, void *to, const void *from, ptrdiff_t d, ptrdiff_t s, size_t n)   \
	{                                                                                                            \
		(void)d, (void)s;                                                                                    \
		return shmem_##NAME##_alltoall(team, to, from, n);                                                   \
	}                                                                                                            \
	static int strided_##NAME(shmem_team_t team, void *to, const void *from, ptrdiff_t d, ptrdiff_t s, size_t n) \
	{                                                                                                            \
		return shmem_##NAME##_alltoalls(team, to, from, d, s, n);                                            \
	}
RMA_TYPES(TYPED)

static int dense_mem(shmem_team_t team, void *to, const void *from, ptrdiff_t d, ptrdiff_t s, size_t n)
{
	(void)d, (void)s;
	return shmem_alltoallmem(team, to, from, n);
}

static const struct {
	const char *name;
	size_t size;
	call_t *dense, *strided;
} types[] = {
#define ROW(NAME, TYPE, LEAST, GREATEST) {#NAME, sizeof(TYPE), dense_##NAME, strided_##NAME},
	RMA_TYPES(ROW){"mem", 1, dense_mem, shmem_alltoallsmem},
};

static void check_types(const struct shape *shape)
{
	static const struct {
		ptrdiff_t dst, sst;
	} strides[] = {{1, 1}, {STRIDE, 1}, {1, 2}, {2, STRIDE}};
	uint64_t seed = 1;

	for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
		for (size_t count = 0; count <= MOST; count += count ? 2 : 1) {
			NOTE("%s alltoall on %s, %zu elements", types[t].name, shape->name, count);
			if (is_selected(t + count))
				try(shape, count, types[t].size, 1, 1, seed++, types[t].dense);
			for (size_t i = 0; i < 4; i++) {
				NOTE("%s alltoalls on %s, %zu elements, strides %td and %td", types[t].name,
				     shape->name, count, strides[i].dst, strides[i].sst);
				if (is_selected(t + count + i))
					try(shape, count, types[t].size, strides[i].dst, strides[i].sst, seed++,
					    types[t].strided);
			}
		}
}

/* Nothing between the calls; two alternating places, and the source is written to at once. */
static void check_in_a_row(const struct shape *shape, long rounds)
{
	static long from[MOST_PES], to[2][MOST_PES];

	NOTE("in a row on %s", shape->name);
	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < shape->n; i++)
			from[i] = (round * 100 + me) * 100 + shape->pes[i];
		if (round % 3)
			CHECK_EQUAL(shmem_long_alltoall(shape->team, to[round % 2], from, 1), 0);
		else
			CHECK_EQUAL(shmem_long_alltoalls(shape->team, to[round % 2], from, 1, 1, 1), 0);
		memset(from, 0xff, sizeof from);
		for (int i = 0; i < shape->n; i++)
			CHECK_EQUAL(to[round % 2][i], (round * 100 + shape->pes[i]) * 100 + me);
	}
}

static void check_large(size_t count)
{
	size_t all = count * (size_t)npes;
	uint64_t *from = symmetric(all * sizeof *from), *to = symmetric(all * sizeof *to);

	NOTE("%zu words for each", count);
	for (size_t i = 0; i < all; i++)
		from[i] = noise((uint64_t)me * all + i);
	CHECK_EQUAL(shmem_uint64_alltoall(SHMEM_TEAM_WORLD, to, from, count), 0);
	for (size_t i = 0; i < all; i++)
		CHECK_EQUAL(to[i], noise(i / count * all + (size_t)me * count + i % count));
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
	check_large(1);
	check_large(20001);
	shmem_barrier_all();
	destroy_shapes();
	return end();
}
