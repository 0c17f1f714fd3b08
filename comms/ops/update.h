/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_OPS_UPDATE_H
#define COMMS_OPS_UPDATE_H

#include "comms/core/operations.h"

/*
 * Atomics that neither processors nor networks have: the new value is computed here from the old
 * one, and stored by compare-and-swap if the word still holds the old one. They are atomic to all
 * other atomics, because they are made of those. Values are the bits of a word of 4 or 8 bytes.
 */
typedef uint64_t comms_update_t(uint64_t old, uint64_t operand);

struct comms_update {
	comms_update_t *compute;
	size_t width;
	uint64_t operand;
};

/* The complete path, as comms_channel_amo_fetch. Returns the old value. */
uint64_t comms_channel_update(struct comms_channel *channel, void *dest, const struct comms_update *update, int pe,
			      const char *routine);

/*
 * On a word that this process can access. With a constant function, the compiler leaves its
 * instructions and the loop. A value that stays the same is not stored.
 */
#define COMMS_UPDATE_HERE(name, type)                                                                               \
	COMMS_INLINE type name(comms_update_t *compute, type *word, uint64_t operand)                               \
	{                                                                                                           \
		type old = __atomic_load_n(word, __ATOMIC_SEQ_CST), value;                                          \
		do                                                                                                  \
			value = (type)compute(old, operand);                                                        \
		while (value != old &&                                                                              \
		       !__atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
		return old;                                                                                         \
	}
COMMS_UPDATE_HERE(comms_update_32, uint32_t)
COMMS_UPDATE_HERE(comms_update_64, uint64_t)

#endif
