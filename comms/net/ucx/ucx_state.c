/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the UCX path, the handling of failed UCX calls, and notifications to the server
 * about other threads.
 */
#include "ucx_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "comms/core/futex.h"
#include "comms/core/awaited.h"
#include "comms/core/near.h"
#include "rte/rte.h"

struct ucx ucx = {
	.connecting = PTHREAD_MUTEX_INITIALIZER,
	.main = {.marking = PTHREAD_MUTEX_INITIALIZER, .quieting = PTHREAD_MUTEX_INITIALIZER},
};

const ucp_request_param_t ucx_plain;
_Thread_local bool ucx_second_cable __attribute__((tls_model("initial-exec")));

void ucx_check(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		rte_die(NULL, "%s: %s", what, ucs.status_string(status));
}

/* "unlimited", or a number of KiB as ulimit -l prints it */
static const char *limit_of_locked_memory(char *text, size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return "unlimited";
	snprintf(text, size, "%llu", (unsigned long long)limit.rlim_cur / 1024);
	return text;
}

bool ucx_silence(void)
{
	return !getenv("UCX_LOG_LEVEL") && ucs.global_opts_set_value("LOG_LEVEL", "fatal") == UCS_OK;
}

void ucx_end_silence(bool silent)
{
	if (silent)
		ucs.global_opts_set_value("LOG_LEVEL", "warn");
}

/* UCX would print several lines about a failure, none of which says what to do. */
ucp_mem_h ucx_map_memory(const ucp_mem_map_params_t *params, const char *routine)
{
	bool silent = ucx_silence();
	ucp_mem_h memory = NULL;
	ucs_status_t status = ucp.mem_map(ucx.context, params, &memory);
	char limit[32];

	ucx_end_silence(silent);
	if (status != UCS_OK)
		rte_die(routine,
			"the RDMA device cannot register %zu MiB of memory (ucp_mem_map: %s); set a smaller "
			"SHMEM_SYMMETRIC_SIZE, or raise ulimit -l, which is %s here; UCX_LOG_LEVEL=error shows "
			"what UCX says",
			params->length >> 20, ucs.status_string(status), limit_of_locked_memory(limit, sizeof limit));
	return memory;
}

static bool is_of_a_lost_peer(ucs_status_t status)
{
	switch (status) {
	case UCS_ERR_INVALID_PARAM:
	case UCS_ERR_NO_MEMORY:
	case UCS_ERR_NOT_IMPLEMENTED:
	case UCS_ERR_UNSUPPORTED:
	case UCS_ERR_EXCEEDS_LIMIT: return false;
	default: return true;
	}
}

static void let_launcher_speak(void)
{
	const struct timespec grace = {10, 0};

	if (rte.returns_errors)
		rte_let_others_speak();
	else
		nanosleep(&grace, NULL);
}

/* In a broken job, it returns whatever the status is. */
void ucx_must_succeed(ucs_status_t status, const char *what, int pe)
{
	const struct comms_near *near = &comms_near;
	bool recorded = near->routine && near->pe == pe;
	char host[256] = "?", memory[128] = "";

	if (status == UCS_OK || status == UCS_INPROGRESS)
		return;
	if (is_of_a_lost_peer(status) && !atomic_load_explicit(&ucx.ending, memory_order_seq_cst))
		let_launcher_speak();
	if (rte_is_broken())
		return;
	if (pe == COMMS_NOBODY)
		ucx_check(status, what);
	if (recorded && near->bytes > 0)
		snprintf(memory, sizeof memory, ", %zu bytes at %p", near->bytes, near->memory);
	rte_host(pe, host, sizeof host);
	rte_break(is_of_a_lost_peer(status) ? RTE_ERROR_LOST : RTE_ERROR_OTHER, pe,
		  recorded		   ? near->routine
		  : comms_awaited.pe == pe ? comms_awaited.routine
					   : NULL,
		  "UCX failed in %s to PE %d on host %s%s: %s; %s", what, pe, host, memory, ucs.status_string(status),
		  comms_process_in_words(pe));
}

/* --- Progress of the main worker --- */

_Thread_local bool ucx_serves;

void ucx_visit(void)
{
	unsigned visits = atomic_load_explicit(&ucx.visits, memory_order_relaxed);

	if (!ucx_serves)
		atomic_store_explicit(&ucx.visits, visits + 1, memory_order_relaxed);
}

void ucx_hand_over(void)
{
	if (atomic_load_explicit(&ucx.in_timed_wait, memory_order_seq_cst) &&
	    atomic_exchange_explicit(&ucx.in_timed_wait, 0, memory_order_seq_cst))
		futex(&ucx.in_timed_wait, FUTEX_WAKE_PRIVATE, 1, NULL);
}
