/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics of shmemx.h: sums of floating-point numbers, minima and maxima of integers. All of them
 * compute the new value in this PE, and store it by compare-and-swap (comms/ops/update.h).
 */
#include "comms/ops/update.h"
#include "shmem/operators.h"
#include "shmem/word_bits.h"

static inline bool misaligned(const void *address, size_t width)
{
	return (uintptr_t)address & (width - 1);
}

COMMS_INLINE uint64_t update_word(shmem_ctx_t ctx, void *dest, const struct comms_update *update, int pe,
				  const char *routine)
{
	struct comms_peer *peer;
	uint64_t old;
	void *here;

	API_CHECK_TARGET_OR(0, ctx, pe, routine)
	pe = api_target(ctx, pe);
	here = comms_reach_atomically(dest, update->width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(dest, update->width)))
		return comms_channel_update(api_channel(ctx), dest, update, pe, routine);
	old = update->width == 8 ? comms_update_64(update->compute, here, update->operand)
				 : comms_update_32(update->compute, here, update->operand);
	comms_wake_at(peer, dest, update->width);
	return old;
}

/* The routines of one operation: a is the word, b the caller's value. */
#define UPDATE(NAME, TYPE, OP, EXPRESSION)                                                              \
	static uint64_t OP##_##NAME(uint64_t old, uint64_t operand)                                     \
	{                                                                                               \
		const TYPE a = NAME##_of_bits(old), b = NAME##_of_bits(operand);                        \
		return bits_of_##NAME(EXPRESSION);                                                      \
	}                                                                                               \
	API TYPE shmemx_ctx_##NAME##_atomic_fetch_##OP(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) \
	{                                                                                               \
		const struct comms_update update = {OP##_##NAME, sizeof(TYPE), bits_of_##NAME(value)};  \
		return NAME##_of_bits(update_word(ctx, dest, &update, pe, __func__));                   \
	}                                                                                               \
	API TYPE shmemx_##NAME##_atomic_fetch_##OP(TYPE *dest, TYPE value, int pe)                      \
	{                                                                                               \
		const struct comms_update update = {OP##_##NAME, sizeof(TYPE), bits_of_##NAME(value)};  \
		return NAME##_of_bits(update_word(SHMEM_CTX_DEFAULT, dest, &update, pe, __func__));     \
	}                                                                                               \
	API void shmemx_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)       \
	{                                                                                               \
		const struct comms_update update = {OP##_##NAME, sizeof(TYPE), bits_of_##NAME(value)};  \
		update_word(ctx, dest, &update, pe, __func__);                                          \
	}                                                                                               \
	API void shmemx_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe)                            \
	{                                                                                               \
		const struct comms_update update = {OP##_##NAME, sizeof(TYPE), bits_of_##NAME(value)};  \
		update_word(SHMEM_CTX_DEFAULT, dest, &update, pe, __func__);                            \
	}
#define ADDS(NAME, TYPE) UPDATE(NAME, TYPE, add, a + b)
#define EXTREMES(NAME, TYPE) UPDATE(NAME, TYPE, min, a < b ? a : b) UPDATE(NAME, TYPE, max, a > b ? a : b)
FOR_FADD_TYPES(ADDS)
FOR_AMO_TYPES(EXTREMES)

/* How the atomics of each type are carried out. */
#define INTEGERS(NAME, TYPE)                                                                                 \
	[SHMEMX_SUM][CODE_##NAME] = SHMEMX_ATOMIC_OPERATION, [SHMEMX_MIN][CODE_##NAME] = SHMEMX_ATOMIC_LOOP, \
	[SHMEMX_MAX][CODE_##NAME] = SHMEMX_ATOMIC_LOOP,
#define REALS(NAME, TYPE) [SHMEMX_SUM][CODE_##NAME] = SHMEMX_ATOMIC_LOOP,
#define BITS(NAME, TYPE)                                                                                         \
	[SHMEMX_AND][CODE_##NAME] = SHMEMX_ATOMIC_OPERATION, [SHMEMX_OR][CODE_##NAME] = SHMEMX_ATOMIC_OPERATION, \
	[SHMEMX_XOR][CODE_##NAME] = SHMEMX_ATOMIC_OPERATION,
static const unsigned char ways[SHMEMX_AVG + 1][TYPE_CODES] = {FOR_AMO_TYPES(INTEGERS) FOR_FADD_TYPES(REALS)
								       FOR_BITS_TYPES(BITS)};

API int shmemx_atomic_query(shmemx_type_t type, shmemx_op_t op)
{
	if ((unsigned)type >= TYPE_CODES || (unsigned)op > SHMEMX_AVG)
		return SHMEMX_ATOMIC_NONE;
	return ways[op][type];
}
