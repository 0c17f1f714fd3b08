/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PMIX_FJEXT_H
#define PMIX_FJEXT_H

#include <jtofu.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The PMIx key under which a launcher publishes what jtofu_initialize reads. */
#define FJPMIX_RANKMAP "fjpmix.rankmap"

/*
 * oshrun publishes the map. Other launchers, such as that of Open MPI, do not: then each process
 * makes the map from its settings, which are the same in all. All other keys go to PMIx.
 */
static inline pmix_status_t fjpmix_get(const pmix_proc_t *process, const char *key, const pmix_info_t *wishes,
				       size_t wish_count, pmix_value_t **value)
{
	pmix_status_t status = PMIx_Get(process, key, wishes, wish_count, value);
	void *map = NULL;
	size_t bytes;
	unsigned int ranks;

	if (status == PMIX_SUCCESS || !key || !value || strcmp(key, FJPMIX_RANKMAP) != 0)
		return status;
	if (jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks) != JTOFU_SUCCESS)
		return status;
	PMIX_VALUE_CREATE(*value, 1);
	if (!*value) {
		free(map);
		return PMIX_ERR_NOMEM;
	}
	(*value)->type = PMIX_BYTE_OBJECT;
	(*value)->data.bo.bytes = (char *)map;
	(*value)->data.bo.size = bytes;
	return PMIX_SUCCESS;
}

#define PMIx_Get fjpmix_get

#ifdef __cplusplus
}
#endif

#endif
