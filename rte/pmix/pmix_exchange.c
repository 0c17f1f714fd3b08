/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences of all PEs, and the endpoint infos that they publish. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmix_client.h"
#include "rte/rte.h"

#define TRIES 1000	   /* 2 s */
#define COLLECTED_JOB 1024 /* PEs */

static const struct timespec between_tries = {0, 2000000};

/*
 * A fence that lacks a PE returns PMIX_ERR_PARTIAL_SUCCESS at once. Either that PE is dead and the
 * launcher is about to end the job, or a shell script runs one program after another, and the PE is
 * between two of them. So this tries again for a while.
 */
static enum rte_status fence_with_retries(bool collect)
{
	int tries = TRIES;
	pmix_status_t status = PMIX_SUCCESS;
	pmix_info_t how;

	PMIX_INFO_LOAD(&how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	rte_notify_fence(true);
	while (tries-- > 0) {
		status = PMIx_Fence(NULL, 0, &how, 1);
		if (status != PMIX_ERR_PARTIAL_SUCCESS)
			break;
		nanosleep(&between_tries, NULL);
	}
	rte_notify_fence(false);
	return status == PMIX_SUCCESS ? RTE_OK : rte_failed("PMIx_Fence", status);
}

/*
 * Under Slurm, PEs leave a fence that collects no data at once, unless the site's configuration
 * says otherwise (PMIxFenceBarrier).
 */
enum rte_status rte_pmix_fence(void)
{
	return fence_with_retries(rte_by_slurm());
}

/* The fence of rte_pmix_fence_within, which may still be in progress after that has returned. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool done;
	pmix_status_t status;
} last_fence = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void end_last_fence(pmix_status_t status, void *unused)
{
	(void)unused;
	pthread_mutex_lock(&last_fence.lock);
	last_fence.done = true;
	last_fence.status = status;
	pthread_cond_signal(&last_fence.over);
	pthread_mutex_unlock(&last_fence.lock);
}

bool rte_pmix_fence_within(int seconds)
{
	bool collect = rte_by_slurm();
	struct timespec end;
	static pmix_info_t fence_info; /* in use until the fence ends */
	int late = 0;

	PMIX_INFO_LOAD(&fence_info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;
	rte_notify_fence(true);
	if (PMIx_Fence_nb(NULL, 0, &fence_info, 1, end_last_fence, NULL) != PMIX_SUCCESS)
		return false;
	pthread_mutex_lock(&last_fence.lock);
	while (!last_fence.done && !late)
		late = pthread_cond_timedwait(&last_fence.over, &last_fence.lock, &end);
	pthread_mutex_unlock(&last_fence.lock);
	return last_fence.done && last_fence.status == PMIX_SUCCESS;
}

static const char *info_key(char key[32])
{
	snprintf(key, 32, "torushmem.%d", rte.generation);
	return key;
}

/*
 * In small jobs, the fence brings all endpoint infos to every node. Fetching them one by one, on
 * first contact, costs milliseconds each, and Open MPI 4.1 may report that there is none when two
 * PEs of a node ask for the same one.
 */
enum rte_status rte_pmix_exchange(const void *info, size_t size)
{
	pmix_status_t status;
	pmix_value_t value;
	char key[32];

	value.type = PMIX_BYTE_OBJECT;
	value.data.bo.bytes = (char *)(uintptr_t)info;
	value.data.bo.size = size;
	status = PMIx_Put(PMIX_GLOBAL, info_key(key), &value);
	if (status != PMIX_SUCCESS)
		return rte_failed("PMIx_Put", status);
	status = PMIx_Commit();
	if (status != PMIX_SUCCESS)
		return rte_failed("PMIx_Commit", status);
	rte.has_all_infos = rte.n_pes <= COLLECTED_JOB;
	return rte.has_all_infos ? fence_with_retries(true) : rte_pmix_fence();
}

void *rte_pmix_fetch(int pe, size_t *size)
{
	pmix_value_t *value = NULL;
	pmix_status_t status;
	pmix_proc_t peer;
	void *info = NULL;
	char key[32];

	PMIX_LOAD_PROCID(&peer, rte_client.self.nspace, (pmix_rank_t)pe);
	status = PMIx_Get(&peer, info_key(key), NULL, 0, &value);
	if (status != PMIX_SUCCESS || !value || value->type != PMIX_BYTE_OBJECT) {
		rte_failed("PMIx_Get", status);
		return NULL;
	}
	info = malloc(value->data.bo.size);
	if (info) {
		memcpy(info, value->data.bo.bytes, value->data.bo.size);
		*size = value->data.bo.size;
	}
	PMIX_VALUE_RELEASE(value);
	return info;
}
