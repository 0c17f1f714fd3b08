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
 * Copies the pieces. reach_write_in_order makes each piece visible before the next, since a
 * processor that reorders stores could otherwise show a later piece first. It makes a piece of at
 * most one packet visible at once, and so does reach_write if there is no other piece. An error is
 * of the other side, since memory on this side is registered.
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
