/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_WORD_BITS_H
#define SHMEM_WORD_BITS_H

#include "api.h"

#include <string.h>

/* Values of the types of atomics as the bits of an unsigned word of 8 bytes, and back. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are widened by copying them to the front");

#define DEFINE_BITS(NAME, TYPE)                           \
	static inline uint64_t bits_of_##NAME(TYPE value) \
	{                                                 \
		uint64_t bits = 0;                        \
		memcpy(&bits, &value, sizeof value);      \
		return bits;                              \
	}                                                 \
	static inline TYPE NAME##_of_bits(uint64_t bits)  \
	{                                                 \
		TYPE value;                               \
		memcpy(&value, &bits, sizeof value);      \
		return value;                             \
	}
FOR_EXT_TYPES(DEFINE_BITS)

#endif
