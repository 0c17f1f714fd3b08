/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COPY_H
#define COMMS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "comms.h"

/*
 * Copies between memory of PEs on a node, which may overlap. A put wakes the target if it sleeps.
 * Sizes that the machine loads and stores atomically are copied atomically, because threads of the
 * target may wait for them or test them. A constant number of bytes means one element of a type,
 * with its alignment. Short copies are inline; they load everything before they store.
 */

COMMS_INLINE bool comms_at_once(const void *shared, size_t bytes)
{
	return __builtin_constant_p(bytes) || ((uintptr_t)shared & (bytes - 1)) == 0;
}

#define COMMS_STORE(TYPE)                                                   \
	do {                                                                \
		TYPE value_;                                                \
		memcpy(&value_, source, sizeof value_);                     \
		__atomic_store_n((TYPE *)shared, value_, __ATOMIC_RELAXED); \
	} while (0)
#define COMMS_LOAD(TYPE)                                                               \
	do {                                                                           \
		TYPE value_ = __atomic_load_n((const TYPE *)shared, __ATOMIC_RELAXED); \
		memcpy(dest, &value_, sizeof value_);                                  \
	} while (0)
/* Copies from both ends, so that sizes between one and two words need no loop. */
#define COMMS_TWO(TYPE, dest, source, bytes)                                                   \
	do {                                                                                   \
		TYPE first_, last_;                                                            \
		memcpy(&first_, source, sizeof first_);                                        \
		memcpy(&last_, (const char *)(source) + (bytes) - sizeof last_, sizeof last_); \
		memcpy(dest, &first_, sizeof first_);                                          \
		memcpy((char *)(dest) + (bytes) - sizeof last_, &last_, sizeof last_);         \
	} while (0)

#define COMMS_SHORT 32

typedef struct {
	uint64_t word[2];
} comms_pair;

void comms_copy_large(void *dest, const void *source, size_t bytes);

COMMS_INLINE void comms_copy_short(void *dest, const void *source, size_t bytes)
{
	if (bytes > 16)
		COMMS_TWO(comms_pair, dest, source, bytes);
	else if (bytes >= 8)
		COMMS_TWO(uint64_t, dest, source, bytes);
	else if (bytes >= 4)
		COMMS_TWO(uint32_t, dest, source, bytes);
	else if (bytes >= 2)
		COMMS_TWO(uint16_t, dest, source, bytes);
	else if (bytes == 1)
		*(char *)dest = *(const char *)source;
}

COMMS_INLINE void comms_copy_in(void *shared, const void *source, size_t bytes)
{
	if (bytes == 8 && comms_at_once(shared, bytes))
		COMMS_STORE(uint64_t);
	else if (bytes == 4 && comms_at_once(shared, bytes))
		COMMS_STORE(uint32_t);
	else if (bytes == 2 && comms_at_once(shared, bytes))
		COMMS_STORE(uint16_t);
	else if (bytes == 1)
		COMMS_STORE(uint8_t);
	else if (bytes <= COMMS_SHORT)
		comms_copy_short(shared, source, bytes);
	else
		comms_copy_large(shared, source, bytes);
}

/* Returns false if the copy is too long to be inline. */
COMMS_INLINE bool comms_copied_out(void *dest, const void *shared, size_t bytes)
{
	if (bytes == 8 && comms_at_once(shared, bytes))
		COMMS_LOAD(uint64_t);
	else if (bytes == 4 && comms_at_once(shared, bytes))
		COMMS_LOAD(uint32_t);
	else if (bytes == 2 && comms_at_once(shared, bytes))
		COMMS_LOAD(uint16_t);
	else if (bytes == 1)
		COMMS_LOAD(uint8_t);
	else if (bytes <= COMMS_SHORT)
		comms_copy_short(dest, shared, bytes);
	else
		return false;
	return true;
}

COMMS_INLINE void comms_copy_out(void *dest, const void *shared, size_t bytes)
{
	if (!comms_copied_out(dest, shared, bytes))
		comms_copy_large(dest, shared, bytes);
}

/* A long copy for a routine, to or from local memory of the program (near.h). */
void comms_copy_near(void *dest, const void *source, size_t bytes, const void *near, const char *routine);

/*
 * Stores to memory of a PE of this node, then wakes the PE if it waits for that. dest is the
 * address at the target.
 */
void comms_put_large(const struct comms_peer *peer, const void *dest, void *here, const void *source, size_t bytes,
		     const char *routine);

COMMS_INLINE void comms_put_here(const struct comms_peer *peer, const void *dest, void *here, const void *source,
				 size_t bytes, const char *routine)
{
	if (bytes > COMMS_SHORT) {
		comms_put_large(peer, dest, here, source, bytes, routine);
		return;
	}
	comms_copy_in(here, source, bytes);
	comms_wake_at(peer, dest, bytes);
}

COMMS_INLINE void comms_get_here(void *dest, const void *here, size_t bytes, const char *routine)
{
	if (!comms_copied_out(dest, here, bytes))
		comms_copy_near(dest, here, bytes, dest, routine);
}

#endif
