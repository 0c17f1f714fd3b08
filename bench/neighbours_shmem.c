/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports of OpenSHMEM: exchanges, puts with signals into two buffers by hand, and into one after a hand-shake. */
#include "neighbours.h"

#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>

static int edges, neighbour[EDGES];
static uint64_t iteration;

void job_begin(int *argc, char ***argv, int *me, int *pes)
{
	(void)argc, (void)argv;
	shmem_init();
	*me = shmem_my_pe();
	*pes = shmem_n_pes();
}

void job_barrier(void)
{
	shmem_barrier_all();
}

double job_broadcast(double value)
{
	static double from, to;

	from = value;
	shmem_double_broadcast(SHMEM_TEAM_WORLD, &to, &from, 1, 0);
	shmem_barrier_all();
	return to;
}

void job_end(void)
{
	shmem_finalize();
}

/* --- Exchanges --- */

static shmemx_exchange_t exchange;

static void open_exchange(int n, const int *pe, size_t bytes)
{
	shmemx_edge_t list[EDGES];

	for (int e = 0; e < n; e++)
		list[e] = (shmemx_edge_t){pe[e], e ^ 1, bytes, bytes, 0};
	if (shmemx_exchange_create(SHMEM_TEAM_WORLD, list, n, &exchange))
		shmem_global_exit(1);
}

static void *buffer_of_exchange(int edge)
{
	return shmemx_exchange_buffer(exchange, edge);
}

static void start_exchange(size_t bytes)
{
	shmemx_exchange_start(exchange, SHMEMX_ALL_EDGES, bytes);
}

static void wait_exchange(void)
{
	shmemx_exchange_wait(exchange, SHMEMX_ALL_EDGES, NULL);
}

static const void *received_by_exchange(int edge)
{
	return shmemx_exchange_received(exchange, edge, NULL);
}

static void release_exchange(void)
{
	shmemx_exchange_release(exchange, SHMEMX_ALL_EDGES);
}

static void close_exchange(void)
{
	shmemx_exchange_destroy(exchange);
}

/* --- By hand --- */

static char *memory, *out[EDGES], *in[2][EDGES];
static uint64_t *arrived, *ready;

static void open_by_hand(int n, const int *pe, size_t bytes)
{
	size_t room = (bytes + 63) / 64 * 64;

	edges = n;
	iteration = 0;
	memory = shmem_align(64, 3 * (size_t)n * room);
	arrived = shmem_calloc(2 * EDGES * 8, sizeof *arrived); /* a line for each */
	ready = arrived + EDGES * 8;
	if (!memory || !arrived)
		shmem_global_exit(1);
	for (int e = 0; e < n; e++) {
		neighbour[e] = pe[e];
		out[e] = memory + (size_t)(3 * e) * room;
		in[0][e] = memory + (size_t)(3 * e + 1) * room;
		in[1][e] = memory + (size_t)(3 * e + 2) * room;
	}
}

static void *buffer_by_hand(int edge)
{
	return out[edge];
}

static void send_to(int e, int half, size_t bytes)
{
	shmem_putmem_signal(in[half][e ^ 1], out[e], bytes, &arrived[(e ^ 1) * 8], iteration, SHMEM_SIGNAL_SET,
			    neighbour[e]);
}

static void start_double(size_t bytes)
{
	iteration++;
	for (int e = 0; e < edges; e++)
		send_to(e, (int)(iteration % 2), bytes);
}

static void wait_by_hand(void)
{
	for (int e = 0; e < edges; e++)
		shmem_signal_wait_until(&arrived[e * 8], SHMEM_CMP_GE, iteration);
}

static const void *received_double(int edge)
{
	return in[iteration % 2][edge];
}

static void release_double(void)
{
}

/* One buffer: the neighbour says when it has read it. */
static void start_single(size_t bytes)
{
	iteration++;
	for (int e = 0; e < edges; e++) {
		shmem_signal_wait_until(&ready[e * 8], SHMEM_CMP_GE, iteration - 1);
		send_to(e, 0, bytes);
	}
}

static const void *received_single(int edge)
{
	return in[0][edge];
}

static void release_single(void)
{
	for (int e = 0; e < edges; e++)
		shmem_uint64_p(&ready[(e ^ 1) * 8], iteration, neighbour[e]);
}

static void close_by_hand(void)
{
	shmem_free(arrived);
	shmem_free(memory);
}

const struct transport transports[] = {{"exchange", open_exchange, buffer_of_exchange, start_exchange, wait_exchange,
					received_by_exchange, release_exchange, close_exchange},
				       {"put+signal", open_by_hand, buffer_by_hand, start_double, wait_by_hand,
					received_double, release_double, close_by_hand},
				       {"hand-shake", open_by_hand, buffer_by_hand, start_single, wait_by_hand,
					received_single, release_single, close_by_hand},
				       {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
