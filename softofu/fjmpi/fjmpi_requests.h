/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_REQUESTS_H
#define FJMPI_REQUESTS_H

/*
 * The functions of MPI that take requests, for programs with persistent collectives that are plans (fjmpi_plans.h).
 *
 * The request of a plan is a persistent request of the MPI that receives from this rank and is never started, so it
 * always counts as inactive: what the MPI returns for it is right once the plan is complete. (Not from MPI_PROC_NULL:
 * MPICH 4.0 reuses such a request with what is left in it, and a later collective waits for ever.) The functions here
 * look for plans, and leave the rest to the MPI, as libraries of its profiling interface do. They are weak, and so are
 * in a program once, also for those of its files and libraries that do not include this header.
 */
#include <mpi.h>
#include <stdint.h>
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

/* A plan that failed would leave all ranks waiting. */
static inline enum fjmpi_plan_state fjmpi_poll_plan(struct fjmpi_plan *plan)
{
	enum fjmpi_plan_state state = fjmpi_plan_poll(plan);

	if (state == FJMPI_PLAN_FAILED)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	return state;
}

/*
 * A rank that waits for a plan goes on with the messages of the MPI, for which other ranks may wait. A probe that finds
 * something may do nothing else, and one in MPI_COMM_SELF does nothing in MPICH: so it is for a message that no program
 * sends, from this rank to itself with the largest tag that every MPI has.
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

static inline void fjmpi_await_plan(struct fjmpi_plan *plan)
{
	for (unsigned polls = 0; fjmpi_poll_plan(plan) == FJMPI_PLAN_ACTIVE; polls++)
		fjmpi_pause(polls);
}

FJMPI_WRAPPER int MPI_Start(MPI_Request *request)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (!plan)
		return PMPI_Start(request);
	return fjmpi_plan_start(plan) ? fjmpi_request_error() : MPI_SUCCESS;
}

FJMPI_WRAPPER int MPI_Startall(int count, MPI_Request requests[])
{
	int plans = 0, code = MPI_SUCCESS;

	for (int i = 0; i < count; i++)
		plans += fjmpi_plan_of(requests[i]) != NULL;
	if (plans == 0)
		return PMPI_Startall(count, requests);
	for (int i = 0; i < count && code == MPI_SUCCESS; i++)
		code = MPI_Start(&requests[i]);
	return code;
}

FJMPI_WRAPPER int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (plan) {
		fjmpi_await_plan(plan);
		fjmpi_plan_end(plan);
	}
	return PMPI_Wait(request, status);
}

FJMPI_WRAPPER int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);

		if (!plan)
			continue;
		fjmpi_await_plan(plan);
		fjmpi_plan_end(plan);
	}
	return PMPI_Waitall(count, requests, statuses);
}

FJMPI_WRAPPER int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (plan && fjmpi_poll_plan(plan) == FJMPI_PLAN_ACTIVE) {
		*flag = 0;
		return fjmpi_progress();
	}
	if (plan)
		fjmpi_plan_end(plan);
	return PMPI_Test(request, flag, status);
}

/* Nothing ends unless all does. */
FJMPI_WRAPPER int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
	int code;

	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);

		if (plan && fjmpi_poll_plan(plan) == FJMPI_PLAN_ACTIVE) {
			*flag = 0;
			return fjmpi_progress();
		}
	}
	code = PMPI_Testall(count, requests, flag, statuses);
	for (int i = 0; i < count && code == MPI_SUCCESS && *flag; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);

		if (plan)
			fjmpi_plan_end(plan);
	}
	return code;
}

FJMPI_WRAPPER int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	int active = 0, code;

	for (int i = 0; i < count; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);
		enum fjmpi_plan_state state = plan ? fjmpi_poll_plan(plan) : FJMPI_PLAN_INACTIVE;

		if (state == FJMPI_PLAN_COMPLETE) {
			fjmpi_plan_end(plan);
			*index = i;
			*flag = 1;
			return PMPI_Wait(&requests[i], status);
		}
		active += state == FJMPI_PLAN_ACTIVE;
	}
	code = PMPI_Testany(count, requests, index, flag, status);
	if (code == MPI_SUCCESS && *flag && *index == MPI_UNDEFINED && active)
		*flag = 0;
	return code;
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
	int code = PMPI_Testsome(count, requests, found, indices, statuses);
	int complete = *found == MPI_UNDEFINED ? 0 : *found, active = *found != MPI_UNDEFINED;

	for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
		struct fjmpi_plan *plan = fjmpi_plan_of(requests[i]);
		enum fjmpi_plan_state state = plan ? fjmpi_poll_plan(plan) : FJMPI_PLAN_INACTIVE;

		active += state != FJMPI_PLAN_INACTIVE;
		if (state == FJMPI_PLAN_COMPLETE) {
			fjmpi_plan_end(plan);
			code = PMPI_Wait(&requests[i],
					 statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[complete]);
			indices[complete++] = i;
		}
	}
	if (code == MPI_SUCCESS)
		*found = active ? complete : MPI_UNDEFINED;
	return code;
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

	if (plan && fjmpi_poll_plan(plan) == FJMPI_PLAN_ACTIVE) {
		*flag = 0;
		return fjmpi_progress();
	}
	return PMPI_Request_get_status(request, flag, status);
}

FJMPI_WRAPPER int MPI_Cancel(MPI_Request *request)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (!plan)
		return PMPI_Cancel(request);
	fjmpi_plan_refuse_cancel(plan);
	return fjmpi_request_error();
}

FJMPI_WRAPPER int MPI_Request_free(MPI_Request *request)
{
	struct fjmpi_plan *plan = request ? fjmpi_plan_of(*request) : NULL;

	if (plan && fjmpi_plan_destroy(plan))
		return fjmpi_request_error();
	return PMPI_Request_free(request);
}

#ifdef __cplusplus
}
#endif

#endif
