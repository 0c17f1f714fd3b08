/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access. A typed routine computes its byte count and inlines the put of this file:
 * comms_reach_quickly (core/comms.h) returns where to store, and comms_put_here (core/copy.h)
 * copies and wakes. If the target cannot be stored to, comms_channel_put (ops/ops.c) does the rest.
 */
#include "api.h"
#include "comms/core/copy.h"
#include "comms/core/device.h"
#include "comms/core/near.h"

COMMS_INLINE void rma_put(shmem_ctx_t ctx, struct comms_piece data, bool nbi, int pe, const char *routine)
{
	struct comms_peer *peer;
	void *here;

	API_CHECK_TARGET(ctx, pe, routine)
	pe = api_target(ctx, pe);
	here = comms_reach_quickly(data.dest, data.bytes, pe, &peer);
	if (COMMS_LIKELY(here != NULL)) {
		comms_put_here(peer, data.dest, here, data.source, data.bytes, routine);
	} else if (nbi) {
		comms_channel_put_nbi(api_channel(ctx), data.dest, data.source, data.bytes, pe, routine);
	} else {
		comms_channel_put(api_channel(ctx), data.dest, data.source, data.bytes, pe, routine);
	}
}

COMMS_INLINE void rma_get(shmem_ctx_t ctx, struct comms_piece data, bool nbi, int pe, const char *routine)
{
	struct comms_peer *peer;
	const void *here;

	API_CHECK_TARGET(ctx, pe, routine)
	pe = api_target(ctx, pe);
	here = comms_reach_quickly(data.source, data.bytes, pe, &peer);
	if (COMMS_LIKELY(here != NULL))
		comms_get_here(data.dest, here, data.bytes, routine);
	else if (nbi)
		comms_channel_get_nbi(api_channel(ctx), data.dest, data.source, data.bytes, pe, routine);
	else
		comms_channel_get(api_channel(ctx), data.dest, data.source, data.bytes, pe, routine);
}

/* One element. Only the network needs it in memory. */
#define PUT_ELEMENT(TYPE)                                                                          \
	API_CHECK_TARGET(ctx, pe, __func__)                                                        \
	struct comms_peer *peer;                                                                   \
	int world_pe = api_target(ctx, pe);                                                        \
	TYPE *here = comms_reach_quickly(dest, sizeof value, world_pe, &peer);                     \
	if (COMMS_LIKELY(here != NULL)) {                                                          \
		comms_put_here(peer, dest, here, &value, sizeof value, __func__);                  \
	} else {                                                                                   \
		TYPE copy = value;                                                                 \
		comms_channel_put(api_channel(ctx), dest, &copy, sizeof copy, world_pe, __func__); \
	}

#define GET_ELEMENT(TYPE)                                                                            \
	API_CHECK_TARGET_OR(0, ctx, pe, __func__)                                                    \
	struct comms_peer *peer;                                                                     \
	int world_pe = api_target(ctx, pe);                                                          \
	const TYPE *here = comms_reach_quickly(source, sizeof *source, world_pe, &peer);             \
	TYPE value;                                                                                  \
	if (COMMS_LIKELY(here != NULL)) {                                                            \
		comms_copy_out(&value, here, sizeof value);                                          \
	} else {                                                                                     \
		TYPE copy = 0; /* in a broken job */                                                 \
		comms_channel_get(api_channel(ctx), &copy, source, sizeof copy, world_pe, __func__); \
		value = copy;                                                                        \
	}                                                                                            \
	return value;

/*
 * Blocks of elements at strides, which are in elements. iput and iget have blocks of one element.
 */
struct strided {
	ptrdiff_t dst, sst;
	size_t size, block, count; /* bytes of an element, elements of a block, blocks */
};

/* True also after misuse where errors return. */
static bool is_empty(const struct strided *s, const char *routine)
{
	if (s->block == 0 || s->count == 0)
		return true;
	if (COMMS_LIKELY(s->dst >= (ptrdiff_t)s->block && s->sst >= (ptrdiff_t)s->block))
		return false;
	rte_misuse(routine, "dst=%td, sst=%td: a stride must be at least %zu", s->dst, s->sst, s->block);
	return true;
}

static size_t strided_span(size_t stride, size_t bytes, size_t blocks)
{
	return (blocks - 1) * stride + bytes;
}

#define COPY_BLOCKS(COPY, BYTES)            \
	for (size_t i = 0; i < blocks; i++) \
	COPY(dest + i * dst, source + i * sst, BYTES)
#define COPY_BLOCKS_OF_ANY_SIZE(COPY)             \
	do {                                      \
		if (bytes == 8)                   \
			COPY_BLOCKS(COPY, 8);     \
		else if (bytes == 4)              \
			COPY_BLOCKS(COPY, 4);     \
		else                              \
			COPY_BLOCKS(COPY, bytes); \
	} while (0)

#define DEVICE_BLOCKS ((struct comms_device_blocks){to, dst, from, sst, bytes, blocks})

/*
 * If this PE reaches all blocks, it looks them up once and copies them. Otherwise it puts them one
 * by one, or issues nonblocking gets and one quiet.
 */
