/* SPDX-License-Identifier: BSD-3-Clause */
/* Order and completion. Invalid contexts are ignored, as the standard requires. */
#include "api.h"

API void pshmem_fence(void)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	comms_fence();
}
PROFILED(shmem_fence)

API void pshmem_quiet(void)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	comms_quiet();
}
PROFILED(shmem_quiet)

API void pshmem_ctx_fence(shmem_ctx_t ctx)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	if (ctx == SHMEM_CTX_INVALID)
		return;
	comms_channel_fence(api_channel_checked(ctx, __func__));
}
PROFILED(shmem_ctx_fence)

API void pshmem_ctx_quiet(shmem_ctx_t ctx)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	if (ctx == SHMEM_CTX_INVALID)
		return;
	comms_channel_quiet(api_channel_checked(ctx, __func__));
}
PROFILED(shmem_ctx_quiet)

#define PES_AT_ONCE 128

/* Checks all PEs before it completes anything, so that an invalid one is reported without delay. */
static void pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes, const char *routine)
{
	COMMS_CALL(routine, 0, COMMS_NOBODY);
	int pes[PES_AT_ONCE];

	for (size_t i = 0; i < npes; i++) {
		API_CHECK_TARGET(ctx, target_pes[i], routine)
		if (!comms_check_pe(api_target(ctx, target_pes[i]), routine))
			return;
	}
	for (size_t done = 0; done < npes; done += PES_AT_ONCE) {
		size_t n = npes - done < PES_AT_ONCE ? npes - done : PES_AT_ONCE;

		for (size_t i = 0; i < n; i++)
			pes[i] = api_target(ctx, target_pes[done + i]);
		comms_channel_quiet_pes(api_channel(ctx), pes, n);
	}
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
