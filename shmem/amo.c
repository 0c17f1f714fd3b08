/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic memory operations. All types of a width are one to the machine: values travel as the bits of an unsigned
 * word, which also keeps every bit of a float. op and width are constants wherever these are inlined.
 */
#include "api.h"

#include <string.h>

/* A copy for the network, so that the path on the node keeps the members in registers. */
#define IN_MEMORY(ATOMIC) (&(struct comms_atomic){(ATOMIC).op, (ATOMIC).width, (ATOMIC).operand, (ATOMIC).compare})

COMMS_INLINE bool misaligned(const void *address, size_t width)
{
	return (uintptr_t)address & (width - 1);
}

COMMS_INLINE uint64_t amo_here(const struct comms_peer *peer, const void *word, void *here, struct comms_atomic atomic)
{
	uint64_t old = atomic.width == 8
			       ? comms_amo_64(atomic.op, here, atomic.operand, atomic.compare)
			       : comms_amo_32(atomic.op, here, (uint32_t)atomic.operand, (uint32_t)atomic.compare);

	if (atomic.op != COMMS_FETCH)
		comms_wake_at(peer, word, atomic.width);
	return old;
}

COMMS_INLINE uint64_t amo_fetch(shmem_ctx_t ctx, const void *dest, struct comms_atomic atomic, int pe,
				const char *routine)
{
	void *word = (void *)(uintptr_t)dest, *here; /* atomic_fetch takes a const pointer */
	struct comms_peer *peer;

	pe = api_target(ctx, pe, routine);
	here = comms_reach_atomically(word, atomic.width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(word, atomic.width)))
		return comms_channel_amo_fetch(api_channel(ctx), word, IN_MEMORY(atomic), pe, routine);
	return amo_here(peer, word, here, atomic);
}

COMMS_INLINE void amo_post(shmem_ctx_t ctx, void *dest, struct comms_atomic atomic, int pe, const char *routine)
{
	struct comms_peer *peer;
	void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach_atomically(dest, atomic.width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(dest, atomic.width)))
		comms_channel_amo(api_channel(ctx), dest, IN_MEMORY(atomic), pe, routine);
	else
		amo_here(peer, dest, here, atomic);
}

COMMS_INLINE void amo_fetch_nbi(shmem_ctx_t ctx, void *result, const void *dest, struct comms_atomic atomic, int pe,
				const char *routine)
{
	void *word = (void *)(uintptr_t)dest, *here;
	struct comms_peer *peer;
	uint64_t old;

	pe = api_target(ctx, pe, routine);
	here = comms_reach_atomically(word, atomic.width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(word, atomic.width))) {
		comms_channel_amo_fetch_nbi(api_channel(ctx), result, word, IN_MEMORY(atomic), pe, routine);
		return;
	}
	old = amo_here(peer, word, here, atomic);
	memcpy(result, &old, atomic.width); /* the low half is in front, see below */
}

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

/* The bodies: FETCH returns the old value, POST does not, NBI stores it. W is the width. */
#define ATOMIC(OP, WIDTH, OPERAND, COND) ((struct comms_atomic){OP, WIDTH, OPERAND, COND})
#define FETCH(NAME, OP, OPERAND, COND) \
	return NAME##_of_bits(amo_fetch(ctx, dest, ATOMIC(OP, W, OPERAND, COND), pe, __func__));
#define POST(OP, OPERAND) amo_post(ctx, dest, ATOMIC(OP, W, OPERAND, 0), pe, __func__);
#define NBI(OP, OPERAND, COND) amo_fetch_nbi(ctx, fetch, dest, ATOMIC(OP, W, OPERAND, COND), pe, __func__);
#define READ(TYPE) ATOMIC(COMMS_FETCH, sizeof(TYPE), 0, 0)
#define V(NAME) bits_of_##NAME(value)

#define EXT(NAME, TYPE)                                                                                              \
	API_BOTH(TYPE, NAME##_atomic_fetch, return NAME##_of_bits(amo_fetch(ctx, source, READ(TYPE), pe, __func__)); \
		 , const TYPE *source, int pe)                                                                       \
	API_BOTH(void, NAME##_atomic_fetch_nbi, amo_fetch_nbi(ctx, fetch, source, READ(TYPE), pe, __func__);         \
		 , TYPE * fetch, const TYPE *source, int pe)                                                         \
	API_BOTH(void, NAME##_atomic_set, enum {W = sizeof(TYPE)};                                                   \
		 POST(COMMS_SWAP, V(NAME)), TYPE * dest, TYPE value, int pe)                                         \
	API_BOTH(TYPE, NAME##_atomic_swap, enum {W = sizeof(TYPE)};                                                  \
		 FETCH(NAME, COMMS_SWAP, V(NAME), 0), TYPE * dest, TYPE value, int pe)                               \
	API_BOTH(void, NAME##_atomic_swap_nbi, enum {W = sizeof(TYPE)};                                              \
		 NBI(COMMS_SWAP, V(NAME), 0), TYPE * fetch, TYPE * dest, TYPE value, int pe)
FOR_EXT_TYPES(EXT)

