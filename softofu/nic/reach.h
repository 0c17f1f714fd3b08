/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_REACH_H
#define SOFTOFU_NIC_REACH_H

#include "softofu/nic/job.h"

/* A piece to be copied between this process and another (or within this one). */
struct piece {
	void *here;
	uint64_t there;
	size_t bytes;
};
enum { PIECES = 64 };

enum reached { REACHED, NOBODY_THERE, NO_MEMORY_THERE, NOT_ALLOWED };

/*
 * Copies the pieces. In order: each piece is there for all to see before the next is. Otherwise a processor that reorders stores
 * may show a later one first. What fails is the other side's fault: our side was registered, too. */
enum reached reach_write(struct nic *nic, uint32_t rank, const struct piece *pieces, int count);
enum reached reach_write_in_order(struct nic *nic, uint32_t rank, const struct piece *pieces, int count);
enum reached reach_read(struct nic *nic, uint32_t rank, const struct piece *pieces, int count);

/* An atomic operation on 4 or 8 bytes, towards all others done this way. *value: the operand, then what was there. */
struct descriptor;
enum reached reach_change(struct nic *nic, uint32_t rank, uint64_t there, const struct descriptor *what,
			  uint64_t *value);

#endif
