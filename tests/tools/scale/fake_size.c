/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: PMIx says that the job has FAKE_JOB_SIZE PEs. Everything else is as it is: those that
 * were started can be reached, the others are only numbers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

typedef pmix_status_t get_function(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **);

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t n,
		       pmix_value_t **value)
{
	static get_function *original;
	const char *size = getenv("FAKE_JOB_SIZE");
	pmix_status_t status;

	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "PMIx_Get");
	status = original(proc, key, info, n, value);
	if (status == PMIX_SUCCESS && size && key && !strcmp(key, PMIX_JOB_SIZE))
		(*value)->data.uint32 = (uint32_t)atol(size);
	return status;
}
