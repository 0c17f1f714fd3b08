/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "softofu/nic/carrier.h"
#include "softofu/nic/reach.h"

/*
 * The carrier without a network: the thread that hands over a descriptor carries it out at once,
 * directly between the memories.
 *
 * Without strong order, reorder injection cuts a block into pieces and copies them in random order,
 * so that a program that polls the last word of a buffer fails. With strong order, a block is
 * written line by line, and of each line the word with the marker last (reach.h).
 * SOFTOFU_TEAR=yes cuts in the middle of lines, and copies these pieces in random order with strong
 * order, too, all but the last word.
 */
enum { PIECE_LEAST = CACHE_LINE, PIECES_OF_A_BLOCK = 16, LAST_WORD = 8 };

struct pieces {
	struct piece piece[PIECES];
	int count;
	uint32_t rank;
	bool write, strong, tear;
	struct vcq *from;
};

static void shuffle_pieces(struct pieces *pieces)
{
	vcq_lock(pieces->from);
	for (int i = pieces->count - 1; i > 0; i--) {
		int other = (int)vcq_random(pieces->from, (uint32_t)i + 1);
		struct piece swapped = pieces->piece[i];

		pieces->piece[i] = pieces->piece[other];
		pieces->piece[other] = swapped;
	}
	vcq_unlock(pieces->from);
}

static bool shuffled(const struct pieces *pieces)
{
	return !pieces->strong || (pieces->tear && pieces->write);
}

static enum reached flush_pieces(struct pieces *pieces)
{
	int count = pieces->count;

	if (shuffled(pieces))
		shuffle_pieces(pieces);
	pieces->count = 0;
	if (!pieces->write)
		return reach_read(pieces->from->nic, pieces->rank, pieces->piece, count);
	if (shuffled(pieces))
		return reach_write(pieces->from->nic, pieces->rank, pieces->piece, count);
	return reach_write_in_order(pieces->from->nic, pieces->rank, pieces->piece, count);
}

static enum reached add_piece(struct pieces *pieces, uint64_t here, uint64_t there, size_t bytes)
{
	if (!bytes)
		return REACHED;
	pieces->piece[pieces->count++] = (struct piece){(void *)(uintptr_t)here, there, bytes};
	return pieces->count == PIECES ? flush_pieces(pieces) : REACHED;
}

/*
 * Length of the first piece of a block that is shuffled: the other pieces begin with lines of the
 * target, or in the middle of lines.
 */
static size_t shuffled_begin(const struct pieces *pieces, uint64_t there, size_t bytes, size_t size)
{
	uint64_t edge = pieces->tear ? CACHE_LINE / 2 : 0;
	size_t begin = (CACHE_LINE + edge - there % CACHE_LINE) % CACHE_LINE;

	if (bytes < CACHE_LINE)
		return size;
	if (begin)
		return begin;
	return bytes == CACHE_LINE ? bytes : size;
}

static size_t size_of_pieces(size_t bytes)
{
	size_t size = (bytes / PIECES_OF_A_BLOCK + PIECE_LEAST - 1) / PIECE_LEAST * PIECE_LEAST;

	if (bytes <= LAST_WORD)
		return bytes;
	if (bytes <= PIECE_LEAST)
		return (bytes / 2 + LAST_WORD - 1) / LAST_WORD * LAST_WORD;
	return size > PIECE_LEAST ? size : PIECE_LEAST;
}

static enum reached add_shuffled(struct pieces *pieces, uint64_t here, uint64_t there, size_t bytes)
{
	size_t size = size_of_pieces(bytes), next = shuffled_begin(pieces, there, bytes, size);
	enum reached reached = REACHED;

	for (size_t at = 0; at < bytes && !reached; at += next, next = size) {
		next = bytes - at < next ? bytes - at : next;
		reached = add_piece(pieces, here + at, there + at, next);
	}
	return reached;
}

static enum reached add_block(struct pieces *pieces, uint64_t here, uint64_t there, size_t bytes)
{
	size_t last = bytes ? (there + bytes - 1) % LAST_WORD + 1 : 0;
	enum reached reached;
	struct piece word;

	if (!shuffled(pieces))
		return add_piece(pieces, here, there, bytes);
	if (!pieces->strong)
		return add_shuffled(pieces, here, there, bytes);
	last = last < bytes ? last : bytes;
	word = (struct piece){(void *)(uintptr_t)(here + bytes - last), there + bytes - last, last};
	reached = add_shuffled(pieces, here, there, bytes - last);
	if (!reached && pieces->count)
		reached = flush_pieces(pieces);
	return reached ? reached : reach_write_in_order(pieces->from->nic, pieces->rank, &word, 1);
}

