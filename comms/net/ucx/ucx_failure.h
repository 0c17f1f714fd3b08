/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_FAILURE_H
#define COMMS_UCX_FAILURE_H

#include "comms/net/sockets.h"

/*
 * Failure detection: see ucx_failure.c. Does nothing on one host, or with SHMEM_FAILURE_SECONDS=0.
 */

#define FAILURE_ADDRESSES 4

/*
 * Called before and after creating the main worker; returns the addresses at which it listens, for
 * the endpoint info. Port 0 ends the list.
 */
void failure_before_worker(void);
void failure_after_worker(struct socket_address mine[FAILURE_ADDRESSES]);

/* Called before UCX connects to a PE that listens at these addresses. */
void failure_expect(const struct socket_address theirs[FAILURE_ADDRESSES]);

/*
 * Checks UCX's sockets if it is time; ends the job if a host has failed. Returns the milliseconds
 * until the next check, -1: none.
 */
int failure_check(void);

/*
 * Stops checking before the PE leaves: none runs or starts afterwards. Called when ucx.ending is
 * set.
 */
void failure_end(void);

/*
 * Visits UCX's sockets to other PEs, by the address of the other end; none if failure detection is
 * off.
 */
typedef void failure_visitor(int fd, const struct socket_address *there, void *argument);
void failure_for_sockets(failure_visitor *visit, void *argument);

/* Sleeps until this PE may report the loss of another one. */
void failure_wait_to_report(int lost);

/*
 * The addresses at which a PE listens, by its endpoint info; NULL if this PE is not connected to
 * it.
 */
const struct socket_address *ucx_addresses(int pe);

#endif