#define AMO(NAME, TYPE)                                                                                               \
	API_BOTH(TYPE, NAME##_atomic_compare_swap, enum {W = sizeof(TYPE)};                                           \
		 FETCH(NAME, COMMS_CSWAP, V(NAME), bits_of_##NAME(cond)), TYPE * dest, TYPE cond, TYPE value, int pe) \
	API_BOTH(void, NAME##_atomic_compare_swap_nbi, enum {W = sizeof(TYPE)};                                       \
		 NBI(COMMS_CSWAP, V(NAME), bits_of_##NAME(cond)), TYPE * fetch, TYPE * dest, TYPE cond, TYPE value,   \
		 int pe)                                                                                              \
	API_BOTH(TYPE, NAME##_atomic_fetch_inc, enum {W = sizeof(TYPE)};                                              \
		 FETCH(NAME, COMMS_ADD, 1, 0), TYPE * dest, int pe)                                                   \
	API_BOTH(void, NAME##_atomic_fetch_inc_nbi, enum {W = sizeof(TYPE)};                                          \
		 NBI(COMMS_ADD, 1, 0), TYPE * fetch, TYPE * dest, int pe)                                             \
	API_BOTH(void, NAME##_atomic_inc, enum {W = sizeof(TYPE)}; POST(COMMS_ADD, 1), TYPE * dest, int pe)
FOR_AMO_TYPES(AMO)

#define WITH_VALUE(NAME, TYPE, OP, NAMED_OP)                                               \
	API_BOTH(TYPE, NAME##_atomic_fetch_##OP, enum {W = sizeof(TYPE)};                  \
		 FETCH(NAME, NAMED_OP, V(NAME), 0), TYPE * dest, TYPE value, int pe)       \
	API_BOTH(void, NAME##_atomic_fetch_##OP##_nbi, enum {W = sizeof(TYPE)};            \
		 NBI(NAMED_OP, V(NAME), 0), TYPE * fetch, TYPE * dest, TYPE value, int pe) \
	API_BOTH(void, NAME##_atomic_##OP, enum {W = sizeof(TYPE)};                        \
		 POST(NAMED_OP, V(NAME)), TYPE * dest, TYPE value, int pe)
#define ADD(NAME, TYPE) WITH_VALUE(NAME, TYPE, add, COMMS_ADD)
#define BITWISE(NAME, TYPE)                    \
	WITH_VALUE(NAME, TYPE, and, COMMS_AND) \
	WITH_VALUE(NAME, TYPE, or, COMMS_OR)   \
	WITH_VALUE(NAME, TYPE, xor, COMMS_XOR)
FOR_AMO_TYPES(ADD)
FOR_BITS_TYPES(BITWISE)

/* The names before 1.4, on the default context. */
#define OLD(RET, NAME, BODY, ...)                          \
	API RET pshmem_##NAME(__VA_ARGS__)                 \
	{                                                  \
		const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
		BODY                                       \
	}                                                  \
	PROFILED(shmem_##NAME)
#define OLD_EXT(NAME, TYPE)                                                                                        \
	OLD(TYPE, NAME##_fetch, return NAME##_of_bits(amo_fetch(ctx, source, READ(TYPE), pe, __func__));           \
	    , const TYPE *source, int pe)                                                                          \
	OLD(void, NAME##_set, enum {W = sizeof(TYPE)}; POST(COMMS_SWAP, V(NAME)), TYPE * dest, TYPE value, int pe) \
	OLD(TYPE, NAME##_swap, enum {W = sizeof(TYPE)};                                                            \
	    FETCH(NAME, COMMS_SWAP, V(NAME), 0), TYPE * dest, TYPE value, int pe)
#define OLD_AMO(NAME, TYPE)                                                                                      \
	OLD(TYPE, NAME##_cswap, enum {W = sizeof(TYPE)};                                                         \
	    FETCH(NAME, COMMS_CSWAP, V(NAME), bits_of_##NAME(cond)), TYPE * dest, TYPE cond, TYPE value, int pe) \
	OLD(TYPE, NAME##_finc, enum {W = sizeof(TYPE)}; FETCH(NAME, COMMS_ADD, 1, 0), TYPE * dest, int pe)       \
	OLD(void, NAME##_inc, enum {W = sizeof(TYPE)}; POST(COMMS_ADD, 1), TYPE * dest, int pe)                  \
	OLD(TYPE, NAME##_fadd, enum {W = sizeof(TYPE)};                                                          \
	    FETCH(NAME, COMMS_ADD, V(NAME), 0), TYPE * dest, TYPE value, int pe)                                 \
	OLD(void, NAME##_add, enum {W = sizeof(TYPE)}; POST(COMMS_ADD, V(NAME)), TYPE * dest, TYPE value, int pe)
FOR_EXT_TYPES(OLD_EXT)
FOR_AMO_TYPES(OLD_AMO)

/* The oldest swap of all, on long. */
#undef shmem_swap
API long pshmem_swap(long *dest, long value, int pe)
{
	const struct comms_atomic atomic = {COMMS_SWAP, sizeof(long), bits_of_long(value), 0};

	return long_of_bits(amo_fetch(SHMEM_CTX_DEFAULT, dest, atomic, pe, __func__));
}
PROFILED(shmem_swap)