static enum reached copy_blocks(struct vcq *from, struct shared_vcq *to, const struct descriptor *what, uint64_t here,
				uint64_t there, bool strong)
{
	struct pieces pieces = {.rank = to->rank,
				.write = what->kind != KIND_GET,
				.strong = strong,
				.tear = from->nic->settings.tear,
				.from = from};
	uint32_t blocks = what->kind == KIND_PIGGYBACK ? 1 : what->memory.blocks;
	uint64_t stride = blocks > 1 ? what->memory.stride : 0;
	enum reached reached = REACHED;

	pieces.count = 0;
	for (uint32_t i = 0; i < blocks && !reached; i++)
		reached = add_block(&pieces, here + i * stride, there + i * stride, what->length);
	if (!reached && pieces.count)
		reached = flush_pieces(&pieces);
	return reached;
}

int carry_code(enum reached reached)
{
	static const int codes[] = {
		[REACHED] = UTOFU_SUCCESS,
		[NOBODY_THERE] = UTOFU_ERR_MRQ_PEER,
		[NO_MEMORY_THERE] = UTOFU_ERR_MRQ_RMT_MEMORY,
		[NOT_ALLOWED] = UTOFU_ERR_MRQ_OTHER,
	};

	return codes[reached];
}

int carry_here(struct vcq *from, const struct descriptor *what, uint64_t span, uint64_t *here)
{
	static const int codes[] = {
		[TRANSLATED] = UTOFU_SUCCESS,
		[NO_SUCH_STAG] = UTOFU_ERR_TCQ_STADD,
		[TOO_LONG] = UTOFU_ERR_TCQ_LENGTH,
		[NO_ACCESS] = UTOFU_ERR_TCQ_MEMORY,
	};

	struct range range;

	*here = (uint64_t)(uintptr_t)what->data;
	if (what->kind == KIND_PIGGYBACK || what->kind == KIND_ARMW)
		return UTOFU_SUCCESS;
	range = (struct range){from->shared, from->number, what->memory.lcl_stadd, span, what->kind == KIND_GET};
	return codes[memory_find(from->nic, &range, here)];
}

int carry_there(struct nic *nic, struct shared_vcq *to, uint32_t number, const struct descriptor *what, uint64_t span,
		uint64_t *there)
{
	static const int codes[] = {
		[TRANSLATED] = UTOFU_SUCCESS,
		[NO_SUCH_STAG] = UTOFU_ERR_MRQ_RMT_STADD,
		[TOO_LONG] = UTOFU_ERR_MRQ_RMT_LENGTH,
		[NO_ACCESS] = UTOFU_ERR_MRQ_RMT_MEMORY,
	};
	struct range range = {to, number, what->rmt_stadd, span, what->kind != KIND_GET};

	/* A queue whose notices were lost is broken: nothing arrives there any more. */
	if (atomic_load_explicit(&to->mrq_lost, memory_order_relaxed))
		return UTOFU_ERR_MRQ_PEER;
	return codes[memory_find(nic, &range, there)];
}

static void direct_carry(struct vcq *from, const struct descriptor *what, void *cbdata, bool strong)
{
	uint64_t span = descriptor_span(what), here, there, value = 0;
	struct nic *nic = from->nic;
	struct shared_vcq *to;
	uint32_t number;
	int code;

	if (what->kind == KIND_NOP) {
		nic_sent(from, what, cbdata, UTOFU_SUCCESS);
		return;
	}
	code = carry_here(from, what, span, &here);
	if (code) {
		nic_sent(from, what, cbdata, code);
		return;
	}
	to = vcq_find(nic, what->vcq_id, &number);
	code = to ? carry_there(nic, to, number, what, span, &there) : UTOFU_ERR_MRQ_PEER;
	if (!code && what->kind == KIND_ARMW)
		code = carry_code(reach_change(nic, to->rank, there, what, &value));
	else if (!code)
		code = carry_code(copy_blocks(from, to, what, here, there, strong));
	nic_sent(from, what, cbdata, UTOFU_SUCCESS);
	nic_arrived(nic, from->shared, to, what, code, value);
}

const struct carrier direct_carrier = {"direct", direct_carry};
