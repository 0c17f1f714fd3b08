/* SPDX-License-Identifier: BSD-3-Clause */
/* The start and the end of a PE, by the provider that the environment or the program names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "provider.h"
#include "rte/rte.h"

#define HOST_NAME 256

static const char *source; /* of the last rte_init */

static const struct rte_provider *const providers[] =
	{[START_ALONE] = NULL, [START_PMIX] = &rte_pmix, [START_RENDEZVOUS] = &rte_rendezvous};

static enum rte_status start_alone(void)
{
	rte.pe = 0;
	rte.n_pes = rte.n_local = 1;
	rte.several_hosts = false;
	rte.local_pes = calloc(1, sizeof *rte.local_pes);
	if (!rte.local_pes)
		snprintf(rte.problem, sizeof rte.problem, "no memory");
	return rte.local_pes ? RTE_OK : RTE_FAILED;
}

enum rte_status rte_init(void)
{
	struct rte_start start = rte_find_start();
	enum rte_status status;

	rte.generation++;
	rte.has_all_infos = false;
	rte_provider = providers[start.by];
	source = start.source;
	rte.pe = start.pe;
	if (start.status != RTE_OK)
		return start.status;
	if (!rte_provider) {
		rte_drop_unique_id();
		return start_alone();
	}
	if (rte.returns_errors && !rte_provider->tell_error) {
		rte_provider = NULL; /* it has not started */
		snprintf(
			rte.problem, sizeof rte.problem,
			"SHMEM_ERRORS=return needs a start without a launcher's PMIx; give an id to shmemx_init_attr, or "
			"set SHMEM_ROOT=HOST:PORT");
		return RTE_BAD_START;
	}
	status = rte_provider->start();
	rte.connected = status == RTE_OK;
	return status;
}

void rte_finalize(void)
{
	if (rte_provider)
		rte_provider->finalize();
	free(rte.local_pes);
	rte.local_pes = NULL;
	rte.connected = false;
	rte.n_pes = rte.n_local = 0;
	rte_forget_unique_id();
}

void rte_leave(void)
{
	if (rte_provider && rte_provider->leave)
		rte_provider->leave();
}

const char *rte_start_source(void)
{
	return rte_provider == &rte_rendezvous ? source : NULL;
}

bool rte_has_other_pes(void)
{
	return rte_find_start().by != START_ALONE;
}

/* --- What the provider does, and what it means for one PE --- */

enum rte_status rte_exchange(const void *info, size_t size)
{
	return rte.connected ? rte_provider->exchange(info, size) : RTE_OK;
}

void *rte_fetch(int pe, size_t *size)
{
	return rte.connected ? rte_provider->fetch(pe, size) : NULL;
}

enum rte_status rte_fence(void)
{
	return rte.connected ? rte_provider->fence() : RTE_OK;
}

bool rte_fence_within(int seconds)
{
	return !rte.connected || rte_provider->fence_within(seconds);
}

bool rte_host(int pe, char *name, size_t size)
{
	return rte.connected ? rte_provider->host(pe, name, size) : gethostname(name, size) == 0;
}

/*
 * The number is a hash of the host's name, because Open MPI 4.1 gives no PMIX_NODEID of other
 * hosts, and oshrun's server gives none to a process that initialises PMIx again. The hash is
 * FNV-1a; with 64 bits, two of a million hosts collide once in forty million jobs.
 */
bool rte_node(int pe, uint64_t *number)
{
	char name[HOST_NAME];

	*number = 14695981039346656037u;
	if (rte.n_local == rte.n_pes)
		return true;
	if (rte_provider->node)
		return rte_provider->node(pe, number);
	if (!rte_host(pe, name, sizeof name))
		return false;
	for (const char *c = name; *c; c++)
		*number = (*number ^ (unsigned char)*c) * 1099511628211u;
	return true;
}
