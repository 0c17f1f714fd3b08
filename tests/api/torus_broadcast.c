/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=4,6 ucx-shm=4 mixed=8 mixed3=7 cables-ring=6 paths=ucx-tcp,ucx-shm,mixed,mixed3,hosts time=120 */
/*
 * Broadcasts over trees on a torus: shapes of as many nodes as there are, with rings, meshes and
 * pairs, all kinds of trees, all roots, sizes from a byte up with odd tails, one after the other
 * without a pause, with PEs that come late, and on teams that are planes or lines of the torus
 * while others have theirs.
 */
#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#define LARGEST (600000UL + 13)
#define IN_A_ROW 3

static const char *const algorithms[] = {"torus-both", "torus-up", "torus-twice", "torus"};
static unsigned char *dest[IN_A_ROW], *source, *expected;
/* All members have a tree of the kind asked for. Otherwise the caller makes dest ready first. */
static bool all_have_trees;

static void broadcast_in_a_row(shmem_team_t team, const char *name, int root, size_t bytes, uint64_t seed)
{
	int n = shmem_team_n_pes(team), place = shmem_team_my_pe(team);

	NOTE("%s, from %d of %s, %zu bytes", getenv("SHMEM_TORUS"), root, name, bytes);
	for (int i = 0; i < IN_A_ROW; i++)
		memset(dest[i], 0x44, bytes + 1);
	shmem_team_sync(team);
	if (noise(seed) % (uint64_t)n == (uint64_t)place) {
		usleep((unsigned)(noise(seed + 1) % 3000));
		/* Nobody writes here before this PE has called. */
		if (bytes > 50000 && n == npes && all_have_trees)
			CHECK_FILL(dest[0], 0x44, bytes);
	}
	for (int i = 0; i < IN_A_ROW; i++) {
		int from = (root + i) % n;

		fill_noise(source, bytes, seed * 8 + (uint64_t)i + (place == from ? 0 : 1000000));
		CHECK_EQUAL(shmem_broadcastmem(team, dest[i], source, bytes, from), 0);
		memset(source, 0, bytes);
	}
	for (int i = 0; i < IN_A_ROW; i++) {
		fill_noise(expected, bytes, seed * 8 + (uint64_t)i);
		CHECK_BYTES(dest[i], expected, bytes);
		CHECK_FILL(dest[i] + bytes, 0x44, 1);
	}
}

static void check_team(shmem_team_t team, const char *name, uint64_t seed)
{
	static const size_t sizes[] = {1, 64, 65, 4097, 50001, LARGEST};

	for (int root = 0; root < shmem_team_n_pes(team); root++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			if (sizes[i] < LARGEST || root % 4 == 1)
				broadcast_in_a_row(team, name, root, sizes[i], ++seed);
}

/* Rows and columns of the PEs, which are lines of the torus, or planes, or neither. */
static void check_parts(int across, uint64_t seed)
{
	shmem_team_t row, column;

	CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, across, NULL, 0, &row, NULL, 0, &column), 0);
	check_team(row, "a row", seed);
	check_team(column, "a column", seed);
	shmem_team_destroy(row);
	shmem_team_destroy(column);
}

static int live(const char *shape, int life)
{
	const uint64_t seed = (uint64_t)life * 100000;
	int nodes;

	if (shape)
		setenv("SHMEM_TORUS", shape, 1);
	setenv("SHMEM_BROADCAST_ALGORITHM", algorithms[life % 4], 1);
	all_have_trees = life % 4 == 0 || life % 4 == 3;
	begin();
	for (int i = 0; i < IN_A_ROW; i++)
		dest[i] = symmetric(LARGEST + 1);
	source = symmetric(LARGEST);
	nodes = count_nodes();
	if (shape) {
		check_team(SHMEM_TEAM_WORLD, "the world", seed);
		check_parts(nodes % 2 || npes == nodes ? 2 : npes / 2, seed + 50000);
	}
	shmem_finalize();
	return nodes;
}

int main(void)
{
	char shape[64];
	int nodes;

	expected = malloc(LARGEST);
	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	nodes = live(NULL, 0);
	for (int life = 0; write_shape(shape, nodes, life); life++)
		live(shape, life);
	free(expected);
	return 0;
}
