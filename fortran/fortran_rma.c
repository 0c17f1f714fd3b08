/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets of sections. If both sides are contiguous the bytes move without a copy. If pieces
 * are small and the symmetric side is contiguous, the local side is packed or unpacked for one
 * message. If the symmetric side has gaps too, pieces go one by one, nonblocking, and complete
 * together.
 */
#include "fortran.h"

#include <stdlib.h>

/* Smaller pieces are packed: a message costs more than copying them. */
#define PACK_BELOW 1024

static bool is_one_piece(const struct pieces *pieces)
{
	return pieces->bytes == pieces->left;
}

/* Is the symmetric side contiguous, and is packing the local side worth it? */
static bool wants_packing(const struct runs *symmetric, const struct pieces *pieces)
{
	return symmetric->first == symmetric->array->rank && pieces->bytes < PACK_BELOW;
}

static void *packing_buffer(size_t bytes, const char *routine)
{
	void *buffer = malloc(bytes);

	if (!buffer)
		fortran_die(routine, "there is no memory for %zu bytes, to pack a section into", bytes);
	return buffer;
}

/* Copies all pieces, contiguous on one side, from or to a buffer. */
static void copy_pieces(struct pieces *pieces, char *buffer, bool out)
{
	do {
		if (out)
			memcpy(pieces->dest, buffer, pieces->bytes);
		else
			memcpy(buffer, pieces->source, pieces->bytes);
		buffer += pieces->bytes;
	} while (fortran_pieces_next(pieces));
}

static void put_packed(shmem_ctx_t ctx, struct pieces *pieces, int pe, const char *routine)
{
	size_t bytes = pieces->left;
	void *dest = pieces->dest, *buffer = packing_buffer(bytes, routine);

	copy_pieces(pieces, buffer, false);
	shmem_ctx_putmem(ctx, dest, buffer, bytes, pe);
	free(buffer);
}

static void put_pieces(shmem_ctx_t ctx, struct pieces *pieces, int pe, enum fortran_way way)
{
	do {
		if (way == FORTRAN_NBI)
			shmem_ctx_putmem_nbi(ctx, pieces->dest, pieces->source, pieces->bytes, pe);
		else
			shmem_ctx_putmem(ctx, pieces->dest, pieces->source, pieces->bytes, pe);
	} while (fortran_pieces_next(pieces));
}

void fortran_put(shmem_ctx_t ctx, const array *dest, const array *source, int pe, enum fortran_way way,
		 const char *routine)
{
	struct pieces pieces;

	fortran_pieces_begin(&pieces, dest, source, routine);
	fortran_pieces_next(&pieces);
	if (!is_one_piece(&pieces) && wants_packing(&pieces.to, &pieces))
		put_packed(ctx, &pieces, pe, routine);
	else
		put_pieces(ctx, &pieces, pe, way);
}

static void get_packed(shmem_ctx_t ctx, struct pieces *pieces, int pe, const char *routine)
{
	size_t bytes = pieces->left;
	void *buffer = packing_buffer(bytes, routine);

	shmem_ctx_getmem(ctx, buffer, pieces->source, bytes, pe);
	copy_pieces(pieces, buffer, true);
	free(buffer);
}

void fortran_get(shmem_ctx_t ctx, const array *dest, const array *source, int pe, enum fortran_way way,
		 const char *routine)
{
	struct pieces pieces;

	fortran_pieces_begin(&pieces, dest, source, routine);
	fortran_pieces_next(&pieces);
	if (is_one_piece(&pieces) && way == FORTRAN_BLOCKING) {
		shmem_ctx_getmem(ctx, pieces.dest, pieces.source, pieces.bytes, pe);
		return;
	}
	if (!is_one_piece(&pieces) && wants_packing(&pieces.from, &pieces)) {
		get_packed(ctx, &pieces, pe, routine);
		return;
	}
	do
		shmem_ctx_getmem_nbi(ctx, pieces.dest, pieces.source, pieces.bytes, pe);
	while (fortran_pieces_next(&pieces));
	if (way == FORTRAN_BLOCKING)
		shmem_ctx_pe_quiet(ctx, &pe, 1);
}

void fortran_put_signal(shmem_ctx_t ctx, const array *dest, const array *source, const struct fortran_signal *signal,
			int pe, enum fortran_way way, const char *routine)
{
	struct pieces pieces;

	fortran_pieces_begin(&pieces, dest, source, routine);
	fortran_pieces_next(&pieces);
	if (is_one_piece(&pieces) && way == FORTRAN_NBI) {
		shmem_ctx_putmem_signal_nbi(ctx, pieces.dest, pieces.source, pieces.bytes, signal->address,
					    signal->value, signal->op, pe);
		return;
	}
	if (is_one_piece(&pieces)) {
		shmem_ctx_putmem_signal(ctx, pieces.dest, pieces.source, pieces.bytes, signal->address, signal->value,
					signal->op, pe);
		return;
	}
	if (wants_packing(&pieces.to, &pieces))
		put_packed(ctx, &pieces, pe, routine);
	else
		put_pieces(ctx, &pieces, pe, way);
	shmem_ctx_fence(ctx); /* the data arrives before the signal */
	if (signal->op == SHMEM_SIGNAL_ADD)
		shmem_ctx_signal_add(ctx, signal->address, signal->value, pe);
	else
		shmem_ctx_signal_set(ctx, signal->address, signal->value, pe);
}

static void check_blocks(const array *dest, const array *source, const struct fortran_blocks *blocks,
			 const char *routine)
{
	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	if (blocks->count < 0 || blocks->size < 0)
		fortran_die(routine, "a number of elements is negative: %d blocks of %d", blocks->count, blocks->size);
}

/* The routine of C for the size of an element. */
#define BY_SIZE(NAME, ...)                                                                             \
	do {                                                                                           \
		switch (source->elem_len) {                                                            \
		case 1: shmem_ctx_##NAME##8(__VA_ARGS__); break;                                       \
		case 2: shmem_ctx_##NAME##16(__VA_ARGS__); break;                                      \
		case 4: shmem_ctx_##NAME##32(__VA_ARGS__); break;                                      \
		case 8: shmem_ctx_##NAME##64(__VA_ARGS__); break;                                      \
		case 16: shmem_ctx_##NAME##128(__VA_ARGS__); break;                                    \
		default: fortran_die(routine, "an element of source has %zu bytes", source->elem_len); \
		}                                                                                      \
	} while (0)

void fortran_iput(shmem_ctx_t ctx, const array *dest, const array *source, const struct fortran_blocks *blocks, int pe,
		  const char *routine)
{
	check_blocks(dest, source, blocks, routine);
	BY_SIZE(ibput, ctx, dest->base_addr, source->base_addr, blocks->dst, blocks->sst, (size_t)blocks->size,
		(size_t)blocks->count, pe);
}

void fortran_iget(shmem_ctx_t ctx, const array *dest, const array *source, const struct fortran_blocks *blocks, int pe,
		  const char *routine)
{
	check_blocks(dest, source, blocks, routine);
	BY_SIZE(ibget, ctx, dest->base_addr, source->base_addr, blocks->dst, blocks->sst, (size_t)blocks->size,
		(size_t)blocks->count, pe);
}
