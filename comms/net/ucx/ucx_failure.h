/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SILENCE_H
#define COMMS_SILENCE_H

#include <stdint.h>

/* Notices hosts that are gone without a word: see failure.c. Does nothing on one host, or with SHMEM_SILENCE_SECONDS=0. */

#define SILENCE_ADDRESSES 4

/* Where a PE's UCX takes connections; port 0: no more of them. IPv4 addresses as IPv6 has them. */
struct silence_address {
	uint8_t ip[16];
	uint16_t port;
};

/* In front of and behind the creation of the worker that others connect to; what it listens at goes into the card. */
void silence_before_worker(void);
void silence_behind_worker(struct silence_address mine[SILENCE_ADDRESSES]);

/* UCX is about to connect to a PE that listens there. */
void silence_expect(const struct silence_address theirs[SILENCE_ADDRESSES]);

/* Looks at UCX's sockets, if it is time to; ends the job when a host is silent. Milliseconds until the next look, -1: none. */
int silence_look(void);

/* The PE is about to leave: no look begins any more, and none is under way. To be called when ucx.ending is set. */
void silence_end(void);

/* Sleeps until it is this PE's turn to say that another is lost. */
void silence_take_turn(int lost);

/* Where a PE listens, from its card; NULL if it was not met. */
const struct silence_address *ucx_addresses(int pe);

#endif
