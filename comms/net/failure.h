/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NET_FAILURE_H
#define COMMS_NET_FAILURE_H

#include <stdint.h>

/*
 * How networks over TCP find out that a host has lost its power, or that a cable has been cut.
 * Nothing says so: TCP repeats unacknowledged data for a quarter of an hour, and does nothing on an
 * idle connection.
 *
 * idle  the kernel's keepalive, with times from SHMEM_FAILURE_SECONDS
 * busy  the network checks its sockets FAILURE_POLLS times in that span. A socket is silent if it
 *       has unacknowledged data and has received nothing during the whole span. Any packet counts:
 *       the kernel answers for a process that is stopped or does not read. (The kernel's own
 *       TCP_USER_TIMEOUT would take such a process for dead.)
 */
enum { FAILURE_POLLS = 8 };

/* SHMEM_FAILURE_SECONDS in ms; 0: no detection is wanted, or the job is on one host. */
int64_t failure_limit(void);

/* Has an effect once for each socket. */
void failure_keep_alive(int fd, int64_t limit);

enum failure_state { FAILURE_NOT_TCP, FAILURE_ANSWERS, FAILURE_SILENT };

/* unanswered: the socket's, at first 0. now: rte_clock_ms(). */
enum failure_state failure_state_of(int fd, int64_t *unanswered, int64_t now, int64_t limit);

#endif
