/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of heat.c, poisson.c, lattice.c, upwind.c and solver.c: options, the grid of PEs, where
 * the time went, and the comparison with the serial answer.
 */
#ifndef EXAMPLES_HALO_JOB_H
#define EXAMPLES_HALO_JOB_H

#include "halo.h"

static inline void halo_usage(const char *name, int dims)
{
	printf("usage: oshrun -n PES %s [options]\n\n"
	       "  --side N         points of a block along each of %d dimensions\n"
	       "  --grid N,N,...   PEs along each dimension (0: as it fits)\n"
	       "  --iterations N   how many\n"
	       "  --open           no dimension wraps\n"
	       "  --unchecked      without the serial answer\n"
	       "  --scale N        messages N times as long as they need be (1)\n"
	       "  --dawdle US      PE i loses US times (i mod 4) microseconds in each sweep\n"
	       "  --slow PE        this PE loses 2 ms in every eighth sweep\n",
	       name, dims);
}

/* Returns 0, or the exit code plus one. */
static inline int halo_options(struct halo *h, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--open")) {
			memset(h->wraps, 0, sizeof h->wraps);
			continue;
		}
		if (!strcmp(argv[i], "--unchecked")) {
			h->unchecked = 1;
			continue;
		}
		if (!strcmp(argv[i], "--side"))
			for (int d = 0; d < h->dims; d++)
				h->side[d] = strtoul(value, NULL, 10);
		else if (!strcmp(argv[i], "--grid"))
			for (int d = 0; d < h->dims && *value; d++, value += *value == ',')
				h->grid[d] = (int)strtol(value, (char **)&value, 10);
		else if (!strcmp(argv[i], "--iterations"))
			h->iterations = atol(value);
		else if (!strcmp(argv[i], "--scale"))
			h->scale = atol(value);
		else if (!strcmp(argv[i], "--dawdle"))
			h->dawdle = atol(value);
		else if (!strcmp(argv[i], "--slow"))
			h->slow = atol(value);
		else
			return strcmp(argv[i], "--help") ? 3 : 1;
		i++;
	}
	return h->side[0] < 1 || h->scale < 1 || h->iterations < 1 ? 3 : 0;
}

/* From the command line; what it does not say is as the caller filled it in. */
static inline void halo_begin(struct halo *h, const char *name, int argc, char **argv)
{
	size_t bytes[2 * DIMS], first[DIMS], counts[DIMS];
	shmemx_grid_report_t report;
	int wrong;

	h->scale = 1;
	if (h->point == 0)
		h->point = sizeof(double);
	h->slow = -1;
	shmem_init();
	wrong = halo_options(h, argc, argv);
	if (wrong) {
		if (shmem_my_pe() == 0)
			halo_usage(name, h->dims);
		shmem_finalize();
		exit(wrong - 1);
	}
	if (shmemx_grid_create(SHMEM_TEAM_WORLD, h->dims, h->grid, h->wraps, 1, &h->team))
		shmem_global_exit(1);
	shmemx_grid_sizes(h->team, h->grid, NULL);
	shmemx_grid_coordinates(h->team, shmem_team_my_pe(h->team), h->at);
	for (int i = 0; i < h->dims; i++)
		h->size[i] = h->side[i] + 2;
	for (int e = 0; e < 2 * h->dims; e++)
		bytes[e] = h->upwards && e % 2 ? 0 : (size_t)h->scale * halo_layer(h, e / 2, 1, first, counts);
	if (shmemx_exchange_create_grid(h->team, bytes, SHMEMX_EDGE_EACH_ITERATION, &h->exchange))
		shmem_global_exit(1);
	shmemx_grid_report(h->team, &report);
	if (shmem_my_pe() == 0) {
		printf("%s: blocks of %zu points along each of %d dimensions, %d PEs as", name, h->side[0], h->dims,
		       shmem_n_pes());
		for (int i = 0; i < h->dims; i++)
			printf("%s%d%s", i ? "x" : " ", h->grid[i], h->wraps[i] ? "" : "m");
		printf("\nplaced %s: %.2f hops between neighbours, %.2f in rank order; messages of %zu bytes\n",
		       report.how, report.after.mean_hops, report.before.mean_hops, bytes[0]);
	}
}

/*
 * In the order of the lattice, whatever the blocks: the number by which programs in other languages
 * compare.
 */
static inline double halo_sum_alone(const struct halo *whole, const double *alone)
{
	size_t points = 1, ones[DIMS] = {1, 1, 1, 1};
	double *inside, sum = 0;

	for (int i = 0; i < whole->dims; i++)
		points *= whole->side[i];
	inside = malloc(points * sizeof *inside);
	shmemx_pack(inside, alone, sizeof *inside, whole->dims, whole->size, ones, whole->side);
	for (size_t i = 0; i < points; i++)
		sum += inside[i];
	free(inside);
	return sum;
}

