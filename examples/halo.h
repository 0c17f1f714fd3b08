/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What heat.c, poisson.c, lattice.c, upwind.c and solver.c share. Each computes on a lattice of
 * points that is cut in blocks, one for each PE. Around its block a PE has ghost points, copies of
 * the outermost points of its neighbours' blocks.
 *
 * A sweep: pack the faces of the block, start sending them, compute the bulk, which needs no ghost
 * point, wait for the neighbours' faces, compute the boundary. While the bulk is computed the faces
 * travel.
 *
 * PE 0 then does the same sweeps on the whole lattice alone. Every point is the same arithmetic, so
 * every bit is the same.
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
	/* Of my block, and with the ghost points on both sides. */
	size_t side[DIMS], size[DIMS];
	int upwards;   /* faces go upwards only */
	int alone;     /* the whole lattice on one PE */
	int unchecked; /* without the serial answer */
	/* Bytes that a message has of each point of a face (8). */
	size_t point;
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

/* So many numbers, symmetric unless a PE is alone, and 0. */
static inline double *halo_numbers(const struct halo *h, size_t count)
{
	double *array = h->alone ? calloc(count, sizeof *array) : shmem_calloc(count, sizeof *array);

	if (!array) {
		fprintf(stderr, "no memory for %zu numbers\n", count);
		shmem_global_exit(1);
	}
	return array;
}

static inline double *halo_array(const struct halo *h)
{
	size_t points = 1;

	for (int i = 0; i < h->dims; i++)
		points *= h->size[i];
	return halo_numbers(h, points);
}

/*
 * Where a point of my block is in the whole lattice, which begins with 0; steps along dimension i
 * are strides[i].
 */
static inline size_t halo_where(const struct halo *h, int dim, size_t point)
{
	return (size_t)h->at[dim] * h->side[dim] + point - 1;
}

/*
 * The layer of points along a dimension that begins there, as far as my own points go in the
 * others.
 */
static inline size_t halo_layer(const struct halo *h, int dim, size_t there, size_t *first, size_t *counts)
{
	size_t bytes = h->point;

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

/*
 * The points with a ghost point beside them: along each dimension the two outermost layers, without
 * those that were in one before.
 */
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

/* As --dawdle and --slow say. */
static inline void halo_lose_time(const struct halo *h)
{
	if (h->dawdle)
		usleep((useconds_t)(h->dawdle * (shmem_my_pe() % 4)));
	if (h->slow == shmem_my_pe() && h->sweeps % 8 == 0)
		usleep(2000);
}

static inline void halo_bulk(const struct halo *h, halo_update *update, double *next, const double *now)
{
	size_t first[DIMS], counts[DIMS];

	for (int i = 0; i < h->dims; i++) {
		first[i] = 2;
		counts[i] = h->side[i] > 2 ? h->side[i] - 2 : 0;
	}
	update(h, next, now, first, counts);
	halo_lose_time(h);
}

/*
 * Alone there is nobody to exchange with: the ghost points of a dimension that wraps are the points
 * at its other end.
 */
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

/* at[p] is when part p of a sweep began. */
static inline void halo_add_times(struct halo *h, int exposed, const double *at)
{
	h->sweeps++;
	h->together += !exposed;
	for (int p = 0; p < PARTS && !exposed; p++)
		h->spent[p] += at[p + 1] - at[p];
}

/*
 * One sweep, from now to next, which may be the same. One in eight waits before it computes the
 * bulk: this is what communication takes where nothing hides it.
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
	/* Each as much as it carries. */
	shmemx_exchange_start(h->exchange, SHMEMX_ALL_EDGES, SIZE_MAX);
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
	halo_add_times(h, exposed, at);
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

#endif
