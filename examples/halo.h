/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What heat.c, poisson.c, lattice.c and upwind.c share. Each computes on a lattice of points that is cut in blocks, one for each PE. Around
 * its block a PE has ghost points, copies of the outermost points of its neighbours' blocks.
 *
 * A sweep: pack the faces of the block, start sending them, compute the bulk, which needs no ghost point, wait for the neighbours'
 * faces, compute the boundary. While the bulk is computed the faces travel.
 *
 * PE 0 then does the same sweeps on the whole lattice alone. Every point is the same arithmetic, so every bit is the same.
 */
#ifndef EXAMPLES_HALO_H
#define EXAMPLES_HALO_H

#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DIMS 4

enum part { PACK, START, BULK, WAIT, BOUNDARY, PARTS };

struct halo {
	int dims, grid[DIMS], at[DIMS], wraps[DIMS]; /* the PEs, and my place among them */
	size_t side[DIMS], size[DIMS];		     /* of my block, and with the ghost points on both sides */
	int upwards;				     /* faces go upwards only */
	int alone;				     /* the whole lattice on one PE */
	long iterations, scale, dawdle, slow;
	shmem_team_t team;
	shmemx_exchange_t exchange;
	long sweeps, together;
	double spent[PARTS], exposed;
};

/* Computes a box of the block: counts[i] points from first[i] on along each dimension. */
typedef void halo_update(const struct halo *h, double *next, const double *now, const size_t *first,
			 const size_t *counts);

static inline double halo_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static inline double *halo_array(const struct halo *h)
{
	size_t points = 1;
	double *array;

	for (int i = 0; i < h->dims; i++)
		points *= h->size[i];
	array = h->alone ? calloc(points, sizeof *array) : shmem_calloc(points, sizeof *array);
	if (!array) {
		fprintf(stderr, "no memory for %zu points\n", points);
		shmem_global_exit(1);
	}
	return array;
}

/* Where a point of my block is in the whole lattice, which begins with 0; steps along dimension i are strides[i]. */
static inline size_t halo_where(const struct halo *h, int dim, size_t point)
{
	return (size_t)h->at[dim] * h->side[dim] + point - 1;
}

/* The layer of points along a dimension that begins there, as far as my own points go in the others. */
static inline size_t halo_layer(const struct halo *h, int dim, size_t there, size_t *first, size_t *counts)
{
	size_t bytes = sizeof(double);

	for (int i = 0; i < h->dims; i++) {
		first[i] = i == dim ? there : 1;
		counts[i] = i == dim ? 1 : h->side[i];
		bytes *= counts[i];
	}
	return bytes;
}

/* An edge carries a face away, and one in from the same neighbour: not all do. */
static inline int halo_sends(const struct halo *h, int edge)
{
	return !(h->upwards && edge % 2) && shmemx_grid_neighbour(h->team, edge / 2, edge % 2 ? -1 : 1) >= 0;
}

static inline int halo_receives(const struct halo *h, int edge)
{
	return !(h->upwards && edge % 2 == 0) && shmemx_grid_neighbour(h->team, edge / 2, edge % 2 ? -1 : 1) >= 0;
}

static inline void halo_pack(struct halo *h, const double *now)
{
	size_t first[DIMS], counts[DIMS];

	for (int e = 0; e < 2 * h->dims; e++)
		if (halo_sends(h, e)) {
			halo_layer(h, e / 2, e % 2 ? 1 : h->side[e / 2], first, counts);
			shmemx_pack(shmemx_exchange_buffer(h->exchange, e), now, sizeof *now, h->dims, h->size, first,
				    counts);
		}
}

static inline void halo_unpack(struct halo *h, double *now)
{
	size_t first[DIMS], counts[DIMS];

	for (int e = 0; e < 2 * h->dims; e++)
		if (halo_receives(h, e)) {
			halo_layer(h, e / 2, e % 2 ? 0 : h->side[e / 2] + 1, first, counts);
			shmemx_unpack(now, shmemx_exchange_received(h->exchange, e, NULL), sizeof *now, h->dims,
				      h->size, first, counts);
		}
	shmemx_exchange_release(h->exchange, SHMEMX_ALL_EDGES);
}

/* The points with a ghost point beside them: along each dimension the two outermost layers, without those that were in one before. */
static inline void halo_boundary(const struct halo *h, halo_update *update, double *next, const double *now)
{
	for (int d = 0; d < h->dims; d++)
		for (size_t there = 1; there <= h->side[d]; there += h->side[d] > 1 ? h->side[d] - 1 : 1) {
			size_t first[DIMS], counts[DIMS];

			for (int i = 0; i < h->dims; i++) {
				first[i] = i == d ? there : i < d ? 2 : 1;
				counts[i] = i == d ? 1 : i < d ? (h->side[i] > 2 ? h->side[i] - 2 : 0) : h->side[i];
			}
			update(h, next, now, first, counts);
		}
}

static inline void halo_bulk(const struct halo *h, halo_update *update, double *next, const double *now)
{
	size_t first[DIMS], counts[DIMS];

	for (int i = 0; i < h->dims; i++) {
		first[i] = 2;
		counts[i] = h->side[i] > 2 ? h->side[i] - 2 : 0;
	}
	update(h, next, now, first, counts);
	if (h->dawdle)
		usleep((useconds_t)(h->dawdle * (shmem_my_pe() % 4)));
	if (h->slow == shmem_my_pe() && h->sweeps % 8 == 0)
		usleep(2000);
}

