/* SPDX-License-Identifier: BSD-3-Clause */
#include <pmix.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rte.h"
#include "text.h"

#define TRIES 1000	   /* 2 s */
#define COLLECTED_JOB 1024 /* PEs */
#define HOST_NAME 256

struct rte rte;

static const struct timespec between_tries = {0, 2000000};

static pmix_proc_t self;
static bool unreachable;    /* no server answered: do not try again */
static atomic_bool leaving; /* from here on a lost server is no news */
static bool kept;	    /* the library is down, but not the connection */

static enum rte_status failed(const char *call, pmix_status_t status)
{
	snprintf(rte.problem, sizeof rte.problem, "%s: %s", call, PMIx_Error_string(status));
	return RTE_FAILED;
}

/*
 * Variables by which launchers tell a process that it has company, and which of them it is. A count above 1 without PMIx means
 * that the launcher and we do not understand each other; running on as a job of one would give wrong answers.
 */
static bool has_company(void)
{
	static const struct {
		const char *count, *rank;
	} launchers[] = {
		{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
		{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
		{"PMI_SIZE", "PMI_RANK"},
		{"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
		{"MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
		{"PALS_NRANKS", "PALS_RANKID"},
	};

	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		const char *count = getenv(launchers[i].count), *rank = getenv(launchers[i].rank);

		if (count && atoi(count) > 1) {
			snprintf(rte.problem, sizeof rte.problem, "%s=%s", launchers[i].count, count);
			rte.pe = rank ? atoi(rank) : 0;
			return true;
		}
	}
	/* MPICH's mpiexec -pmi-port tells the count only over this port, of which we know no more. */
	if (getenv("PMI_PORT"))
		snprintf(rte.problem, sizeof rte.problem, "PMI_PORT=%s", getenv("PMI_PORT"));
	return getenv("PMI_PORT");
}

static bool be_alone(void)
{
	rte.pe = 0;
	rte.n_pes = rte.n_local = 1;
	rte.local_pes = calloc(1, sizeof *rte.local_pes);
	return rte.local_pes != NULL;
}

static _Atomic(void (*)(void)) when_asked;

void rte_when_asked(void (*function)(void))
{
	atomic_store_explicit(&when_asked, function, memory_order_release);
}

/*
 * It has a question; or it is gone (killed, or its node is): nobody will end us, so we do. Runs in PMIx's thread;
 * nothing but _exit is safe there.
 */
static void server_speaks(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t ninfo,
			pmix_info_t *results, size_t nresults, pmix_event_notification_cbfunc_fn_t done, void *data)
{
	void (*function)(void) = atomic_load_explicit(&when_asked, memory_order_acquire);

	(void)id, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
	if (status == RTE_EVENT_ASKED && function)
		function();
	else if (status != RTE_EVENT_ASKED && !atomic_load_explicit(&leaving, memory_order_seq_cst))
		_exit(1);
	if (done)
		done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* A value of the job (rank wildcard). The caller releases it. */
static pmix_value_t *job_value(const char *key)
{
	pmix_value_t *value = NULL;
	pmix_proc_t job;

	PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
	return PMIx_Get(&job, key, NULL, 0, &value) == PMIX_SUCCESS ? value : NULL;
}

static bool read_job_size(void)
{
	pmix_value_t *value = job_value(PMIX_JOB_SIZE);

	if (!value)
		return false;
	rte.n_pes = (int)value->data.uint32;
	PMIX_VALUE_RELEASE(value);
	return rte.n_pes > 0;
}

static void count_hosts(void)
{
	pmix_value_t *value = job_value(PMIX_NUM_NODES);

	rte.several_hosts = value && value->type == PMIX_UINT32 ? value->data.uint32 > 1 : rte.n_local < rte.n_pes;
	if (value)
		PMIX_VALUE_RELEASE(value);
}

/* "0,1,5-7": the PEs of this node. Without that knowledge a PE is a node of its own. */
static bool read_local_peers(void)
{
	pmix_value_t *value = job_value(PMIX_LOCAL_PEERS);
	bool *local = calloc((size_t)rte.n_pes, sizeof *local);

	if (!local)
		return false;
	if (!value || value->type != PMIX_STRING || !text_parse_list(value->data.string, local, (size_t)rte.n_pes))
		memset(local, 0, (size_t)rte.n_pes * sizeof *local);
	local[rte.pe] = true;
	rte.n_local = 0;
	for (int pe = 0; pe < rte.n_pes; pe++)
		rte.n_local += local[pe];
	rte.local_pes = malloc((size_t)rte.n_local * sizeof *rte.local_pes);
	for (int pe = 0, n = 0; rte.local_pes && pe < rte.n_pes; pe++)
		if (local[pe])
			rte.local_pes[n++] = pe;
	if (value)
		PMIX_VALUE_RELEASE(value);
	free(local);
	return rte.local_pes != NULL;
}

bool rte_by_oshrun(void)
{
	return !strncmp(self.nspace, "oshrun-", 7);
}

void rte_tell_trace(const char *name)
{
	pmix_info_t trace;

	if (!rte_by_oshrun())
		return;
	PMIX_INFO_LOAD(&trace, RTE_KEY_TRACE, name, PMIX_STRING);
	PMIx_Job_control(&self, 1, &trace, 1, NULL, NULL);
	PMIX_INFO_DESTRUCT(&trace);
}

/*
 * oshrun minds what a PE does before shmem_finalize more than what it does afterwards, and the connection outlives both. An oshrun
 * that does not know this message answers with an error, and then takes the end of the process for the end of the PE.
 */
static void tell_oshrun(bool up)
{
	pmix_info_t state;

	if (!rte_by_oshrun())
		return;
	PMIX_INFO_LOAD(&state, RTE_KEY_UP, &up, PMIX_BOOL);
	PMIx_Job_control(&self, 1, &state, 1, NULL, NULL);
	PMIX_INFO_DESTRUCT(&state);
}

static void has_heard(pmix_status_t status, pmix_info_t *info, size_t count, void *message, pmix_release_cbfunc_t release, void *arg)
{
	pmix_info_t *sent = message;

	(void)status, (void)info, (void)count;
	PMIX_INFO_FREE(sent, 1);
	if (release)
		release(arg);
}

/* Nobody waits for the answer: the server reads what a PE sends in the order in which it was sent. */
static void tell_of_fence(bool in_fence)
{
	pmix_info_t *message;

	if (!rte_by_oshrun())
		return;
	PMIX_INFO_CREATE(message, 1);
	if (!message)
		return;
	PMIX_INFO_LOAD(message, RTE_KEY_FENCE, &in_fence, PMIX_BOOL);
	if (PMIx_Job_control_nb(&self, 1, message, 1, has_heard, message) != PMIX_SUCCESS)
		PMIX_INFO_FREE(message, 1);
}

enum rte_status rte_init(void)
{
	pmix_status_t events[] = {PMIX_ERR_LOST_CONNECTION, RTE_EVENT_ASKED};
	pmix_status_t status;

	rte.generation++;
	atomic_store_explicit(&leaving, false, memory_order_seq_cst);
	if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK")) {
		if (has_company())
			return RTE_NO_LAUNCHER_PMIX;
		return be_alone() ? RTE_OK : failed("malloc", PMIX_ERR_NOMEM);
	}
	if (!kept) {
		status = PMIx_Init(&self, NULL, 0);
		if (status != PMIX_SUCCESS) {
			failed("PMIx_Init", status); /* PMIx_Finalize would crash now */
			unreachable = true;
			return RTE_UNREACHABLE;
		}
		PMIx_Register_event_handler(events, 2, NULL, 0, server_speaks, NULL, NULL);
	} else {
		tell_oshrun(true);
	}
	kept = false;
	rte.connected = true;
	rte.pe = (int)self.rank;
	if (!read_job_size())
		return failed("PMIx_Get(" PMIX_JOB_SIZE ")", PMIX_ERR_NOT_FOUND);
	if (!read_local_peers())
		return failed("malloc", PMIX_ERR_NOMEM);
	count_hosts();
	return RTE_OK;
}

/*
 * PMIx stays connected until the process ends. Its servers lose count of processes that finalize and initialise PMIx again: the old
 * connection of one that closes late is taken out of the fence that others have begun, so some pass it alone and some wait for ever.
 */
void rte_finalize(void)
{
	atomic_store_explicit(&leaving, true, memory_order_seq_cst);
	kept = rte.connected;
	if (kept)
		tell_oshrun(false);
	free(rte.local_pes);
	rte.local_pes = NULL;
	rte.connected = false;
	rte.n_pes = rte.n_local = 0;
}

void rte_leave(void)
{
	if (kept)
		PMIx_Finalize(NULL, 0);
	kept = false;
}

/*
 * A fence that a peer left unfinished returns PMIX_ERR_PARTIAL_SUCCESS at once. That peer is dead and the launcher is about to end the
 * job; or a shell script runs one program after the other, and the peer is between two of them. So we try again for a while.
 */
static enum rte_status meet_in_fence(bool collect)
{
	int tries = TRIES;
	pmix_status_t status = PMIX_SUCCESS;
	pmix_info_t how;

	if (!rte.connected)
		return RTE_OK;
	PMIX_INFO_LOAD(&how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	tell_of_fence(true);
	while (tries-- > 0) {
		status = PMIx_Fence(NULL, 0, &how, 1);
		if (status != PMIX_ERR_PARTIAL_SUCCESS)
			break;
		nanosleep(&between_tries, NULL);
	}
	tell_of_fence(false);
	return status == PMIX_SUCCESS ? RTE_OK : failed("PMIx_Fence", status);
}

/*
 * Slurm takes a fence that collects no data for one that nobody needs to wait in: each PE leaves it at once, unless the site
 * says otherwise (PMIxFenceBarrier).
 */
enum rte_status rte_fence(void)
{
	return meet_in_fence(strncmp(self.nspace, "slurm.", 6) == 0);
}

/* It may still be under way when its caller has left. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool done;
	pmix_status_t status;
} last_fence = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void last_fence_over(pmix_status_t status, void *unused)
{
	(void)unused;
	pthread_mutex_lock(&last_fence.lock);
	last_fence.done = true;
	last_fence.status = status;
	pthread_cond_signal(&last_fence.over);
	pthread_mutex_unlock(&last_fence.lock);
}

bool rte_fence_within(int seconds)
{
	bool collect = strncmp(self.nspace, "slurm.", 6) == 0; /* see rte_fence */
	struct timespec end;
	static pmix_info_t how; /* in use until the fence is over */
	int late = 0;

	if (!rte.connected)
		return true;
	PMIX_INFO_LOAD(&how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;
	tell_of_fence(true);
	if (PMIx_Fence_nb(NULL, 0, &how, 1, last_fence_over, NULL) != PMIX_SUCCESS)
		return false;
	pthread_mutex_lock(&last_fence.lock);
	while (!last_fence.done && !late)
		late = pthread_cond_timedwait(&last_fence.over, &last_fence.lock, &end);
	pthread_mutex_unlock(&last_fence.lock);
	return last_fence.done && last_fence.status == PMIX_SUCCESS;
}

static const char *card_key(char key[32])
{
	snprintf(key, 32, "torushmem.%d", rte.generation);
	return key;
}

/*
 * The fence brings the cards of a job that is not large to every node at once. Fetching them one by one, on first contact, costs
 * milliseconds each, and Open MPI 4.1 may say that there is no card when two PEs of a node ask for the same one.
 */
enum rte_status rte_exchange(const void *card, size_t size)
{
	pmix_status_t status;
	pmix_value_t value;
	char key[32];

	if (!rte.connected)
		return RTE_OK;
	value.type = PMIX_BYTE_OBJECT;
	value.data.bo.bytes = (char *)(uintptr_t)card;
	value.data.bo.size = size;
	status = PMIx_Put(PMIX_GLOBAL, card_key(key), &value);
	if (status != PMIX_SUCCESS)
		return failed("PMIx_Put", status);
	status = PMIx_Commit();
	if (status != PMIX_SUCCESS)
		return failed("PMIx_Commit", status);
	rte.all_cards = rte.n_pes <= COLLECTED_JOB;
	return rte.all_cards ? meet_in_fence(true) : rte_fence();
}

void *rte_fetch(int pe, size_t *size)
{
	pmix_value_t *value = NULL;
	pmix_status_t status;
	pmix_proc_t peer;
	void *card = NULL;
	char key[32];

	PMIX_LOAD_PROCID(&peer, self.nspace, (pmix_rank_t)pe);
	status = PMIx_Get(&peer, card_key(key), NULL, 0, &value);
	if (status != PMIX_SUCCESS || !value || value->type != PMIX_BYTE_OBJECT) {
		failed("PMIx_Get", status);
		return NULL;
	}
	card = malloc(value->data.bo.size);
	if (card) {
		memcpy(card, value->data.bo.bytes, value->data.bo.size);
		*size = value->data.bo.size;
	}
	PMIX_VALUE_RELEASE(value);
	return card;
}

bool rte_host(int pe, char *name, size_t size)
{
	pmix_value_t *value = NULL;
	pmix_proc_t peer;
	bool told;

	if (!rte.connected)
		return gethostname(name, size) == 0;
	PMIX_LOAD_PROCID(&peer, self.nspace, (pmix_rank_t)pe);
	if (PMIx_Get(&peer, PMIX_HOSTNAME, NULL, 0, &value) != PMIX_SUCCESS || !value)
		return false;
	told = value->type == PMIX_STRING && (size_t)snprintf(name, size, "%s", value->data.string) < size;
	PMIX_VALUE_RELEASE(value);
	return told;
}

/*
 * By its name: PMIX_NODEID is not told of other hosts by Open MPI 4.1, nor by oshrun's server to a process that came back. The hash
 * is FNV-1a; with 64 bits, two of a million hosts have the same once in forty million jobs.
 */
bool rte_node(int pe, uint64_t *number)
{
	char name[HOST_NAME];

	*number = 14695981039346656037u;
	if (rte.n_local == rte.n_pes)
		return true;
	if (!rte_host(pe, name, sizeof name))
		return false;
	for (const char *c = name; *c; c++)
		*number = (*number ^ (unsigned char)*c) * 1099511628211u;
	return true;
}

/*
 * A value about the fabric; of a host, or of all where that is NULL. Only from what the server told at the start: few servers know
 * of such things, and asking them one by one may take long.
 */
static pmix_value_t *fabric_value(const char *key, const char *host)
{
	pmix_value_t *value = NULL;
	pmix_status_t status;
	pmix_info_t about[3];
	pmix_proc_t job;
	bool yes = true;

	if (!rte.connected)
		return NULL;
	PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
	PMIX_INFO_LOAD(&about[0], PMIX_OPTIONAL, &yes, PMIX_BOOL);
	PMIX_INFO_LOAD(&about[1], PMIX_NODE_INFO, &yes, PMIX_BOOL);
	PMIX_INFO_LOAD(&about[2], PMIX_HOSTNAME, host ? host : "", PMIX_STRING);
	status = PMIx_Get(&job, key, about, host ? 3 : 1, &value);
	PMIX_INFO_DESTRUCT(&about[2]);
	return status == PMIX_SUCCESS ? value : NULL;
}

static int take_numbers(const uint32_t *from, size_t count, int *to, int most)
{
	if (!from || count > (size_t)most)
		return 0;
	for (size_t i = 0; i < count; i++)
		to[i] = (int)from[i];
	return (int)count;
}

void *rte_vendor_map(bool ask, size_t *size)
{
	static const char key[] = "fjpmix.rankmap";
	pmix_value_t *value = NULL;
	void *map = NULL;

	if (rte.connected)
		value = ask ? job_value(key) : fabric_value(key, NULL);
	if (value && value->type == PMIX_BYTE_OBJECT && value->data.bo.size > 0) {
		map = malloc(value->data.bo.size);
		*size = value->data.bo.size;
	}
	if (map)
		memcpy(map, value->data.bo.bytes, *size);
	if (value)
		PMIX_VALUE_RELEASE(value);
	return map;
}

/* An array of numbers where there is one fabric; where there are several none is the one. */
int rte_fabric_shape(int *size, int most)
{
	pmix_value_t *value = fabric_value(PMIX_FABRIC_SHAPE, NULL);
	const pmix_data_array_t *array = value && value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
	int axes = array && array->type == PMIX_UINT32 ? take_numbers(array->array, array->size, size, most) : 0;

	if (value)
		PMIX_VALUE_RELEASE(value);
	return axes;
}

/* Of the first device of the host that has any, as they are numbered in the fabric. */
int rte_fabric_coordinates(int pe, int *at, int most)
{
	const pmix_data_array_t *devices;
	pmix_value_t *value;
	char host[256];
	int axes = 0;

	if (!rte_host(pe, host, sizeof host))
		return 0;
	value = fabric_value(PMIX_FABRIC_COORDINATES, host);
	devices = value && value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
	for (size_t d = 0; devices && devices->type == PMIX_GEOMETRY && d < devices->size && axes == 0; d++) {
		const pmix_geometry_t *device = (const pmix_geometry_t *)devices->array + d;

		for (size_t c = 0; c < device->ncoords && axes == 0; c++)
			if (device->coordinates[c].view != PMIX_COORD_PHYSICAL_VIEW)
				axes = take_numbers(device->coordinates[c].coord, device->coordinates[c].dims, at, most);
	}
	if (value)
		PMIX_VALUE_RELEASE(value);
	return axes;
}

/*
 * A process that may run on fewer processors than there are PEs is bound to them, or all PEs share them. oshrun knows. Other
 * launchers do not say: bound is who has fewer than the machine or the container.
 */
int rte_node_processors(void)
{
	int mine = rte_processors(), all = mine;
	pmix_value_t *value;

	if (mine >= rte.n_local || !rte.connected)
		return mine;
	value = job_value(RTE_KEY_PROCESSORS);
	if (!value)
		return rte_container_processors();
	if (value->type == PMIX_UINT32)
		all = (int)value->data.uint32;
	PMIX_VALUE_RELEASE(value);
	return all;
}

/* oshrun says how many PEs are in each, for it may place PEs as on another machine; else the PE's own processors tell. */
int rte_memory_group(int *groups)
{
	pmix_value_t *value = rte.connected ? fabric_value(RTE_KEY_MEMORY_GROUPS, NULL) : NULL;
	const char *sizes = value && value->type == PMIX_STRING ? value->data.string : NULL;
	int group = -1, before = 0;

	*groups = 0;
	if (!sizes)
		group = rte_memory_group_by_affinity(groups);
	for (const char *at = sizes; at; at = strchr(at, ','), at += at != NULL) {
		before += atoi(at);
		if (group < 0 && rte.pe < before)
			group = *groups;
		++*groups;
	}
	if (value)
		PMIX_VALUE_RELEASE(value);
	return group;
}

/* A launcher's server may want to reach a host that is gone before it answers. */
static void *end_anyway(void *status)
{
	const struct timespec patience = {5, 0};

	nanosleep(&patience, NULL);
	_exit((int)(intptr_t)status);
}

void rte_abort(int status, const char *message)
{
	pthread_t thread;

	/* What the program printed so far should be seen, but not at the price of waiting for another thread. */
	if (ftrylockfile(stdout) == 0) {
		fflush_unlocked(stdout);
		funlockfile(stdout);
	}
	atomic_store_explicit(&leaving, true, memory_order_seq_cst);
	if (rte.last_words)
		rte.last_words();
	pthread_create(&thread, NULL, end_anyway, (void *)(intptr_t)status);
	/* A PE that fails before it came up, or after it went down, must tell the launcher, too: others may wait for it. */
	if (rte.connected || kept || (!unreachable && getenv("PMIX_RANK") && PMIx_Init(&self, NULL, 0) == PMIX_SUCCESS))
		PMIx_Abort(status, message, NULL, 0);
	_exit(status);
}
