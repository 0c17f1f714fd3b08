/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transports of MPI: MPI_Sendrecv, and persistent requests with one receive buffer for an edge or
 * with two.
 */
#include "neighbours.h"

#include <mpi.h>
#include <stdlib.h>

static int edges, neighbour[EDGES], half;
static char *out[2][EDGES], *in[2][EDGES];
static MPI_Request sends[2][EDGES], receives[2][EDGES];
static int sent; /* bytes; requests are for so many */

void job_begin(int *argc, char ***argv, int *me, int *pes)
{
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, me);
	MPI_Comm_size(MPI_COMM_WORLD, pes);
}

void job_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

double job_broadcast(double value)
{
	MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	return value;
}

void job_end(void)
{
	MPI_Finalize();
}

static char *allocate(size_t bytes)
{
	char *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!memory)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return memory;
}

static void open_buffers(int n, const int *pe, size_t bytes)
{
	edges = n;
	half = 0;
	sent = (int)bytes;
	for (int e = 0; e < n; e++) {
		neighbour[e] = pe[e];
		for (int h = 0; h < 2; h++) {
			out[h][e] = allocate(bytes);
			in[h][e] = allocate(bytes);
		}
	}
}

static void close_buffers(void)
{
	for (int e = 0; e < edges; e++)
		for (int h = 0; h < 2; h++) {
			free(out[h][e]);
			free(in[h][e]);
		}
}

static void *buffer(int edge)
{
	return out[half][edge];
}

static const void *received(int edge)
{
	return in[half][edge];
}

static void nothing(void)
{
}

/* --- MPI_Sendrecv --- */

static void start_later(size_t bytes)
{
	sent = (int)bytes;
}

static void send_and_receive(void)
{
	for (int e = 0; e < edges; e++)
		MPI_Sendrecv(out[0][e], sent, MPI_BYTE, neighbour[e], e, in[0][e ^ 1], sent, MPI_BYTE, neighbour[e ^ 1],
			     e, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- Persistent requests --- */

static void open_requests(int n, const int *pe, size_t bytes)
{
	open_buffers(n, pe, bytes);
	for (int e = 0; e < n; e++)
		for (int h = 0; h < 2; h++) {
			MPI_Send_init(out[h][e], sent, MPI_BYTE, pe[e], 2 * e + h, MPI_COMM_WORLD, &sends[h][e]);
			MPI_Recv_init(in[h][e], sent, MPI_BYTE, pe[e], 2 * (e ^ 1) + h, MPI_COMM_WORLD,
				      &receives[h][e]);
		}
}

static void close_requests(void)
{
	for (int e = 0; e < edges; e++)
		for (int h = 0; h < 2; h++) {
			MPI_Request_free(&sends[h][e]);
			MPI_Request_free(&receives[h][e]);
		}
	close_buffers();
}

static void start_single(size_t bytes)
{
	(void)bytes;
	MPI_Startall(edges, receives[0]);
	MPI_Startall(edges, sends[0]);
}

static void wait_single(void)
{
	MPI_Waitall(edges, receives[0], MPI_STATUSES_IGNORE);
	MPI_Waitall(edges, sends[0], MPI_STATUSES_IGNORE);
}

/*
 * The receives of the next iteration are posted before the sends of this one; the first ones at the
 * beginning.
 */
static void open_double(int n, const int *pe, size_t bytes)
{
	open_requests(n, pe, bytes);
	half = 1;
	MPI_Startall(n, receives[1]);
}

static int running[2]; /* sends of a half that were not waited for */

static void *buffer_double(int edge)
{
	if (running[half])
		MPI_Waitall(edges, sends[half], MPI_STATUSES_IGNORE);
	running[half] = 0;
	return out[half][edge];
}

static void start_double(size_t bytes)
{
	(void)bytes;
	MPI_Startall(edges, receives[!half]);
	MPI_Startall(edges, sends[half]);
	running[half] = 1;
}

static void wait_double(void)
{
	MPI_Waitall(edges, receives[half], MPI_STATUSES_IGNORE);
}

static void release_double(void)
{
	half = !half;
}

static void close_double(void)
{
	for (int h = 0; h < 2; h++) {
		if (running[h])
			MPI_Waitall(edges, sends[h], MPI_STATUSES_IGNORE);
		running[h] = 0;
	}
	for (int e = 0; e < edges; e++) {
		MPI_Cancel(&receives[half][e]);
		MPI_Wait(&receives[half][e], MPI_STATUS_IGNORE);
	}
	close_requests();
}

const struct transport transports[] = {{"MPI_Sendrecv", open_buffers, buffer, start_later, send_and_receive, received,
					nothing, close_buffers},
				       {"MPI persistent single", open_requests, buffer, start_single, wait_single,
					received, nothing, close_requests},
				       {"MPI persistent double", open_double, buffer_double, start_double, wait_double,
					received, release_double, close_double},
				       {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
