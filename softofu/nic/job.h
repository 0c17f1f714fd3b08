/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_JOB_H
#define SOFTOFU_NIC_JOB_H

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softofu/settings.h"

/*
 * What all processes of a job on this machine share: one mapping, made by the first of them, gone with the last.
 *
 * It holds the state of every network card that others touch: which queue is where, what memory is registered, the
 * message receive queues, scheduling pointers, gates. So whoever brings something to a card can do there what the
 * card would do, whichever process that is. The registered memory itself stays where its owner has it and is reached
 * through the kernel (reach.h).
 *
 * The mapping is sparse: what is not touched takes no memory.
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

/* Registered memory. size is written last and read first; 0: none. */
struct memory {
	_Atomic uint64_t size;
	_Atomic uint64_t address;
	_Atomic uint32_t vcq; /* whose, a number of a VCQ plus 1 */
	_Atomic uint32_t stag;
	_Atomic uint32_t flags;
	uint32_t unused;
};
static_assert(sizeof(struct memory) == 32, "half a cache line");

/* A notice in a message receive queue. turn is written last: the number of the notice plus 1. */
struct mrq_entry {
	_Atomic uint64_t turn;
	uint64_t vcq_id;
	uint64_t rmt_value;
	uint64_t lcl_stadd;
	uint64_t rmt_stadd;
	uint8_t type;
	uint8_t edata;
	int16_t code;
	uint32_t unused;
	int64_t time; /* modelled, picoseconds; 0: without a network */
	uint64_t message; /* which it is about, see record.h; 0: nothing is recorded */
};
static_assert(sizeof(struct mrq_entry) == 64, "a cache line");

struct shared_vcq {
	_Atomic uint32_t live; /* 2: it is being made */
	uint32_t rank;
	_Atomic uint64_t id; /* who looks at all VCQs may find one that is just made anew */
	uint64_t flags;
	_Atomic uint32_t mrq_lost;	       /* it was full once: it is broken */
	alignas(64) _Atomic uint64_t scheduled; /* how far the session's descriptors may go */
	alignas(64) _Atomic uint64_t mrq_tail;
	_Atomic uint64_t mrq_head_seen;	      /* by those who write, who need not look at the owner's each time */
	alignas(64) _Atomic uint64_t mrq_head; /* written by the owner */
	alignas(64) struct memory fixed[FIXED_STAGS];
	/* Then the entries of the message receive queue: settings.mrq_size rounded up to a power of two. */
};

/* What travels between gates. Two words of a double: its rounded sum, and what rounding left over. */
struct gate_value {
	uint8_t op, words;
	bool doubles, wrong; /* wrong: somebody did something else */
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
	uint64_t to[2]; /* gates to tell */
	struct gate_input from[2];
	struct gate_value mine, result;
};
#define GATE_NONE UINT64_MAX

struct card {
	_Atomic uint32_t vcqs[TNIS][CQS][COMPONENTS]; /* number of the VCQ plus 1 */
	struct gate gates[TNIS][GATES];
};

/* What a thread that carries something through the network waits for. */
enum { TICKETS = 64, TICKET_FREE = 0, TICKET_DRAWN, TICKET_ARRIVED };
struct ticket {
	_Atomic uint32_t state;
	_Atomic int32_t reached;
	_Atomic int64_t time;
};

struct process {
	_Atomic int32_t pid;
	_Atomic int32_t changing; /* process that is at an atomic operation on this one's memory */
	_Atomic uint32_t bell;	  /* futex: something is there for the card's thread */
	_Atomic uint32_t asleep;
	struct ticket tickets[TICKETS];
	struct memory memories[MEMORIES];
};

struct job {
	_Atomic uint32_t ready;
	_Atomic int32_t making; /* process that makes or frees a VCQ or a gate */
	uint64_t bytes, vcq_bytes, mrq_size, processes_at, cards_at, vcqs_at;
	uint64_t taking_at, net_at; /* 0: there is no network */
	uint32_t processes, cards, vcqs;
	_Atomic uint32_t next_vcq;
	_Atomic uint32_t net_told; /* somebody says what is wrong with the network, or has said it (packets.c) */
};

struct vcq;
struct carrier;

/* Everything of this process. */
struct nic {
	struct settings settings;
	struct job *job;
	struct process *me;
	int rank, node, local; /* local: among the ranks of the node */
	uint8_t coords[BOX_AXES];
	const struct carrier *carrier;
	struct vcq *vcqs; /* an array */
	int vcq_count;
	pthread_mutex_t lock;  /* guards the making and freeing of VCQs, and the thread's */
	_Atomic int64_t clock; /* modelled: the latest notice that was read */
	_Atomic uint32_t held; /* descriptors that wait for their time */
	_Atomic bool thread_runs;
	_Atomic uint64_t waits; /* by how many turns the card's thread has slept */
	int member_fd, job_fd;
};

/* NULL: this process cannot take part, and a line has said why. */
struct nic *nic_get(void);

static inline struct process *job_process(struct job *job, uint32_t rank)
{
	return (struct process *)((char *)job + job->processes_at) + rank;
}

static inline struct card *job_card(struct job *job, uint32_t node)
{
	return (struct card *)((char *)job + job->cards_at) + node;
}

static inline struct shared_vcq *job_vcq(struct job *job, uint32_t number)
{
	return (struct shared_vcq *)((char *)job + job->vcqs_at + number * job->vcq_bytes);
}

/* The process that takes from a door of the network, or 0. */
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

/* Locks between processes: the holder's process number, so that one that died holding it is noticed. */
void job_lock(_Atomic int32_t *lock);
void job_unlock(_Atomic int32_t *lock);

/* Wakes the card's thread of a process, if it sleeps. */
void process_ring(struct process *process);

/* rendezvous.c: the descriptor of the job's memory, and whether it has still to be filled; -1 after a line. */
struct meeting {
	int job_fd;
	int member_fd; /* keeps us findable as long as this process lives */
	bool first;
	int turn_fd; /* nobody else gets in until it is closed */
};
bool job_meet(struct meeting *meeting, const struct settings *settings, uint64_t bytes);
void job_met(struct meeting *meeting);
void job_leave_directory(const char *directory, int job_fd); /* the last removes the file */

#endif
