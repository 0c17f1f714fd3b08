/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_REACH_H
#define SOFTOFU_NIC_REACH_H

#include "softofu/nic/shared_job.h"

/* Bytes to copy between this process and another, or within this one. */
struct piece {
	void *here;
	uint64_t there;
	size_t bytes;
};
enum { PIECES = 64 };

enum reached { REACHED, NOBODY_THERE, NO_MEMORY_THERE, NOT_ALLOWED };

/*
 * Copies the pieces. reach_write_in_order copies one after the other, each line by line, and of a
 * line the word with the marker last (settings.marker; reach.c says how): who sees this word sees
 * the rest of its line, and all lines before it. Of a piece longer than 64 KiB this holds for the
 * last 64 KiB. reach_write keeps no order. An error is of the other side, since memory on this side
 * is registered.
 */
enum reached reach_write(struct nic *nic, uint32_t rank, const struct piece *pieces, int count);
enum reached reach_write_in_order(struct nic *nic, uint32_t rank, const struct piece *pieces, int count);
enum reached reach_read(struct nic *nic, uint32_t rank, const struct piece *pieces, int count);

/*
 * An atomic operation on 4 or 8 bytes, atomic to all others made by this function. *value: the
 * operand, then the old value.
 */
struct descriptor;
enum reached reach_change(struct nic *nic, uint32_t rank, uint64_t there, const struct descriptor *what,
			  uint64_t *value);

#endif
