/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_REQUESTS_H
#define FJMPI_REQUESTS_H

/*
 * The functions of MPI that take requests, for programs with persistent collectives that are plans
 * (fjmpi_plans.h) and requests of FJMPI_Prequest_* (fjmpi_pairs.h).
 *
 * The request of a collective is a persistent request of the MPI that receives from this rank and
 * is never started, so it always counts as inactive: what the MPI returns for it is right once the
 * plan is complete. (Not from MPI_PROC_NULL:
 * MPICH 4.0 reuses such a request with what is left in it, and a later collective waits for ever.)
 * That of a pair is a persistent request of the MPI with a header before the data, which is started
 * for the rounds that the MPI carries out, and tested here alone. The functions here look for
 * plans, and leave the rest to the MPI, as libraries of its profiling interface do. They are weak,
 * and so are in a program once, also for those of its files and libraries that do not include this
 * header.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fjmpi_pairs.h"
#include "fjmpi_plans.h"

#define FJMPI_WRAPPER __attribute__((weak, visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

static inline struct fjmpi_plan *fjmpi_plan_of(MPI_Request request)
{
	return fjmpi_plan_find((uintptr_t)request);
}

static inline int fjmpi_request_error(void)
{
	PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_REQUEST);
	return MPI_ERR_REQUEST;
}

/*
 * A rank that waits for a plan also progresses the messages of the MPI, for which other ranks may
 * wait. A probe that finds something may do nothing else, and one in MPI_COMM_SELF does nothing in
 * MPICH: so this probes for a message that no program sends, from this rank to itself with the
 * largest tag that every MPI has.
 */
static inline int fjmpi_progress(void)
{
	int rank, flag;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return PMPI_Iprobe(rank, 32767, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static inline void fjmpi_pause(unsigned polls)
{
	if (polls % 8 == 7)
		fjmpi_progress();
	fjmpi_plan_pause(polls < 1000 ? (int)polls : 1000);
}

/* --- What the MPI does for a pair --- */

typedef char fjmpi_status_fits[sizeof(MPI_Status) <= FJMPI_PAIR_STATUS_BYTES ? 1 : -1];

static inline void fjmpi_start_late(void)
{
	struct fjmpi_plan *plan;
	uintptr_t number;

	while ((plan = fjmpi_plan_pair_late(&number)) != NULL) {
		MPI_Request request = (MPI_Request)number;

		PMPI_Start(&request);
		fjmpi_plan_pair_started(plan);
	}
}

/* A round that the MPI carries out. The program's status does not count the header. */
static inline enum fjmpi_plan_state fjmpi_test_pair(struct fjmpi_plan *plan, MPI_Request request)
{
	struct fjmpi_pair_round of_mpi;
	MPI_Count bytes = 0;
	MPI_Status status;
	int flag = 0;

	memset(&of_mpi, 0, sizeof of_mpi);
	of_mpi.code = PMPI_Test(&request, &flag, &status);
	if (of_mpi.code == MPI_SUCCESS && !flag)
		return FJMPI_PLAN_ACTIVE;
	if (fjmpi_plan_pair_call_of(plan)->receives) {
		PMPI_Test_cancelled(&status, &of_mpi.cancelled);
		if (!of_mpi.cancelled)
			PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
		if (bytes >= FJMPI_PAIR_HEADER_BYTES)
			PMPI_Status_set_elements_x(&status, MPI_BYTE, bytes - FJMPI_PAIR_HEADER_BYTES);
	}
	of_mpi.gone = request == MPI_REQUEST_NULL;
	of_mpi.bytes = (size_t)bytes;
	memcpy(of_mpi.status, &status, sizeof status);
	if (fjmpi_plan_pair_arrived(plan, &of_mpi))
		PMPI_Abort(MPI_COMM_WORLD, 1);
	return FJMPI_PLAN_COMPLETE;
}

/* A plan that failed would leave all ranks waiting. */
static inline enum fjmpi_plan_state fjmpi_poll_plan(struct fjmpi_plan *plan, MPI_Request request)
{
	enum fjmpi_plan_state state = fjmpi_plan_poll(plan);

	if (state == FJMPI_PLAN_FAILED)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	fjmpi_start_late();
	return state == FJMPI_PLAN_IN_MPI ? fjmpi_test_pair(plan, request) : state;
}

/*
 * The status of a request with a plan, as the MPI gives one, and its error code. Ends a complete
 * round unless it is to stay. The MPI may have freed the request of a pair, so the MPI's result for
 * a null request stands for an empty status.
 */
static inline int fjmpi_status_of(struct fjmpi_plan *plan, MPI_Request *request, MPI_Status *status, int end)
{
	int flag, is_pair = fjmpi_plan_pair_call_of(plan) != NULL;
	int code = PMPI_Request_get_status(MPI_REQUEST_NULL, &flag, status);
	struct fjmpi_pair_result result;

	if (!is_pair && end)
		fjmpi_plan_end(plan);
	if (!is_pair || code != MPI_SUCCESS)
		return code;
	fjmpi_plan_pair_result(plan, end, &result);
	if (!result.complete)
		return code;
	if (status != MPI_STATUS_IGNORE && result.by_mpi) {
		int error = status->MPI_ERROR;

		memcpy(status, result.of_mpi.status, sizeof *status);
		status->MPI_ERROR = error;
	} else if (status != MPI_STATUS_IGNORE && result.receives && !result.cancelled) {
		status->MPI_SOURCE = result.other;
		status->MPI_TAG = result.tag;
		PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)result.bytes);
	} else if (status != MPI_STATUS_IGNORE) {
		PMPI_Status_set_cancelled(status, result.cancelled);
	}
	if (end && result.of_mpi.gone) {
		fjmpi_plan_destroy(plan);
		*request = MPI_REQUEST_NULL;
	}
	return result.by_mpi ? result.of_mpi.code : MPI_SUCCESS;
}