/* Alone there is nobody to exchange with: the ghost points of a dimension that wraps are the points at its other end. */
static inline void halo_sweep_alone(struct halo *h, halo_update *update, double *next, double *now)
{
	size_t first[DIMS], counts[DIMS];

	for (int e = 0; e < 2 * h->dims; e++)
		if (h->wraps[e / 2]) {
			double *face = malloc(halo_layer(h, e / 2, e % 2 ? 1 : h->side[e / 2], first, counts));

			shmemx_pack(face, now, sizeof *now, h->dims, h->size, first, counts);
			halo_layer(h, e / 2, e % 2 ? h->side[e / 2] + 1 : 0, first, counts);
			shmemx_unpack(now, face, sizeof *now, h->dims, h->size, first, counts);
			free(face);
		}
	for (int i = 0; i < h->dims; i++) {
		first[i] = 1;
		counts[i] = h->side[i];
	}
	update(h, next, now, first, counts);
}

/*
 * One sweep, from now to next, which may be the same. One in eight waits before it computes the bulk: this is what communication takes
 * where nothing hides it.
 */
static inline void halo_sweep(struct halo *h, halo_update *update, double *next, double *now)
{
	int exposed = h->sweeps % 8 == 1;
	double at[PARTS + 1];

	if (h->alone) {
		halo_sweep_alone(h, update, next, now);
		return;
	}
	at[PACK] = halo_clock();
	halo_pack(h, now);
	at[START] = halo_clock();
	shmemx_exchange_start(h->exchange, SHMEMX_ALL_EDGES, SIZE_MAX); /* each as much as it carries */
	if (exposed) {
		double start = halo_clock();

		shmemx_exchange_wait(h->exchange, SHMEMX_ALL_EDGES, NULL);
		h->exposed += halo_clock() - start;
	}
	at[BULK] = halo_clock();
	halo_bulk(h, update, next, now);
	at[WAIT] = halo_clock();
	if (!exposed)
		shmemx_exchange_wait(h->exchange, SHMEMX_ALL_EDGES, NULL);
	at[BOUNDARY] = halo_clock();
	halo_unpack(h, now);
	halo_boundary(h, update, next, now);
	at[PARTS] = halo_clock();
	h->sweeps++;
	if (exposed)
		return;
	h->together++;
	for (int p = 0; p < PARTS; p++)
		h->spent[p] += at[p + 1] - at[p];
}

/* A sum over all PEs. */
static inline double halo_sum(const struct halo *h, double mine)
{
	static double from, to;

	if (h->alone)
		return mine;
	from = mine;
	shmem_double_sum_reduce(h->team, &to, &from, 1);
	return to;
}

static inline void halo_usage(const char *name, int dims)
{
	printf("usage: oshrun -n PES %s [options]\n\n"
	       "  --side N         points of a block along each of %d dimensions\n"
	       "  --grid N,N,...   PEs along each dimension (0: as it fits)\n"
	       "  --iterations N   how many\n"
	       "  --open           no dimension wraps\n"
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
	printf("blocks that differ from the serial answer: %zu\n%s\n", blocks, blocks ? "FAIL" : "PASS");
	return blocks > 0;
}

/* In percent, how much of all the rest is not. */
static inline double halo_share(double rest, double all)
{
	return all > 0 && rest < all ? 100 * (1 - rest / all) : 0;
}

static double halo_sweeps[PARTS + 1]; /* what the parts of a sweep took, and communication by itself; others read it */

static inline void halo_keep_times(const struct halo *h)
{
	for (int p = 0; p < PARTS; p++)
		halo_sweeps[p] = h->spent[p] / (double)(h->together ? h->together : 1);
	halo_sweeps[PARTS] = h->exposed / (double)(h->sweeps / 8 ? h->sweeps / 8 : 1);
}

/* Of the PE that waits least: it computes longest, and waits for messages only. The others wait for it, too, which no network can help. */
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
	printf("\ncommunication takes %.1f where nothing is computed meanwhile; hidden: %.1f %%, of that and starting: %.1f %%\n",
	       least[PARTS], halo_share(least[WAIT], least[PARTS]),
	       halo_share(least[START] + least[WAIT], least[START] + least[PARTS]));
}

/* Solves twice, by all PEs and by PE 0 alone, and compares; returns the exit code. */
static inline int halo_run(struct halo *h, double *(*solve)(struct halo *h))
{
	double *mine = solve(h);
	struct halo whole = *h;
	int differs = 0;

	halo_keep_times(h);
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		double *alone;

		halo_times();
		whole.alone = 1;
		for (int i = 0; i < h->dims; i++) {
			whole.side[i] *= (size_t)h->grid[i];
			whole.size[i] = whole.side[i] + 2;
			whole.at[i] = 0;
		}
		alone = solve(&whole);
		differs = halo_differs(h, mine, &whole, alone);
		free(alone);
		fflush(stdout);
	}
	shmem_barrier_all();
	shmemx_exchange_destroy(h->exchange);
	shmem_team_destroy(h->team);
	shmem_finalize();
	return differs;
}

#endif
