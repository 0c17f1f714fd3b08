/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=4,6 ucx-shm=4 mixed=8 mixed3=7 cables-ring=6 paths=ucx-tcp,ucx-shm,mixed,mixed3,hosts time=120 */
/*
 * Collect, fcollect, alltoall, alltoalls and barriers along the axes of a torus: shapes of as many
 * nodes as there are, sizes from nothing up, one after the other without a pause and mixed with
 * broadcasts and reductions over the same links, with PEs that come late, on the world and on its
 * rows and columns.
 */
#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#define LARGEST 40013UL /* bytes of each PE */

static unsigned char *dest, *source, *expected, *flood;
static long *epoch;

static void bring(int pe, size_t bytes, uint64_t seed, unsigned char *at)
{
	fill_noise(at, bytes, seed * 64 + (uint64_t)pe);
}

static void maybe_late(uint64_t seed)
{
	if (noise(seed) % (uint64_t)npes == (uint64_t)me)
		usleep((unsigned)(noise(seed + 1) % 3000));
}

static void check_fcollect(shmem_team_t team, size_t bytes, uint64_t seed)
{
	int n = shmem_team_n_pes(team), place = shmem_team_my_pe(team);

	NOTE("%s, fcollect of %d times %zu bytes", getenv("SHMEM_TORUS"), n, bytes);
	memset(dest, 0x44, (size_t)n * bytes + 1);
	bring(place, bytes, seed, source);
	shmem_team_sync(team);
	maybe_late(seed);
	CHECK_EQUAL(shmem_fcollectmem(team, dest, source, bytes), 0);
	for (int i = 0; i < n; i++) {
		bring(i, bytes, seed, expected);
		CHECK_BYTES(dest + (size_t)i * bytes, expected, bytes);
	}
	CHECK_FILL(dest + (size_t)n * bytes, 0x44, 1);
}

/* Every PE another number of bytes, some none. */
static size_t share(int place, size_t bytes, uint64_t seed)
{
	return noise(seed + (uint64_t)place) % 3 ? noise(seed * 7 + (uint64_t)place) % (bytes + 1) : 0;
}

static void check_collect(shmem_team_t team, size_t bytes, uint64_t seed)
{
	int n = shmem_team_n_pes(team), place = shmem_team_my_pe(team);
	size_t at = 0;

	NOTE("%s, collect of %d times up to %zu bytes", getenv("SHMEM_TORUS"), n, bytes);
	memset(dest, 0x44, (size_t)n * bytes + 1);
	bring(place, share(place, bytes, seed), seed, source);
	shmem_team_sync(team);
	maybe_late(seed);
	CHECK_EQUAL(shmem_collectmem(team, dest, source, share(place, bytes, seed)), 0);
	for (int i = 0; i < n; i++) {
		bring(i, share(i, bytes, seed), seed, expected);
		CHECK_BYTES(dest + at, expected, share(i, bytes, seed));
		at += share(i, bytes, seed);
	}
	CHECK_FILL(dest + at, 0x44, 1);
}

static void check_alltoall(shmem_team_t team, size_t bytes, uint64_t seed)
{
	int n = shmem_team_n_pes(team), place = shmem_team_my_pe(team);

	for (int round = 0; round < 3; round++, seed++) {
		NOTE("%s, alltoall of %d times %zu bytes", getenv("SHMEM_TORUS"), n, bytes);
		memset(dest, 0x44, (size_t)n * bytes + 1);
		for (int i = 0; i < n; i++)
			bring(place * 64 + i, bytes, seed, source + (size_t)i * bytes);
		shmem_team_sync(team);
		maybe_late(seed);
		CHECK_EQUAL(shmem_alltoallmem(team, dest, source, bytes), 0);
		for (int i = 0; i < n; i++) {
			bring(i * 64 + place, bytes, seed, expected);
			CHECK_BYTES(dest + (size_t)i * bytes, expected, bytes);
		}
		CHECK_FILL(dest + (size_t)n * bytes, 0x44, 1);
	}
}

