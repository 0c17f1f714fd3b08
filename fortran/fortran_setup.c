/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines without a type whose arguments differ from those of C: options are default integers,
 * strings have a length, a configuration may be absent. Fortran calls the other C routines
 * directly.
 */
#include "fortran.h"

/* --- Set-up and query --- */

API void torushmemf_init_thread(int requested, int *provided, int *stat)
{
	FORTRAN_STATUS(stat, shmem_init_thread(requested, provided));
}

API void torushmemf_query_initialized(bool *initialized)
{
	int up;

	shmem_query_initialized(&up);
	*initialized = up;
}

API bool torushmemf_pe_accessible(int pe)
{
	return shmem_pe_accessible(pe);
}

API bool torushmemf_addr_accessible(const array *addr, int pe)
{
	return shmem_addr_accessible(addr->base_addr, pe);
}

API void torushmemf_info_get_name(const array *name)
{
	char text[SHMEM_MAX_NAME_LEN];

	shmem_info_get_name(text);
	fortran_text(name, text);
}

API void torushmemf_pcontrol(int level)
{
	shmem_pcontrol(level);
}

/* --- Memory --- */

API void *torushmemf_malloc_with_hints(size_t size, int hints)
{
	return shmem_malloc_with_hints(size, hints);
}

API void *torushmemf_team_ptr(shmem_team_t team, const array *dest, int pe)
{
	return shmem_team_ptr(team, dest->base_addr, pe);
}

/* --- Teams --- */

API bool torushmemf_same_team(const shmem_team_t *a, const shmem_team_t *b)
{
	return *a == *b;
}

API bool torushmemf_other_team(const shmem_team_t *a, const shmem_team_t *b)
{
	return *a != *b;
}

API bool torushmemf_same_ctx(const shmem_ctx_t *a, const shmem_ctx_t *b)
{
	return *a == *b;
}

API bool torushmemf_other_ctx(const shmem_ctx_t *a, const shmem_ctx_t *b)
{
	return *a != *b;
}

API int torushmemf_team_my_pe(shmem_team_t team)
{
	return shmem_team_my_pe(team);
}

API int torushmemf_team_n_pes(shmem_team_t team)
{
	return shmem_team_n_pes(team);
}

API void torushmemf_team_get_config(shmem_team_t team, int config_mask, shmem_team_config_t *config, int *stat)
{
	FORTRAN_STATUS(stat, shmem_team_get_config(team, config_mask, config));
}

API int torushmemf_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
	return shmem_team_translate_pe(src_team, src_pe, dest_team);
}

API void torushmemf_team_split_strided(shmem_team_t parent, int start, int stride, int size, shmem_team_t *team,
				       const shmem_team_config_t *config, const int *config_mask, int *stat)
{
	FORTRAN_STATUS(stat, shmem_team_split_strided(parent, start, stride, size, config,
						      config_mask ? *config_mask : 0, team));
}

API void torushmemf_team_split_2d(shmem_team_t parent, int xrange, shmem_team_t *xaxis, shmem_team_t *yaxis,
				  const shmem_team_config_t *config, const int *config_mask, int *stat)
{
	long mask = config_mask ? *config_mask : 0;

	FORTRAN_STATUS(stat, shmem_team_split_2d(parent, xrange, config, mask, xaxis, config, mask, yaxis));
}

API void torushmemf_team_destroy(shmem_team_t *team)
{
	shmem_team_destroy(*team);
	*team = SHMEM_TEAM_INVALID;
}

API void torushmemf_team_sync(shmem_team_t team, int *stat)
{
	FORTRAN_STATUS(stat, shmem_team_sync(team));
}

/* --- Contexts and sessions --- */

API void torushmemf_ctx_create(int options, shmem_ctx_t *ctx, int *stat)
{
	FORTRAN_STATUS(stat, shmem_ctx_create(options, ctx));
}

API void torushmemf_team_create_ctx(shmem_team_t team, int options, shmem_ctx_t *ctx, int *stat)
{
	FORTRAN_STATUS(stat, shmem_team_create_ctx(team, options, ctx));
}

API void torushmemf_ctx_destroy(shmem_ctx_t *ctx)
{
	shmem_ctx_destroy(*ctx);
	*ctx = SHMEM_CTX_INVALID;
}

API void torushmemf_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team, int *stat)
{
	FORTRAN_STATUS(stat, shmem_ctx_get_team(ctx, team));
}

API void torushmemf_ctx_session_start(shmem_ctx_t ctx, int options, const shmem_ctx_session_config_t *config,
				      const int *config_mask)
{
	shmem_ctx_session_start(ctx, options, config, config && config_mask ? *config_mask : 0);
}

API void torushmemf_ctx_session_stop(shmem_ctx_t ctx)
{
	shmem_ctx_session_stop(ctx);
}

/* --- Order, completion and signals --- */

API void torushmemf_ctx_fence(shmem_ctx_t ctx)
{
	shmem_ctx_fence(ctx);
}

API void torushmemf_ctx_quiet(shmem_ctx_t ctx)
{
	shmem_ctx_quiet(ctx);
}

API void torushmemf_ctx_pe_quiet(shmem_ctx_t ctx, const array *target_pes)
{
	shmem_ctx_pe_quiet(ctx, target_pes->base_addr, fortran_contiguous(target_pes, "target_pes", "shmem_pe_quiet"));
}

API void torushmemf_pe_quiet(const array *target_pes)
{
	torushmemf_ctx_pe_quiet(SHMEM_CTX_DEFAULT, target_pes);
}

API void torushmemf_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
	shmem_ctx_signal_add(ctx, sig_addr, signal, pe);
}

API void torushmemf_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
	shmem_ctx_signal_set(ctx, sig_addr, signal, pe);
}
