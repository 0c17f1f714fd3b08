/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PLANS_H
#define FJMPI_PLANS_H

/*
 * Persistent collectives over uTofu, in the library libfjmpi: what MPIX_*_init and the functions of
 * requests in fjmpi_collectives.h call. The library does not know MPI, so that one library fits
 * every MPI: a request is a number to it, and ranks are those of a communicator. It prints a line
 * about each error.
 *
 * Each rank of the communicator makes a plan in four steps, with an exchange of all ranks behind
 * each: agree, prepare, lay out, connect. After a step that failed a rank goes on with the
 * exchanges, in which the others see it; then all give up.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fjmpi_plan_kind {
	FJMPI_PLAN_BARRIER,
	FJMPI_PLAN_BCAST,
	FJMPI_PLAN_REDUCE,
	FJMPI_PLAN_ALLREDUCE,
	FJMPI_PLAN_ALLGATHER,
	FJMPI_PLAN_ALLTOALL,
	FJMPI_PLAN_SENDS, /* the last two are requests of FJMPI_Prequest_*, see fjmpi_pairs.h */
	FJMPI_PLAN_RECEIVES
};

enum fjmpi_plan_element {
	FJMPI_PLAN_INT8,
	FJMPI_PLAN_INT16,
	FJMPI_PLAN_INT32,
	FJMPI_PLAN_INT64,
	FJMPI_PLAN_UINT8,
	FJMPI_PLAN_UINT16,
	FJMPI_PLAN_UINT32,
	FJMPI_PLAN_UINT64,
	FJMPI_PLAN_FLOAT,
	FJMPI_PLAN_DOUBLE,
	FJMPI_PLAN_COMPLEX,
	FJMPI_PLAN_DOUBLE_COMPLEX,
	FJMPI_PLAN_ELEMENTS
};

enum fjmpi_plan_operator {
	FJMPI_PLAN_SUM,
	FJMPI_PLAN_PROD,
	FJMPI_PLAN_MIN,
	FJMPI_PLAN_MAX,
	FJMPI_PLAN_LAND,
	FJMPI_PLAN_LOR,
	FJMPI_PLAN_LXOR,
	FJMPI_PLAN_BAND,
	FJMPI_PLAN_BOR,
	FJMPI_PLAN_BXOR,
	FJMPI_PLAN_OPERATORS
};

enum fjmpi_plan_state {
	FJMPI_PLAN_INACTIVE,
	FJMPI_PLAN_ACTIVE,
	FJMPI_PLAN_COMPLETE,
	FJMPI_PLAN_FAILED,
	FJMPI_PLAN_IN_MPI /* active, and the MPI knows when it is complete */
};

/* What a start asks of the caller. */
enum fjmpi_plan_start {
	FJMPI_PLAN_WRONG = -1, /* after an error message: the plan is active */
	FJMPI_PLAN_STARTED,
	FJMPI_PLAN_MPI_STARTS, /* the MPI has to start the request */
	FJMPI_PLAN_NOT_YET     /* start it again later: another rank is about to decide how */
};

/* A collective as this rank calls it. */
struct fjmpi_plan_call {
	enum fjmpi_plan_kind kind;
	int rank, ranks; /* of the communicator */
	int me;		 /* rank in MPI_COMM_WORLD */
	int root;
	const void *send; /* NULL: in place */
	void *receive;	  /* the buffer of a broadcast */
	/* Of the message; of one block in an all-gather and an all-to-all. */
	size_t bytes;
	enum fjmpi_plan_element element; /* the last two are of reductions */
	enum fjmpi_plan_operator operation;
	const char *refused; /* why the caller does not want a plan; NULL: it wants one */
};

enum {
	FJMPI_PLAN_TNIS = 6,
	FJMPI_PLAN_TARGETS = 3, /* regions of a rank that others write to */
	FJMPI_PLAN_IDS_BYTES = 8 * (1 + FJMPI_PLAN_TNIS),
	FJMPI_PLAN_PLACES_BYTES = 8 * (1 + FJMPI_PLAN_TARGETS * FJMPI_PLAN_TNIS)
};

struct fjmpi_plan;

/*
 * The element with this class of numbers and size, or -1. Classes: 'i' signed, 'u' unsigned, 'f'
 * real, 'c' complex.
 */
int fjmpi_plan_element_of(char number_class, int bytes);
/*
 * There is a plan if this number is the same on all ranks and not 0. Sets call->refused if it is 0.
 */
uint64_t fjmpi_plan_agree(struct fjmpi_plan_call *call);
/* Fills in what this rank publishes. Returns NULL if this rank cannot have a plan. */
struct fjmpi_plan *fjmpi_plan_prepare(const struct fjmpi_plan_call *call, unsigned char ids[FJMPI_PLAN_IDS_BYTES]);
/* These take what all ranks published, in their order. plan may be NULL. */
void fjmpi_plan_lay_out(struct fjmpi_plan *plan, const unsigned char *ids,
			unsigned char places[FJMPI_PLAN_PLACES_BYTES]);
/* Returns 0, or -1 if there can be no plan. */
int fjmpi_plan_connect(struct fjmpi_plan *plan, const unsigned char *places);
/*
 * Reports with SOFTOFU_STATS what became of a call. Destroys the plan, which may be NULL, unless it
 * is kept.
 */
void fjmpi_plan_conclude(const struct fjmpi_plan_call *call, struct fjmpi_plan *plan, int kept);

/* Must be called before fjmpi_plan_conclude. */
void fjmpi_plan_attach(struct fjmpi_plan *plan, uintptr_t request);
/* The plan of a request, or NULL. Returns at once if there are no plans. */
struct fjmpi_plan *fjmpi_plan_find(uintptr_t request);
enum fjmpi_plan_start fjmpi_plan_start(struct fjmpi_plan *plan);
/* Advances all plans. Returns the state of this one. */
enum fjmpi_plan_state fjmpi_plan_poll(struct fjmpi_plan *plan);
/* A complete plan becomes inactive. */
void fjmpi_plan_end(struct fjmpi_plan *plan);
/* Returns 0, or -1 after a line if the plan is active. */
int fjmpi_plan_destroy(struct fjmpi_plan *plan);
void fjmpi_plan_refuse_cancel(struct fjmpi_plan *plan); /* prints the line */
int fjmpi_plan_was_polled(struct fjmpi_plan *plan);	/* before its first start */
/* Between polls: yields the processor after some. */
void fjmpi_plan_pause(int polls);

#ifdef __cplusplus
}
#endif

#endif
