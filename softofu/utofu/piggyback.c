/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/utofu/describe.h"

/* Each communication has two forms: done at once, or written as a descriptor for utofu_post_toq. */

int utofu_put_piggyback(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, void *lcl_data, utofu_stadd_t rmt_stadd,
			size_t length, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_put_piggyback", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_piggyback(&what, &common, lcl_data, length);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_put_piggyback(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, void *lcl_data,
				utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags,
				void *desc, size_t *desc_size)
{
	struct common common = {"utofu_prepare_put_piggyback", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_piggyback(&what, &common, lcl_data, length);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_put_piggyback8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint64_t lcl_data, utofu_stadd_t rmt_stadd,
			 size_t length, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_put_piggyback8", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_piggyback(&what, &common, &lcl_data, length > 8 ? MOST_PIGGYBACK + 1 : length);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_put_piggyback8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint64_t lcl_data,
				 utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags,
				 void *desc, size_t *desc_size)
{
	struct common common = {"utofu_prepare_put_piggyback8", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct descriptor what;
	int code = describe_piggyback(&what, &common, &lcl_data, length > 8 ? MOST_PIGGYBACK + 1 : length);

	return describe_give(&what, code, desc, desc_size);
}
