/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_RTE_H
#define RTE_RTE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The run-time environment: the number of this PE, the other PEs of the job, and what they publish.
 * PMIx or a rendezvous over TCP brings the PEs together (rte/start/provider.h); without either, the
 * job has one PE.
 *
 * A PE publishes its endpoint info (bytes that the layer above makes), and any other PE can fetch
 * it after rte_exchange. One thread at a time may call these functions, but any thread may call
 * rte_fetch, rte_abort and the reports.
 */

enum rte_status {
	RTE_OK,
	RTE_NO_LAUNCHER_PMIX, /* the launcher offers no PMIx */
	RTE_UNREACHABLE,      /* the PMIX_ variables name a server that does not answer */
	RTE_FAILED,	      /* a PMIx call failed; rte.problem says which */
	RTE_BAD_START,	      /* without a launcher's PMIx; rte.problem is a whole sentence */
};

/*
 * A signal, usually for a memory access. The handler fills it in, and rte.explain adds what the
 * upper layers know.
 */
enum rte_access { RTE_ACCESSES, RTE_READS, RTE_WRITES };
struct rte_fault {
	uintptr_t address;
	bool is_fault;	 /* the address is that of a memory access */
	bool nowhere;	 /* not a possible address; its real value is unknown */
	bool in_library; /* at least one call is the library's */
	bool at_once;	 /* the faulting instruction itself is the library's */
	enum rte_access access;
	const char *routine;  /* API routine, by the calls; NULL: none */
	const char *argument; /* of the routine, NULL: unknown */
	bool memory_known;    /* [memory, memory + bytes) is the argument */
	uintptr_t memory;
	size_t bytes;
	const char *place; /* what contains the address; NULL: nothing worth a word */
	int place_pe;	   /* the PE whose it is */
};

struct rte {
	int pe;
	int n_pes;
	int n_local;	/* PEs on this node, this one included */
	int *local_pes; /* their numbers, ascending */
	bool several_hosts;
	/* This node has the endpoint infos of all PEs, so rte_fetch asks no other node. */
	bool has_all_infos;
	bool connected; /* to the other PEs' infos; false: a job of one PE */
	int generation; /* number of rte_init calls of this process */
	char problem[400];
	/* Called by the signal handler, in the interrupted thread; NULL: nothing. */
	void (*explain)(struct rte_fault *fault);
	void (*last_words)(void); /* called before the process ends abnormally; NULL: nothing */
	/* Errors break the job and calls return: see rte_break. */
	bool returns_errors;
	int64_t silence_ms; /* after which a PE that does not answer breaks it; 0: no limit */
};

extern struct rte rte;

enum rte_status rte_init(void);
void rte_finalize(void);

/*
 * Makes an id of a new job, which the caller hands to all PEs of that job, and listens for them. A
 * status other than RTE_OK comes with rte.problem.
 */
#define RTE_UNIQUE_ID_BYTES 128
enum rte_status rte_make_unique_id(void *id);

/*
 * The next rte_init joins the job of this id, whatever the environment says. False: these bytes are
 * no id.
 */
bool rte_use_unique_id(const void *id, int pe, int n_pes);

/* Does the environment, or rte_use_unique_id, say that this process is one of several PEs? */
bool rte_has_other_pes(void);

/* What has told rte_init of a job without a launcher's PMIx; NULL: nothing. */
const char *rte_start_source(void);

/*
 * Closes the connection, which rte_finalize keeps for another rte_init. Call it when the process
 * ends, after the last rte_finalize.
 */
void rte_leave(void);

/* Publishes the endpoint info of this PE, and waits until all PEs have published theirs. */
enum rte_status rte_exchange(const void *info, size_t size);

/*
 * Fetches the endpoint info of a PE into memory that the caller frees. Returns NULL on failure
 * (rte.problem).
 */
void *rte_fetch(int pe, size_t *size);

/* Waits until all PEs of the job have called it. */
enum rte_status rte_fence(void);

/*
 * The same, for at most this many seconds. Returns false if some PEs have not called it; the job
 * must then end.
 */
bool rte_fence_within(int seconds);

/*
 * Keys of oshrun in addition to those of PMIx: the number of processors that the PEs of a node may
 * use together, whatever each is bound to.
 */
#define RTE_KEY_PROCESSORS "torushmem.processors"

/*
 * How many PEs are in each memory group, as in "12,12,12,12". The groups are in the order of the
 * PEs.
 */
#define RTE_KEY_MEMORY_GROUPS "torushmem.memory_groups"

/*
 * Notifications from a PE to oshrun, directives of PMIx_Job_control. True in shmem_init if PMIx is
 * connected already, false in shmem_finalize.
 */
#define RTE_KEY_UP "torushmem.up"

/*
 * Whether this PE may be in a fence of PMIx: true just before it enters one, false after it. A PE
 * that has not sent this yet may be in one. oshrun's server survives the loss of PEs only while no
 * PE is in a fence (server_halt).
 */
#define RTE_KEY_FENCE "torushmem.fence"

/* The full name of the file that SHMEM_TRACE names. */
#define RTE_KEY_TRACE "torushmem.trace"

/*
 * The entry of the environment in which oshrun hands on the torus that it found, a shape file with
 * ; in place of newlines.
 */
#define RTE_TORUS_FOUND "OSHRUN_TORUS_FOUND"

/* Is oshrun the launcher of this PE, on this host? */
bool rte_by_oshrun(void);

/*
 * Notifies oshrun of the name of the trace, so that it can join the parts of a job that ends early.
 */
void rte_notify_trace(const char *name);

/*
 * Sets the function that a thread of PMIx calls when the launcher asks what this PE waits for
 * (RTE_EVENT_ASKED); NULL: none.
 */
