/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PLAN_H
#define FJMPI_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <utofu.h>
#include "error.h"
#include "fjmpi_pairs.h"
#include "fjmpi_plans.h"
#include "plan_members.h"

/*
 * A plan is a list of steps of this rank, made once and carried out in order after each start.
 * Arrivals are counted: every put that a rank waits for has a remote notice, whose address says
 * which slot of the plan it is for.
 *
 * region   memory of a plan that is registered with the queues of this rank
 * block    part of a region that one other rank fills, in pieces of PLAN_PIECE bytes; the last
 *          piece may be shorter
 * slot     what a rank awaits: a piece, or a flag of another rank
 * round    from a start to completion. Within a round each slot is filled at most once. A rank
 *          notifies those that put to it that it has started the round: until then its memory is
 *          the program's. Only plans in which no rank completes before all have started do without
 *          it, and use two halves of the staging memory in turn.
 *
 * fjmpi_plans.c has the table of plans, the thread, and carries out steps; plan_make.c makes and
 * connects a plan of a collective, plan_schedules.c writes its steps, plan_combine.c has the
 * operators; plan_pair.c has requests that send or receive, plan_pair_connect.c connects them, and
 * plan_queues.c has the queues.
 */
enum plan_region_name { PLAN_RECEIVE, PLAN_STAGING, PLAN_FLAGS, PLAN_SEND, PLAN_REGIONS };

enum { PLAN_PIECE = 64 << 10 };

struct plan_region {
	unsigned char *at;
	size_t bytes; /* 0: the plan does not use it */
	size_t block;
	int pieces;	/* of a block */
	int first_slot; /* among those of the plan */
	utofu_stadd_t stadd[FJMPI_PLAN_TNIS];
};

enum plan_step_kind {
	STEP_NOTIFY, /* fills a flag of another rank */
	STEP_AWAIT,  /* an arrival in a slot */
	STEP_PUT,
	STEP_SENT, /* wait until the sources of all puts were read */
	STEP_COPY,
	STEP_COMBINE, /* to = left operator right */
};

struct plan_step {
	enum plan_step_kind kind;
	int tni, slot;
	size_t bytes;
	utofu_vcq_id_t target;
	utofu_stadd_t remote, local;
	void *to;
	const void *left, *right;
};

struct plan_steps {
	struct plan_step *list;
	int count, room;
};

/* Memory of another rank for flags. */
struct plan_mailbox {
	utofu_vcq_id_t vcq;
	utofu_stadd_t at;
};

typedef void plan_combine(void *to, const void *left, const void *right, size_t bytes);

struct plan_maker;
struct plan_pair;

struct fjmpi_plan {
	struct fjmpi_plan_call call;
	struct fjmpi_plan *next;	/* of the table */
	struct fjmpi_plan *next_hashed; /* of those whose requests have the same hash */
	struct plan_maker *maker;	/* until the plan is connected */
	struct plan_pair *pair;		/* NULL: a collective */
	int tni;			/* of a pair */
	uintptr_t request;
	struct plan_region region[PLAN_REGIONS];
	struct plan_steps steps[2]; /* of even and odd rounds */
	plan_combine *combine;
	uint32_t *arrived, *awaited; /* by slot, in all rounds */
	int slots;
	enum fjmpi_plan_state state;
	bool polled;
	bool busy;	 /* the thread must poll it */
	unsigned rounds; /* started */
	int at;		 /* the next step of this round */
	int unsent;	 /* puts whose sources were not read yet */
};

/* --- Making a plan --- */

/* What a rank publishes: its queues, then where its regions are. */
struct plan_ids {
	uint64_t tnis; /* 0: this rank can have no plan */
	utofu_vcq_id_t vcq[FJMPI_PLAN_TNIS];
};

struct plan_places {
	uint64_t valid;
	utofu_stadd_t stadd[FJMPI_PLAN_TARGETS][FJMPI_PLAN_TNIS];
};

/* State while the steps are being written. */
struct plan_maker {
	struct fjmpi_plan *plan;
	struct plan_ids *ids; /* of all ranks */
	const struct plan_places *places;
	struct plan_members members;
	struct plan_steps *steps;
	int *children;	/* of this rank in all trees */
	int *at_parent; /* memory for the children of a parent */
	int child_count;
	int trees, tnis, next_tni;
	bool failed; /* no memory */
};

