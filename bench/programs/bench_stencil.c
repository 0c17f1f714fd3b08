/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Poisson's equation on a square torus, by Jacobi's method: a whole program with computing and
 * exchange of edges. Each PE has a block of points with a frame of ghosts; the time is that of an
 * iteration.
 *
 * The charge is cos(2 pi x) in one direction. For it one step of the method shrinks the error by a
 * known factor, so the result after any number of steps is known, and is checked.
 */
#include "bench.h"

#include <math.h>
#include <string.h>

enum { SIDES = 4 };

struct poisson {
	int size, across, down, x, y, columns, rows, stride;
	int west, east, north, south;
	double *blocks[2], *source;
	double *ghosts[2][2]; /* by parity of the iteration; what came from west and from east */
	double *out[2];	      /* my columns, to be sent */
	uint64_t *flags;
	uint64_t iteration;
};

static int wrap(const struct poisson *p, int x, int y)
{
	return (y + p->down) % p->down * p->across + (x + p->across) % p->across;
}

static bool divide(struct poisson *p, int size)
{
	grid_of_pes(&p->across, &p->down);
	p->size = size;
	p->x = group.me % p->across;
	p->y = group.me / p->across;
	p->west = wrap(p, p->x - 1, p->y);
	p->east = wrap(p, p->x + 1, p->y);
	p->north = wrap(p, p->x, p->y - 1);
	p->south = wrap(p, p->x, p->y + 1);
	p->columns = size / p->across;
	p->rows = size / p->down;
	p->stride = p->columns + 2;
	return size % p->across == 0 && size % p->down == 0;
}

static void take_memory(struct poisson *p)
{
	size_t block = (size_t)(p->rows + 2) * (size_t)p->stride * sizeof(double);
	size_t column = (size_t)p->rows * sizeof(double);

	for (int i = 0; i < 2; i++) {
		p->blocks[i] = heap_take(block);
		memset(p->blocks[i], 0, block);
		p->out[i] = heap_take(column);
		for (int side = 0; side < 2; side++)
			p->ghosts[i][side] = heap_take(column);
	}
	p->source = heap_take(block);
	p->flags = heap_take(SIDES * sizeof *p->flags);
	memset(p->flags, 0, SIDES * sizeof *p->flags);
	for (int r = 1; r <= p->rows; r++)
		for (int c = 1; c <= p->columns; c++)
			p->source[r * p->stride + c] = cos(2 * M_PI * (p->x * p->columns + c - 1) / p->size);
	group_barrier();
}

static void give_memory(struct poisson *p)
{
	group_barrier();
	heap_give(p->flags);
	heap_give(p->source);
	for (int i = 0; i < 2; i++) {
		heap_give(p->blocks[i]);
		heap_give(p->out[i]);
		heap_give(p->ghosts[i][0]);
		heap_give(p->ghosts[i][1]);
	}
}

static void relax_block(const struct poisson *p, const double *restrict now, double *restrict next)
{
	int s = p->stride;

	for (int r = 1; r <= p->rows; r++)
		for (int c = 1; c <= p->columns; c++) {
			int i = r * s + c;

			next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - s] + now[i + s] + p->source[i]);
		}
}

/*
 * Rows go where they belong, columns to a buffer. Two alternating blocks make it safe without
 * asking.
 */
static void exchange_edges(struct poisson *p, double *block)
{
	int s = p->stride, parity = (int)(p->iteration % 2);
	size_t row = (size_t)p->columns * sizeof(double), column = (size_t)p->rows * sizeof(double);

	for (int r = 0; r < p->rows; r++) {
		p->out[0][r] = block[(r + 1) * s + 1];
		p->out[1][r] = block[(r + 1) * s + p->columns];
	}
	put_with_flag(&block[(p->rows + 1) * s + 1], &block[s + 1], row, &p->flags[0], p->iteration, p->north);
	put_with_flag(&block[1], &block[p->rows * s + 1], row, &p->flags[1], p->iteration, p->south);
	put_with_flag(p->ghosts[parity][1], p->out[0], column, &p->flags[2], p->iteration, p->west);
	put_with_flag(p->ghosts[parity][0], p->out[1], column, &p->flags[3], p->iteration, p->east);
	for (int side = 0; side < SIDES; side++)
		await_flag(&p->flags[side], p->iteration);
	for (int r = 0; r < p->rows; r++) {
		block[(r + 1) * s] = p->ghosts[parity][0][r];
		block[(r + 1) * s + p->columns + 1] = p->ghosts[parity][1][r];
	}
}

static double iterate(void *context, long n)
{
	struct poisson *p = context;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		p->iteration++;
		relax_block(p, p->blocks[(p->iteration + 1) % 2], p->blocks[p->iteration % 2]);
		exchange_edges(p, p->blocks[p->iteration % 2]);
	}
	return now_ns() - start;
}

/*
 * Iteration k gives the source times q + q^2/.. : u(k+1) = a u(k) + source/4 with a = (1 + cos(2
 * pi/N)) / 2.
 */
static bool is_solution(void *context)
{
	const struct poisson *p = context;
	double a = (1 + cos(2 * M_PI / p->size)) / 2;
	double factor = 0.25 * (1 - pow(a, (double)p->iteration)) / (1 - a);
	const double *block = p->blocks[p->iteration % 2];

	for (int r = 1; r <= p->rows; r++)
		for (int c = 1; c <= p->columns; c++) {
			int i = r * p->stride + c;

			if (fabs(block[i] - factor * p->source[i]) > 1e-9 * factor)
				return false;
		}
	return true;
}

/* Edges of 64, 256 and 1024 points: the smaller, the more the exchange counts. */
void stencil_poisson(void)
{
	static const int sizes[] = {64, 256, 1024};
	char variant[40];

	for (int i = 0; i < 3 && !(options.quick && i > 1); i++) {
		struct poisson p = {0};

		if (!divide(&p, sizes[i]))
			continue;
		take_memory(&p);
		snprintf(variant, sizeof variant, "%dx%d", sizes[i], sizes[i]);
		harness_measure(&(struct spot){.measure = "stencil",
					       .variant = variant,
					       .sample = iterate,
					       .context = &p,
					       .check = is_solution});
		give_memory(&p);
	}
}
