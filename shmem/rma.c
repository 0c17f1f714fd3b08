/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access. A typed routine is its byte count and what is inlined here: where the target can be stored to,
 * and the copy is short, nothing else is called. comms.h has everything else.
 */
#include "api.h"
#include "comms/core/copy.h"
#include "comms/core/near.h"

COMMS_INLINE void put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, bool nbi, int pe,
		      const char *routine)
{
	struct comms_peer *peer;
	void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach_quickly(dest, bytes, pe, &peer);
	if (COMMS_LIKELY(here != NULL)) {
		comms_put_here(peer, dest, here, source, bytes, routine);
	} else if (nbi) {
		comms_channel_put_nbi(api_channel(ctx), dest, source, bytes, pe, routine);
	} else {
		comms_channel_put(api_channel(ctx), dest, source, bytes, pe, routine);
	}
}

/* One element. Only the way that is not taken wants it in memory. */
#define PUT_ELEMENT(TYPE)                                                                \
	struct comms_peer *peer;                                                         \
	int world_pe = api_target(ctx, pe, __func__);                                    \
	TYPE *here = comms_reach_quickly(dest, sizeof value, world_pe, &peer);                   \
	if (COMMS_LIKELY(here != NULL)) {                                                \
		comms_put_here(peer, dest, here, &value, sizeof value, __func__);                  \
	} else {                                                                         \
		TYPE copy = value;                                                       \
		comms_channel_put(api_channel(ctx), dest, &copy, sizeof copy, world_pe, __func__); \
	}

#define GET_ELEMENT(TYPE)                                                                \
	struct comms_peer *peer;                                                         \
	int world_pe = api_target(ctx, pe, __func__);                                    \
	const TYPE *here = comms_reach_quickly(source, sizeof *source, world_pe, &peer);         \
	TYPE value;                                                                      \
	if (COMMS_LIKELY(here != NULL)) {                                                \
		comms_copy_out(&value, here, sizeof value);                              \
	} else {                                                                         \
		TYPE copy;                                                               \
		comms_channel_get(api_channel(ctx), &copy, source, sizeof copy, world_pe, __func__); \
		value = copy;                                                            \
	}                                                                                \
	return value;

COMMS_INLINE void get(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, bool nbi, int pe,
		      const char *routine)
{
	struct comms_peer *peer;
	const void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach_quickly(source, bytes, pe, &peer);
	if (COMMS_LIKELY(here != NULL))
		comms_get_here(dest, here, bytes, routine);
	else if (nbi)
		comms_channel_get_nbi(api_channel(ctx), dest, source, bytes, pe, routine);
	else
		comms_channel_get(api_channel(ctx), dest, source, bytes, pe, routine);
}

static void check_strides(ptrdiff_t dst, ptrdiff_t sst, size_t least, const char *routine)
{
	if (COMMS_UNLIKELY(dst < (ptrdiff_t)least || sst < (ptrdiff_t)least))
		rte_die(routine, "dst=%td, sst=%td: a stride must be at least %zu", dst, sst, least);
}

/*
 * Blocks of bytes at strides (in bytes); strided transfers are blocks of one element. Where all of them can be reached, this is
 * looked up once. Else gets go out together and are completed once.
 */
static size_t span_of(size_t stride, size_t bytes, size_t blocks)
{
	return (blocks - 1) * stride + bytes;
}

#define COPY_BLOCKS(COPY, BYTES)                                       \
	for (size_t i = 0; i < blocks; i++)                            \
	COPY(dest + i * dst, source + i * sst, BYTES)
#define COPY_BLOCKS_OF_ANY_SIZE(COPY)                                  \
	do {                                                           \
		if (bytes == 8)                                        \
			COPY_BLOCKS(COPY, 8);                          \
		else if (bytes == 4)                                   \
			COPY_BLOCKS(COPY, 4);                          \
		else                                                   \
			COPY_BLOCKS(COPY, bytes);                      \
	} while (0)

static void put_blocks(shmem_ctx_t ctx, char *dest, const char *source, size_t dst, size_t sst, size_t bytes,
		       size_t blocks, int pe, const char *routine)
{
	int world_pe = api_target(ctx, pe, routine);
	const char *symmetric = dest;
	struct comms_peer *peer;
	char *here;

	if (blocks == 0)
		return;
	here = comms_reach_quickly(dest, span_of(dst, bytes, blocks), world_pe, &peer);
	if (!here) {
		COMMS_CALL(routine, bytes * blocks, world_pe);
		for (size_t i = 0; i < blocks; i++)
			put(ctx, dest + i * dst, source + i * sst, bytes, false, pe, routine);
		return;
	}
	dest = here;
	comms_near_begin(routine, source, span_of(sst, bytes, blocks));
	COPY_BLOCKS_OF_ANY_SIZE(comms_copy_in);
	comms_near_end();
	comms_wake_at(peer, symmetric, span_of(dst, bytes, blocks));
}