/* As many words for each as fit with gaps, which keep what they hold. */
static void check_alltoalls(shmem_team_t team, size_t bytes, size_t dst, size_t sst, uint64_t seed)
{
	int n = shmem_team_n_pes(team), place = shmem_team_my_pe(team);
	size_t count = bytes / (2 * sizeof(uint32_t));
	uint32_t *to = (uint32_t *)(void *)dest, *from = (uint32_t *)(void *)source;

	NOTE("%s, alltoalls of %d times %zu words, strides %zu and %zu", getenv("SHMEM_TORUS"), n, count, dst, sst);
	memset(dest, 0x44, (size_t)n * bytes);
	for (size_t i = 0; i < (size_t)n * count; i++)
		from[i * sst] = (uint32_t)noise((seed * 64 + (uint64_t)place) * LARGEST * 64 + i);
	shmem_team_sync(team);
	maybe_late(seed);
	CHECK_EQUAL(shmem_uint32_alltoalls(team, to, from, (ptrdiff_t)dst, (ptrdiff_t)sst, count), 0);
	for (size_t i = 0; i < (size_t)n * count; i++) {
		size_t sender = i / count, there = (size_t)place * count + i % count;

		CHECK_EQUAL(to[i * dst], (uint32_t)noise((seed * 64 + sender) * LARGEST * 64 + there));
		if (dst == 2)
			CHECK_EQUAL(to[i * dst + 1], 0x44444444);
	}
}

/*
 * Nobody leaves before all have come: all write their epoch to all before, and none has written the
 * next one.
 */
static void check_meetings(shmem_team_t team)
{
	int n = shmem_team_n_pes(team), place = shmem_team_my_pe(team);

	for (long i = 1; i <= 20; i++) {
		for (int to = 0; to < n; to++)
			shmem_long_p(&epoch[place], i, shmem_team_translate_pe(team, to, SHMEM_TEAM_WORLD));
		shmem_quiet();
		maybe_late((uint64_t)i);
		shmem_team_sync(team);
		for (int from = 0; from < n; from++)
			CHECK_EQUAL(epoch[from], i);
		shmem_team_sync(team);
	}
	memset(epoch, 0, (size_t)npes * sizeof *epoch);
	shmem_team_sync(team);
}

static void check_team(shmem_team_t team, size_t most, uint64_t seed)
{
	static const size_t sizes[] = {0, 1, 8, 65, 1000, 5001, LARGEST};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= most; i++) {
		check_fcollect(team, sizes[i], ++seed);
		check_collect(team, sizes[i], ++seed);
		shmem_broadcastmem(team, flood, source, 30000, (int)(seed % (uint64_t)shmem_team_n_pes(team)));
		check_alltoall(team, sizes[i], seed += 3);
		check_alltoalls(team, sizes[i], seed % 2 + 1, 2 - seed / 2 % 2, seed + 1);
		shmem_long_sum_reduce(team, (long *)(void *)flood, (long *)(void *)source, 2000);
	}
	check_meetings(team);
}

static int live(const char *shape, int life)
{
	const uint64_t seed = (uint64_t)life * 100000;
	shmem_team_t row, column;
	int nodes;

	if (shape)
		setenv("SHMEM_TORUS", shape, 1);
	setenv("SHMEM_ALLTOALL_ALGORITHM", life % 2 ? "torus-lines" : "torus-links", 1);
	setenv("SHMEM_COLLECT_ALGORITHM", life % 4 < 2 ? "torus-lines" : "torus", 1);
	begin();
	dest = symmetric(LARGEST * (size_t)npes + 1);
	source = symmetric(LARGEST * (size_t)npes);
	flood = symmetric(30000);
	epoch = symmetric((size_t)npes * sizeof *epoch);
	memset(epoch, 0, (size_t)npes * sizeof *epoch);
	shmem_barrier_all();
	nodes = count_nodes();
	if (shape) {
		check_team(SHMEM_TEAM_WORLD, life % 3 ? 5001 : LARGEST, seed);
		shmem_team_split_2d(SHMEM_TEAM_WORLD, npes % 3 ? 2 : 3, NULL, 0, &row, NULL, 0, &column);
		check_team(row, 65, seed + 5000);
		check_team(column, 5001, seed + 6000);
		shmem_team_destroy(row);
		shmem_team_destroy(column);
	}
	shmem_finalize();
	return nodes;
}

int main(void)
{
	static const char *const names[] = {"BROADCAST", "REDUCE", "BARRIER"};
	char shape[64], name[64];
	int nodes;

	expected = malloc(LARGEST);
	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		sprintf(name, "SHMEM_%s_ALGORITHM", names[i]);
		setenv(name, "torus", 1);
	}
	nodes = live(NULL, 0);
	for (int life = 0; write_shape(shape, nodes, life); life++)
		live(shape, life);
	free(expected);
	return 0;
}
