/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of plans in the functions of MPI that take requests, among requests of the MPI;
 * collectives that the MPI carries out; and mistakes: plans_requests mixed, others, start, free,
 * cancel.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { LARGE = 300000, ROUNDS = 8 };

static int me, ranks;

/* A barrier, a sum, messages round the ring, an inactive request and a null request. */
enum { BARRIER, SUM, SEND, RECEIVE, INACTIVE, NONE, REQUESTS };

struct mixture {
	MPI_Request request[REQUESTS];
	int mine, sum;
	double *out, *in;
	int round;
};

static void prepare_mixture(struct mixture *all)
{
	memset(all, 0, sizeof *all);
	all->out = calloc(LARGE, sizeof *all->out);
	all->in = calloc(LARGE, sizeof *all->in);
	MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &all->request[BARRIER]);
	MPIX_Allreduce_init(&all->mine, &all->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
			    &all->request[SUM]);
	MPI_Send_init(all->out, LARGE, MPI_DOUBLE, (me + 1) % ranks, 5, MPI_COMM_WORLD, &all->request[SEND]);
	MPI_Recv_init(all->in, LARGE, MPI_DOUBLE, (me + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &all->request[RECEIVE]);
	MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &all->request[INACTIVE]);
	all->request[NONE] = MPI_REQUEST_NULL;
}

static void start_mixture(struct mixture *all)
{
	all->mine = me + ++all->round;
	all->sum = -1;
	for (int i = 0; i < LARGE; i++) {
		all->out[i] = me + all->round + i % 17;
		all->in[i] = -1;
	}
	CHECK(MPI_Startall(4, all->request) == MPI_SUCCESS);
}

static void check_mixture(const struct mixture *all)
{
	int down = (me + ranks - 1) % ranks;

	CHECK(all->sum == ranks * (ranks - 1) / 2 + ranks * all->round);
	for (int i = 0; i < LARGE; i++)
		CHECK(all->in[i] == down + all->round + i % 17);
	for (int i = 0; i < INACTIVE; i++)
		CHECK(all->request[i] != MPI_REQUEST_NULL);
}

/* Requests that any and some return come once each; then there is none. */
static void wait_by_any(struct mixture *all, int test)
{
	int seen[REQUESTS] = {0}, index, flag = 1;
	MPI_Status status;

	for (int done = 0; done < 4;) {
		if (test)
			CHECK(MPI_Testany(REQUESTS, all->request, &index, &flag, &status) == MPI_SUCCESS);
		else
			CHECK(MPI_Waitany(REQUESTS, all->request, &index, &status) == MPI_SUCCESS);
		if (!flag)
			continue;
		CHECK(index >= 0 && index < INACTIVE && seen[index]++ == 0);
		if (index == RECEIVE)
			CHECK(status.MPI_TAG == 5);
		done++;
	}
	if (test)
		CHECK(MPI_Testany(REQUESTS, all->request, &index, &flag, &status) == MPI_SUCCESS && flag);
	else
		CHECK(MPI_Waitany(REQUESTS, all->request, &index, &status) == MPI_SUCCESS);
	CHECK(index == MPI_UNDEFINED);
}

static void wait_by_some(struct mixture *all, int test)
{
	int seen[REQUESTS] = {0}, indices[REQUESTS], found, tag = -1;
	MPI_Status statuses[REQUESTS];

	for (int done = 0; done < 4; done += found) {
		if (test)
			CHECK(MPI_Testsome(REQUESTS, all->request, &found, indices, statuses) == MPI_SUCCESS);
		else
			CHECK(MPI_Waitsome(REQUESTS, all->request, &found, indices, statuses) == MPI_SUCCESS &&
			      found > 0);
		CHECK(found != MPI_UNDEFINED);
		for (int i = 0; i < found; i++) {
			CHECK(indices[i] < INACTIVE && seen[indices[i]]++ == 0);
			tag = indices[i] == RECEIVE ? statuses[i].MPI_TAG : tag;
		}
	}
	CHECK(tag == 5);
	if (test)
		CHECK(MPI_Testsome(REQUESTS, all->request, &found, indices, statuses) == MPI_SUCCESS);
	else
		CHECK(MPI_Waitsome(REQUESTS, all->request, &found, indices, statuses) == MPI_SUCCESS);
	CHECK(found == MPI_UNDEFINED);
}

static void wait_by_all(struct mixture *all, int test)
{
	MPI_Status statuses[REQUESTS];
	int flag = 0;

	while (test && !flag)
		CHECK(MPI_Testall(REQUESTS, all->request, &flag, statuses) == MPI_SUCCESS);
	if (!test)
		CHECK(MPI_Waitall(REQUESTS, all->request, statuses) == MPI_SUCCESS);
	CHECK(statuses[RECEIVE].MPI_TAG == 5 && statuses[BARRIER].MPI_SOURCE == MPI_ANY_SOURCE);
}

