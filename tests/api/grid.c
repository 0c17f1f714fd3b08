/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,6 ucx-tcp=2,4 ucx-shm=3 mixed=4,8 ofi=3 env=SHMEM_TORUS=4x4x2 */
/*
 * Grids: every PE has one place, neighbours agree on being neighbours, wrapping or not, in any
 * number of dimensions; placed grids cost no more than those in rank order; a grid is a team like
 * any other.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define DIMS SHMEMX_AXES

static int sizes[DIMS], wraps[DIMS], dims;
static int world[64], all_worlds[64], said[2 * DIMS];

static shmem_team_t make(shmem_team_t parent, int reorder)
{
	shmem_team_t grid = SHMEM_TEAM_INVALID;
	int given[DIMS], got_wraps[DIMS];

	memcpy(given, sizes, sizeof given);
	NOTE("%d dimensions, first %d", dims, given[0]);
	CHECK_EQUAL(shmemx_grid_create(parent, dims, given, wraps, reorder, &grid), 0);
	CHECK(grid != SHMEM_TEAM_INVALID);
	CHECK_EQUAL(shmemx_grid_sizes(grid, sizes, got_wraps), dims);
	for (int i = 0; i < dims; i++) {
		CHECK(given[i] == 0 ? sizes[i] >= 1 : sizes[i] == given[i]);
		CHECK_EQUAL(got_wraps[i], wraps[i]);
	}
	CHECK_EQUAL(shmem_team_n_pes(grid), shmem_team_n_pes(parent));
	return grid;
}

/* Coordinates count up with the last the fastest, and lead back to the PE. */
static void check_coordinates(shmem_team_t grid)
{
	int expected[DIMS] = {0}, got[DIMS];

	for (int pe = 0; pe < shmem_team_n_pes(grid); pe++) {
		int i = dims - 1;

		shmemx_grid_coordinates(grid, pe, got);
		CHECK(!memcmp(got, expected, (size_t)dims * sizeof *got));
		CHECK_EQUAL(shmemx_grid_pe(grid, got), pe);
		for (int d = 0; d < dims; d++) {
			got[d] += sizes[d];
			CHECK_EQUAL(shmemx_grid_pe(grid, got), wraps[d] ? pe : -1);
			got[d] -= sizes[d];
		}
		while (i >= 0 && ++expected[i] == sizes[i])
			expected[i--] = 0;
	}
}

/* Everybody writes its number to its neighbours; which numbers arrive? */
static void check_neighbours(shmem_team_t grid)
{
	int here = shmem_team_my_pe(grid), source, dest;

	for (int i = 0; i < 2 * DIMS; i++)
		said[i] = -1;
	shmem_barrier_all();
	for (int d = 0; d < dims; d++)
		for (int step = -1; step <= 1; step += 2) {
			int next = shmemx_grid_neighbour(grid, d, step);

			if (next >= 0)
				shmem_int_p(&said[2 * d + (step < 0)], here,
					    shmem_team_translate_pe(grid, next, SHMEM_TEAM_WORLD));
		}
	shmem_barrier_all();
	for (int d = 0; d < dims; d++) {
		shmemx_grid_shift(grid, d, 1, &source, &dest);
		CHECK_EQUAL(said[2 * d], source);
		CHECK_EQUAL(said[2 * d + 1], dest);
		CHECK_EQUAL(dest, shmemx_grid_neighbour(grid, d, 1));
		CHECK_EQUAL(shmemx_grid_neighbour(grid, d, 0), here);
		CHECK_EQUAL(shmemx_grid_neighbour(grid, d, sizes[d]), wraps[d] ? here : -1);
	}
	shmem_barrier_all();
}

/* Each PE of the parent is in the grid once. */
static void check_members(shmem_team_t grid, shmem_team_t parent)
{
	int n = shmem_team_n_pes(grid), seen = 0;

	world[0] = shmem_team_my_pe(parent);
	CHECK_EQUAL(shmem_int_fcollect(grid, all_worlds, world, 1), 0);
	for (int pe = 0; pe < n; pe++) {
		CHECK_EQUAL(shmem_team_translate_pe(grid, pe, parent), all_worlds[pe]);
		seen |= 1 << all_worlds[pe];
	}
	CHECK_EQUAL(seen, (1 << n) - 1);
	shmem_team_sync(grid);
}

static void try_grid(shmem_team_t parent, int reorder)
{
	shmem_team_t grid = make(parent, reorder);
	shmemx_grid_report_t report;

	check_coordinates(grid);
	check_neighbours(grid);
	check_members(grid, parent);
	shmemx_grid_report(grid, &report);
	CHECK(report.how[0]);
	CHECK(report.after.mean_hops <= report.before.mean_hops);
	CHECK(report.after.longest <= report.before.longest);
	CHECK(report.after.worst_link <= report.before.worst_link);
	if (!reorder)
		for (int pe = 0; pe < shmem_team_n_pes(grid); pe++)
			CHECK_EQUAL(all_worlds[pe], pe);
	shmem_team_destroy(grid);
}

/* All grids of a number of dimensions whose first sizes are given or left open. */
static void try_dims(shmem_team_t parent, int reorder)
{
	int n = shmem_team_n_pes(parent);

	for (int pattern = 0; pattern < 4; pattern++) {
		for (int i = 0; i < dims; i++) {
			sizes[i] = 0;
			wraps[i] = (pattern >> (i % 2)) & 1;
		}
		sizes[dims - 1] = dims == 1 || n % 2 ? 0 : pattern % 2 ? 2 : 0;
		if (dims == 3 && pattern == 3)
			sizes[0] = n, sizes[1] = sizes[2] = 1;
		try_grid(parent, reorder);
	}
}

/* The torus as the library sees it. */
static void check_torus(void)
{
	int size[SHMEMX_AXES], ring[SHMEMX_AXES], at[SHMEMX_AXES];
	int axes = shmemx_torus_shape(size, ring);
	const char *path = getenv("TEST_PATH");

	CHECK(axes >= 1 && axes <= SHMEMX_AXES);
	CHECK(!strcmp(shmemx_torus_source(),
		      path && !strncmp(path, "tofu", 4) ? "the vendor's library" : "SHMEM_TORUS"));
	for (int pe = 0; pe < npes; pe++) {
		CHECK_EQUAL(shmemx_torus_coordinates(pe, at), axes);
		for (int a = 0; a < axes; a++)
			CHECK(at[a] >= 0 && at[a] < size[a]);
		CHECK_EQUAL(shmemx_torus_hops(pe, pe), 0);
		CHECK_EQUAL(shmemx_torus_hops(me, pe), shmemx_torus_hops(pe, me));
		if (shmem_ptr(&world, pe))
			CHECK_EQUAL(shmemx_torus_hops(me, pe), 0);
	}
}

int main(void)
{
	shmem_team_t odd;

	begin();
	check_torus();
	for (int reorder = 0; reorder < 2; reorder++)
		for (dims = 1; dims <= DIMS; dims += dims < 3 ? 1 : 3)
			try_dims(SHMEM_TEAM_WORLD, reorder);
	dims = 2;
	wraps[0] = wraps[1] = 1;
	sizes[0] = sizes[1] = 0;
	/* Of a part of the PEs, and left behind at the end. */
	if (npes >= 3) {
		CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd), 0);
		if (odd != SHMEM_TEAM_INVALID)
			make(odd, 1);
	}
	return end();
}
