/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange of edges on a torus of PEs, the pattern of every stencil: each PE puts an edge to each
 * of four neighbours and waits for theirs. There are two buffers per side, used alternately: a
 * neighbour that is one iteration ahead does not write into what is still read.
 *
 * By hand, with puts and signals: "four-sides"; and, where there is one, with a neighbour exchange:
 * "exchange".
 */
#include "bench.h"

#include <string.h>

enum { SIDES = 4 };

struct halo {
	int neighbour[SIDES]; /* west, east, north, south */
	char *edge[SIDES], *ghost[2][SIDES];
	uint64_t *flags; /* the last iteration whose edge came from that side */
	size_t bytes;
	uint64_t iteration;
};

void grid_of_pes(int *across, int *down)
{
	*down = 1;
	for (int d = 1; d * d <= group.size; d++)
		if (group.size % d == 0)
			*down = d;
	*across = group.size / *down;
}

static void find_neighbours(int neighbour[SIDES])
{
	int across, down, x, y;

	grid_of_pes(&across, &down);
	x = group.me % across;
	y = group.me / across;
	neighbour[0] = y * across + (x + across - 1) % across;
	neighbour[1] = y * across + (x + 1) % across;
	neighbour[2] = (y + down - 1) % down * across + x;
	neighbour[3] = (y + 1) % down * across + x;
}

void put_with_flag(void *to, const void *from, size_t bytes, uint64_t *flag, uint64_t value, int pe)
{
#if HAS_15
	shmem_putmem_signal(to, from, bytes, flag, value, SHMEM_SIGNAL_SET, pe);
#else
	shmem_putmem(to, from, bytes, pe);
	shmem_fence();
	shmem_long_p((long *)flag, (long)value, pe);
#endif
}

void await_flag(uint64_t *flag, uint64_t value)
{
#if HAS_15
	shmem_signal_wait_until(flag, SHMEM_CMP_GE, value);
#else
	shmem_long_wait_until((long *)flag, SHMEM_CMP_GE, (long)value);
#endif
}

/* What goes out on one side comes in on the opposite one. */
static double exchange(void *context, long n)
{
	struct halo *h = context;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		h->iteration++;
		for (int s = 0; s < SIDES; s++)
			put_with_flag(h->ghost[h->iteration % 2][s ^ 1], h->edge[s], h->bytes, &h->flags[s ^ 1],
				      h->iteration, h->neighbour[s]);
		for (int s = 0; s < SIDES; s++)
			await_flag(&h->flags[s], h->iteration);
	}
	return now_ns() - start;
}

static bool exchanged(void *context)
{
	const struct halo *h = context;

	for (int s = 0; s < SIDES; s++)
		if (!pattern_is(h->ghost[h->iteration % 2][s], h->bytes, h->neighbour[s] * SIDES + (s ^ 1),
				(unsigned)h->bytes))
			return false;
	return true;
}

#ifdef SHMEMX_EXCHANGE_INVALID
struct edges {
	struct halo *halo;
	shmemx_exchange_t exchange;
};

static double exchange_edges(void *context, long n)
{
	struct edges *e = context;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		for (int s = 0; s < SIDES; s++)
			memcpy(shmemx_exchange_buffer(e->exchange, s), e->halo->edge[s], e->halo->bytes);
		shmemx_exchange_start(e->exchange, SHMEMX_ALL_EDGES, e->halo->bytes);
		shmemx_exchange_wait(e->exchange, SHMEMX_ALL_EDGES, NULL);
		shmemx_exchange_release(e->exchange, SHMEMX_ALL_EDGES);
	}
	return now_ns() - start;
}

/* One iteration more, whose messages are checked. */
static bool edges_exchanged(void *context)
{
	struct edges *e = context;
	bool good = true;

	for (int s = 0; s < SIDES; s++) {
		memcpy(shmemx_exchange_buffer(e->exchange, s), e->halo->edge[s], e->halo->bytes);
		shmemx_exchange_start(e->exchange, s, e->halo->bytes);
	}
	for (int s = 0; s < SIDES; s++) {
		const void *came = shmemx_exchange_wait(e->exchange, s, NULL);

		good &= pattern_is((void *)(uintptr_t)came, e->halo->bytes, e->halo->neighbour[s] * SIDES + (s ^ 1),
				   (unsigned)e->halo->bytes);
		shmemx_exchange_release(e->exchange, s);
	}
	return good;
}

static void measure_edges(struct halo *h)
{
	struct edges e = {h, SHMEMX_EXCHANGE_INVALID};
	shmemx_edge_t edges[SIDES];

	for (int s = 0; s < SIDES; s++)
		edges[s] = (shmemx_edge_t){h->neighbour[s], s ^ 1, h->bytes, h->bytes, 0};
	if (shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, SIDES, &e.exchange))
		return;
	harness_measure(&(struct spot){.measure = "halo",
				       .variant = "exchange",
				       .bytes = h->bytes,
				       .sample = exchange_edges,
				       .context = &e,
				       .check = edges_exchanged});
	shmemx_exchange_destroy(e.exchange);
}
#else
static void measure_edges(struct halo *h)
{
	(void)h;
}
#endif

static void measure_all(struct halo *h)
{
	harness_measure(&(struct spot){.measure = "halo",
				       .variant = "four-sides",
				       .bytes = h->bytes,
				       .sample = exchange,
				       .context = h,
				       .check = exchanged});
	measure_edges(h);
}

void halo_exchange(void)
{
	size_t most = largest_size() < MIB ? largest_size() : MIB;
	struct halo h = {.flags = heap_take(SIDES * sizeof *h.flags)};
	char *all = heap_take(3 * SIDES * most);

	find_neighbours(h.neighbour);
	memset(h.flags, 0, SIDES * sizeof *h.flags);
	for (int s = 0; s < SIDES; s++) {
		h.edge[s] = all + (size_t)s * most;
		h.ghost[0][s] = all + (size_t)(SIDES + s) * most;
		h.ghost[1][s] = all + (size_t)(2 * SIDES + s) * most;
	}
	group_barrier();
	for (int i = 0; options.sizes[i] && options.sizes[i] <= most; i++) {
		h.bytes = options.sizes[i];
		for (int s = 0; s < SIDES; s++)
			pattern_write(h.edge[s], h.bytes, group.me * SIDES + s, (unsigned)h.bytes);
		measure_all(&h);
	}
	heap_give(all);
	heap_give(h.flags);
}
