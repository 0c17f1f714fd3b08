/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_VCQ_H
#define SOFTOFU_NIC_VCQ_H

#include "softofu/include/utofu.h"
#include "softofu/nic/descriptor.h"
#include "softofu/nic/job.h"

/*
 * A virtual control queue of this process: what only it and the card's thread touch. What others touch is in
 * struct shared_vcq.
 *
 * toq holds descriptors that have been posted and not been carried out: those that wait for a later one
 * (UTOFU_ONESIDED_FLAG_DELAY_START, the last `delayed` of them), those the adversary holds back, and all of a session.
 */
enum { TOQ_SIZE = 2048, TCQ_SIZE = 2048, VCQS_OF_PROCESS = 512, HELD_MOST = 16 };

struct posted {
	struct descriptor what;
	void *cbdata;
	uint64_t place; /* in a session: which of its commands, from 0 */
	uint32_t blocks_done; /* of a strided put in a session that counts blocks */
	bool held;	      /* by the adversary */
	bool told;	      /* its notice is in the TCQ already */
};

struct sent {
	void *cbdata;
	int code;
};

struct counts {
	_Atomic uint64_t by_caller, by_card; /* descriptors carried out, by which thread */
	_Atomic uint64_t bytes_out, notices_in;
};

struct vcq {
	_Atomic bool live;
	_Atomic uint32_t entered; /* a thread is inside, where there may be but one */
	_Atomic uint32_t looks;	  /* in vain, one after the other */
	_Atomic uint32_t lock;	  /* guards what follows, between callers and the card's thread */
	struct nic *nic;
	struct shared_vcq *shared;
	uint32_t number;
	unsigned long flags;
	uint64_t lots; /* state of the adversary's lottery */
	struct posted *toq;
	uint32_t toq_first, toq_count, delayed, held;
	uint32_t at_card; /* descriptors the card's thread is at */
	uint64_t done;	  /* of a session: how far it went */
	struct sent *tcq;
	uint64_t tcq_head, tcq_tail;
	struct counts counts;
	struct later *later; /* by edata, see record.h; NULL: nothing is */
};

struct vcq *vcq_table(int *count);
int vcq_create(struct nic *nic, unsigned tni, int component, unsigned long flags, struct vcq **vcq);
int vcq_free(struct vcq *vcq);
void vcq_release(struct nic *nic, uint32_t number); /* what others see of it */
void vcq_release_all(struct nic *nic);
void vcq_report(struct nic *nic);

/* What a process has of the card, by its place among the ranks of the node. */
int card_tnis(const struct nic *nic, uint16_t tnis[TNIS]);

/* The other side of a communication; NULL if there is none. */
struct shared_vcq *vcq_find(struct nic *nic, uint64_t id, uint32_t *number);

/* From a handle, with the right to use it; NULL: there is none, and *code says why. vcq_leave ends it. */
struct vcq *vcq_enter(utofu_vcq_hdl_t handle, const char *routine, int *code);
void vcq_leave(struct vcq *vcq);

void vcq_lock(struct vcq *vcq);
void vcq_unlock(struct vcq *vcq);

/* Numbers of the adversary: the same from the same seed. */
uint32_t vcq_lot(struct vcq *vcq, uint32_t below);

/* memory.c */
int memory_register(struct vcq *vcq, void *address, size_t size, int stag, unsigned long flags, uint64_t *stadd);
int memory_forget(struct vcq *vcq, uint64_t stadd);

/* Where registered memory is; NO_ACCESS if it may not be written to. bytes must all be inside. */
enum translated { TRANSLATED, NO_SUCH_STAG, TOO_LONG, NO_ACCESS };
enum translated memory_find(struct nic *nic, struct shared_vcq *vcq, uint32_t number, uint64_t stadd, uint64_t bytes,
			    bool to_write, uint64_t *address);

/* queue.c */
int queue_post(struct vcq *vcq, const struct descriptor *what, uint32_t count, void *cbdata);
void queue_relent(struct vcq *vcq);   /* the adversary lets go of something, perhaps */
bool queue_run_card(struct vcq *vcq); /* the card's thread's turn; whether something was done */
void queue_drain(struct vcq *vcq);    /* everything that is held back */

/* notices.c */
bool mrq_reserve(struct nic *nic, struct shared_vcq *vcq, uint64_t *turn);
void mrq_fill(struct nic *nic, struct shared_vcq *vcq, uint64_t turn, const struct mrq_entry *notice);
int mrq_take(struct vcq *vcq, struct utofu_mrq_notice *notice);
int mrq_look(struct vcq *vcq); /* without the lock: UTOFU_SUCCESS, it is worth while to take it */
size_t mrq_unread(struct vcq *vcq);
void tcq_put(struct vcq *vcq, void *cbdata, int code);
int tcq_take(struct vcq *vcq, void **cbdata);

/* utofu/last_error.c: remembers what went wrong for this thread, and returns it */
int error_note(const char *routine, int code);

/* thread.c; struct process.asleep */
enum { AWAKE, ASLEEP_A_MOMENT, ASLEEP_FOR_GOOD };
bool card_thread_start(struct nic *nic);

/* card.c: from the first byte to the last, of what a descriptor touches on one side */
uint64_t descriptor_span(const struct descriptor *what);

/* gates.c */
void gates_release(struct nic *nic);
int gates_allocate(struct nic *nic, unsigned tni, size_t count, uint64_t ids[]);
struct gate *gate_mine(struct nic *nic, uint64_t id); /* NULL: it is not ours */
struct gate *gate_find(struct nic *nic, uint64_t id);
int gate_start(struct nic *nic, uint64_t id, const struct gate_value *value);
int gate_poll(struct nic *nic, uint64_t id, struct gate_value *value);

/* ids.c: what an id says. */
struct vcq_name {
	uint8_t coords[BOX_AXES];
	unsigned tni, cq, component, path; /* path: 0, the default, or 1 + its number */
};
uint64_t id_make(const struct vcq_name *name);
bool id_read(uint64_t id, struct vcq_name *name);
uint64_t id_plain(uint64_t id); /* without a path */

/* Ids of gates: the number of the gate stands where a VCQ has its CQ and component. */
uint64_t id_make_gate(const uint8_t coords[BOX_AXES], unsigned tni, unsigned gate);
bool id_read_gate(uint64_t id, uint8_t coords[BOX_AXES], unsigned *tni, unsigned *gate);

#endif
