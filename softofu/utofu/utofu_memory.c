/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/vcq.h"

/* Registered memory. */
static int register_checked(const char *routine, utofu_vcq_hdl_t vcq_hdl, const struct registration *wanted,
			    utofu_stadd_t *stadd)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, routine, &code);

	if (!vcq)
		return code;
	if (!stadd)
		code = UTOFU_ERR_INVALID_POINTER;
	else if (!wanted->address)
		code = UTOFU_ERR_INVALID_ADDRESS;
	else if (!wanted->size || wanted->size > STADD_OFFSET >> 1)
		code = UTOFU_ERR_INVALID_SIZE;
	else if (wanted->flags & ~UTOFU_REG_MEM_FLAG_READ_ONLY)
		code = UTOFU_ERR_INVALID_FLAGS;
	else if (wanted->stag >= 0 && (uintptr_t)wanted->address % STAG_ALIGNMENT)
		code = UTOFU_ERR_INVALID_ADDRESS;
	else
		code = memory_register(vcq, wanted, stadd);
	vcq_leave(vcq);
	return code;
}

int utofu_reg_mem(utofu_vcq_hdl_t vcq_hdl, void *addr, size_t size, unsigned long int flags, utofu_stadd_t *stadd)
{
	return register_checked("utofu_reg_mem", vcq_hdl, &(struct registration){addr, size, -1, flags}, stadd);
}

int utofu_reg_mem_with_stag(utofu_vcq_hdl_t vcq_hdl, void *addr, size_t size, unsigned int stag,
			    unsigned long int flags, utofu_stadd_t *stadd)
{
	if (stag >= FIXED_STAGS)
		return UTOFU_ERR_INVALID_STAG;
	return register_checked("utofu_reg_mem_with_stag", vcq_hdl,
				&(struct registration){addr, size, (int)stag, flags}, stadd);
}

/* Computed: the other side need not have registered anything yet. */
int utofu_query_stadd(utofu_vcq_id_t vcq_id, unsigned int stag, utofu_stadd_t *stadd)
{
	struct vcq_name name;

	if (!stadd)
		return UTOFU_ERR_INVALID_POINTER;
	if (!id_read(vcq_id, &name))
		return UTOFU_ERR_INVALID_VCQ_ID;
	if (stag >= FIXED_STAGS)
		return UTOFU_ERR_INVALID_STAG;
	*stadd = STADD_MAKE(stag, 0);
	return UTOFU_SUCCESS;
}

int utofu_dereg_mem(utofu_vcq_hdl_t vcq_hdl, utofu_stadd_t stadd, unsigned long int flags)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_dereg_mem", &code);

	if (!vcq)
		return code;
	code = flags ? UTOFU_ERR_INVALID_FLAGS : memory_forget(vcq, stadd);
	vcq_leave(vcq);
	return code;
}