/* Many calls report an error of one of several requests this way; its status has the code. */
static inline int fjmpi_error_in(MPI_Status *statuses, int index, int code)
{
	if (code == MPI_SUCCESS || statuses == MPI_STATUSES_IGNORE)
		return code;
	statuses[index].MPI_ERROR = code;
	return MPI_ERR_IN_STATUS;
}

static inline int fjmpi_has_plans(int count, MPI_Request requests[])
{
	for (int i = 0; i < count; i++)
		if (fjmpi_plan_of(requests[i]))
			return 1;
	return 0;
}

/*
 * A copy of the requests in which those with plans are null: the MPI must not complete the round of
 * a pair by itself.
 */
static inline MPI_Request *fjmpi_without_plans(int count, MPI_Request requests[])
{
	MPI_Request *others = (MPI_Request *)malloc((size_t)count * sizeof *others);

	if (!others)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < count; i++)
		others[i] = fjmpi_plan_of(requests[i]) ? MPI_REQUEST_NULL : requests[i];
	return others;
}

/* The MPI may have completed and freed others. */
static inline void fjmpi_take_back(int count, MPI_Request requests[], MPI_Request *others)
{
	for (int i = 0; i < count; i++)
		if (!fjmpi_plan_of(requests[i]))
			requests[i] = others[i];
	free(others);
}

static inline void fjmpi_await_plan(struct fjmpi_plan *plan, MPI_Request request)
{
	for (unsigned polls = 0; fjmpi_poll_plan(plan, request) == FJMPI_PLAN_ACTIVE; polls++)
		fjmpi_pause(polls);
}

/* --- The functions --- */

FJMPI_WRAPPER int MPI_Start(MPI_Request *request)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;
	enum fjmpi_plan_start how;

	if (!plan)
		return PMPI_Start(request);
	for (unsigned polls = 0; (how = fjmpi_plan_start(plan)) == FJMPI_PLAN_NOT_YET; polls++)
		fjmpi_pause(polls);
	if (how == FJMPI_PLAN_WRONG)
		return fjmpi_request_error();
	return how == FJMPI_PLAN_MPI_STARTS ? PMPI_Start(request) : MPI_SUCCESS;
}

FJMPI_WRAPPER int MPI_Startall(int count, MPI_Request requests[])
{
	int code = MPI_SUCCESS;

	if (!fjmpi_has_plans(count, requests))
		return PMPI_Startall(count, requests);
	for (int i = 0; i < count && code == MPI_SUCCESS; i++)
		code = MPI_Start(&requests[i]);
	return code;
}