/* A place in a region. */
struct plan_spot {
	enum plan_region_name region;
	size_t offset;
};

void plan_add_notify(struct plan_maker *maker, int rank);
void plan_add_await(struct plan_maker *maker, enum plan_region_name region, int block, int piece);
void plan_add_put(struct plan_maker *maker, int rank, struct plan_spot from, struct plan_spot to, size_t bytes);
void plan_add_sent(struct plan_maker *maker);
void plan_add_copy(struct plan_maker *maker, struct plan_spot to, struct plan_spot from, size_t bytes);
void plan_add_combine(struct plan_maker *maker, struct plan_spot to, struct plan_spot left, struct plan_spot right,
		      size_t bytes);

/* Sizes of the regions, and the steps of a round. */
void plan_lay_out(struct plan_maker *maker);
void plan_write_steps(struct plan_maker *maker, int parity);

int plan_pieces(size_t bytes);
size_t plan_piece_bytes(size_t bytes, int piece);

/* NULL: the element has no such operator. */
plan_combine *plan_combine_of(enum fjmpi_plan_element element, enum fjmpi_plan_operator operation);

/* --- Queues: all with the lock of the plans --- */

int plan_queues_open(void); /* the number of TNIs, 0: there are none */
void plan_queues_close(void);
utofu_vcq_id_t plan_queues_id(int tni);
int plan_queues_register(struct fjmpi_plan *plan);
void plan_queues_forget(struct fjmpi_plan *plan);
void plan_queues_forget_region(struct fjmpi_plan *plan, enum plan_region_name name);
int plan_queues_expect(struct fjmpi_plan *plan); /* arrivals of this plan are counted from now on */
/* UTOFU_ERR_BUSY: try again later. */
int plan_queues_post(struct fjmpi_plan *plan, const struct plan_step *step);
/*
 * Up to 32 bytes, which the program's thread reads after the notice; such puts to one mailbox keep
 * their order.
 */
int plan_queues_notify(int tni, const struct plan_mailbox *to, size_t offset, const void *words, size_t bytes);
int plan_queues_choose(void); /* the TNI of the next pair, or -1 */
/* Reads all notices. Returns 0, or -1 after a line about an error. */
int plan_queues_poll(void);

/* --- Pairs: all with the lock of the plans --- */

enum fjmpi_plan_start plan_pair_start(struct fjmpi_plan *plan);
bool plan_pair_in_mpi(const struct fjmpi_plan *plan);	/* the MPI carries out this round */
bool plan_pair_testable(const struct fjmpi_plan *plan); /* and has started it */
/* Reads the mailbox. Returns whether anything moved. */
bool plan_pair_advance(struct fjmpi_plan *plan);
bool plan_pair_busy(const struct fjmpi_plan *plan);
void plan_pair_detach(struct fjmpi_plan *plan); /* the program has freed the request */
/* Freed, and no put for it is under way. */
bool plan_pair_ended(const struct fjmpi_plan *plan);
/* Those that may match the same messages disconnect. */
void plan_pair_warn_others(const struct fjmpi_plan *plan);
void plan_pair_free(struct plan_pair *pair);

/* 0, or -1 after a line. Comes after the queues: uTofu may end the process. */
int plan_start_thread(void);

void plan_lock(void);
void plan_unlock(void);
const char *plan_routine(enum fjmpi_plan_kind kind); /* that makes such a plan */
bool plan_wants_stats(void);
void plan_free(struct fjmpi_plan *plan);
void plan_fail(void); /* nothing moves any more. Call after a line */
struct fjmpi_plan *plan_first(void);
void plan_recount(struct fjmpi_plan *plan); /* after a change of what plan_pair_busy returns */
int plan_make_regions(struct fjmpi_plan *plan);
int plan_add_step(struct plan_steps *steps, struct plan_step step); /* 0, or -1: no memory */
uint64_t plan_machine(void);
bool plan_setting(void); /* plans are wanted */

#endif
