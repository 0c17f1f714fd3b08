/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_RTE_H
#define RTE_RTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Who am I, who is there, what do they publish. A PMIx client; without a launcher, a job of one PE.
 *
 * A PE publishes one card (bytes that the layer above makes); any other PE can fetch it after the
 * exchange that followed. Everything here may be called by one thread at a time, but for
 * rte_fetch, rte_abort and the reports, which any thread may call.
 */

enum rte_status {
	RTE_OK,
	RTE_NO_LAUNCHER_PMIX, /* started by a launcher that gave us no PMIx */
	RTE_UNREACHABLE,      /* PMIX_ variables are there, their server is not */
	RTE_FAILED            /* a PMIx call failed; rte.problem says which */
};

/* An access to memory that a signal has ended, or another signal. For who knows more of it than the handler. */
enum rte_access { RTE_ACCESSES, RTE_READS, RTE_WRITES };
struct rte_fault {
	uintptr_t address;
	bool is_fault;	 /* the address is one */
	bool nowhere;	 /* but not a possible one, and not known */
	bool in_library; /* some of the calls are the library's */
	bool at_once;	 /* the instruction itself is */
	enum rte_access access;
	const char *routine;  /* of the API, as the calls say; NULL: none */
	const char *argument; /* of the routine, NULL: not known which */
	bool memory_known;    /* [memory, memory + bytes) is what it has been given */
	uintptr_t memory;
	size_t bytes;
};

struct rte {
	int pe;
	int n_pes;
	int n_local;	/* PEs on this node, this one included */
	int *local_pes; /* their numbers, ascending */
	bool several_hosts;
	bool all_cards; /* every PE's card is on this node, to be fetched without asking another */
	bool connected; /* a PMIx server is there */
	int generation; /* how many times this process came up */
	char problem[160];
	void (*explain)(struct rte_fault *fault); /* called in the handler of a signal, in the thread that it came to; NULL: nothing */
	void (*last_words)(void); /* called before the process ends otherwise than it should; NULL: nothing */
};

extern struct rte rte;

enum rte_status rte_init(void);
void rte_finalize(void);

/* The process ends: to be called after the last rte_finalize, which may have kept the connection for another rte_init. */
void rte_leave(void);

/* Makes this PE's card visible to all PEs, and waits until every PE's card is. */
enum rte_status rte_exchange(const void *card, size_t size);

/* The card of a PE, in memory that the caller frees; NULL if it cannot be had (rte.problem). */
void *rte_fetch(int pe, size_t *size);

/* Every PE of the job comes here before any leaves. */
enum rte_status rte_fence(void);

/* The same, for at most so long. False: some did not come; the job is to end. */
bool rte_fence_within(int seconds);

/* What oshrun tells besides what PMIx defines: processors the PEs of a node have together, whatever each is bound to. */
#define RTE_KEY_PROCESSORS "torushmem.processors"

/* And how many of the PEs are in each memory group, "12,12,12,12": groups are in the order of the PEs. */
#define RTE_KEY_MEMORY_GROUPS "torushmem.memory_groups"

/* What a PE tells oshrun (a directive of PMIx_Job_control): true in shmem_init when PMIx is connected already, false in shmem_finalize. */
#define RTE_KEY_UP "torushmem.up"

/*
 * And whether this PE may be in a fence of PMIx: true just before it enters one, false behind it. A PE that has said nothing yet may be.
 * oshrun's server survives the loss of PEs only while nobody is in a fence (server_halt).
 */
#define RTE_KEY_FENCE "torushmem.fence"

/* And the whole name of the file that SHMEM_TRACE names. */
#define RTE_KEY_TRACE "torushmem.trace"

/* Is oshrun the launcher of this PE, on this host? Tells it where the trace is to be, so that it can join the parts of a job that ends early. */
bool rte_by_oshrun(void);
void rte_tell_trace(const char *name);

/* What to do, in a thread of PMIx's, when the launcher asks what this PE waits for (RTE_EVENT_ASKED); NULL: nothing. */
void rte_when_asked(void (*function)(void));
#define RTE_EVENT_ASKED (-3141) /* a status of PMIx's, of those that are free for others */

/* How a deliberate end reaches the launcher: the message that goes with the status. */
#define RTE_SAID "torushmem:said"		/* the reason has been printed */
#define RTE_EXIT "torushmem:exit"		/* exit(status) before shmem_finalize; it has been printed, too */
#define RTE_GLOBAL_EXIT "torushmem:global_exit" /* shmem_global_exit(status) */

/* Ends the whole job. Does not return. */
_Noreturn void rte_abort(int status, const char *message);

/* "torushmem: PE 3: text" on standard error, in one piece. Routine may be NULL. */
void rte_report(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, then the end of the job with exit code 1. */
_Noreturn void rte_die(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same for a mistake that all PEs make alike, such as a bad setting: PE 0 speaks, and the others only if it did
 * not end them in the meantime.
 */
_Noreturn void rte_die_together(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Before a complaint about what another PE's failure has caused: if that is what happened, the launcher or that PE says so,
 * and the job ends meanwhile.
 */
void rte_let_others_speak(void);

/*
 * From now on a signal that ends the process says first which PE it is and which routine it was in, with the calls that led
 * there (SHMEM_BACKTRACE). Handlers that the program has installed before are called afterwards; later ones take their place.
 */
void rte_crash_start(void);
void rte_crash_stop(void);

/* The same as rte_report, but only with SHMEM_DEBUG set. */
void rte_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number for the host that a PE is on, another one for each. False: the launcher does not tell. */
bool rte_node(int pe, uint64_t *number);

/* The name of the host that a PE is on. False: the launcher does not tell. */
bool rte_host(int pe, char *name, size_t size);

/*
 * What the launcher knows of the fabric: the sizes of its axes, and where the node of a PE is. They return how many axes; 0: it
 * does not tell, or there are more than most.
 */
int rte_fabric_shape(int *size, int most);
int rte_fabric_coordinates(int pe, int *at, int most);

/*
 * Where the ranks of this job are, as a vendor's launcher tells its own library: bytes that only that understands, and that the
 * caller frees. NULL: nobody says. Only from what the launcher told at the start, unless it is to be asked.
 */
void *rte_vendor_map(bool ask, size_t *size);

/*
 * Processors that the PEs of this node have together; those this process may run on, fewer where it is bound. The memory
 * it may use (the machine's or its cgroup's).
 */
int rte_node_processors(void);

/* The number of the memory group (NUMA node) that this process is bound to, and how many the node has; -1: to none, or nobody says. */
int rte_memory_group(int *groups);
/* The same by the processors this process may run on. */
int rte_memory_group_by_affinity(int *groups);
int rte_processors(void);
int rte_container_processors(void); /* of the machine or the container, whatever this process is bound to */
size_t rte_memory(void);

#endif
