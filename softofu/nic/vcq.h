/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_VCQ_H
#define SOFTOFU_NIC_VCQ_H

#include "softofu/include/utofu.h"
#include "softofu/nic/descriptor.h"
#include "softofu/nic/shared_job.h"

/*
 * A virtual control queue of this process: the part that only the process and the NIC's thread
 * touch. struct shared_vcq is the part that others touch.
 *
 * toq holds descriptors that were posted and not carried out: those that wait for a later one
 * (UTOFU_ONESIDED_FLAG_DELAY_START, the last `delayed` of them), those that reorder injection holds
 * back, and all of a session.
 */
enum { TOQ_SIZE = 2048, TCQ_SIZE = 2048, VCQS_OF_PROCESS = 512, HELD_MOST = 16 };

struct posted {
	struct descriptor what;
	void *cbdata;
	uint64_t place;	      /* in a session: which of its commands, from 0 */
	uint32_t blocks_done; /* of a strided put in a session that counts blocks */
	bool held;	      /* held back by reorder injection */
	bool completed;	      /* its TCQ notice is already written */
};

struct sent {
	void *cbdata;
	int code;
};

struct counts {
	_Atomic uint64_t by_caller, by_nic; /* descriptors carried out, by which thread */
	_Atomic uint64_t bytes_out, notices_in;
};

struct vcq {
	_Atomic bool live;
	_Atomic uint32_t entered;    /* a thread is inside, where only one may be */
	_Atomic uint32_t idle_polls; /* polls without a result, in a row */
	_Atomic uint32_t lock;	     /* guards what follows, between callers and the NIC's thread */
	struct nic *nic;
	struct shared_vcq *shared;
	uint32_t number;
	unsigned long flags;
	uint64_t random_state; /* state of the random number generator of reorder injection */
	struct posted *toq;
	uint32_t toq_first, toq_count, delayed, held;
	uint32_t at_nic; /* descriptors that the NIC's thread carries out now */
	uint64_t done;	 /* of a session: how far it went */
	struct sent *tcq;
	uint64_t tcq_head, tcq_tail;
	struct counts counts;
	struct later *later; /* by edata, see recording.h; NULL: nothing is */
};

struct vcq *vcq_table(int *count);
int vcq_create(struct nic *nic, unsigned tni, int component, unsigned long flags, struct vcq **vcq);
int vcq_free(struct vcq *vcq);
/* Makes it invisible to other processes. Call with job->making. */
void vcq_release(struct nic *nic, uint32_t number);
void vcq_release_all(struct nic *nic);
void vcq_report(struct nic *nic);

/* The TNIs of this process, by its place among the ranks of the node. */
int nic_tnis(const struct nic *nic, uint16_t tnis[TNIS]);

/* The other side of a communication; NULL if there is none. */
struct shared_vcq *vcq_find(struct nic *nic, uint64_t id, uint32_t *number);

/* Checks a handle and enters the VCQ. Returns NULL with the reason in *code. vcq_leave ends it. */
struct vcq *vcq_enter(utofu_vcq_hdl_t handle, const char *routine, int *code);
void vcq_leave(struct vcq *vcq);

void vcq_lock(struct vcq *vcq);
void vcq_unlock(struct vcq *vcq);

/* Random numbers below a limit: the same from the same seed. */
uint32_t vcq_random(struct vcq *vcq, uint32_t below);

/* registrations.c */
struct registration {
	void *address;
	size_t size;
	int stag; /* -1: any */
	unsigned long flags;
};
int memory_register(struct vcq *vcq, const struct registration *wanted, uint64_t *stadd);
int memory_forget(struct vcq *vcq, uint64_t stadd);

/* A range of memory that a STADD names, registered with a VCQ. */
struct range {
	struct shared_vcq *vcq;
	uint32_t number; /* of the VCQ */
	uint64_t stadd, bytes;
	bool to_write;
};

/* Finds the address of a range. All of it must be registered; NO_ACCESS: it must not be written. */
enum translated { TRANSLATED, NO_SUCH_STAG, TOO_LONG, NO_ACCESS };
enum translated memory_find(struct nic *nic, const struct range *range, uint64_t *address);

/* transmit_queue.c */
int queue_post(struct vcq *vcq, const struct descriptor *what, uint32_t count, void *cbdata);
void queue_release_some(struct vcq *vcq); /* reorder injection may release something */
/* For the NIC's thread; returns whether it did something. */
bool queue_run_by_nic(struct vcq *vcq);
void queue_drain(struct vcq *vcq); /* carries out everything that is held back */

/* notice_queues.c */
bool mrq_reserve(struct nic *nic, struct shared_vcq *vcq, uint64_t *number);
void mrq_fill(struct nic *nic, struct shared_vcq *vcq, uint64_t number, const struct mrq_entry *notice);
int mrq_take(struct vcq *vcq, struct utofu_mrq_notice *notice);
int mrq_ready(struct vcq *vcq); /* takes no lock; UTOFU_SUCCESS: call mrq_take */
size_t mrq_unread(struct vcq *vcq);
void tcq_put(struct vcq *vcq, void *cbdata, int code);
int tcq_take(struct vcq *vcq, void **cbdata);

/* utofu/last_error.c: stores the last error of this thread, and returns the code */
int error_note(const char *routine, int code);

/* nic_thread.c; values of struct process.asleep */
enum { AWAKE, ASLEEP_TIMED, ASLEEP_UNTIL_WOKEN };
bool nic_thread_start(struct nic *nic);

/* completion.c: bytes from the first to the last that a descriptor touches on one side */
uint64_t descriptor_span(const struct descriptor *what);

/* barrier_gates.c */
void gates_release(struct nic *nic);
int gates_allocate(struct nic *nic, unsigned tni, size_t count, uint64_t ids[]);
struct gate *gate_mine(struct nic *nic, uint64_t id); /* NULL: the gate is not ours */
struct gate *gate_find(struct nic *nic, uint64_t id);
int gate_start(struct nic *nic, uint64_t id, const struct gate_value *value);
int gate_poll(struct nic *nic, uint64_t id, struct gate_value *value);

/* ids.c: the parts of an id. */
struct vcq_name {
	uint8_t coords[GRID_AXES];
	unsigned tni, cq, component, path; /* path: 0, the default, or 1 + its number */
};
uint64_t id_make(const struct vcq_name *name);
bool id_read(uint64_t id, struct vcq_name *name);
uint64_t id_plain(uint64_t id); /* without a path */

/* Ids of barrier gates. */
uint64_t id_make_gate(const uint8_t coords[GRID_AXES], unsigned tni, unsigned gate);
bool id_read_gate(uint64_t id, uint8_t coords[GRID_AXES], unsigned *tni, unsigned *gate);

#endif
