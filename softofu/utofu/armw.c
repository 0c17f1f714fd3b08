/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/utofu/describe.h"

/* Each communication has two forms: done at once, or written as a descriptor for utofu_post_toq. */

/* cswap has its own routines, and is no operation of utofu_armw*. */
static unsigned plain_op(enum utofu_armw_op op)
{
	return (unsigned)op > ARMW_OR ? 0 : (unsigned)op;
}

int utofu_armw4(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, enum utofu_armw_op armw_op, uint32_t op_value,
		utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_armw4", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, plain_op(armw_op), 4, op_value, 0);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_armw4(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, enum utofu_armw_op armw_op,
			uint32_t op_value, utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *desc,
			size_t *desc_size)
{
	struct common common = {"utofu_prepare_armw4", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, plain_op(armw_op), 4, op_value, 0);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_armw8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, enum utofu_armw_op armw_op, uint64_t op_value,
		utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_armw8", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, plain_op(armw_op), 8, op_value, 0);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_armw8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, enum utofu_armw_op armw_op,
			uint64_t op_value, utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *desc,
			size_t *desc_size)
{
	struct common common = {"utofu_prepare_armw8", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, plain_op(armw_op), 8, op_value, 0);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_cswap4(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint32_t old_value, uint32_t new_value,
		 utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_cswap4", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, ARMW_CSWAP, 4, new_value, old_value);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_cswap4(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint32_t old_value, uint32_t new_value,
			 utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *desc,
			 size_t *desc_size)
{
	struct common common = {"utofu_prepare_cswap4", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, ARMW_CSWAP, 4, new_value, old_value);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_cswap8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint64_t old_value, uint64_t new_value,
		 utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_cswap8", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, ARMW_CSWAP, 8, new_value, old_value);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_cswap8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint64_t old_value, uint64_t new_value,
			 utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags, void *desc,
			 size_t *desc_size)
{
	struct common common = {"utofu_prepare_cswap8", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_armw(&what, &common, ARMW_CSWAP, 8, new_value, old_value);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_nop(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_nop", vcq_hdl, 0, 0, 0, flags};
	struct descriptor what;
	int code = describe_nop(&what, &common);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_nop(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void *desc, size_t *desc_size)
{
	struct common common = {"utofu_prepare_nop", vcq_hdl, 0, 0, 0, flags};
	struct descriptor what;
	int code = describe_nop(&what, &common);

	return describe_give(&what, code, desc, desc_size);
}