static void put_strided(shmem_ctx_t ctx, void *to, const void *from, const struct strided *s, int pe,
			const char *routine)
{
	API_CHECK_TARGET(ctx, pe, routine)
	size_t dst = (size_t)s->dst * s->size, sst = (size_t)s->sst * s->size, bytes = s->block * s->size,
	       blocks = s->count;
	int world_pe = api_target(ctx, pe);
	const char *source = from;
	char *dest = to, *here;
	struct comms_peer *peer;

	if (is_empty(s, routine))
		return;
	here = comms_reach_quickly(dest, strided_span(dst, bytes, blocks), world_pe, &peer);
	if (!here) {
		COMMS_CALL(routine, bytes * blocks, world_pe);
		if (comms_on_device(to, from)) {
			comms.device->put_blocks(api_channel(ctx), &DEVICE_BLOCKS, world_pe, routine);
			return;
		}
		for (size_t i = 0; i < blocks; i++)
			rma_put(ctx, (struct comms_piece){dest + i * dst, source + i * sst, bytes}, false, pe, routine);
		return;
	}
	dest = here;
	comms_near_begin(routine, source, strided_span(sst, bytes, blocks));
	COPY_BLOCKS_OF_ANY_SIZE(comms_copy_in);
	comms_near_end();
	comms_wake_at(peer, to, strided_span(dst, bytes, blocks));
}

static void get_strided(shmem_ctx_t ctx, void *to, const void *from, const struct strided *s, int pe,
			const char *routine)
{
	API_CHECK_TARGET(ctx, pe, routine)
	size_t dst = (size_t)s->dst * s->size, sst = (size_t)s->sst * s->size, bytes = s->block * s->size,
	       blocks = s->count;
	int world_pe = api_target(ctx, pe);
	const char *source = from, *here;
	struct comms_peer *peer;
	char *dest = to;

	if (is_empty(s, routine))
		return;
	here = comms_reach_quickly(source, strided_span(sst, bytes, blocks), world_pe, &peer);
	if (!here) {
		COMMS_CALL(routine, bytes * blocks, world_pe);
		if (comms_on_device(to, from)) {
			comms.device->get_blocks(api_channel(ctx), &DEVICE_BLOCKS, world_pe, routine);
			return;
		}
		for (size_t i = 0; i < blocks; i++)
			rma_get(ctx, (struct comms_piece){dest + i * dst, source + i * sst, bytes}, true, pe, routine);
		if (comms.network)
			comms_channel_quiet_pes(api_channel(ctx), &world_pe, 1);
		return;
	}
	source = here;
	comms_near_begin(routine, dest, strided_span(dst, bytes, blocks));
	COPY_BLOCKS_OF_ANY_SIZE(comms_copy_out);
	comms_near_end();
}

/*
 * The routines for elements of one kind: BEFORE##put##AFTER and so on, with a type's name before or
 * a size behind.
 */
#define PIECE(BYTES) ((struct comms_piece){dest, source, BYTES})
#define STRIDED(SIZE, BLOCK, COUNT) (&(struct strided){dst, sst, SIZE, BLOCK, COUNT})
#define CONTIGUOUS(BEFORE, AFTER, TYPE, SIZE)                                                             \
	API_BOTH(void, BEFORE##put##AFTER, rma_put(ctx, PIECE(nelems *(SIZE)), false, pe, __func__);      \
		 , TYPE * dest, const TYPE *source, size_t nelems, int pe)                                \
	API_BOTH(void, BEFORE##get##AFTER, rma_get(ctx, PIECE(nelems *(SIZE)), false, pe, __func__);      \
		 , TYPE * dest, const TYPE *source, size_t nelems, int pe)                                \
	API_BOTH(void, BEFORE##put##AFTER##_nbi, rma_put(ctx, PIECE(nelems *(SIZE)), true, pe, __func__); \
		 , TYPE * dest, const TYPE *source, size_t nelems, int pe)                                \
	API_BOTH(void, BEFORE##get##AFTER##_nbi, rma_get(ctx, PIECE(nelems *(SIZE)), true, pe, __func__); \
		 , TYPE * dest, const TYPE *source, size_t nelems, int pe)
#define BLOCKS(BEFORE, AFTER, TYPE, SIZE)                                                                           \
	API_BOTH(void, BEFORE##iput##AFTER, put_strided(ctx, dest, source, STRIDED(SIZE, 1, nelems), pe, __func__); \
		 , TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)            \
	API_BOTH(void, BEFORE##iget##AFTER, get_strided(ctx, dest, source, STRIDED(SIZE, 1, nelems), pe, __func__); \
		 , TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)            \
	API_BOTH(void, BEFORE##ibput##AFTER,                                                                        \
		 put_strided(ctx, dest, source, STRIDED(SIZE, bsize, nblocks), pe, __func__);                       \
		 , TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,     \
		 int pe)                                                                                            \
	API_BOTH(void, BEFORE##ibget##AFTER,                                                                        \
		 get_strided(ctx, dest, source, STRIDED(SIZE, bsize, nblocks), pe, __func__);                       \
		 , TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,     \
		 int pe)

/* One element: the compiler turns the copy of a constant size into a store or a load. */
#define TYPED(NAME, TYPE)                                                           \
	CONTIGUOUS(NAME##_, , TYPE, sizeof(TYPE))                                   \
	BLOCKS(NAME##_, , TYPE, sizeof(TYPE))                                       \
	API_BOTH(void, NAME##_p, PUT_ELEMENT(TYPE), TYPE *dest, TYPE value, int pe) \
	API_BOTH(TYPE, NAME##_g, GET_ELEMENT(TYPE), const TYPE *source, int pe)
FOR_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                        \
	CONTIGUOUS(, BITS, void, (size_t)(BYTES)) \
	BLOCKS(, BITS, void, (size_t)(BYTES))
FOR_SIZES(SIZED)

CONTIGUOUS(, mem, void, 1)
