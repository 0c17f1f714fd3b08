/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,4,6 ucx-tcp=2,3 ucx-shm=2 mixed=4 */
/*
 * Faces: boxes of arrays packed and unpacked, against a plain loop over their elements; and the
 * faces of a grid of PEs exchanged in up to four dimensions that wrap or do not, also in one
 * direction, checked against what each neighbour must have sent.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define DIMS 4
#define SIDE 4 /* of each PE's part, the cells of its neighbours left aside */

static uint64_t lots = 7;

static size_t random_below(size_t below)
{
	lots++;
	return noise(lots) % below;
}

/* The elements of the box in order: where each is in the array. */
static size_t list(size_t *where, int dims, const size_t *sizes, const size_t *first, const size_t *counts)
{
	size_t index[6] = {0}, n = 0, total = 1;

	for (int i = 0; i < dims; i++)
		total *= counts[i];
	while (n < total) {
		size_t at = 0;
		int i = dims - 1;

		for (int d = 0; d < dims; d++)
			at = at * sizes[d] + first[d] + index[d];
		where[n++] = at;
		while (i >= 0 && ++index[i] == counts[i])
			index[i--] = 0;
	}
	return n;
}

static void check_box(void)
{
	static const size_t elements[] = {1, 4, 8, 16, 24, 3};
	static unsigned char array[7 * 7 * 7 * 7 * 24], copy[sizeof array], buffer[sizeof array];
	static size_t where[7 * 7 * 7 * 7];
	size_t sizes[6], first[6], counts[6], element = elements[random_below(6)], n, whole = element;
	int dims = 1 + (int)random_below(4);

	for (int i = 0; i < dims; i++) {
		sizes[i] = 1 + random_below(7);
		first[i] = random_below(2) ? 0 : random_below(sizes[i]);
		counts[i] = random_below(2) ? sizes[i] - first[i] : random_below(sizes[i] - first[i] + 1);
		whole *= sizes[i];
	}
	NOTE("%d dimensions of %zu bytes, first %zu of %zu", dims, element, counts[0], sizes[0]);
	fill_noise(array, whole, lots);
	n = list(where, dims, sizes, first, counts);
	CHECK_EQUAL(shmemx_pack(buffer, array, element, dims, sizes, first, counts), n * element);
	for (size_t i = 0; i < n; i++)
		CHECK_BYTES(buffer + i * element, array + where[i] * element, element);
	memset(copy, 0x5a, whole);
	CHECK_EQUAL(shmemx_unpack(copy, buffer, element, dims, sizes, first, counts), n * element);
	for (size_t i = 0; i < n; i++) {
		CHECK_BYTES(copy + where[i] * element, array + where[i] * element, element);
		memset(copy + where[i] * element, 0x5a, element);
	}
	CHECK_FILL(copy, 0x5a, whole);
}

/* --- Faces of a grid --- */

static shmem_team_t grid;
static int dims, wraps[DIMS], at[DIMS], sizes_of_grid[DIMS];
static size_t sizes[DIMS];
static double *array;

/* What a cell of the PE at a place is to be in an iteration. */
static double value(const int *place, size_t cell, long k)
{
	double sum = (double)cell + 1000.0 * (double)k;

	for (int i = 0; i < dims; i++)
		sum = sum * 16 + place[i];
	return sum;
}

/* A layer of the array along a dimension, without the outermost cells of the others. */
static void layer(int dim, size_t first_there, size_t *first, size_t *counts)
{
	for (int i = 0; i < dims; i++) {
		first[i] = i == dim ? first_there : 1;
		counts[i] = i == dim ? 1 : SIDE;
	}
}

static void fill(long k)
{
	size_t cells = 1;

	for (int i = 0; i < dims; i++)
		cells *= SIDE + 2;
	for (size_t c = 0; c < cells; c++)
		array[c] = value(at, c, k);
}

static void check_ghosts(int edge, long k)
{
	static size_t inner[SIDE * SIDE * SIDE * SIDE], ghost[SIDE * SIDE * SIDE * SIDE];
	int dim = edge / 2, step = edge % 2 ? -1 : 1, there[DIMS];
	size_t first[DIMS], counts[DIMS], n;

	memcpy(there, at, sizeof there);
	there[dim] = (at[dim] + step + sizes_of_grid[dim]) % sizes_of_grid[dim];
	layer(dim, step > 0 ? SIDE + 1 : 0, first, counts);
	n = list(ghost, dims, sizes, first, counts);
	layer(dim, step > 0 ? 1 : SIDE, first, counts);
	list(inner, dims, sizes, first, counts);
	NOTE("%d dimensions, edge %d, iteration %ld", dims, edge, k);
	for (size_t i = 0; i < n; i++)
		CHECK_EQUAL(array[ghost[i]], value(there, inner[i], k));
}

static void iterate(shmemx_exchange_t x, const size_t *bytes, long k)
{
	size_t first[DIMS], counts[DIMS];

	fill(k);
	for (int e = 0; e < 2 * dims; e++)
		if (bytes[e] && shmemx_grid_neighbour(grid, e / 2, e % 2 ? -1 : 1) >= 0) {
			layer(e / 2, e % 2 ? 1 : SIDE, first, counts);
			shmemx_pack(shmemx_exchange_buffer(x, e), array, sizeof *array, dims, sizes, first, counts);
			shmemx_exchange_start(x, e, bytes[e]);
		}
	for (int e = 0; e < 2 * dims; e++)
		if (bytes[e ^ 1] && shmemx_grid_neighbour(grid, e / 2, e % 2 ? -1 : 1) >= 0) {
			layer(e / 2, e % 2 ? 0 : SIDE + 1, first, counts);
			shmemx_unpack(array, shmemx_exchange_wait(x, e, NULL), sizeof *array, dims, sizes, first,
				      counts);
			shmemx_exchange_release(x, e);
			check_ghosts(e, k);
		}
}

static void try_grid(bool one_direction)
{
	size_t bytes[2 * DIMS], face = sizeof *array;
	int none[DIMS] = {0};
	shmemx_exchange_t x;

	for (int i = 0; i < dims; i++) {
		sizes[i] = SIDE + 2;
		face *= i ? SIDE : 1;
	}
	CHECK_EQUAL(shmemx_grid_create(SHMEM_TEAM_WORLD, dims, none, wraps, 1, &grid), 0);
	shmemx_grid_sizes(grid, sizes_of_grid, NULL);
	shmemx_grid_coordinates(grid, shmem_team_my_pe(grid), at);
	for (int e = 0; e < 2 * dims; e++)
		bytes[e] = one_direction && e % 2 ? 0 : face;
	CHECK_EQUAL(shmemx_exchange_create_grid(grid, bytes, SHMEMX_EDGE_EACH_ITERATION, &x), 0);
	for (long k = 1; k <= 200 / ease() + 5; k++)
		iterate(x, bytes, k);
	shmemx_exchange_destroy(x);
	shmem_team_destroy(grid);
}

int main(void)
{
	begin();
	for (int i = 0; i < 2000; i++)
		check_box();
	array = malloc((SIDE + 2) * (SIDE + 2) * (SIDE + 2) * (SIDE + 2) * sizeof *array);
	for (dims = 1; dims <= DIMS; dims++)
		for (int pattern = 0; pattern < 4; pattern++) {
			for (int i = 0; i < dims; i++)
				wraps[i] = pattern >> i % 2 & 1;
			try_grid(pattern == 2);
		}
	free(array);
	return end();
}
