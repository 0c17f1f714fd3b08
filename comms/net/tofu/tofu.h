/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_TOFU_H
#define COMMS_TOFU_TOFU_H

#include "comms/net/network.h"
#include "comms/torus/shape.h"

/*
 * The Tofu network, through uTofu and jTofu: Fujitsu's libraries or those of softofu/. Taken when the launcher says where in
 * the network the PEs are.
 */
enum { TOFU_ENGINES = 6 }; /* TNIs of a node, at most */

#if HAVE_TOFU

/* Does the launcher say it? Asks it, and complains, if it must. Alike on all PEs. */
bool tofu_find(bool must);
/* The coordinates of a PE's node, as one number. */
uint64_t tofu_node(int pe);
/* The whole machine, and where a PE's node is in it. False: jTofu does not say. */
bool tofu_machine(struct torus_shape *machine);
int tofu_machine_place(const struct torus_shape *machine, int pe);

/* This PE's queues, and its memory registered with them; the network that they are on. */
const struct comms_network *tofu_start(void);
/* What a PE tells others of itself, 0 where it has fewer queues, and what they make of it. */
void tofu_queues(uint64_t ids[TOFU_ENGINES]);
void tofu_meet(struct comms_peer *peer, const uint64_t ids[TOFU_ENGINES]);
/* Nothing is under way any more, anywhere. */
void tofu_stop(void);
void tofu_lose(void);

#else

#include "rte/rte.h"

static inline bool tofu_find(bool must)
{
	if (must)
		rte_die_together("shmem_init", "SHMEM_PATHS names tofu, and this library was configured "
					       "--without-tofu; configure it without that, or leave tofu out");
	return false;
}
static inline uint64_t tofu_node(int pe) { return (uint64_t)pe; }
static inline bool tofu_machine(struct torus_shape *machine) { return (void)machine, false; }
static inline int tofu_machine_place(const struct torus_shape *machine, int pe) { return (void)machine, (void)pe, 0; }
static inline const struct comms_network *tofu_start(void) { return NULL; }
static inline void tofu_queues(uint64_t ids[TOFU_ENGINES]) { (void)ids; }
static inline void tofu_meet(struct comms_peer *peer, const uint64_t ids[TOFU_ENGINES]) { (void)peer, (void)ids; }
static inline void tofu_stop(void) {}
static inline void tofu_lose(void) {}

#endif
#endif
