/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a collective between neighbours: each PE of a grid receives a block from each neighbour,
 * as in MPI_Neighbor_allgather. A template to copy for collectives of this kind.
 *
 * edge    a direction along a dimension, from a PE to its neighbour; it ends at the neighbour's
 *         opposite edge
 * number  counts the calls. Odd and even calls have separate slots and signals
 * slot    symmetric memory for a block, by parity of the number and by the receiver's edge
 *
 * There is no barrier. Why is a slot free when a neighbour writes call n + 2 into it? The neighbour
 * has received this PE's block of call n + 1, which this PE sent after it had copied the block of
 * call n out of the slot. So every edge must carry blocks in both directions, as those of a grid
 * do.
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 2, EDGES = 2 * DIMS };

struct neighbourhood {
	int pe[EDGES];	   /* the neighbours, as PEs of the world; -1: the grid ends there */
	size_t most;	   /* bytes of a slot */
	uint64_t number;   /* of the last call */
	char *slots;	   /* symmetric */
	uint64_t *arrived; /* symmetric: the number of the last block in each slot */
};

static int slot_of(uint64_t number, int edge)
{
	return (int)(number % 2) * EDGES + edge;
}

static int opposite(int edge)
{
	return edge ^ 1;
}

/* All PEs call this, because the memory is symmetric. most: bytes of the longest block. */
static void neighbourhood_create(struct neighbourhood *n, shmem_team_t grid, size_t most)
{
	*n = (struct neighbourhood){.most = most};
	for (int edge = 0; edge < EDGES; edge++) {
		int neighbour = shmemx_grid_neighbour(grid, edge / 2, edge % 2 ? -1 : 1);

		n->pe[edge] = neighbour < 0 ? -1 : shmem_team_translate_pe(grid, neighbour, SHMEM_TEAM_WORLD);
	}
	n->slots = shmem_malloc(2 * EDGES * most);
	n->arrived = shmem_calloc(2 * EDGES, sizeof *n->arrived);
	if (!n->slots || !n->arrived)
		shmem_global_exit(1);
}

static void neighbourhood_destroy(struct neighbourhood *n)
{
	shmem_free(n->arrived);
	shmem_free(n->slots);
}

/*
 * Sends source to all neighbours. On return the block of the neighbour at each edge is in dest, at
 * edge * bytes, and source may be reused. Neither needs symmetric memory.
 */
static void neighbour_allgather(struct neighbourhood *n, void *dest, const void *source, size_t bytes)
{
	uint64_t number = ++n->number;

	for (int edge = 0; edge < EDGES; edge++) {
		int slot = slot_of(number, opposite(edge));

		if (n->pe[edge] >= 0)
			shmem_putmem_signal(n->slots + (size_t)slot * n->most, source, bytes, &n->arrived[slot], number,
					    SHMEM_SIGNAL_SET, n->pe[edge]);
	}
	for (int edge = 0; edge < EDGES; edge++) {
		int slot = slot_of(number, edge);

		if (n->pe[edge] < 0)
			continue;
		shmem_signal_wait_until(&n->arrived[slot], SHMEM_CMP_EQ, number);
		memcpy((char *)dest + (size_t)edge * bytes, n->slots + (size_t)slot * n->most, bytes);
	}
}

static long wrong, all_wrong; /* symmetric, for the reduction */

/* The word that a PE sends in a call. */
static long word_of(int pe, long call, int i)
{
	return pe * 1000003L + call * 101 + i;
}

int main(void)
{
	enum { WORDS = 100, CALLS = 1000 };
	int sizes[DIMS] = {0}, wraps[DIMS] = {1, 0}, me;
	long source[WORDS], dest[EDGES][WORDS];
	struct neighbourhood n;
	shmem_team_t grid;

	shmem_init();
	me = shmem_my_pe();
	if (shmemx_grid_create(SHMEM_TEAM_WORLD, DIMS, sizes, wraps, 1, &grid))
		shmem_global_exit(1);
	neighbourhood_create(&n, grid, sizeof source);

	for (long call = 0; call < CALLS; call++) {
		for (int i = 0; i < WORDS; i++)
			source[i] = word_of(me, call, i);
		neighbour_allgather(&n, dest, source, sizeof source);
		for (int edge = 0; edge < EDGES; edge++)
			for (int i = 0; n.pe[edge] >= 0 && i < WORDS; i++)
				wrong += dest[edge][i] != word_of(n.pe[edge], call, i);
	}

	shmem_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
	shmemx_grid_sizes(grid, sizes, NULL);
	if (me == 0)
		printf("%dx%d PEs, %d calls: %ld words wrong\n", sizes[0], sizes[1], CALLS, all_wrong);
	neighbourhood_destroy(&n);
	shmem_team_destroy(grid);
	shmem_finalize();
	return all_wrong != 0;
}
