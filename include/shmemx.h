/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of torushmem (names that begin with shmemx_). */
#ifndef TORUSHMEM_SHMEMX_H
#define TORUSHMEM_SHMEMX_H

#include <shmem.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Neighbour exchange, see shmemx_exchange(3). An exchange has edges; each joins this PE to a neighbour and carries messages
 * one way or both. Iteration: get the send buffer, fill it, start; compute; wait, read what came, release.
 */
typedef struct shmemx_exchange *shmemx_exchange_t;
#define SHMEMX_EXCHANGE_INVALID ((shmemx_exchange_t)0)

typedef struct {
	int pe;		      /* the neighbour, by its number in the team */
	int edge;	      /* which of its edges this is, there */
	size_t send_bytes;    /* of the largest message to it; 0: none are sent */
	size_t receive_bytes; /* of the largest message from it; 0: none come */
} shmemx_edge_t;

/* All edges that carry messages that way. */
#define SHMEMX_ALL_EDGES (-1)

int shmemx_exchange_create(shmem_team_t team, const shmemx_edge_t *edges, int n_edges, shmemx_exchange_t *exchange);
void *shmemx_exchange_buffer(shmemx_exchange_t exchange, int edge);
void shmemx_exchange_start(shmemx_exchange_t exchange, int edge, size_t bytes);
int shmemx_exchange_test(shmemx_exchange_t exchange, int edge);
const void *shmemx_exchange_wait(shmemx_exchange_t exchange, int edge, size_t *bytes);
const void *shmemx_exchange_received(shmemx_exchange_t exchange, int edge, size_t *bytes);
void shmemx_exchange_release(shmemx_exchange_t exchange, int edge);
void shmemx_exchange_destroy(shmemx_exchange_t exchange);

#ifdef __cplusplus
}
#endif

#endif
