/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_DESCRIPTOR_H
#define SOFTOFU_NIC_DESCRIPTOR_H

#include <assert.h>
#include <stdint.h>

/*
 * One communication, as utofu_prepare_* writes it and utofu_post_toq takes it. Every call makes one
 * of these.
 */
enum kind { KIND_PUT, KIND_PIGGYBACK, KIND_GET, KIND_ARMW, KIND_NOP };

enum armw { ARMW_SWAP = 1, ARMW_ADD, ARMW_XOR, ARMW_AND, ARMW_OR, ARMW_CSWAP };

struct descriptor {
	uint16_t magic;
	uint8_t kind;
	uint8_t edata;
	uint32_t length; /* of a block */
	uint64_t vcq_id; /* the other side's */
	uint64_t rmt_stadd;
	uint64_t flags;
	union {
		uint8_t data[32]; /* of a piggyback */
		struct {
			uint64_t lcl_stadd;
			uint64_t stride;
			uint32_t blocks;
			uint16_t mtu;
			uint8_t gap;
		} memory;
		struct {
			uint64_t operand;
			uint64_t expected;
			uint8_t op, size;
		} armw;
	};
};
static_assert(sizeof(struct descriptor) == 64, "as the capabilities say");

#define DESCRIPTOR_MAGIC 0x7f0d

/* Limits of the machine, as users of Fugaku see them. */
enum {
	CACHE_LINE = 256,
	STAG_ALIGNMENT = 256,
	MOST_BYTES = 16777215,
	MOST_PIGGYBACK = 32,
	MOST_EDATA = 255,
	MOST_MTU = 1920,
	MOST_GAP = 255,
	MOST_SPS = 15,
};

/*
 * A STADD: bit 63 set, 27 bits of stag, 36 bits of offset. A fixed stag's offsets count from 0.
 * Others' count from the address within 64 KiB, as some programs expect.
 */
#define STADD_MARK (1ull << 63)
#define STADD_OFFSET_BITS 36
#define STADD_OFFSET ((1ull << STADD_OFFSET_BITS) - 1)
#define STADD_STAG(stadd) ((uint32_t)(((stadd) & ~STADD_MARK) >> STADD_OFFSET_BITS))
#define STADD_MAKE(stag, offset) (STADD_MARK | (uint64_t)(stag) << STADD_OFFSET_BITS | (offset))

#endif
