/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_PEERS_H
#define COMMS_CORE_PEERS_H

#include "comms.h"
#include "memory.h"

/* Finds the PEs of this node, and makes the table of peers. */
void peers_start(void);
/*
 * Publishes what other PEs need to reach this one; its memory and its network are ready. Returns when all PEs have done so. torus: on PE 0, what
 * it found (comms/nodes/find_torus.h), or NULL.
 */
void peers_publish(uint64_t agreement, const char *torus);
/* The text that PE 0 gave, to be freed; NULL: it gave none. */
char *peers_torus(void);
/* The process of a PE, and the memory that it shares. False: this cannot be had. */
bool peers_memory(int pe, struct memory_handle memory[COMMS_SEGMENTS]);
/* What a PE gave to peers_publish. False: this cannot be had. */
bool peers_agreement(int pe, uint64_t *agreement);
/* Ends the connections that this PE has made, when no operation is under way; peers_stop ends what peers_start made. */
void peers_disconnect(void);
void peers_stop(void);

/*
 * What a peer published for the network, by network->describe; kept as long as the peer's record. NULL: the PE is alone in
 * its job, and no network starts.
 */
const void *peers_network_info(const struct comms_peer *peer, size_t *size);
/* The first bytes of the same, also of a PE that this one is not connected to. False: they cannot be had. */
bool peers_read_network_info(int pe, void *into, size_t bytes);

#endif
