/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "softofu/utofu/describe.h"

/*
 * Changes of a descriptor that utofu_prepare_* has made, so that a program need not make it again.
 * No public header has them; names and arguments are those of a client (ulib), where each follows
 * a call of utofu_prepare_*. A descriptor may be at any address.
 */
static int read_descriptor(const void *desc, enum kind kind, struct descriptor *what)
{
	if (!desc)
		return UTOFU_ERR_INVALID_POINTER;
	memcpy(what, desc, sizeof *what);
	return what->magic == DESCRIPTOR_MAGIC && what->kind == kind ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_DESC;
}

static int write_descriptor(void *desc, const struct descriptor *what)
{
	memcpy(desc, what, sizeof *what);
	return UTOFU_SUCCESS;
}

static int add_offset(uint64_t *stadd, uint64_t offset)
{
	if (STADD_STAG(*stadd + offset) != STADD_STAG(*stadd) || !((*stadd + offset) & STADD_MARK))
		return UTOFU_ERR_INVALID_STADD;
	*stadd += offset;
	return UTOFU_SUCCESS;
}

static int add_to_rmt_stadd(void *desc, enum kind kind, uint64_t offset)
{
	struct descriptor what;
	int code = read_descriptor(desc, kind, &what);

	if (!code)
		code = add_offset(&what.rmt_stadd, offset);
	return code ? code : write_descriptor(desc, &what);
}

int utofu_modify_put_length(void *desc, size_t length)
{
	struct descriptor what;
	int code = read_descriptor(desc, KIND_PUT, &what);

	if (!code && length > MOST_BYTES)
		code = UTOFU_ERR_INVALID_SIZE;
	what.length = (uint32_t)length;
	return code ? code : write_descriptor(desc, &what);
}

int utofu_modify_put_lcl_stadd_add(void *desc, uint64_t offset)
{
	struct descriptor what;
	int code = read_descriptor(desc, KIND_PUT, &what);

	if (!code)
		code = add_offset(&what.memory.lcl_stadd, offset);
	return code ? code : write_descriptor(desc, &what);
}

int utofu_modify_put_rmt_stadd_add(void *desc, uint64_t offset)
{
	return add_to_rmt_stadd(desc, KIND_PUT, offset);
}

/* The length stays that of the descriptor. */
int utofu_modify_put_piggyback_lcl_data(void *desc, const void *lcl_data)
{
	struct descriptor what;
	int code = read_descriptor(desc, KIND_PIGGYBACK, &what);

	if (!code && !lcl_data)
		code = UTOFU_ERR_INVALID_POINTER;
	if (code)
		return code;
	memcpy(what.data, lcl_data, what.length);
	return write_descriptor(desc, &what);
}

int utofu_modify_put_piggyback_ldat(void *desc, const void *lcl_data)
{
	return utofu_modify_put_piggyback_lcl_data(desc, lcl_data);
}

int utofu_modify_put_piggyback_rmt_stadd_add(void *desc, uint64_t offset)
{
	return add_to_rmt_stadd(desc, KIND_PIGGYBACK, offset);
}

int utofu_modify_armw8_op_value(void *desc, uint64_t op_value)
{
	struct descriptor what;
	int code = read_descriptor(desc, KIND_ARMW, &what);

	if (!code && (what.armw.size != 8 || what.armw.op == ARMW_CSWAP))
		code = UTOFU_ERR_INVALID_DESC;
	what.armw.operand = op_value;
	return code ? code : write_descriptor(desc, &what);
}

int utofu_modify_cswap8_values(void *desc, uint64_t old_value, uint64_t new_value)
{
	struct descriptor what;
	int code = read_descriptor(desc, KIND_ARMW, &what);

	if (!code && (what.armw.size != 8 || what.armw.op != ARMW_CSWAP))
		code = UTOFU_ERR_INVALID_DESC;
	what.armw.expected = old_value;
	what.armw.operand = new_value;
	return code ? code : write_descriptor(desc, &what);
}
