/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "accept_filter.h"
#include "job.h"
#include "job_info.h"
#include "say.h"

#include "rte/rte.h"

/*
 * libpmix calls oshrun on its own threads. An upcall only appends an event and signals the eventfd;
 * it never waits for the main thread, which may be waiting for libpmix. PMIx_server_finalize is
 * never called: libpmix 4.2 crashes or hangs in it after PEs have died inside a fence, and the
 * process ends anyway and removes the session folder as a whole.
 */
struct server {
	char nspace[PMIX_MAX_NSLEN + 1];
	int event_fd;
	pthread_mutex_t lock; /* protects the list */
	struct server_event *first;
	struct server_event **last;
	size_t lost_handler; /* libpmix's number of connection_lost */
	bool halting;
	sem_t halted;
};

#define HALTING 1 /* seconds for libpmix's thread to reach the callback */

/* libpmix passes no user argument to upcalls, and there is one server per process. */
static struct server the_server;

static void post_event(enum server_event_kind kind, const pmix_proc_t *proc, int status, const char *message)
{
	struct server_event *event = calloc(1, sizeof *event);
	uint64_t one = 1;

	if (!event)
		return;
	event->kind = kind;
	event->pe = (int)proc->rank;
	event->status = status;
	if (message)
		snprintf(event->message, sizeof event->message, "%s", message);
	pthread_mutex_lock(&the_server.lock);
	*the_server.last = event;
	the_server.last = &event->next;
	pthread_mutex_unlock(&the_server.lock);
	if (write(the_server.event_fd, &one, sizeof one) != sizeof one)
		abort(); /* the counter cannot overflow */
}

static pmix_status_t client_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t count,
				      pmix_op_cbfunc_t done, void *arg)
{
	(void)object, (void)info, (void)count, (void)done, (void)arg;
	post_event(EVENT_CONNECTED, proc, 0, NULL);
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *arg)
{
	(void)object, (void)done, (void)arg;
	post_event(EVENT_FINALIZED, proc, 0, NULL);
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_aborts(const pmix_proc_t *proc, void *object, int status, const char message[],
				   pmix_proc_t procs[], size_t count, pmix_op_cbfunc_t done, void *arg)
{
	(void)object, (void)procs, (void)count, (void)done, (void)arg;
	post_event(EVENT_ABORT, proc, status, message);
	return PMIX_OPERATION_SUCCEEDED;
}

/*
 * A PE starts, ends or stays connected, enters or leaves a fence, or names the trace. Requests to
 * control jobs are refused.
 */
static pmix_status_t client_controls(const pmix_proc_t *proc, const pmix_proc_t targets[], size_t target_count,
				     const pmix_info_t info[], size_t count, pmix_info_cbfunc_t done, void *arg)
{
	(void)targets, (void)target_count;
	if (count == 1 && done && PMIX_CHECK_KEY(&info[0], RTE_KEY_TRACE) && info[0].value.type == PMIX_STRING)
		post_event(EVENT_TRACE, proc, 0, info[0].value.data.string);
	else if (count == 1 && done && PMIX_CHECK_KEY(&info[0], RTE_KEY_UP))
		post_event(PMIX_INFO_TRUE(&info[0]) ? EVENT_CONNECTED : EVENT_FINALIZED, proc, 0, NULL);
	else if (count == 1 && done && PMIX_CHECK_KEY(&info[0], RTE_KEY_FENCE))
		post_event(EVENT_FENCE, proc, PMIX_INFO_TRUE(&info[0]), NULL);
	else
		return PMIX_ERR_NOT_SUPPORTED;
	done(PMIX_SUCCESS, NULL, 0, arg, NULL, NULL);
	return PMIX_SUCCESS;
}

/* All PEs are local, so the server has collected the data of all PEs already. */
static pmix_status_t fence(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
			   char *data, size_t size, pmix_modex_cbfunc_t done, void *arg)
{
	(void)procs, (void)count, (void)info, (void)info_count;
	if (!done)
		return PMIX_ERR_BAD_PARAM;
	done(PMIX_SUCCESS, data, size, arg, NULL, NULL);
	return PMIX_SUCCESS;
}

/* libpmix calls it only for PEs of other hosts, and there are none. */
static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t count,
				  pmix_modex_cbfunc_t done, void *arg)
{
	(void)proc, (void)info, (void)count, (void)done, (void)arg;
	return PMIX_ERR_NOT_FOUND;
}

static void connection_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
			    size_t count, pmix_info_t results[], size_t result_count,
			    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
	const pmix_proc_t *lost = source;

	(void)id, (void)status, (void)results, (void)result_count;
	for (size_t i = 0; i < count; i++)
		if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC))
			lost = info[i].value.data.proc;
	if (lost && !strncmp(lost->nspace, the_server.nspace, PMIX_MAX_NSLEN))
		post_event(EVENT_LOST, lost, 0, NULL);
	if (done)
		done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* Counts answers of libpmix; one for each PE. */
struct answers {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	int missing;
	pmix_status_t status;
};

#define ANSWERS(n)                                                                   \
	{                                                                            \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, n, PMIX_SUCCESS \
	}

static void answer(pmix_status_t status, void *arg)
{
	struct answers *answers = arg;

	pthread_mutex_lock(&answers->lock);
	if (status != PMIX_SUCCESS)
		answers->status = status;
	answers->missing--;
	pthread_cond_signal(&answers->arrived);
	pthread_mutex_unlock(&answers->lock);
}

/*
 * Counts a call that failed or completed at once as answered: an answer follows only after
 * PMIX_SUCCESS.
 */
static void asked(struct answers *answers, pmix_status_t status)
{
	if (status != PMIX_SUCCESS)
		answer(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, answers);
}

