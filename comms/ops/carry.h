/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CARRY_H
#define COMMS_CARRY_H

#include "reorder.h"
#include "target.h"

/*
 * Operations whose target is known and that have been counted, by store and load or through the
 * network. They run at once, or later if reorder injection (reorder.h) holds them back.
 */
void carry_put(const struct held *put, const struct target *target);
void carry_get(const struct held *get, const struct target *target);
/* Data, then the signal. Without a target of its own the data goes to the signal's. */
void carry_signal(const struct held *put, const struct target *data, const struct target *signal);
/* For a word that this process can access; returns the old value. */
uint64_t carry_atomic(const struct target *target, const struct comms_atomic *atomic);
/* Orders only what the network carries. */
void carry_fence(struct comms_channel *channel);

/*
 * The network channel for operations of a channel. Held operations leave by the default one, which
 * all threads may use.
 */
static inline struct comms_channel *carry_channel(struct comms_channel *channel)
{
	return comms.checks ? NULL : channel;
}

#endif
