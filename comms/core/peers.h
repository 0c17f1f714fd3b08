/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_PEERS_H
#define COMMS_CORE_PEERS_H

#include "comms.h"
#include "memory.h"

/* Finds the PEs of this node, and creates the table of peers. */
void peers_start(void);
/*
 * Publishes what other PEs need to reach this one; memory and network must be ready. Returns when
 * all PEs have published. torus: on PE 0, the result of comms/nodes/find_torus.h, or NULL.
 */
void peers_publish(uint64_t agreement, const char *torus);
/* The torus text that PE 0 published; the caller frees it. NULL: none. */
char *peers_torus(void);
/* The process of a PE, and the memory that it shares. Returns false if unknown. */
bool peers_memory(int pe, struct memory_handle memory[COMMS_FIXED_SEGMENTS]);
/* The value of `agreement` that a PE published. Returns false if unavailable. */
bool peers_agreement(int pe, uint64_t *agreement);
/*
 * Ends this PE's connections; no operation may be under way. peers_stop frees what peers_start
 * made.
 */
void peers_disconnect(void);
void peers_stop(void);

/*
 * What a peer's network->describe published; valid as long as the peer's record. NULL: the PE is
 * alone in its job, and no network starts.
 */
const void *peers_network_info(const struct comms_peer *peer, size_t *size);
/*
 * Copies the first bytes of it, also for a PE without a connection. Returns false if unavailable.
 */
bool peers_read_network_info(int pe, void *into, size_t bytes);

#endif
