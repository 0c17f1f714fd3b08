/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_UTOFU_DESCRIBE_H
#define SOFTOFU_UTOFU_DESCRIBE_H

#include "softofu/nic/vcq.h"

/*
 * Makes the descriptor of one communication and checks the arguments. All functions return a code
 * of uTofu.
 */

/* Arguments of every communication. */
struct common {
	const char *routine;
	utofu_vcq_hdl_t vcq_hdl;
	utofu_vcq_id_t rmt_vcq_id;
	utofu_stadd_t rmt_stadd;
	uint64_t edata;
	unsigned long flags;
};

/* Further arguments of a put or a get. without_gap: the call has no mtu and gap. */
struct blocks {
	utofu_stadd_t lcl_stadd;
	size_t length, stride, count, mtu, gap;
	bool without_gap;
};

int describe_blocks(struct descriptor *what, enum kind kind, const struct common *common, const struct blocks *blocks);
int describe_piggyback(struct descriptor *what, const struct common *common, const void *data, size_t length);
int describe_armw(struct descriptor *what, const struct common *common, unsigned op, unsigned size, uint64_t operand,
		  uint64_t expected);
int describe_nop(struct descriptor *what, const struct common *common);

/* Results of a description: give it to the program, or post it to the queue. */
int describe_give(const struct descriptor *what, int code, void *desc, size_t *desc_size);
int describe_post(const char *routine, utofu_vcq_hdl_t vcq_hdl, const struct descriptor *what, int code, void *cbdata);

#endif
