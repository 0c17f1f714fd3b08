/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_H
#define COMMS_UCX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comms/core/comms.h"

/* Everything that load and store cannot reach, through UCP (network.h). Ends the job with a message when UCX fails. */

void ucx_start(void);
/* Takes connections from now on. Call when what all PEs published can be fetched. */
void ucx_open(void);
/* Serves other PEs' requests in a thread of its own from now on (SHMEM_PROGRESS_THREAD). */
void ucx_serve(void);
/* From here on peers that go away are no news, and this PE serves the others in any case until it rests. */
void ucx_expect_end(void);
/* Stops serving; then the peers can be forgotten. */
void ucx_rest(void);
void ucx_stop(void);

/* This PE's address and keys, to go into its card; the caller frees. */
void *ucx_make_card(size_t *size);
void ucx_forget(struct ucx_peer *peer);

/* All channels are closed; this takes down what was kept of them. Other PEs must still be served. */
void ucx_take_down_spares(void);

/* What a peer's card has for UCX (comms.c knows where). */
const void *comms_ucx_card(const struct comms_peer *peer, size_t *size);
/* The first bytes of the same, of a PE that may not be connected to yet. False: they cannot be had. */
bool comms_read_ucx_card(int pe, void *into, size_t bytes);

#endif
