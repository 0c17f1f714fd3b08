/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges with neighbours, written once and run over several transports: this library's
 * exchanges, and MPI.
 *
 * edge       to a neighbour; what is sent on edge e arrives at the neighbour's edge e ^ 1
 * iteration  buffer and fill for each edge; start; wait; read what was received on each edge;
 *            release
 */
#ifndef BENCH_NEIGHBOURS_H
#define BENCH_NEIGHBOURS_H

#include <stddef.h>

#define EDGES 8

struct transport {
	const char *name;
	void (*open)(int edges, const int *pe, size_t bytes);
	void *(*buffer)(int edge);
	void (*start)(size_t bytes);
	void (*wait)(void);
	const void *(*received)(int edge);
	void (*release)(void);
	void (*close)(void);
};

extern const struct transport transports[]; /* the last has no name */

void job_begin(int *argc, char ***argv, int *me, int *pes);
void job_barrier(void);
/* PE 0's value. */
double job_broadcast(double value);
void job_end(void);

#endif
