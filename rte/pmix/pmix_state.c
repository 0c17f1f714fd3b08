/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "pmix_client.h"
#include "rte/rte.h"

struct rte_client rte_client;

enum rte_status rte_failed(const char *call, pmix_status_t status)
{
	snprintf(rte.problem, sizeof rte.problem, "%s: %s", call, PMIx_Error_string(status));
	return RTE_FAILED;
}

pmix_value_t *rte_job_value(const char *key)
{
	pmix_value_t *value = NULL;
	pmix_proc_t job;

	PMIX_LOAD_PROCID(&job, rte_client.self.nspace, PMIX_RANK_WILDCARD);
	return PMIx_Get(&job, key, NULL, 0, &value) == PMIX_SUCCESS ? value : NULL;
}

bool rte_by_slurm(void)
{
	return strncmp(rte_client.self.nspace, "slurm.", 6) == 0;
}