void rte_when_asked(void (*function)(void));
#define RTE_EVENT_ASKED (-3141) /* a status in the range that PMIx leaves to others */

/*
 * Messages of rte_abort that oshrun knows, for an end that the library or the program has asked
 * for.
 */
#define RTE_SAID "torushmem:said" /* the reason has been printed */
/* exit(status) before shmem_finalize; the reason has been printed. */
#define RTE_EXIT "torushmem:exit"
#define RTE_GLOBAL_EXIT "torushmem:global_exit" /* shmem_global_exit(status) */

/* Ends the whole job. Does not return. */
_Noreturn void rte_abort(int status, const char *message);

/* "torushmem: PE 3: text" on standard error, in one piece. Routine may be NULL. */
void rte_report(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same; then ends the job with exit code 1. */
_Noreturn void rte_die(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same for a mistake that all PEs make alike, such as a bad setting: PE 0 reports it, and
 * another PE does so only if PE 0 is late or does not make the mistake. Under oshrun only one PE
 * reports it, on any loaded machine.
 */
_Noreturn void rte_die_together(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Errors as values, if the program asks for them: the first error breaks the job for good. This
 * PE keeps it and tells the others, all waits end, and calls do nothing and return. Where the
 * program has not asked, all the functions below end the job like rte_die.
 */
enum rte_errors { RTE_ERRORS_DEFAULT, RTE_ERRORS_END, RTE_ERRORS_RETURN };
enum rte_error_kind { RTE_ERROR_NONE, RTE_ERROR_LOST, RTE_ERROR_SILENT, RTE_ERROR_MISUSE, RTE_ERROR_OTHER };
#define RTE_LINE 1024
struct rte_error {
	int32_t kind;
	int32_t pe; /* at fault; -1: unknown */
	char routine[128];
	char message[RTE_LINE];
};

/* Before rte_init; silence 0 and RTE_ERRORS_DEFAULT: as the environment says. */
void rte_errors_start(enum rte_errors wanted, double silence);

/* A running job has an error: this PE has found out about that one (-1: nobody knows which). */
void rte_break(enum rte_error_kind kind, int pe, const char *routine, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The program has made a mistake; the second, if all PEs make it alike. */
void rte_misuse(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rte_misuse_together(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Another PE has told of the error. */
void rte_take_error(const struct rte_error *error);

/*
 * Sets the function that any thread calls after the job is broken, at once if it is; NULL: none,
 * and the last one does not run any more.
 */
void rte_when_broken(void (*function)(void));
/* The routine in which this thread meets an error that has none. */
void rte_broken_in(const char *routine);

extern atomic_bool rte_is_broken_now;
static inline bool rte_is_broken(void)
{
	return atomic_load_explicit(&rte_is_broken_now, memory_order_relaxed);
}

/* NULL: the job is whole. It is valid until the next rte_errors_start. */
const struct rte_error *rte_first_error(void);

/*
 * Waits before reporting an error that the failure of another PE may have caused. If so, the
 * launcher or that PE reports the failure, and the job ends during the wait, or is broken.
 */
void rte_let_others_speak(void);

/*
 * Starts a thread of the library. Signals sent to the process go to the program's threads, because
 * its handlers do not expect the library's; faults of this thread are reported like theirs. Returns
 * 0 or an error number.
 */
int rte_start_thread(pthread_t *thread, void *(*run)(void *));
#define RTE_THREAD_NAME "[torushmem]" /* name of these threads in top -H and debuggers */

/*
 * Installs handlers for the signals that end the process: they report the PE, the routine that it
 * was in, and the calls that led there (SHMEM_BACKTRACE). After that they call the handlers that
 * the program has installed before; handlers that it installs later replace them. routine is named
 * in complaints about the setting.
 */
void rte_crash_start(const char *routine);
void rte_crash_stop(void);

/*
 * The effect of a signal besides the reports of rte_crash_start: the handler of the program or of a
 * library. Returns false if there is no such signal.
 */
struct sigaction;
bool rte_program_action(int number, struct sigaction *action);

/* The same as rte_report, but only with SHMEM_DEBUG set. */
void rte_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number of the host of a PE, unique per host. Returns false if the launcher does not know. */
bool rte_node(int pe, uint64_t *number);

/* Is the PE on this node, according to the launcher? */
bool rte_is_local(int pe);

/* The name of the host of a PE. Returns false if the launcher does not know. */
bool rte_host(int pe, char *name, size_t size);

/*
 * The fabric as the launcher describes it: the sizes of its axes, and the coordinates of a PE's
 * node. Both return the number of axes; 0: unknown, or more than `most`.
 */
int rte_fabric_shape(int *size, int most);
int rte_fabric_coordinates(int pe, int *at, int most);

/*
 * Where the ranks of this job are, as a vendor's launcher publishes it for the vendor's library:
 * bytes in that library's format, which the caller frees. NULL: not published. With ask, the server
 * is asked; otherwise only what it has sent at the start counts.
 */
void *rte_vendor_map(bool ask, size_t *size);

/*
 * The processors that the PEs of this node may use together; without a launcher's information,
 * those of this process, fewer if it is bound.
 */
int rte_node_processors(void);
int rte_processors(void);
/* Of the machine or the container, regardless of this process's binding. */
int rte_container_processors(void);

/*
 * The memory group (NUMA node) that this process is bound to, and the number of groups on the node;
 * -1: bound to none, or unknown.
 */
int rte_memory_group(int *groups);
/* The same, computed from the processors that this process may run on. */
int rte_memory_group_by_affinity(int *groups);

/* The memory that this process may use: the machine's or its cgroup's. */
size_t rte_memory(void);

#endif
