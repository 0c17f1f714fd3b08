/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CARRY_H
#define COMMS_CARRY_H

#include "reorder.h"
#include "target.h"

/*
 * Operations whose target is known and that have been counted: by store and load, or through the network. They are carried out at once, or later
 * where reorder injection (reorder.h) has held them back.
 */
void carry_put(const struct held *put, const struct target *target);
void carry_get(const struct held *get, const struct target *target);
/* Data, whose target is the signal's if there is none, then the signal. */
void carry_signal(const struct held *put, const struct target *data, const struct target *signal);
/* On a word that this process can reach; returns the old value. */
uint64_t carry_atomic(const struct target *target, const struct comms_atomic *atomic);
/* Orders what the network carries, and nothing else. */
void carry_fence(struct comms_channel *channel);

/* The channel of the network that carries operations of a channel: what is held back leaves by the default one, which all threads may use. */
static inline struct comms_channel *carry_channel(struct comms_channel *channel)
{
	return comms.checks ? NULL : channel;
}

#endif
