/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end. Initialise calls nest; only the last finalize releases everything. A program may
 * end without it in four ways, which the exit handler distinguishes: start_pes needs none (the
 * handler finalizes), shmem_global_exit wants none, a child of fork has nothing to finalize, and
 * anything else is an error, which the handler reports.
 */
#include "api.h"

#include <pthread.h>
#include <shmemg.h>
#include <shmemx_binding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comms/core/globals.h"
#include "comms/groups/groups.h"
#include "comms/wait/deadlock.h"
#include "comms/wait/writers.h"
#include "gpu/gpu.h"

/* Seconds that a PE that ends without shmem_finalize waits for all others to end so, too. */
enum { PATIENCE = 5 };

static struct {
	pthread_mutex_t lock;
	atomic_int inits;	/* initialise calls not yet matched by a finalize */
	bool implicit_finalize; /* started by start_pes */
	bool notes_exit;	/* note_exit_status is registered */
	pid_t pid;
	atomic_bool global_exit;
	int exit_status;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Programs that shmem.h of torushmem was compiled into read this before they start the library. */
extern const int shmemx_this_header_needs_libtorushmem;
API const int shmemx_this_header_needs_libtorushmem = TORUSHMEM_VERSION;

/*
 * Only handlers that run before the libraries stop receive the exit status, and nothing can
 * unregister one. A handler of __cxa_atexit could be, but the thread sanitizer gives it no status.
 */
static void note_exit_status(int status, void *unused)
{
	(void)unused;
	library.exit_status = status;
}

/* How errors are handled: shmemx_init_attr_t. */
struct errors_wanted {
	int errors;
	double silence;
};
static const struct errors_wanted errors_by_environment = {SHMEMX_ERRORS_DEFAULT, 0};

/* Returns false if it fails in a job whose calls return errors. */
static bool start_rte(const char *routine)
{
	switch (rte_init()) {
	case RTE_OK: return true;
	/* All PEs have the same problem, and this launcher may let all of them report it. */
	case RTE_NO_LAUNCHER_PMIX:
		if (rte.pe == 0)
			rte_report(routine,
				   "the launcher (%s) offers this process no PMIx; use oshrun, Open MPI's mpirun, "
				   "prterun or srun --mpi=pmix, or set SHMEM_ROOT=HOST:PORT (shmemx_init_attr(3))",
				   rte.problem);
		rte_abort(1, RTE_SAID);
	case RTE_UNREACHABLE:
		rte_die(routine,
			"the launcher's PMIx server does not answer (%s); start the job anew, or clear the PMIX_ "
			"variables to run one PE",
			rte.problem);
	case RTE_FAILED: rte_die(routine, "the launcher's PMIx server failed: %s", rte.problem);
	case RTE_BAD_START: rte_break(RTE_ERROR_OTHER, -1, routine, "%s", rte.problem); break;
	}
	return false;
}

static void stop_rte(void)
{
	rte_crash_stop();
	rte_finalize();
	if (rte_is_broken())
		globals_take_back(); /* after the last thread of the library's own */
}

static void stop_library(void);

/* stop_library undoes these steps in the opposite order. */
static bool start_library(const char *routine)
{
	/* Both before a provider starts a thread: threads that exist now are the program's. */
	writers_before_start();
	globals_start();
	if (!start_rte(routine)) {
		rte_finalize();
		return false;
	}
	/* Where errors return, the others do not learn the status, so no handler stays behind. */
	if (!library.notes_exit && !rte.returns_errors)
		library.notes_exit = on_exit(note_exit_status, NULL) == 0;
	library.pid = getpid();
	/* Before all steps that may crash, after the PE number that its reports name. */
	rte_crash_start(routine);
	/* The choice of networks and waits depends on it. */
	comms.threads = api_threads_at_once() || comms.device_wanted;
	/* Connections fill it in, and comms_start makes the first one. */
	comms.shortcuts = api_inline_shortcuts();
	if (!comms_start()) {
		comms_stop();
		stop_rte();
		return false;
	}
	api_heap_start();
	api_teams_start();
	api_collectives_start();
	api_plans_start();
	api_gpu_start(routine); /* needs the heap, and a barrier of the world */
	api_trace_start();	/* needs a barrier of the world, and so its team */
	api_inline_start();	/* heap and network atomics do not change any more */
	/* After the last thread of the library's own: those that come later are the program's. */
	deadlock_start(&api_world.group, comms_group_prepare, api_thread_level <= SHMEM_THREAD_FUNNELED);
	api_print_start(); /* last: it reports what all the steps found */
	if (rte_is_broken())
		stop_library();
	return !rte_is_broken();
}

/* What may be or'ed to the level that is requested: shmemg.h. */
#define GPU_SUPPORT (SHMEM_DEVICE_HOST_INIT | SHMEM_DEVICE_KERNEL_INIT)

/*
 * The level in force: what the first initialise call asked for; all levels are possible. Returns
 * false if the job cannot start, and its calls return errors.
 */
static bool initialise(int requested, const struct errors_wanted *wanted, const char *routine)
{
	bool up = true;

	pthread_mutex_lock(&library.lock);
	if (atomic_load_explicit(&library.inits, memory_order_seq_cst) == 0) {
		api_thread_level = requested & ~GPU_SUPPORT;
		comms.device_wanted = requested & SHMEM_DEVICE_HOST_INIT;
		library.implicit_finalize = false;
		rte_errors_start((enum rte_errors)wanted->errors, wanted->silence);
		up = start_library(routine);
	}
	if (up)
		atomic_fetch_add_explicit(&library.inits, 1, memory_order_seq_cst);
	pthread_mutex_unlock(&library.lock);
	return up;
}

/* For routines without a status: a job that cannot start ends. */
static void initialise_or_die(int requested, const char *routine)
{
	if (!initialise(requested, &errors_by_environment, routine)) {
		fprintf(stderr, "%s\n", rte_first_error()->message);
		rte_abort(1, RTE_SAID);
	}
}

/* Ends what the program has begun while the complete library still works. */
static void finish_program(void)
{
	if (rte_is_broken())
		return;
	api_plans_check("shmem_finalize");
	api_rdma_finish("shmem_finalize");
	api_stats_stop(); /* reads the counters before the barrier adds to them */
	api_gpu_part();
	api_barrier_at_end();
}

/* In a broken job, none of these steps waits for other PEs. */
static void stop_library(void)
{
	finish_program();
	deadlock_stop();
	api_inline_stop();
	api_trace_stop();
	api_exchanges_stop(); /* before the plans: an exchange may have one */
	api_plans_stop();
	api_gpu_stop();
	api_rdma_stop();
	api_teams_stop();
	api_heaps_stop();
	api_heap_stop();
	comms_stop();
	stop_rte();
}

API void pshmem_init(void)
{
	initialise_or_die(SHMEM_THREAD_SINGLE, __func__);
}
PROFILED(shmem_init)

API int pshmem_init_thread(int requested, int *provided)
{
	int level = requested & ~GPU_SUPPORT;

	if (level < SHMEM_THREAD_SINGLE || level > SHMEM_THREAD_MULTIPLE)
		return 1;
	if (!initialise(requested, &errors_by_environment, __func__))
		return 1;
	*provided = api_thread_level | (api_gpu_is_there() ? SHMEM_DEVICE_HOST_INIT : 0);
	return 0;
}
PROFILED(shmem_init_thread)

/* Like shmem_init, the start is what all PEs do together, so a mistake ends this one. */
static void check_attr(const shmemx_init_attr_t *attr, const char *routine)
{
	if (attr->rank < 0 || attr->rank >= attr->size)
		rte_die(routine, "rank=%d and size=%d: give the number of PEs, and the number of this PE below that",
			attr->rank, attr->size);
}

static void check_threads(int threads, const char *routine)
{
	if (threads < SHMEM_THREAD_SINGLE || threads > SHMEM_THREAD_MULTIPLE)
		rte_die(routine, "threads=%d: give SHMEM_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE", threads);
}

/* PE 0 makes the id, and the caller's all_gather hands it round. */
static void gather_id(shmemx_unique_id_t *id, const shmemx_init_attr_t *attr, const char *routine)
{
	shmemx_unique_id_t *all = calloc((size_t)attr->size, sizeof *all), mine = {{0}};
	int failed;

	if (!all)
		rte_die(routine, "no memory for size=%d", attr->size);
	if (attr->rank == 0 && rte_make_unique_id(&mine) != RTE_OK)
		rte_die(routine, "%s", rte.problem);
	failed = attr->all_gather(&mine, all, sizeof mine, attr->arg);
	if (failed)
		rte_die(routine, "the program's all_gather failed with %d", failed);
	*id = all[0];
	free(all);
}

API int shmemx_get_unique_id(shmemx_unique_id_t *id)
{
	if (rte_make_unique_id(id) == RTE_OK)
		return 0;
	rte_report(__func__, "%s", rte.problem);
	return 1;
}

API int shmemx_error(shmemx_error_t *error)
{
	const struct rte_error *first = rte_first_error();

	if (error && !first)
		*error = (shmemx_error_t){SHMEMX_ERROR_NONE, -1, NULL, ""};
	else if (error)
		*error = (shmemx_error_t){first->kind, first->pe, first->routine[0] ? first->routine : NULL,
					  first->message};
	return first ? first->kind : SHMEMX_ERROR_NONE;
}

static void check_errors(const shmemx_init_attr_t *attr, const char *routine)
{
	if (attr->errors < SHMEMX_ERRORS_DEFAULT || attr->errors > SHMEMX_ERRORS_RETURN)
		rte_die(routine, "errors=%d: give SHMEMX_ERRORS_DEFAULT, _END or _RETURN", attr->errors);
	if (!(attr->silence >= 0 && attr->silence <= 100000))
		rte_die(routine, "silence=%g: give seconds from 0 to 100000", attr->silence);
}

API int shmemx_init_attr(const shmemx_init_attr_t *attr)
{
	shmemx_unique_id_t id;
	bool has_id = attr->id || attr->all_gather;

	check_threads(attr->threads, __func__);
	check_errors(attr, __func__);
	if (has_id && atomic_load_explicit(&library.inits, memory_order_seq_cst) == 0) {
		check_attr(attr, __func__);
		if (attr->id)
			id = *attr->id;
		else
			gather_id(&id, attr, __func__);
		if (!rte_use_unique_id(&id, attr->rank, attr->size))
			rte_die(__func__, "%s are no unique id; hand round all bytes that shmemx_get_unique_id made",
				attr->id ? "the bytes of id" : "the first bytes that all_gather stored");
	}
	return !initialise(attr->threads, &(struct errors_wanted){attr->errors, attr->silence}, __func__);
}

API void pstart_pes(int npes)
{
	(void)npes;
	if (atomic_load_explicit(&library.inits, memory_order_seq_cst) > 0)
		return;
	initialise_or_die(SHMEM_THREAD_SINGLE, "start_pes");
	library.implicit_finalize = true;
}
PROFILED(start_pes)

API void pshmem_finalize(void)
{
	if (!comms_check_up(__func__))
		return;
	pthread_mutex_lock(&library.lock);
	if (atomic_load_explicit(&library.inits, memory_order_seq_cst) > 1) {
		if (!rte_is_broken())
			api_barrier_all(__func__);
		atomic_fetch_sub_explicit(&library.inits, 1, memory_order_seq_cst);
	} else {
		stop_library();
		atomic_store_explicit(&library.inits, 0, memory_order_seq_cst);
	}
	pthread_mutex_unlock(&library.lock);
}
PROFILED(shmem_finalize)

API void pshmem_query_initialized(int *initialized)
{
	*initialized = atomic_load_explicit(&library.inits, memory_order_seq_cst) > 0;
}
PROFILED(shmem_query_initialized)

API void pshmem_global_exit(int status)
{
	comms_check_up(__func__);
	library.exit_status = status;
	atomic_store_explicit(&library.global_exit, true, memory_order_seq_cst);
	exit(status); /* runs the program's handlers; at_exit runs last and notifies the launcher */
}
PROFILED(shmem_global_exit)

/*
 * The caller passes the routine, because it knows better than caller_name what the program called.
 */
API void shmemx_binding_die(const char *routine, const char *text)
{
	rte_die_together(NULL, "%s: %s", routine, text);
}

/*
 * Runs after the program's own handlers and before the libraries beneath are finalized. (A handler
 * registered by a constructor would run too late.)
 */
__attribute__((destructor)) static void at_exit(void)
{
	int status = library.exit_status;

	if (getpid() != library.pid)
		return;
	if (atomic_load_explicit(&library.inits, memory_order_seq_cst) == 0) {
		rte_leave();
		return;
	}
	if (atomic_load_explicit(&library.global_exit, memory_order_seq_cst)) {
		fflush(NULL);
		rte_abort(status & 255, RTE_GLOBAL_EXIT);
	}
	if (rte_is_broken() || (status == 0 && (library.implicit_finalize || rte_fence_within(PATIENCE)))) {
		stop_library();
		rte_leave();
		return;
	}
	fflush(NULL);
	if (status == 0)
		rte_die_together("shmem_finalize", "not called before the program ended; call it on every PE");
	rte_report(NULL, "exit with status %d before shmem_finalize; this ends the job", status);
	rte_abort(status & 255, RTE_EXIT);
}
