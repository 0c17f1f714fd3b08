/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_SHARED_JOB_H
#define SOFTOFU_NIC_SHARED_JOB_H

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softofu/softofu_settings.h"

/*
 * What all processes of a job on this machine share: one mapping, made by the first process and
 * gone with the last.
 *
 * It holds the state of every NIC that others touch: queues, registered memory, message receive
 * queues, scheduling pointers, barrier gates. So a process that brings something to a NIC does
 * itself what the NIC would do. Registered memory stays in its process; others reach it through the
 * kernel (reach.h).
 *
 * The mapping is sparse: untouched parts take no memory.
 */
enum {
	TNIS = 6,
	CQS = 11,
	COMPONENTS = 16, /* 0-7: named by the program; 8-15: given out by utofu_create_vcq */
	NAMED_COMPONENTS = 8,
	FIXED_STAGS = 256,
	MEMORIES = 16384, /* registrations without a fixed stag, per process */
	GATES = 48,	  /* barrier gates per TNI */
	START_GATES = 16, /* of these, the ones a barrier can start at */
	GATE_WORDS = 6,
	GATE_DEPTH = 4,
};

/* Registered memory. The writer sets size last, and readers check it first; 0: free. */
struct memory {
	_Atomic uint64_t size;
	_Atomic uint64_t address;
	_Atomic uint32_t vcq; /* whose, a number of a VCQ plus 1 */
	_Atomic uint32_t stag;
	_Atomic uint32_t flags;
	uint32_t unused;
};
static_assert(sizeof(struct memory) == 32, "half a cache line");

/*
 * A notice in a message receive queue. The writer sets sequence last, to the number of the notice
 * plus 1.
 */
struct mrq_entry {
	_Atomic uint64_t sequence;
	uint64_t vcq_id;
	uint64_t rmt_value;
	uint64_t lcl_stadd;
	uint64_t rmt_stadd;
	uint8_t type;
	uint8_t edata;
	int16_t code;
	uint32_t unused;
	int64_t time;	  /* modelled, picoseconds; 0: without a network */
	uint64_t message; /* message that it is about, see recording.h; 0: no recording */
};
static_assert(sizeof(struct mrq_entry) == 64, "a cache line");

struct shared_vcq {
	_Atomic uint32_t live; /* 2: it is being made */
	uint32_t rank;
	_Atomic uint64_t id; /* atomic: a reader of all VCQs may find one that is being created */
	uint64_t flags;
	_Atomic uint32_t mrq_lost;		/* the queue was full once, and is broken */
	_Atomic uint32_t mrq_warned;		/* the queue was nearly full once */
	alignas(64) _Atomic uint64_t scheduled; /* how far the session's descriptors may go */
	alignas(64) _Atomic uint64_t mrq_tail;
	/* Head as the writers last saw it, which saves them reading mrq_head. */
	_Atomic uint64_t mrq_head_seen;
	alignas(64) _Atomic uint64_t mrq_head; /* written by the owner */
	alignas(64) struct memory fixed[FIXED_STAGS];
	/*
	 * Then the entries of the message receive queue: settings.mrq_size rounded up to a power of
	 * two.
	 */
};

/*
 * A value that travels between gates. A double has two words: its rounded sum, and the remainder of
 * rounding.
 */
struct gate_value {
	uint8_t op, words;
	bool doubles, wrong; /* wrong: a rank asked for another operation */
	uint64_t word[GATE_WORDS];
};

/* One input of a gate: values that have arrived and have not been used. */
struct gate_input {
	uint64_t id; /* the gate they come from, GATE_NONE: not connected */
	uint32_t first, count;
	struct gate_value values[GATE_DEPTH];
};

struct gate {
	_Atomic int32_t lock;
	uint32_t owner; /* rank plus 1; 0: free */
	bool running, done;
	uint64_t id;
	uint64_t to[2]; /* gates that receive the result */
	struct gate_input from[2];
	struct gate_value mine, result;
};
#define GATE_NONE UINT64_MAX

struct node_nic {
	_Atomic uint32_t vcqs[TNIS][CQS][COMPONENTS]; /* number of the VCQ plus 1 */
	struct gate gates[TNIS][GATES];
};

