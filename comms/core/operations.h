/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_OPERATIONS_H
#define COMMS_CORE_OPERATIONS_H

#include "comms.h"

/*
 * What an operation moves, and where: the types that operations (comms/ops/) and networks
 * (network.h) share.
 *
 * channel  orders and completes its own operations; the network defines what it is
 * request  the sender's record of an outstanding notification (comms/ops/notify.h). Request and
 *          data must not change until it completes
 * batch    notifications for one PE that leave in one message, if the network can do that
 * buffer   describes a PE's memory that is not symmetric to other PEs: plain bytes, which the
 *          program sends to whichever PE it likes
 */
struct comms_channel;

/* A position in a peer's memory. */
struct comms_place {
	struct comms_peer *peer;
	enum comms_segment_id segment;
	size_t offset;
};

struct comms_piece {
	void *dest; /* by its address in this PE */
	const void *source;
	size_t bytes;
};

enum comms_amo { COMMS_FETCH, COMMS_ADD, COMMS_AND, COMMS_OR, COMMS_XOR, COMMS_SWAP, COMMS_CSWAP };

/* An atomic on 4 or 8 bytes. */
struct comms_atomic {
	enum comms_amo op;
	size_t width;
	uint64_t operand, compare;
};

/*
 * An atomic on a word that this process can access; returns the old value. With a constant op the
 * compiler leaves one instruction.
 */
#define COMMS_AMO_HERE(name, type)                                                                                    \
	COMMS_INLINE type name(enum comms_amo op, type *word, type operand, type cond)                                \
	{                                                                                                             \
		switch (op) {                                                                                         \
		case COMMS_FETCH: return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                     \
		case COMMS_ADD: return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);                           \
		case COMMS_AND: return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);                           \
		case COMMS_OR: return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);                             \
		case COMMS_XOR: return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);                           \
		case COMMS_SWAP: return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);                         \
		case COMMS_CSWAP:                                                                                     \
			__atomic_compare_exchange_n(word, &cond, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
			return cond;                                                                                  \
		}                                                                                                     \
		return 0;                                                                                             \
	}
COMMS_AMO_HERE(comms_amo_32, uint32_t)
COMMS_AMO_HERE(comms_amo_64, uint64_t)

/* Size of the network's own record of a request, and of a batch. */
#define COMMS_REQUEST_DRIVER 208
#define COMMS_BATCH_DRIVER 80

struct comms_request {
	atomic_bool under_way;
	uint64_t value; /* of the flag; it is sent from here */
	_Alignas(16) char driver[COMMS_REQUEST_DRIVER];
};

static inline bool comms_request_is_under_way(const struct comms_request *request)
{
	return atomic_load_explicit(&request->under_way, memory_order_acquire);
}

/* An earlier use of a batch must be complete before the next begins. */
#define COMMS_BATCH_MOST 32
struct comms_batch {
	atomic_bool under_way;
	int count;
	size_t bytes;
	struct comms_request *request[COMMS_BATCH_MOST];
	_Alignas(16) char driver[COMMS_BATCH_DRIVER];
};

struct comms_buffer {
	uint64_t magic;
	int32_t pe, process;
	uint64_t base, size;
	uint32_t place, serial; /* index at its PE; serials are never 0 */
	uint64_t network[19];	/* for the network */
};
#define COMMS_BUFFER_MAGIC 0x7265666675626d74
_Static_assert(sizeof(struct comms_buffer) == 24 * sizeof(uint64_t), "as large as the program's shmemx_rdma_buffer_t");

/* Operations that a network may combine, and the most words of one. */
enum comms_reduce_op {
	COMMS_REDUCE_SUM,
	COMMS_REDUCE_MAX,
	COMMS_REDUCE_AND,
	COMMS_REDUCE_OR,
	COMMS_REDUCE_XOR,
	COMMS_REDUCE_DOUBLE_SUM
};
#define COMMS_REDUCE_WORDS 6 /* at most */

#endif