static pmix_status_t wait_for(struct answers *answers)
{
	pthread_mutex_lock(&answers->lock);
	while (answers->missing > 0)
		pthread_cond_wait(&answers->arrived, &answers->lock);
	pthread_mutex_unlock(&answers->lock);
	return answers->status;
}

static pmix_status_t initialise(struct job *job)
{
	static pmix_server_module_t module = {
		.client_connected2 = client_connected,
		.client_finalized = client_finalized,
		.abort = client_aborts,
		.fence_nb = fence,
		.direct_modex = direct_modex,
		.job_control = client_controls,
	};
	pmix_status_t lost = PMIX_ERR_LOST_CONNECTION, status;
	pmix_topology_t topology = {.source = "hwloc", .topology = job->processors.topology};
	pmix_info_t info[3];

	sem_init(&the_server.halted, 0, 0);
	/*
	 * Passes oshrun's topology to libpmix, which otherwise reads its own; that takes longer
	 * than everything else together.
	 */
	PMIX_INFO_LOAD(&info[0], PMIX_TOPOLOGY2, &topology, PMIX_TOPO);
	PMIX_INFO_LOAD(&info[1], PMIX_SERVER_TMPDIR, job->reaper->folder, PMIX_STRING);
	PMIX_INFO_LOAD(&info[2], PMIX_SYSTEM_TMPDIR, job->reaper->folder, PMIX_STRING);
	status = PMIx_server_init(&module, info, 3);
	PMIX_INFO_DESTRUCT(&info[1]);
	PMIX_INFO_DESTRUCT(&info[2]);
	if (status == PMIX_SUCCESS)
		the_server.lost_handler =
			(size_t)PMIx_Register_event_handler(&lost, 1, NULL, 0, connection_lost, NULL, NULL);
	return status;
}

static pmix_status_t register_job(struct job *job)
{
	struct answers answers = ANSWERS(1 + job->count);
	size_t count;
	pmix_info_t *info = job_info_make(job, &count);
	pmix_status_t status;

	if (!info)
		return PMIX_ERR_NOMEM;
	asked(&answers, PMIx_server_register_nspace(the_server.nspace, job->count, info, count, answer, &answers));
	for (int pe = 0; pe < job->count; pe++) {
		pmix_proc_t proc;

		PMIX_LOAD_PROCID(&proc, job->name, (pmix_rank_t)pe);
		asked(&answers, PMIx_server_register_client(&proc, getuid(), getgid(), NULL, answer, &answers));
	}
	status = wait_for(&answers);
	PMIX_INFO_FREE(info, count);
	return status;
}

struct server *server_start(struct job *job)
{
	struct server *server = &the_server;
	pmix_status_t status;

	snprintf(server->nspace, sizeof server->nspace, "%s", job->name);
	pthread_mutex_init(&server->lock, NULL);
	server->last = &server->first;
	server->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	accept_filter_start(server->nspace);
	status = server->event_fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : initialise(job);
	if (status == PMIX_SUCCESS)
		status = register_job(job);
	if (status == PMIX_SUCCESS)
		return server;
	say("the PMIx server did not start: %s; is 127.0.0.1 up, and are processes (ulimit -u) left?",
	    PMIx_Error_string(status));
	return NULL;
}

bool server_environment(struct server *server, int pe, char ***environment)
{
	pmix_proc_t proc;

	PMIX_LOAD_PROCID(&proc, server->nspace, (pmix_rank_t)pe);
	return PMIx_server_setup_fork(&proc, environment) == PMIX_SUCCESS;
}

static void has_been_asked(pmix_status_t status, void *question)
{
	pmix_info_t *info = question;

	(void)status;
	PMIX_INFO_FREE(info, 1);
}

void server_ask(struct server *server, int pe)
{
	pmix_proc_t proc, self;
	pmix_info_t *info;
	pmix_status_t status;

	PMIX_LOAD_PROCID(&proc, server->nspace, (pmix_rank_t)pe);
	PMIX_LOAD_PROCID(&self, server->nspace, PMIX_RANK_UNDEF);
	PMIX_INFO_CREATE(info, 1);
	if (!info)
		return;
	PMIX_INFO_LOAD(info, PMIX_EVENT_CUSTOM_RANGE, &proc, PMIX_PROC);
	status = PMIx_Notify_event(RTE_EVENT_ASKED, &self, PMIX_RANGE_CUSTOM, info, 1, has_been_asked, info);
	if (status != PMIX_SUCCESS)
		PMIX_INFO_FREE(info, 1);
}

static void stay_here(pmix_status_t status, void *unused)
{
	(void)status, (void)unused;
	sem_post(&the_server.halted);
	for (;;)
		pause();
}

/*
 * Stops libpmix's thread, which works through one queue of requests: this adds a request whose
 * callback, stay_here, never returns. When the thread calls it, all earlier requests are done, and
 * no later one ever is.
 */
void server_halt(struct server *server)
{
	struct timespec end;

	if (server->halting)
		return;
	server->halting = true;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += HALTING;
	if (PMIx_Deregister_event_handler(server->lost_handler, stay_here, NULL) == PMIX_SUCCESS)
		while (sem_timedwait(&server->halted, &end) && errno == EINTR)
			;
}

int server_event_fd(const struct server *server)
{
	return server->event_fd;
}

struct server_event *server_next_event(struct server *server)
{
	struct server_event *event;
	uint64_t count;

	if (read(server->event_fd, &count, sizeof count) < 0)
		count = 0; /* no new event; the list may still contain some */
	pthread_mutex_lock(&server->lock);
	event = server->first;
	if (event) {
		server->first = event->next;
		if (!server->first)
			server->last = &server->first;
	}
	pthread_mutex_unlock(&server->lock);
	return event;
}
