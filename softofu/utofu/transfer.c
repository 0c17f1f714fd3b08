/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/utofu/describe.h"

/*
 * Puts and gets differ in the direction of the bytes. Each has two forms: done at once, or written
 * as a descriptor for utofu_post_toq.
 */
#define TRANSFERS(NAME, KIND)                                                                                          \
	int utofu_##NAME(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,                  \
			 utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags,              \
			 void *cbdata)                                                                                 \
	{                                                                                                              \
		struct common common = {"utofu_" #NAME, vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};                 \
		struct blocks blocks = {lcl_stadd, length, 0, 1, 0, 0, true};                                          \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_post(common.routine, vcq_hdl, &what, code, cbdata);                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_prepare_##NAME(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,          \
				 utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags,      \
				 void *desc, size_t *desc_size)                                                        \
	{                                                                                                              \
		struct common common = {"utofu_prepare_" #NAME, vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};         \
		struct blocks blocks = {lcl_stadd, length, 0, 1, 0, 0, true};                                          \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_give(&what, code, desc, desc_size);                                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_##NAME##_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,            \
			       utofu_stadd_t rmt_stadd, size_t length, uint64_t edata, unsigned long int flags,        \
			       size_t mtu, size_t gap, void *cbdata)                                                   \
	{                                                                                                              \
		struct common common = {"utofu_" #NAME "_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};          \
		struct blocks blocks = {lcl_stadd, length, 0, 1, mtu, gap, false};                                     \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_post(common.routine, vcq_hdl, &what, code, cbdata);                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_prepare_##NAME##_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,    \
				       utofu_stadd_t rmt_stadd, size_t length, uint64_t edata,                         \
				       unsigned long int flags, size_t mtu, size_t gap, void *desc, size_t *desc_size) \
	{                                                                                                              \
		struct common common = {"utofu_prepare_" #NAME "_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};  \
		struct blocks blocks = {lcl_stadd, length, 0, 1, mtu, gap, false};                                     \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_give(&what, code, desc, desc_size);                                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_##NAME##_stride(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,         \
				  utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks,            \
				  uint64_t edata, unsigned long int flags, void *cbdata)                               \
	{                                                                                                              \
		struct common common = {"utofu_" #NAME "_stride", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};       \
		struct blocks blocks = {lcl_stadd, length, stride, num_blocks, 0, 0, true};                            \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_post(common.routine, vcq_hdl, &what, code, cbdata);                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_prepare_##NAME##_stride(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd, \
					  utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks,    \
					  uint64_t edata, unsigned long int flags, void *desc, size_t *desc_size)      \
	{                                                                                                              \
		struct common common =                                                                                 \
			{"utofu_prepare_" #NAME "_stride", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};              \
		struct blocks blocks = {lcl_stadd, length, stride, num_blocks, 0, 0, true};                            \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_give(&what, code, desc, desc_size);                                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_##NAME##_stride_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd,     \
				      utofu_stadd_t rmt_stadd, size_t length, size_t stride, size_t num_blocks,        \
				      uint64_t edata, unsigned long int flags, size_t mtu, size_t gap, void *cbdata)   \
	{                                                                                                              \
		struct common common = {"utofu_" #NAME "_stride_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};   \
		struct blocks blocks = {lcl_stadd, length, stride, num_blocks, mtu, gap, false};                       \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_post(common.routine, vcq_hdl, &what, code, cbdata);                                    \
	}                                                                                                              \
                                                                                                                       \
	int utofu_prepare_##NAME##_stride_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,                      \
					      utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd, size_t length,         \
					      size_t stride, size_t num_blocks, uint64_t edata,                        \
					      unsigned long int flags, size_t mtu, size_t gap, void *desc,             \
					      size_t *desc_size)                                                       \
	{                                                                                                              \
		struct common common =                                                                                 \
			{"utofu_prepare_" #NAME "_stride_gap", vcq_hdl, rmt_vcq_id, rmt_stadd, edata, flags};          \
		struct blocks blocks = {lcl_stadd, length, stride, num_blocks, mtu, gap, false};                       \
		struct descriptor what;                                                                                \
		int code = describe_blocks(&what, KIND, &common, &blocks);                                             \
                                                                                                                       \
		return describe_give(&what, code, desc, desc_size);                                                    \
	}

TRANSFERS(put, KIND_PUT)
TRANSFERS(get, KIND_GET)
