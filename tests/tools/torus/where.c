/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * where [SIZES]: what the library says of its torus, and of a grid of these sizes (as in 4,2) on
 * it.
 */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

static int dims, sizes[SHMEMX_AXES];

static void print_pes(void)
{
	int at[SHMEMX_AXES];

	for (int pe = 0; pe < shmem_n_pes(); pe++) {
		int axes = shmemx_torus_coordinates(pe, at);

		printf("%s", pe ? " " : "at ");
		for (int a = 0; a < axes; a++)
			printf("%s%d", a ? "," : "", at[a]);
	}
	printf("\n");
}

static void print_grid(shmem_team_t grid)
{
	shmemx_grid_report_t report;

	shmemx_grid_report(grid, &report);
	printf("grid %s%s, hops %.2f %.2f, longest %d %d, worst link %ld %ld\n", report.how,
	       report.logical ? " (logical)" : "", report.before.mean_hops, report.after.mean_hops,
	       report.before.longest, report.after.longest, report.before.worst_link, report.after.worst_link);
}

int main(int argc, char **argv)
{
	int size[SHMEMX_AXES], ring[SHMEMX_AXES], axes;
	shmem_team_t grid;

	shmem_init();
	axes = shmemx_torus_shape(size, ring);
	for (char *at = argc > 1 ? argv[1] : ""; *at && dims < SHMEMX_AXES; at += *at == ',')
		sizes[dims++] = (int)strtol(at, &at, 10);
	if (shmem_my_pe() == 0) {
		printf("source %s\nshape", shmemx_torus_source());
		for (int a = 0; a < axes; a++)
			printf(" %d%s", size[a], ring[a] ? " ring" : "");
		printf("\n");
		print_pes();
	}
	if (dims && shmemx_grid_create(SHMEM_TEAM_WORLD, dims, sizes, NULL, 1, &grid) == 0 && shmem_my_pe() == 0)
		print_grid(grid);
	shmem_finalize();
	return 0;
}
