/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMIx client of a PE: start, end, and abort.
 *
 * pmix_state.c     the state that these files share
 * pmix_notify.c    notifications to oshrun
 * pmix_exchange.c  fences, and the exchange of endpoint infos
 * pmix_nodes.c     what the launcher knows of nodes and of the fabric
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "pmix_client.h"
#include "rte/host/variables.h"
#include "rte/rte.h"
#include "rte/signal_handlers.h"

void rte_when_asked(void (*function)(void))
{
	atomic_store_explicit(&rte_client.when_asked, function, memory_order_release);
}

/*
 * The server asks for a report; or the connection is lost because the server or its node was
 * killed: then nobody else would end this process. Runs in PMIx's thread, where only _exit is safe.
 */
static void handle_server_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
				size_t ninfo, pmix_info_t *results, size_t nresults,
				pmix_event_notification_cbfunc_fn_t done, void *data)
{
	void (*function)(void) = atomic_load_explicit(&rte_client.when_asked, memory_order_acquire);

	(void)id, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
	if (status == RTE_EVENT_ASKED && function)
		function();
	else if (status != RTE_EVENT_ASKED && !atomic_load_explicit(&rte_client.leaving, memory_order_seq_cst))
		_exit(1);
	if (done)
		done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static bool read_job_size(void)
{
	pmix_value_t *value = rte_job_value(PMIX_JOB_SIZE);

	if (!value)
		return false;
	rte.n_pes = (int)value->data.uint32;
	PMIX_VALUE_RELEASE(value);
	return rte.n_pes > 0;
}

/*
 * PMIx_Init calls setenv to pass this on to a part of PMIx, if the variable is not there yet; see
 * variables.h.
 */
static void set_security_for_pmix(void)
{
	const char *mode = getenv("PMIX_SECURITY_MODE");

	if (mode && !getenv("PMIX_MCA_psec"))
		rte_variable_set("PMIX_MCA_psec", mode);
}

/*
 * PMIx's threads block signals sent to the process: these go to the program's threads, and stay
 * pending while a network's library is loaded.
 */
static pmix_status_t connect_to_server(void)
{
	sigset_t before;
	pmix_status_t status;

	set_security_for_pmix();
	rte_signals_block_sent(&before);
	status = PMIx_Init(&rte_client.self, NULL, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

static enum rte_status start(void)
{
	pmix_status_t events[] = {PMIX_ERR_LOST_CONNECTION, RTE_EVENT_ASKED};
	pmix_status_t status;

	atomic_store_explicit(&rte_client.leaving, false, memory_order_seq_cst);
	if (!rte_client.still_open) {
		status = connect_to_server();
		if (status != PMIX_SUCCESS) {
			rte_failed("PMIx_Init", status); /* PMIx_Finalize would crash now */
			rte_client.unreachable = true;
			return RTE_UNREACHABLE;
		}
		PMIx_Register_event_handler(events, 2, NULL, 0, handle_server_event, NULL, NULL);
	} else {
		rte_notify_up(true);
	}
	rte_client.still_open = false;
	rte_client.connected = true;
	rte.pe = (int)rte_client.self.rank;
	if (!read_job_size())
		return rte_failed("PMIx_Get(" PMIX_JOB_SIZE ")", PMIX_ERR_NOT_FOUND);
	if (!rte_read_local_pes())
		return rte_failed("malloc", PMIX_ERR_NOMEM);
	rte_count_hosts();
	return RTE_OK;
}

/*
 * PMIx stays connected until the process ends, because its servers lose count of processes that
 * finalize and initialise PMIx again: when the old connection closes late, the server removes that
 * process from the fence that others have begun, and some leave the fence early and some wait for
 * ever.
 */
static void finalize(void)
{
	atomic_store_explicit(&rte_client.leaving, true, memory_order_seq_cst);
	rte_client.still_open = rte_client.connected;
	if (rte_client.still_open)
		rte_notify_up(false);
	rte_client.connected = false;
}

static void leave(void)
{
	if (rte_client.still_open)
		PMIx_Finalize(NULL, 0);
	rte_client.still_open = false;
}

/*
 * PRRTE 3.0.8 may deadlock if a process ends while PRRTE fetches another's endpoint info for it.
 * The pause lets such a request finish before this PE fails.
 */
static void let_others_fetch(void)
{
	const struct timespec pause = {0, 100000000};

	if (rte_client.connected && rte.several_hosts && !rte_by_oshrun() && !rte_by_slurm())
		nanosleep(&pause, NULL);
}

/*
 * The launcher must learn of a failure also before rte_init and after rte_finalize, because other
 * PEs may wait for this one.
 */
static void abort_job(int status, const char *message)
{
	atomic_store_explicit(&rte_client.leaving, true, memory_order_seq_cst);
	let_others_fetch();
	if (rte_client.connected || rte_client.still_open ||
	    (!rte_client.unreachable && PMIx_Init(&rte_client.self, NULL, 0) == PMIX_SUCCESS))
		PMIx_Abort(status, message, NULL, 0);
}

const struct rte_provider rte_pmix = {
	.start = start,
	.finalize = finalize,
	.leave = leave,
	.exchange = rte_pmix_exchange,
	.fetch = rte_pmix_fetch,
	.fence = rte_pmix_fence,
	.fence_within = rte_pmix_fence_within,
	.host = rte_pmix_host,
	.abort = abort_job,
};
