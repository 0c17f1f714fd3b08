/* SPDX-License-Identifier: BSD-3-Clause */
/* Order and completion. Invalid contexts are passed over, as the standard asks. */
#include "api.h"

API void pshmem_fence(void)
{
	comms_check_up(__func__);
	comms_fence();
}
PROFILED(shmem_fence)

API void pshmem_quiet(void)
{
	comms_check_up(__func__);
	comms_quiet();
}
PROFILED(shmem_quiet)

API void pshmem_ctx_fence(shmem_ctx_t ctx)
{
	comms_check_up(__func__);
	if (ctx == SHMEM_CTX_INVALID)
		return;
	comms_fence();
}
PROFILED(shmem_ctx_fence)

API void pshmem_ctx_quiet(shmem_ctx_t ctx)
{
	comms_check_up(__func__);
	if (ctx == SHMEM_CTX_INVALID)
		return;
	comms_quiet();
}
PROFILED(shmem_ctx_quiet)

/* Completing everything completes what concerns the PEs named. */
static void pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes, const char *routine)
{
	comms_check_up(routine);
	for (size_t i = 0; i < npes; i++)
		comms_check_pe(api_target(ctx, target_pes[i], routine), routine);
	if (npes > 0)
		comms_quiet();
}

API void pshmem_pe_quiet(const int *target_pes, size_t npes)
{
	pe_quiet(SHMEM_CTX_DEFAULT, target_pes, npes, __func__);
}
PROFILED(shmem_pe_quiet)

API void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
	if (ctx == SHMEM_CTX_INVALID)
		return;
	pe_quiet(ctx, target_pes, npes, __func__);
}
PROFILED(shmem_ctx_pe_quiet)
