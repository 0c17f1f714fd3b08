/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications to oshrun about the state of this PE, directives of PMIx_Job_control. Other
 * launchers get none.
 */
#include <string.h>

#include "pmix_client.h"
#include "rte/rte.h"

bool rte_by_oshrun(void)
{
	return !strncmp(rte_client.self.nspace, "oshrun-", 7);
}

void rte_notify_trace(const char *name)
{
	pmix_info_t trace;

	if (!rte_by_oshrun())
		return;
	PMIX_INFO_LOAD(&trace, RTE_KEY_TRACE, name, PMIX_STRING);
	PMIx_Job_control(&rte_client.self, 1, &trace, 1, NULL, NULL);
	PMIX_INFO_DESTRUCT(&trace);
}

/*
 * oshrun judges the end of a PE by whether it has called shmem_finalize, after which the connection
 * stays open. An oshrun that does not know this message answers with an error, and takes the end of
 * the process for the end of the PE.
 */
void rte_notify_up(bool up)
{
	pmix_info_t state;

	if (!rte_by_oshrun())
		return;
	PMIX_INFO_LOAD(&state, RTE_KEY_UP, &up, PMIX_BOOL);
	PMIx_Job_control(&rte_client.self, 1, &state, 1, NULL, NULL);
	PMIX_INFO_DESTRUCT(&state);
}

static void free_notification(pmix_status_t status, pmix_info_t *info, size_t count, void *message,
			      pmix_release_cbfunc_t release, void *arg)
{
	pmix_info_t *sent = message;

	(void)status, (void)info, (void)count;
	PMIX_INFO_FREE(sent, 1);
	if (release)
		release(arg);
}

/*
 * Does not wait for the answer: the server reads the messages of a PE in the order in which the PE
 * sends them.
 */
void rte_notify_fence(bool in_fence)
{
	pmix_info_t *message;

	if (!rte_by_oshrun())
		return;
	PMIX_INFO_CREATE(message, 1);
	if (!message)
		return;
	PMIX_INFO_LOAD(message, RTE_KEY_FENCE, &in_fence, PMIX_BOOL);
	if (PMIx_Job_control_nb(&rte_client.self, 1, message, 1, free_notification, message) != PMIX_SUCCESS)
		PMIX_INFO_FREE(message, 1);
}
