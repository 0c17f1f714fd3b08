/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/utofu/describe.h"

#include <string.h>

#define FLAGS_KNOWN                                                                                                  \
	(UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_PACKET_RESPONSE |                                    \
	 UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_PADDING | UTOFU_ONESIDED_FLAG_CACHE_INJECTION | \
	 UTOFU_ONESIDED_FLAG_DELAY_START | UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE |   \
	 0xful << 24 | 0xfful << 28)
#define BLOCKS_MOST 65535

static int check_vcq(const struct common *common)
{
	int code;
	struct vcq *vcq = vcq_enter(common->vcq_hdl, common->routine, &code);

	if (vcq)
		vcq_leave(vcq);
	return vcq ? UTOFU_SUCCESS : code;
}

/* Paths are numbered from 1; 0 is the default path. */
static unsigned long paths_of(const struct nic *nic)
{
	const int *size = nic->settings.grid.size;

	return (unsigned long)size[3] * (unsigned long)size[4] * (unsigned long)size[5];
}

static int describe_common(struct descriptor *what, enum kind kind, const struct common *common)
{
	struct vcq_name name;
	int code = check_vcq(common);

	if (code)
		return code;
	if (common->flags & ~FLAGS_KNOWN)
		return UTOFU_ERR_INVALID_FLAGS;
	if (kind != KIND_NOP && !id_read(common->rmt_vcq_id, &name))
		return UTOFU_ERR_INVALID_VCQ_ID;
	if (kind != KIND_NOP && node_grid_node(&nic_get()->settings.grid, name.coords) < 0)
		return UTOFU_ERR_INVALID_VCQ_ID;
	if (kind != KIND_NOP && !(common->rmt_stadd & STADD_MARK))
		return UTOFU_ERR_INVALID_STADD;
	if ((common->flags >> 28 & 0xff) > paths_of(nic_get()))
		return UTOFU_ERR_INVALID_PATH_ID;
	if (common->edata > MOST_EDATA)
		return UTOFU_ERR_INVALID_EDATA;
	memset(what, 0, sizeof *what);
	what->magic = DESCRIPTOR_MAGIC;
	what->kind = (uint8_t)kind;
	what->edata = (uint8_t)common->edata;
	what->vcq_id = common->rmt_vcq_id;
	what->rmt_stadd = common->rmt_stadd;
	what->flags = common->flags;
	return UTOFU_SUCCESS;
}

int describe_blocks(struct descriptor *what, enum kind kind, const struct common *common, const struct blocks *blocks)
{
	int code = describe_common(what, kind, common);

	if (code)
		return code;
	if (!(blocks->lcl_stadd & STADD_MARK))
		return UTOFU_ERR_INVALID_STADD;
	if (blocks->length > MOST_BYTES || blocks->stride > STADD_OFFSET)
		return UTOFU_ERR_INVALID_SIZE;
	if (blocks->count < 1 || blocks->count > BLOCKS_MOST)
		return UTOFU_ERR_INVALID_NUMBER;
	if (!blocks->without_gap && (blocks->mtu < 1 || blocks->mtu > MOST_MTU || blocks->gap > MOST_GAP))
		return UTOFU_ERR_INVALID_SIZE;
	what->length = (uint32_t)blocks->length;
	what->memory.lcl_stadd = blocks->lcl_stadd;
	what->memory.stride = blocks->stride;
	what->memory.blocks = (uint32_t)blocks->count;
	what->memory.mtu = blocks->without_gap ? MOST_MTU : (uint16_t)blocks->mtu;
	what->memory.gap = (uint8_t)blocks->gap;
	return UTOFU_SUCCESS;
}

int describe_piggyback(struct descriptor *what, const struct common *common, const void *data, size_t length)
{
	int code = describe_common(what, KIND_PIGGYBACK, common);

	if (code)
		return code;
	if (length > MOST_PIGGYBACK)
		return UTOFU_ERR_INVALID_SIZE;
	if (!data)
		return UTOFU_ERR_INVALID_POINTER;
	what->length = (uint32_t)length;
	memcpy(what->data, data, length);
	return UTOFU_SUCCESS;
}

int describe_armw(struct descriptor *what, const struct common *common, unsigned op, unsigned size, uint64_t operand,
		  uint64_t expected)
{
	int code = describe_common(what, KIND_ARMW, common);

	if (code)
		return code;
	if (op < ARMW_SWAP || op > ARMW_CSWAP)
		return UTOFU_ERR_INVALID_OP;
	if (common->rmt_stadd % size)
		return UTOFU_ERR_INVALID_STADD;
	what->armw.op = (uint8_t)op;
	what->armw.size = (uint8_t)size;
	what->armw.operand = operand;
	what->armw.expected = expected;
	return UTOFU_SUCCESS;
}

int describe_nop(struct descriptor *what, const struct common *common)
{
	return describe_common(what, KIND_NOP, common);
}

int describe_give(const struct descriptor *what, int code, void *desc, size_t *desc_size)
{
	if (code)
		return code;
	if (!desc || !desc_size)
		return UTOFU_ERR_INVALID_POINTER;
	memcpy(desc, what, sizeof *what);
	*desc_size = sizeof *what;
	return UTOFU_SUCCESS;
}

int describe_post(const char *routine, utofu_vcq_hdl_t vcq_hdl, const struct descriptor *what, int code, void *cbdata)
{
	struct vcq *vcq = code ? NULL : vcq_enter(vcq_hdl, routine, &code);

	if (!vcq)
		return error_note(routine, code);
	code = queue_post(vcq, what, 1, cbdata);
	vcq_leave(vcq);
	return error_note(routine, code);
}

int utofu_post_toq(utofu_vcq_hdl_t vcq_hdl, void *desc, size_t desc_size, void *cbdata)
{
	size_t count = desc_size / sizeof(struct descriptor);
	struct descriptor what[TOQ_SIZE];
	struct vcq *vcq;
	int code;

	vcq = vcq_enter(vcq_hdl, "utofu_post_toq", &code);
	if (!vcq)
		return code;
	if (!desc)
		code = UTOFU_ERR_INVALID_POINTER;
	else if (!count || desc_size % sizeof what[0] || count > TOQ_SIZE)
		code = UTOFU_ERR_INVALID_SIZE;
	else
		code = UTOFU_SUCCESS;
	/* The descriptors of the program may be at any address. */
	if (!code)
		memcpy(what, desc, desc_size);
	for (size_t i = 0; i < count && !code; i++)
		if (what[i].magic != DESCRIPTOR_MAGIC || what[i].kind > KIND_NOP)
			code = UTOFU_ERR_INVALID_DESC;
	if (!code)
		code = queue_post(vcq, what, (uint32_t)count, cbdata);
	vcq_leave(vcq);
	return code;
}