static void get_blocks(shmem_ctx_t ctx, char *dest, const char *source, size_t dst, size_t sst, size_t bytes,
		       size_t blocks, int pe, const char *routine)
{
	int world_pe = api_target(ctx, pe, routine);
	struct comms_peer *peer;
	const char *here;

	if (blocks == 0)
		return;
	here = comms_reach_quickly(source, span_of(sst, bytes, blocks), world_pe, &peer);
	if (!here) {
		COMMS_CALL(routine, bytes * blocks, world_pe);
		for (size_t i = 0; i < blocks; i++)
			get(ctx, dest + i * dst, source + i * sst, bytes, true, pe, routine);
		if (comms.network)
			comms_channel_quiet_pes(api_channel(ctx), &world_pe, 1);
		return;
	}
	source = here;
	comms_near_begin(routine, dest, span_of(dst, bytes, blocks));
	COPY_BLOCKS_OF_ANY_SIZE(comms_copy_out);
	comms_near_end();
}

static void iput(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		 size_t nelems, int pe, const char *routine)
{
	if (nelems > 0)
		check_strides(dst, sst, 1, routine);
	put_blocks(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, size, nelems, pe, routine);
}

static void iget(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		 size_t nelems, int pe, const char *routine)
{
	if (nelems > 0)
		check_strides(dst, sst, 1, routine);
	get_blocks(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, size, nelems, pe, routine);
}

static void ibput(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		  size_t bsize, size_t nblocks, int pe, const char *routine)
{
	if (bsize == 0 || nblocks == 0)
		return;
	check_strides(dst, sst, bsize, routine);
	put_blocks(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, bsize * size, nblocks, pe, routine);
}

static void ibget(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		  size_t bsize, size_t nblocks, int pe, const char *routine)
{
	if (bsize == 0 || nblocks == 0)
		return;
	check_strides(dst, sst, bsize, routine);
	get_blocks(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, bsize * size, nblocks, pe, routine);
}

/* Every shape of transfer for elements of one kind; TYPED adds the names of a type, SIZED those of a size. */
#define TRANSFERS(PUT, GET, IPUT, IGET, IBPUT, IBGET, TYPE, SIZE)                                                     \
	API_BOTH(void, PUT, put(ctx, dest, source, nelems * (SIZE), false, pe, __func__);                             \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, GET, get(ctx, dest, source, nelems * (SIZE), false, pe, __func__);                             \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, PUT##_nbi, put(ctx, dest, source, nelems * (SIZE), true, pe, __func__);                        \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, GET##_nbi, get(ctx, dest, source, nelems * (SIZE), true, pe, __func__);                        \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, IPUT, iput(ctx, dest, source, dst, sst, SIZE, nelems, pe, __func__);                           \
		 , TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)               \
	API_BOTH(void, IGET, iget(ctx, dest, source, dst, sst, SIZE, nelems, pe, __func__);                           \
		 , TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)               \
	API_BOTH(void, IBPUT, ibput(ctx, dest, source, dst, sst, SIZE, bsize, nblocks, pe, __func__);                 \
		 , TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,        \
		 int pe)                                                                                              \
	API_BOTH(void, IBGET, ibget(ctx, dest, source, dst, sst, SIZE, bsize, nblocks, pe, __func__);                 \
		 , TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,        \
		 int pe)

/* One element: the compiler turns the copy of a constant size into a store or a load. */
#define TYPED(NAME, TYPE)                                                                                             \
	TRANSFERS(NAME##_put, NAME##_get, NAME##_iput, NAME##_iget, NAME##_ibput, NAME##_ibget, TYPE, sizeof(TYPE))   \
	API_BOTH(void, NAME##_p, PUT_ELEMENT(TYPE), TYPE *dest, TYPE value, int pe)                                   \
	API_BOTH(TYPE, NAME##_g, GET_ELEMENT(TYPE), const TYPE *source, int pe)
FOR_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                                                          \
	TRANSFERS(put##BITS, get##BITS, iput##BITS, iget##BITS, ibput##BITS, ibget##BITS, void, (size_t)(BYTES))
FOR_SIZES(SIZED)

API_BOTH(void, putmem, put(ctx, dest, source, nelems, false, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
API_BOTH(void, getmem, get(ctx, dest, source, nelems, false, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
API_BOTH(void, putmem_nbi, put(ctx, dest, source, nelems, true, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
API_BOTH(void, getmem_nbi, get(ctx, dest, source, nelems, true, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
