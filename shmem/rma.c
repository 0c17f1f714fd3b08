/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access. A typed routine is its byte count and one call. Where the target can be stored to,
 * that call ends here; comms.h has everything else.
 */
#include "api.h"

#include <string.h>

COMMS_INLINE void put_bytes(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	struct comms_peer *peer;
	void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach(dest, bytes, pe, &peer);
	if (COMMS_UNLIKELY(!here)) {
		comms_channel_put(api_channel(ctx), dest, source, bytes, pe, routine);
		return;
	}
	memmove(here, source, bytes);
	comms_notify_of(peer, dest, bytes);
}

/* One copy of the code for all types; only single elements are worth one of their own. */
static void put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	put_bytes(ctx, dest, source, bytes, pe, routine);
}

static void put_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	struct comms_peer *peer;
	void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach(dest, bytes, pe, &peer);
	if (COMMS_UNLIKELY(!here)) {
		comms_channel_put_nbi(api_channel(ctx), dest, source, bytes, pe, routine);
		return;
	}
	memmove(here, source, bytes);
	comms_notify_of(peer, dest, bytes);
}

COMMS_INLINE void get_bytes(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	struct comms_peer *peer;
	const void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach(source, bytes, pe, &peer);
	if (COMMS_LIKELY(here != NULL))
		memmove(dest, here, bytes);
	else
		comms_channel_get(api_channel(ctx), dest, source, bytes, pe, routine);
}

static void get(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	get_bytes(ctx, dest, source, bytes, pe, routine);
}

static void get_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	struct comms_peer *peer;
	const void *here;

	pe = api_target(ctx, pe, routine);
	here = comms_reach(source, bytes, pe, &peer);
	if (COMMS_LIKELY(here != NULL))
		memmove(dest, here, bytes);
	else
		comms_channel_get_nbi(api_channel(ctx), dest, source, bytes, pe, routine);
}

static void check_strides(ptrdiff_t dst, ptrdiff_t sst, size_t least, const char *routine)
{
	if (COMMS_UNLIKELY(dst < (ptrdiff_t)least || sst < (ptrdiff_t)least))
		rte_die(routine, "dst=%td, sst=%td: a stride must be at least %zu", dst, sst, least);
}

/*
 * Blocks of bytes at strides (in bytes); strided transfers are blocks of one element. Gets go out together and
 * are completed once.
 */
static void put_blocks(shmem_ctx_t ctx, char *dest, const char *source, size_t dst, size_t sst, size_t bytes,
		       size_t blocks, int pe, const char *routine)
{
	for (size_t i = 0; i < blocks; i++)
		put(ctx, dest + i * dst, source + i * sst, bytes, pe, routine);
}

static void get_blocks(shmem_ctx_t ctx, char *dest, const char *source, size_t dst, size_t sst, size_t bytes,
		       size_t blocks, int pe, const char *routine)
{
	for (size_t i = 0; i < blocks; i++)
		get_nbi(ctx, dest + i * dst, source + i * sst, bytes, pe, routine);
	if (comms.ucx && blocks > 0) {
		pe = api_target(ctx, pe, routine);
		comms_channel_quiet_pes(api_channel(ctx), &pe, 1);
	}
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
	API_BOTH(void, PUT, put(ctx, dest, source, nelems * (SIZE), pe, __func__);                                    \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, GET, get(ctx, dest, source, nelems * (SIZE), pe, __func__);                                    \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, PUT##_nbi, put_nbi(ctx, dest, source, nelems * (SIZE), pe, __func__);                          \
		 , TYPE *dest, const TYPE *source, size_t nelems, int pe)                                             \
	API_BOTH(void, GET##_nbi, get_nbi(ctx, dest, source, nelems * (SIZE), pe, __func__);                          \
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
	API_BOTH(void, NAME##_p, put_bytes(ctx, dest, &value, sizeof value, pe, __func__);                            \
		 , TYPE *dest, TYPE value, int pe)                                                                    \
	API_BOTH(TYPE, NAME##_g, TYPE value; get_bytes(ctx, &value, source, sizeof value, pe, __func__); return value;\
		 , const TYPE *source, int pe)
FOR_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                                                          \
	TRANSFERS(put##BITS, get##BITS, iput##BITS, iget##BITS, ibput##BITS, ibget##BITS, void, (size_t)(BYTES))
FOR_SIZES(SIZED)

API_BOTH(void, putmem, put(ctx, dest, source, nelems, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
API_BOTH(void, getmem, get(ctx, dest, source, nelems, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
API_BOTH(void, putmem_nbi, put_nbi(ctx, dest, source, nelems, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
API_BOTH(void, getmem_nbi, get_nbi(ctx, dest, source, nelems, pe, __func__);
	 , void *dest, const void *source, size_t nelems, int pe)
