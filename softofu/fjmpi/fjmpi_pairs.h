/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PAIRS_H
#define FJMPI_PAIRS_H

/*
 * Requests of FJMPI_Prequest_send_init and FJMPI_Prequest_recv_init over uTofu, in the library
 * libfjmpi: what fjmpi_persistent.h and fjmpi_requests.h call. A request has a plan
 * (fjmpi_plans.h), whose result or state tells the caller what the MPI has to do.
 *
 * pair       a send request and a receive request that are connected: from then on the data travels
 *            by puts
 * question   every message of the MPI begins with a header, in which the sender may ask for a
 *            connection
 *
 * plan_pair.h explains how two requests connect.
 */
#include <stddef.h>
#include <stdint.h>
#include "fjmpi_plans.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FJMPI_PAIR_HEADER_BYTES = 64, FJMPI_PAIR_STATUS_BYTES = 64 };

/* A request as the program makes it. */
struct fjmpi_pair_call {
	int receives;	/* 0: it sends */
	int me;		/* rank in MPI_COMM_WORLD */
	int other, tag; /* rank in the communicator; -1: any */
	/* Requests with the same one, rank and tag may match the same messages. */
	uintptr_t comm;
	void *buffer;	     /* not written by a request that sends */
	size_t bytes;	     /* of the buffer */
	const char *refused; /* why the caller does not want puts; NULL: it wants them */
};

/* A round that the MPI has carried out. */
struct fjmpi_pair_round {
	int code, cancelled;
	int gone;     /* the MPI has freed the request, as Open MPI does after an error */
	size_t bytes; /* with the header */
	unsigned char status[FJMPI_PAIR_STATUS_BYTES]; /* the beginning is its MPI_Status */
};

/*
 * The result of a round: either the MPI's, or, for a round of puts, described by the last members.
 */
struct fjmpi_pair_result {
	int complete, by_mpi;
	struct fjmpi_pair_round of_mpi;
	int receives, other, tag, cancelled;
	size_t bytes;
};

/*
 * Returns whether requests may have a header: the setting, which is the same in all processes, does
 * not forbid it.
 */
int fjmpi_plan_pair_wanted(int me);
/* Reports with SOFTOFU_STATS that the MPI alone carries out a request. */
void fjmpi_plan_pair_plain(const struct fjmpi_pair_call *call, const char *reason);
/* Returns NULL after a line if there is no memory. The header lives until fjmpi_plan_destroy. */
struct fjmpi_plan *fjmpi_plan_pair_make(const struct fjmpi_pair_call *call, unsigned char **header);
void fjmpi_plan_pair_attach(struct fjmpi_plan *plan, uintptr_t request);
/* NULL for a collective. */
const struct fjmpi_pair_call *fjmpi_plan_pair_call_of(struct fjmpi_plan *plan);
/* A round of the MPI is over. Returns 0, or -1 after a line: end the job. */
int fjmpi_plan_pair_arrived(struct fjmpi_plan *plan, const struct fjmpi_pair_round *of_mpi);
/* Copies the result of a complete round, and makes the plan inactive if it is to end. */
void fjmpi_plan_pair_result(struct fjmpi_plan *plan, int end, struct fjmpi_pair_result *result);
/* Returns 1 if the MPI has to cancel the request, 0 if nothing is left to do, -1 after a line. */
int fjmpi_plan_pair_cancel(struct fjmpi_plan *plan);
/*
 * Takes a request that the MPI has to start now, since its connection ended; NULL: there is none.
 */
struct fjmpi_plan *fjmpi_plan_pair_late(uintptr_t *request);
void fjmpi_plan_pair_started(struct fjmpi_plan *plan); /* it has started it */
/* Returns whether an inactive request is left that the program has not freed. */
int fjmpi_plan_pair_left(uintptr_t *request);

#ifdef __cplusplus
}
#endif

#endif
