/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "softofu/nic/vcq.h"

/* Queries about a node: TNIs, their capabilities, its place. */
static int list_tnis(utofu_tni_id_t **tni_ids, size_t *num_tnis)
{
	struct nic *nic = nic_get();
	uint16_t tnis[TNIS];
	int count;

	if (!tni_ids || !num_tnis)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	count = nic_tnis(nic, tnis);
	*tni_ids = malloc((size_t)count * sizeof **tni_ids);
	if (!*tni_ids)
		return UTOFU_ERR_OUT_OF_MEMORY;
	memcpy(*tni_ids, tnis, (size_t)count * sizeof tnis[0]);
	*num_tnis = (size_t)count;
	return UTOFU_SUCCESS;
}

int utofu_get_onesided_tnis(utofu_tni_id_t **tni_ids, size_t *num_tnis)
{
	return list_tnis(tni_ids, num_tnis);
}

int utofu_get_barrier_tnis(utofu_tni_id_t **tni_ids, size_t *num_tnis)
{
	return list_tnis(tni_ids, num_tnis);
}

int utofu_query_onesided_caps(utofu_tni_id_t tni_id, struct utofu_onesided_caps **tni_caps)
{
	static struct utofu_onesided_caps caps = {
		.flags = UTOFU_ONESIDED_CAP_FLAG_SESSION_MODE | UTOFU_ONESIDED_CAP_FLAG_ARMW,
		.armw_ops = UTOFU_ONESIDED_CAP_ARMW_OP_CSWAP | UTOFU_ONESIDED_CAP_ARMW_OP_SWAP |
			    UTOFU_ONESIDED_CAP_ARMW_OP_ADD | UTOFU_ONESIDED_CAP_ARMW_OP_XOR |
			    UTOFU_ONESIDED_CAP_ARMW_OP_AND | UTOFU_ONESIDED_CAP_ARMW_OP_OR,
		.num_cmp_ids = NAMED_COMPONENTS,
		.num_reserved_stags = FIXED_STAGS,
		.cache_line_size = CACHE_LINE,
		.stag_address_alignment = STAG_ALIGNMENT,
		.max_toq_desc_size = sizeof(struct descriptor),
		.max_putget_size = MOST_BYTES,
		.max_piggyback_size = MOST_PIGGYBACK,
		.max_edata_size = 1,
		.max_mtu = MOST_MTU,
		.max_gap = MOST_GAP,
	};

	if (!tni_caps)
		return UTOFU_ERR_INVALID_POINTER;
	if (tni_id >= TNIS)
		return UTOFU_ERR_INVALID_TNI_ID;
	*tni_caps = &caps;
	return UTOFU_SUCCESS;
}

int utofu_query_barrier_caps(utofu_tni_id_t tni_id, struct utofu_barrier_caps **tni_caps)
{
	static struct utofu_barrier_caps caps = {
		.reduce_ops = UTOFU_BARRIER_CAP_REDUCE_OP_BARRIER | UTOFU_BARRIER_CAP_REDUCE_OP_BAND |
			      UTOFU_BARRIER_CAP_REDUCE_OP_BOR | UTOFU_BARRIER_CAP_REDUCE_OP_BXOR |
			      UTOFU_BARRIER_CAP_REDUCE_OP_MAX | UTOFU_BARRIER_CAP_REDUCE_OP_MAXLOC |
			      UTOFU_BARRIER_CAP_REDUCE_OP_SUM | UTOFU_BARRIER_CAP_REDUCE_OP_BFPSUM,
		.max_uint64_reduction = GATE_WORDS,
		.max_double_reduction = GATE_WORDS / 2,
	};

	if (!tni_caps)
		return UTOFU_ERR_INVALID_POINTER;
	if (tni_id >= TNIS)
		return UTOFU_ERR_INVALID_TNI_ID;
	*tni_caps = &caps;
	return UTOFU_SUCCESS;
}

void utofu_query_tofu_version(int *major_ver, int *minor_ver)
{
	if (major_ver)
		*major_ver = 3; /* Tofu, Tofu2, TofuD */
	if (minor_ver)
		*minor_ver = 0;
}

void utofu_query_utofu_version(int *major_ver, int *minor_ver)
{
	if (major_ver)
		*major_ver = UTOFU_VERSION_MAJOR;
	if (minor_ver)
		*minor_ver = UTOFU_VERSION_MINOR;
}

int utofu_query_my_coords(uint8_t coords[])
{
	struct nic *nic = nic_get();

	if (!coords)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	memcpy(coords, nic->coords, sizeof nic->coords);
	return UTOFU_SUCCESS;
}
