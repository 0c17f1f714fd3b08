/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PMIX_CLIENT_H
#define RTE_PMIX_CLIENT_H

#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "rte/rte.h"
#include "rte/start/provider.h"

/* Shared by the files pmix*.c only. */

struct rte_client {
	pmix_proc_t self;
	bool connected;
	bool unreachable; /* no server has answered; do not try again */
	/* The library is finalized, but the connection is still open. */
	bool still_open;
	_Atomic(void (*)(void)) when_asked; /* rte_when_asked */
	atomic_bool leaving;		    /* from now on the loss of the server is no error */
};
extern struct rte_client rte_client;

/* Is srun the launcher of this PE? */
bool rte_by_slurm(void);

/* Writes the failed call into rte.problem; returns RTE_FAILED. */
enum rte_status rte_failed(const char *call, pmix_status_t status);

/* A value of the job (rank wildcard), to be released; NULL: none. */
pmix_value_t *rte_job_value(const char *key);

/*
 * Notifies oshrun that this PE is up or down (RTE_KEY_UP), and whether it may be in a fence
 * (RTE_KEY_FENCE).
 */
void rte_notify_up(bool up);
void rte_notify_fence(bool in_fence);

/* Members of rte_pmix. */
enum rte_status rte_pmix_exchange(const void *info, size_t size);
void *rte_pmix_fetch(int pe, size_t *size);
enum rte_status rte_pmix_fence(void);
bool rte_pmix_fence_within(int seconds);
bool rte_pmix_host(int pe, char *name, size_t size);

/* Fill in rte.local_pes and rte.n_local, and after that rte.several_hosts. False: no memory. */
bool rte_read_local_pes(void);
void rte_count_hosts(void);

#endif