FJMPI_WRAPPER int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (!plan)
		return PMPI_Wait(request, status);
	fjmpi_await_plan(plan, *request);
	return fjmpi_status_of(plan, request, status, 1);
}

/* All plans are complete, and the MPI has given the statuses of the others. */
static inline int fjmpi_end_all(int count, MPI_Request requests[], MPI_Status *statuses, int code)
{
	int before = code;

	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);
		MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
		int own;

		if (!plan)
			continue;
		own = fjmpi_error_in(statuses, i, fjmpi_status_of(plan, &requests[i], status, 1));
		if (own != MPI_SUCCESS && code == MPI_SUCCESS && status != MPI_STATUS_IGNORE)
			for (int other = 0; other < count; other++)
				statuses[other].MPI_ERROR = other == i ? statuses[i].MPI_ERROR : MPI_SUCCESS;
		else if (own == MPI_SUCCESS && before != MPI_SUCCESS && status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = MPI_SUCCESS;
		code = code == MPI_SUCCESS ? own : code;
	}
	return code;
}

FJMPI_WRAPPER int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
	MPI_Request *others;
	int code;

	if (!fjmpi_has_plans(count, requests))
		return PMPI_Waitall(count, requests, statuses);
	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);

		if (plan)
			fjmpi_await_plan(plan, requests[i]);
	}
	others = fjmpi_without_plans(count, requests);
	code = PMPI_Waitall(count, others, statuses);
	fjmpi_take_back(count, requests, others);
	return fjmpi_end_all(count, requests, statuses, code);
}

FJMPI_WRAPPER int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (!plan)
		return PMPI_Test(request, flag, status);
	*flag = fjmpi_poll_plan(plan, *request) != FJMPI_PLAN_ACTIVE;
	return *flag ? fjmpi_status_of(plan, request, status, 1) : fjmpi_progress();
}

/* No round ends unless all do. */
FJMPI_WRAPPER int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
	MPI_Request *others;
	int code;

	if (!fjmpi_has_plans(count, requests))
		return PMPI_Testall(count, requests, flag, statuses);
	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);

		if (plan && fjmpi_poll_plan(plan, requests[i]) == FJMPI_PLAN_ACTIVE) {
			*flag = 0;
			return fjmpi_progress();
		}
	}
	others = fjmpi_without_plans(count, requests);
	code = PMPI_Testall(count, others, flag, statuses);
	fjmpi_take_back(count, requests, others);
	return *flag ? fjmpi_end_all(count, requests, statuses, code) : code;
}

FJMPI_WRAPPER int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	MPI_Request *others;
	int active = 0, code;

	if (!fjmpi_has_plans(count, requests))
		return PMPI_Testany(count, requests, index, flag, status);
	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);
		enum fjmpi_plan_state state = plan ? fjmpi_poll_plan(plan, requests[i]) : FJMPI_PLAN_INACTIVE;

		if (state == FJMPI_PLAN_COMPLETE) {
			*index = i;
			*flag = 1;
			return fjmpi_status_of(plan, &requests[i], status, 1);
		}
		active += state == FJMPI_PLAN_ACTIVE;
	}
	others = fjmpi_without_plans(count, requests);
	code = PMPI_Testany(count, others, index, flag, status);
	fjmpi_take_back(count, requests, others);
	if (code == MPI_SUCCESS && *flag && *index == MPI_UNDEFINED && active)
		*flag = 0;
	return code == MPI_SUCCESS && !*flag ? fjmpi_progress() : code;
}

FJMPI_WRAPPER int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	int flag = 0, code = MPI_SUCCESS;

	for (unsigned polls = 0; !flag && code == MPI_SUCCESS; polls++) {
		code = MPI_Testany(count, requests, index, &flag, status);
		fjmpi_plan_pause(polls < 1000 ? (int)polls : 1000);
	}
	return code;
}

