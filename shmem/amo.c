/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic memory operations. The machine treats all types of a width alike: values travel as the
 * bits of an unsigned word, which also preserves floats. op and width are constants wherever these
 * functions are inlined.
 */
#include "word_bits.h"

/* An atomic, in parts that fit registers: on the node it is never stored to memory. */
struct amo_kind {
	enum comms_amo op;
	unsigned width;
};
struct amo_values {
	uint64_t operand, compare;
};

COMMS_INLINE bool misaligned(const void *address, size_t width)
{
	return (uintptr_t)address & (width - 1);
}

static struct comms_atomic in_memory(struct amo_kind kind, struct amo_values values)
{
	return (struct comms_atomic){kind.op, kind.width, values.operand, values.compare};
}

/*
 * Atomics that load and store cannot reach, and errors. Separate, so that the others need no stack.
 */
COMMS_APART uint64_t amo_fetch_far(shmem_ctx_t ctx, void *word, struct amo_kind kind, struct amo_values values, int pe,
				   const char *routine)
{
	const struct comms_atomic atomic = in_memory(kind, values);

	return comms_channel_amo_fetch(api_channel(ctx), word, &atomic, pe, routine);
}

COMMS_APART void amo_post_far(shmem_ctx_t ctx, void *word, struct amo_kind kind, uint64_t operand, int pe,
			      const char *routine)
{
	const struct comms_atomic atomic = in_memory(kind, (struct amo_values){operand, 0});

	comms_channel_amo(api_channel(ctx), word, &atomic, pe, routine);
}

COMMS_INLINE uint64_t amo_here(const struct comms_peer *peer, const void *word, void *here, struct amo_kind kind,
			       struct amo_values values)
{
	uint64_t old = kind.width == 8
			       ? comms_amo_64(kind.op, here, values.operand, values.compare)
			       : comms_amo_32(kind.op, here, (uint32_t)values.operand, (uint32_t)values.compare);

	if (kind.op != COMMS_FETCH)
		comms_wake_at(peer, word, kind.width);
	return old;
}

COMMS_INLINE uint64_t amo_fetch(shmem_ctx_t ctx, const void *dest, struct amo_kind kind, struct amo_values values,
				int pe, const char *routine)
{
	void *word = (void *)(uintptr_t)dest, *here; /* atomic_fetch takes a const pointer */
	struct comms_peer *peer;

	API_CHECK_TARGET_OR(0, ctx, pe, routine)
	pe = api_target(ctx, pe);
	here = comms_reach_atomically(word, kind.width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(word, kind.width)))
		return amo_fetch_far(ctx, word, kind, values, pe, routine);
	return amo_here(peer, word, here, kind, values);
}

COMMS_INLINE void amo_post(shmem_ctx_t ctx, void *dest, struct amo_kind kind, uint64_t operand, int pe,
			   const char *routine)
{
	struct comms_peer *peer;
	void *here;

	API_CHECK_TARGET(ctx, pe, routine)
	pe = api_target(ctx, pe);
	here = comms_reach_atomically(dest, kind.width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(dest, kind.width)))
		amo_post_far(ctx, dest, kind, operand, pe, routine);
	else
		amo_here(peer, dest, here, kind, (struct amo_values){operand, 0});
}

struct amo_target {
	const void *word;
	int pe;
};

COMMS_INLINE void amo_fetch_nbi(shmem_ctx_t ctx, void *result, struct amo_target target, struct amo_kind kind,
				struct amo_values values, const char *routine)
{
	API_CHECK_TARGET(ctx, target.pe, routine)
	void *word = (void *)(uintptr_t)target.word, *here;
	int pe = api_target(ctx, target.pe);
	struct comms_peer *peer;
	uint64_t old;

	here = comms_reach_atomically(word, kind.width, pe, &peer);
	if (COMMS_UNLIKELY(!here || misaligned(word, kind.width))) {
		const struct comms_atomic atomic = in_memory(kind, values);

		comms_channel_amo_fetch_nbi(api_channel(ctx), result, word, &atomic, pe, routine);
		return;
	}
	old = amo_here(peer, word, here, kind, values);
	memcpy(result, &old, kind.width); /* the low half comes first, see below */
}

/* The bodies: FETCH returns the old value, POST does not, NBI stores it. W is the width. */
#define KIND(OP, WIDTH) ((struct amo_kind){OP, WIDTH})
#define VALUES(OPERAND, COND) ((struct amo_values){OPERAND, COND})
#define FETCH(NAME, OP, OPERAND, COND) \
	return NAME##_of_bits(amo_fetch(ctx, dest, KIND(OP, W), VALUES(OPERAND, COND), pe, __func__));
#define POST(OP, OPERAND) amo_post(ctx, dest, KIND(OP, W), OPERAND, pe, __func__);
#define NBI(OP, OPERAND, COND) \
	amo_fetch_nbi(ctx, fetch, (struct amo_target){dest, pe}, KIND(OP, W), VALUES(OPERAND, COND), __func__);
#define READ(TYPE) KIND(COMMS_FETCH, sizeof(TYPE)), VALUES(0, 0)
#define V(NAME) bits_of_##NAME(value)

#define EXT(NAME, TYPE)                                                                                              \
	API_BOTH(TYPE, NAME##_atomic_fetch, return NAME##_of_bits(amo_fetch(ctx, source, READ(TYPE), pe, __func__)); \
		 , const TYPE *source, int pe)                                                                       \
	API_BOTH(void, NAME##_atomic_fetch_nbi,                                                                      \
		 amo_fetch_nbi(ctx, fetch, (struct amo_target){source, pe}, READ(TYPE), __func__);                   \
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

/* The names before OpenSHMEM 1.4, on the default context. */
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

/* The oldest swap, for long. */
#undef shmem_swap
API long pshmem_swap(long *dest, long value, int pe)
{
	return long_of_bits(amo_fetch(SHMEM_CTX_DEFAULT, dest, KIND(COMMS_SWAP, sizeof(long)),
				      VALUES(bits_of_long(value), 0), pe, __func__));
}
PROFILED(shmem_swap)