/* A thread that sends through the network waits for its ticket. */
enum { TICKETS = 64, TICKET_FREE = 0, TICKET_DRAWN, TICKET_ARRIVED };
struct ticket {
	_Atomic uint32_t state;
	_Atomic int32_t reached;
	_Atomic int64_t time;
};

struct process {
	_Atomic int32_t pid;
	_Atomic int32_t changing; /* process that changes the memory of this one atomically */
	_Atomic uint32_t wakeups; /* futex that wakes the NIC's thread */
	_Atomic uint32_t asleep;
	struct ticket tickets[TICKETS];
	struct memory memories[MEMORIES];
};

struct job {
	_Atomic uint32_t ready;
	_Atomic int32_t making; /* process that creates or frees a VCQ or a gate */
	uint64_t bytes, vcq_bytes, mrq_size, processes_at, node_nics_at, vcqs_at;
	uint64_t taking_at, net_at; /* 0: there is no network */
	uint32_t processes, node_nics, vcqs;
	uint32_t first_free_vcq;    /* no VCQ before it is free; with making */
	_Atomic uint32_t used_vcqs; /* no VCQ from it on was ever used */
	/* Whether a process reports the failure of the network, or has done so (packets.c). */
	_Atomic uint32_t net_reported;
};

struct vcq;
struct carrier;

/* Everything of this process. */
struct nic {
	struct settings settings;
	struct job *job;
	struct process *me;
	int rank, node, local; /* local: among the ranks of the node */
	uint8_t coords[GRID_AXES];
	const struct carrier *carrier;
	struct vcq *vcqs; /* an array */
	int vcq_count;
	pthread_mutex_t lock;  /* guards creating and freeing VCQs, and the thread */
	_Atomic int64_t clock; /* modelled time of the latest notice that was read */
	_Atomic uint32_t held; /* descriptors that reorder injection holds back */
	_Atomic bool thread_runs;
	_Atomic uint64_t waits; /* how often the NIC's thread has slept */
	int member_fd, job_fd;
	pthread_mutex_t registration_lock;
	uint32_t next_registration; /* place in the table of the process to try first */
};

/* Returns NULL after one line if this process cannot take part. */
struct nic *nic_get(void);

static inline struct process *job_process(struct job *job, uint32_t rank)
{
	return (struct process *)((char *)job + job->processes_at) + rank;
}

static inline struct node_nic *job_node_nic(struct job *job, uint32_t node)
{
	return (struct node_nic *)((char *)job + job->node_nics_at) + node;
}

static inline struct shared_vcq *job_vcq(struct job *job, uint32_t number)
{
	return (struct shared_vcq *)((char *)job + job->vcqs_at + number * job->vcq_bytes);
}

/* The process that takes from a receive queue of the network, or 0. */
static inline _Atomic int32_t *job_taking(struct job *job, int node, int tni, int cq)
{
	return (_Atomic int32_t *)((char *)job + job->taking_at) + (node * TNIS + tni) * CQS + cq;
}

static inline uint64_t shared_vcq_id(const struct shared_vcq *vcq)
{
	return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)&vcq->id, memory_order_relaxed);
}

static inline struct mrq_entry *vcq_entries(struct shared_vcq *vcq)
{
	return (struct mrq_entry *)(vcq + 1);
}

/*
 * Locks between processes. They hold the process number of the holder, so that a dead holder is
 * noticed.
 */
void job_lock(_Atomic int32_t *lock);
void job_unlock(_Atomic int32_t *lock);

/* Wakes the NIC's thread of a process, if it sleeps. */
void process_wake(struct process *process);

/*
 * rendezvous.c: finds or creates the memory of the job. Call rendezvous_done once the memory is
 * filled.
 */
struct rendezvous {
	int job_fd;
	int member_fd; /* makes this process findable as long as it lives */
	bool first, in_directory;
	int lock_fd; /* no other process creates the memory until it is closed */
	const char *job;
};
bool rendezvous_join(struct rendezvous *rendezvous, const struct settings *settings, uint64_t bytes);
bool rendezvous_done(struct rendezvous *rendezvous);
void rendezvous_leave(const char *directory, int job_fd); /* the last process removes the file */

#endif
