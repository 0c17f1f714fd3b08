/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of OpenSHMEM: exchanges. */
#include "neighbours.h"

#include <shmem.h>
#include <shmemx.h>

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

const struct transport transports[] = {{"exchange", open_exchange, buffer_of_exchange, start_exchange, wait_exchange,
					received_by_exchange, release_exchange, close_exchange},
				       {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
