/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/utofu/describe.h"

/* Each communication has two faces: done at once, or written down for utofu_post_toq. */

int utofu_get(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
	      size_t length, uint64_t edata, unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_get", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, 0, 1, 0, 0, true};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_get(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,
		      utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags, void *desc,
		      size_t *desc_size)
{
	struct common common = {"utofu_prepare_get", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, 0, 1, 0, 0, true};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_get_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
		  size_t length, uint64_t edata, unsigned long int flags, size_t mtu, size_t gap, void *cbdata)
{
	struct common common = {"utofu_get_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, 0, 1, mtu, gap, false};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_get_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,
			  utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags, size_t mtu,
			  size_t gap, void *desc, size_t *desc_size)
{
	struct common common = {"utofu_prepare_get_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, 0, 1, mtu, gap, false};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_get_stride(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,
		     utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks, uint64_t edata,
		     unsigned long int flags, void *cbdata)
{
	struct common common = {"utofu_get_stride", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, stride, num_blocks, 0, 0, true};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_get_stride(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,
			     utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks, uint64_t edata,
			     unsigned long int flags, void *desc, size_t *desc_size)
{
	struct common common = {"utofu_prepare_get_stride", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, stride, num_blocks, 0, 0, true};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_give(&what, code, desc, desc_size);
}

int utofu_get_stride_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,
			 utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks, uint64_t edata,
			 unsigned long int flags, size_t mtu, size_t gap, void *cbdata)
{
	struct common common = {"utofu_get_stride_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, stride, num_blocks, mtu, gap, false};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_post(common.routine, vcq_hdl, &what, code, cbdata);
}

int utofu_prepare_get_stride_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,
				 utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks,
				 uint64_t edata, unsigned long int flags, size_t mtu, size_t gap, void *desc,
				 size_t *desc_size)
{
	struct common common = {"utofu_prepare_get_stride_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};
	struct blocks blocks = {lcl_stadd, length, stride, num_blocks, mtu, gap, false};
	struct descriptor what;
	int code = describe_blocks(&what, KIND_GET, &common, &blocks);

	return describe_give(&what, code, desc, desc_size);
}