FJMPI_WRAPPER int MPI_Testsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status *statuses)
{
	MPI_Request *others;
	int complete, active, code;

	if (!fjmpi_has_plans(count, requests))
		return PMPI_Testsome(count, requests, found, indices, statuses);
	others = fjmpi_without_plans(count, requests);
	code = PMPI_Testsome(count, others, found, indices, statuses);
	fjmpi_take_back(count, requests, others);
	complete = *found == MPI_UNDEFINED ? 0 : *found;
	active = *found != MPI_UNDEFINED;
	for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);
		enum fjmpi_plan_state state = plan ? fjmpi_poll_plan(plan, requests[i]) : FJMPI_PLAN_INACTIVE;

		active += state != FJMPI_PLAN_INACTIVE;
		if (state == FJMPI_PLAN_COMPLETE) {
			code = fjmpi_status_of(plan, &requests[i],
					       statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
									       : &statuses[complete],
					       1);
			for (int other = 0; other < complete && code != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE;
			     other++)
				statuses[other].MPI_ERROR = MPI_SUCCESS;
			code = fjmpi_error_in(statuses, complete, code);
			indices[complete++] = i;
		}
	}
	if (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS)
		*found = active ? complete : MPI_UNDEFINED;
	return code == MPI_SUCCESS && *found == 0 ? fjmpi_progress() : code;
}

FJMPI_WRAPPER int MPI_Waitsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status *statuses)
{
	int code = MPI_SUCCESS;

	*found = 0;
	for (unsigned polls = 0; *found == 0 && code == MPI_SUCCESS; polls++) {
		code = MPI_Testsome(count, requests, found, indices, statuses);
		fjmpi_plan_pause(polls < 1000 ? (int)polls : 1000);
	}
	return code;
}

FJMPI_WRAPPER int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct fjmpi_plan *plan = fjmpi_plan_of(request);

	if (!plan)
		return PMPI_Request_get_status(request, flag, status);
	*flag = fjmpi_poll_plan(plan, request) != FJMPI_PLAN_ACTIVE;
	return *flag ? fjmpi_status_of(plan, &request, status, 0) : fjmpi_progress();
}

FJMPI_WRAPPER int MPI_Cancel(MPI_Request *request)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;
	int what = -1;

	if (!plan)
		return PMPI_Cancel(request);
	if (fjmpi_plan_pair_call_of(plan))
		what = fjmpi_plan_pair_cancel(plan);
	else
		fjmpi_plan_refuse_cancel(plan);
	if (what < 0)
		return fjmpi_request_error();
	return what > 0 ? PMPI_Cancel(request) : MPI_SUCCESS;
}

FJMPI_WRAPPER int MPI_Request_free(MPI_Request *request)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (plan && fjmpi_plan_destroy(plan))
		return fjmpi_request_error();
	return PMPI_Request_free(request);
}

/* The MPI would report a leaked datatype for a pair that is never freed. */
FJMPI_WRAPPER int MPI_Finalize(void)
{
	uintptr_t number;

	while (fjmpi_plan_pair_left(&number)) {
		MPI_Request request = (MPI_Request)number;

		MPI_Request_free(&request);
	}
	return PMPI_Finalize();
}

/* --- For what makes requests with plans --- */

static inline int fjmpi_in_world(MPI_Comm comm, int ranks)
{
	MPI_Group here, world, both;
	int size = 0;

	PMPI_Comm_group(comm, &here);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_intersection(here, world, &both);
	PMPI_Group_size(both, &size);
	PMPI_Group_free(&here);
	PMPI_Group_free(&world);
	if (both != MPI_GROUP_EMPTY)
		PMPI_Group_free(&both);
	return size == ranks;
}

/* fjmpi_fortran.c asks by a function of Fortran. */
#ifndef FJMPI_ASK_FOR_STATUS
static inline int fjmpi_ask_for_status(MPI_Request request)
{
	int flag;

	return MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}
#define FJMPI_ASK_FOR_STATUS fjmpi_ask_for_status
#endif

/*
 * Does a request with a plan reach fjmpi_requests.h? A program may define functions of these names
 * itself.
 */
static inline int fjmpi_reaches_plan(struct fjmpi_plan *plan, MPI_Request request)
{
	return FJMPI_ASK_FOR_STATUS(request) == MPI_SUCCESS && fjmpi_plan_was_polled(plan);
}

#ifdef __cplusplus
}
#endif

#endif