/* PE 0 gets everybody's block and looks for the first point that differs. */
static inline int halo_differs(const struct halo *h, const double *mine, const struct halo *whole, const double *alone)
{
	size_t bytes = sizeof *mine, blocks = 0, first[DIMS], ones[DIMS], inside[DIMS];
	double *block, *same;

	for (int i = 0; i < h->dims; i++)
		bytes *= h->side[i];
	block = malloc(bytes);
	same = malloc(bytes);
	for (int pe = 0; pe < shmem_team_n_pes(h->team); pe++) {
		double *theirs = halo_array(&(struct halo){.dims = h->dims,
							   .alone = 1,
							   .size = {h->size[0], h->size[1], h->size[2], h->size[3]}});
		size_t points = 1;
		int at[DIMS];

		shmemx_grid_coordinates(h->team, pe, at);
		for (int i = 0; i < h->dims; i++) {
			points *= h->size[i];
			ones[i] = 1;
			inside[i] = h->side[i];
			first[i] = (size_t)at[i] * h->side[i] + 1;
		}
		shmem_getmem(theirs, mine, points * sizeof *mine,
			     shmem_team_translate_pe(h->team, pe, SHMEM_TEAM_WORLD));
		shmemx_pack(block, theirs, sizeof *mine, h->dims, h->size, ones, inside);
		shmemx_pack(same, alone, sizeof *mine, h->dims, whole->size, first, inside);
		blocks += memcmp(block, same, bytes) != 0;
		free(theirs);
	}
	free(block);
	free(same);
	printf("sum of all points: %.17g\n", halo_sum_alone(whole, alone));
	printf("blocks that differ from the serial answer: %zu\n%s\n", blocks, blocks ? "FAIL" : "PASS");
	return blocks > 0;
}

/* In percent, how much of all the rest is not. */
static inline double halo_share(double rest, double all)
{
	return all > 0 && rest < all ? 100 * (1 - rest / all) : 0;
}

/* What the parts of a sweep took, and communication by itself; others read it. */
static double halo_sweeps[PARTS + 1];

static inline void halo_keep_times(const struct halo *h)
{
	for (int p = 0; p < PARTS; p++)
		halo_sweeps[p] = h->spent[p] / (double)(h->together ? h->together : 1);
	halo_sweeps[PARTS] = h->exposed / (double)(h->sweeps / 8 ? h->sweeps / 8 : 1);
}

/*
 * Of the PE that waits least: it computes longest, and waits for messages only. The others wait for
 * it, too, which no network can help.
 */
static inline void halo_times(void)
{
	static const char *const names[] = {"pack", "start", "bulk", "wait", "boundary"};
	double of[PARTS + 1], least[PARTS + 1];
	int pe = 0;

	for (int i = 0; i < shmem_n_pes(); i++) {
		shmem_double_get(of, halo_sweeps, PARTS + 1, i);
		if (i > 0 && of[WAIT] >= least[WAIT])
			continue;
		pe = i;
		memcpy(least, of, sizeof least);
	}
	printf("microseconds in a sweep of PE %d, which waits least:", pe);
	for (int p = 0; p < PARTS; p++)
		printf("%s %s %.1f", p ? "," : "", names[p], least[p]);
	printf("\ncommunication takes %.1f where nothing is computed meanwhile; hidden: %.1f %%, of that and "
	       "starting: %.1f %%\n",
	       least[PARTS], halo_share(least[WAIT], least[PARTS]),
	       halo_share(least[START] + least[WAIT], least[START] + least[PARTS]));
}

/* The same lattice on one PE. */
static inline struct halo halo_whole(const struct halo *h)
{
	struct halo whole = *h;

	whole.alone = 1;
	for (int i = 0; i < h->dims; i++) {
		whole.side[i] *= (size_t)h->grid[i];
		whole.size[i] = whole.side[i] + 2;
		whole.at[i] = 0;
	}
	return whole;
}

static inline int halo_check(struct halo *h, double *(*solve)(struct halo *h), const double *mine)
{
	struct halo whole = halo_whole(h);
	double *alone = solve(&whole);
	int differs = halo_differs(h, mine, &whole, alone);

	free(alone);
	return differs;
}

/* Solves twice, by all PEs and by PE 0 alone, and compares; returns the exit code. */
static inline int halo_run(struct halo *h, double *(*solve)(struct halo *h))
{
	double *mine = solve(h);
	int differs = 0;

	halo_keep_times(h);
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		halo_times();
		differs = h->unchecked ? 0 : halo_check(h, solve, mine);
		fflush(stdout);
	}
	shmem_barrier_all();
	shmemx_exchange_destroy(h->exchange);
	shmem_team_destroy(h->team);
	shmem_finalize();
	return differs;
}

#endif