/* MPICH 4.2 tells the status of a persistent request once. */
static void wait_by_one(struct mixture *all, int test)
{
	for (int i = 0; i < REQUESTS; i++) {
		MPI_Status status;
		int flag = 0;

		while (test && !flag)
			CHECK(MPI_Request_get_status(all->request[i], &flag, &status) == MPI_SUCCESS);
		for (flag = 0; test && !flag;)
			CHECK(MPI_Test(&all->request[i], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
		if (!test)
			CHECK(MPI_Wait(&all->request[i], &status) == MPI_SUCCESS);
		CHECK(i != RECEIVE || status.MPI_TAG == 5);
	}
}

static void try_mixed(void)
{
	static void (*const ways[])(struct mixture * all, int test) = {wait_by_any, wait_by_some, wait_by_all,
								       wait_by_one};
	struct mixture all;

	prepare_mixture(&all);
	for (int round = 0; round < 2 * ROUNDS; round++) {
		start_mixture(&all);
		ways[round / 2 % 4](&all, round % 2);
		check_mixture(&all);
	}
	for (int i = 0; i < NONE; i++)
		MPI_Request_free(&all.request[i]);
	free(all.in);
	free(all.out);
}

/*
 * The first rank waits for the plan while the second waits for a message of the first one, and has
 * yet to forward.
 */
static void try_elsewhere(void)
{
	MPI_Request request;
	double *list = calloc(LARGE, sizeof *list);
	int word = 0;

	MPIX_Bcast_init(&word, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int round = 1; round <= ROUNDS; round++) {
		word = me == ranks - 1 ? round : -1;
		/*
		 * About as long as the thread that advances plans looks for one, before it sleeps.
		 */
		usleep(27000 + 1000 * (unsigned)round);
		MPI_Start(&request);
		if (me == 0)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (me == 0)
			for (int rank = 1; rank < ranks; rank++)
				MPI_Send(list, LARGE, MPI_DOUBLE, rank, 6, MPI_COMM_WORLD);
		else
			MPI_Recv(list, LARGE, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (me != 0)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(word == round);
	}
	MPI_Request_free(&request);
	free(list);
}

/*
 * The first rank waits for the plan while the others wait until it receives their messages, and
 * have yet to start.
 */
static void try_messages(void)
{
	double *list = calloc((size_t)ranks * LARGE, sizeof *list);
	MPI_Request barrier, *messages = calloc((size_t)ranks, sizeof *messages);

	MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
	for (int rank = 0; rank < ranks; rank++)
		messages[rank] = MPI_REQUEST_NULL;
	for (int round = 0; round < ROUNDS; round++) {
		for (int rank = 1; rank < ranks && me == 0; rank++)
			MPI_Irecv(list + rank * LARGE, LARGE, MPI_DOUBLE, rank, 7, MPI_COMM_WORLD, &messages[rank]);
		if (me != 0)
			MPI_Ssend(list, LARGE, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
		MPI_Start(&barrier);
		MPI_Wait(&barrier, MPI_STATUS_IGNORE);
		MPI_Waitall(ranks, messages, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&barrier);
	free(messages);
	free(list);
}

/* --- Collectives that the MPI carries out --- */

static void add_up(void *in, void *out, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++)
		((int *)out)[i] += ((int *)in)[i];
}

static void finish(MPI_Request *request)
{
	for (int round = 0; round < 2; round++)
		CHECK(MPI_Start(request) == MPI_SUCCESS && MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	MPI_Request_free(request);
}

static void try_others(void)
{
	int word = me, sum = 0, pair[2] = {10, 20}, *blocks = calloc((size_t)ranks, sizeof *blocks);
	MPI_Request request;
	MPI_Datatype derived;
	MPI_Op op;

	MPI_Op_create(add_up, 1, &op);
	MPIX_Allreduce_init(&word, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	finish(&request);
	CHECK(sum == ranks * (ranks - 1) / 2);
	MPI_Op_free(&op);
	/*
	 * The other ranks take the numbers the other way round: the size of such a datatype tells
	 * nothing.
	 */
	MPI_Type_indexed(2, (int[]){1, 1}, (int[]){1, 0}, MPI_INT, &derived);
	MPI_Type_commit(&derived);
	MPIX_Bcast_init(pair, me == 0 ? 2 : 1, me == 0 ? MPI_INT : derived, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	finish(&request);
	CHECK(pair[0] == (me == 0 ? 10 : 20) && pair[1] == (me == 0 ? 20 : 10));
	MPI_Type_free(&derived);
	for (int i = 0; i < ranks; i++)
		blocks[i] = me;
	MPIX_Alltoall_init(MPI_IN_PLACE, 1, MPI_INT, blocks, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	CHECK(MPI_Start(&request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	MPI_Request_free(&request);
	for (int i = 0; i < ranks; i++)
		CHECK(blocks[i] == i);
	MPIX_Scan_init(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	finish(&request);
	CHECK(sum == me * (me + 1) / 2);
	free(blocks);
}

/* --- Mistakes --- */

static void make_mistake(const char *which)
{
	MPI_Request request;
	int word = 0;

	MPIX_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	if (strcmp(which, "cancel") == 0) {
		MPI_Cancel(&request);
		return;
	}
	/* The root waits until all others have started. */
	if (me == 0)
		MPI_Start(&request);
	if (me == 0 && strcmp(which, "start") == 0)
		MPI_Start(&request);
	if (me == 0 && strcmp(which, "free") == 0)
		MPI_Request_free(&request);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	CHECK(argc == 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(argv[1], "mixed") == 0) {
		try_mixed();
		try_elsewhere();
		try_messages();
	} else if (strcmp(argv[1], "others") == 0) {
		try_others();
	} else {
		make_mistake(argv[1]);
	}
	if (me == 0)
		printf("%d ranks\n", ranks);
	MPI_Finalize();
	return 0;
}
