/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stencil of two PEs has to exchange, by plain stores: each process's rows wrap to its own block, its columns go to the other's ghosts,
 * and each of the four is followed by a flag. As in stencil.c, where the library does it.
 */
#include "bench.h"
#include "floor.h"

#include <string.h>

struct edges {
	size_t columns, rows; /* of a process's block */
	uint64_t iteration;
};

/* The four flags of a process, in a line of their own. */
static uint64_t *flags_of(int process)
{
	return group.raw + 384 + 64 * process;
}

static void send_edge(double *to, const double *from, size_t points, uint64_t *flag, uint64_t value)
{
	memcpy(to, from, points * sizeof *to);
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static double *ghosts_of(int process, const struct edges *e, int side)
{
	char *memory = process ? floor_memory.to : floor_memory.back_to;

	return (double *)memory + (2 * (e->iteration % 2) + (size_t)side) * e->rows;
}

static void exchange(const struct edges *e)
{
	const struct floor_memory *f = &floor_memory;
	const size_t stride = e->columns + 2;
	double *block = (double *)(group.me ? f->back_from : f->from), *out = block + (e->rows + 2) * stride;
	uint64_t *mine = flags_of(group.me), *other = flags_of(!group.me);

	for (size_t r = 0; r < e->rows; r++) {
		out[r] = block[(r + 1) * stride + 1];
		out[e->rows + r] = block[(r + 1) * stride + e->columns];
	}
	send_edge(&block[(e->rows + 1) * stride + 1], &block[stride + 1], e->columns, &mine[0], e->iteration);
	send_edge(&block[1], &block[e->rows * stride + 1], e->columns, &mine[1], e->iteration);
	send_edge(ghosts_of(!group.me, e, 1), out, e->rows, &other[2], e->iteration);
	send_edge(ghosts_of(!group.me, e, 0), out + e->rows, e->rows, &other[3], e->iteration);
	for (int side = 0; side < 4; side++)
		while (__atomic_load_n(&mine[side], __ATOMIC_ACQUIRE) < e->iteration)
			;
	for (size_t r = 0; r < e->rows; r++) {
		block[(r + 1) * stride] = ghosts_of(group.me, e, 0)[r];
		block[(r + 1) * stride + e->columns + 1] = ghosts_of(group.me, e, 1)[r];
	}
}

static double exchange_edges(void *context, long n)
{
	struct edges *e = context;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		e->iteration++;
		exchange(e);
	}
	return now_ns() - start;
}

void floor_edges(void)
{
	static const int sizes[] = {64, 256, 1024};
	char variant[40];

	for (int i = 0; i < 3 && !(options.quick && i > 1); i++) {
		struct edges e = {(size_t)sizes[i] / 2, (size_t)sizes[i], 0};

		group_barrier();
		memset(flags_of(group.me), 0, 4 * sizeof(uint64_t));
		group_barrier();
		snprintf(variant, sizeof variant, "%dx%d", sizes[i], sizes[i]);
		harness_measure(&(
			struct spot){.measure = "edges", .variant = variant, .sample = exchange_edges, .context = &e});
	}
}
