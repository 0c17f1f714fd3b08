/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of FJMPI_Prequest_*: an exchange with neighbours whose values and statuses are checked
 * in every round, among plans of collectives, by all functions that complete requests; what
 * connects and disconnects requests; and mistakes: prequests exchange, record, cases, unfreed,
 * longer, longer-returns, plain, start, free, cancel.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { SIDES = 2, ROUNDS = 104, FEW_ROUNDS = 16, LONG_COUNT = 600000, MANY = 300 };

static int me, ranks;

static double value(int rank, int side, int round, int i)
{
	return rank * 1e6 + side * 5e5 + round * 1e3 + i % 997;
}

static void check_status(const MPI_Status *status, int source, int tag, int count)
{
	int got = -1, elements = -1, cancelled = -1;

	MPI_Get_count(status, MPI_DOUBLE, &got);
	MPI_Get_elements(status, MPI_DOUBLE, &elements);
	MPI_Test_cancelled(status, &cancelled);
	CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && got == count && elements == count &&
	      cancelled == 0);
}

/* --- An exchange with both neighbours in a ring --- */

enum { REQUESTS = 2 * SIDES + 2 }; /* receives, sends, a sum, a null request */

struct exchange {
	MPI_Request request[REQUESTS];
	MPI_Status status[REQUESTS];
	double *out[SIDES], *in[SIDES];
	int neighbour[SIDES];
	double mine, sum;
	int count;
};

static void prepare(struct exchange *all, int count, int spare)
{
	*all = (struct exchange){.count = count, .neighbour = {(me + ranks - 1) % ranks, (me + 1) % ranks}};
	for (int side = 0; side < SIDES; side++) {
		all->out[side] = malloc((size_t)(count + 1) * sizeof(double));
		all->in[side] = malloc((size_t)(count + 1) * sizeof(double));
		CHECK(all->out[side] && all->in[side]);
		all->in[side][count] = -7;
		/* What leaves on one side arrives on the other. */
		CHECK(FJMPI_Prequest_recv_init(all->in[side], count + (count && !side ? spare : 0), MPI_DOUBLE,
					       all->neighbour[side], 10 + !side, MPI_COMM_WORLD,
					       &all->request[side]) == MPI_SUCCESS);
		CHECK(FJMPI_Prequest_send_init(all->out[side], count * (int)sizeof(double), MPI_BYTE,
					       all->neighbour[side], 10 + side, MPI_COMM_WORLD,
					       &all->request[SIDES + side]) == MPI_SUCCESS);
	}
	MPIX_Allreduce_init(&all->mine, &all->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
			    &all->request[2 * SIDES]);
	all->request[REQUESTS - 1] = MPI_REQUEST_NULL;
}

static void keep_one(struct exchange *all, int *seen, int index, const MPI_Status *status)
{
	CHECK(index >= 0 && index < REQUESTS - 1 && seen[index]++ == 0);
	all->status[index] = *status;
}

static void complete_one_by_one(struct exchange *all, int test)
{
	for (int i = REQUESTS - 1; i >= 0; i--) {
		int flag = 0;

		if (!test) {
			CHECK(MPI_Wait(&all->request[i], &all->status[i]) == MPI_SUCCESS);
			continue;
		}
		while (!flag)
			CHECK(MPI_Request_get_status(all->request[i], &flag, &all->status[i]) == MPI_SUCCESS);
		CHECK(MPI_Test(&all->request[i], &flag, &all->status[i]) == MPI_SUCCESS && flag);
	}
}

static void complete_all(struct exchange *all, int test)
{
	int flag = 0;

	while (test && !flag)
		CHECK(MPI_Testall(REQUESTS, all->request, &flag, all->status) == MPI_SUCCESS);
	if (!test)
		CHECK(MPI_Waitall(REQUESTS, all->request, all->status) == MPI_SUCCESS);
}

static void complete_any(struct exchange *all, int test)
{
	int seen[REQUESTS] = {0}, index, flag = 1;
	MPI_Status status;

	for (int done = 0; done < REQUESTS - 1; done += flag) {
		if (test)
			CHECK(MPI_Testany(REQUESTS, all->request, &index, &flag, &status) == MPI_SUCCESS);
		else
			CHECK(MPI_Waitany(REQUESTS, all->request, &index, &status) == MPI_SUCCESS);
		if (flag)
			keep_one(all, seen, index, &status);
	}
	CHECK(MPI_Waitany(REQUESTS, all->request, &index, &status) == MPI_SUCCESS && index == MPI_UNDEFINED);
}

static void complete_some(struct exchange *all, int test)
{
	int seen[REQUESTS] = {0}, indices[REQUESTS], found;
	MPI_Status statuses[REQUESTS];

	for (int done = 0; done < REQUESTS - 1; done += found) {
		if (test)
			CHECK(MPI_Testsome(REQUESTS, all->request, &found, indices, statuses) == MPI_SUCCESS);
		else
			CHECK(MPI_Waitsome(REQUESTS, all->request, &found, indices, statuses) == MPI_SUCCESS &&
			      found > 0);
		CHECK(found != MPI_UNDEFINED);
		for (int i = 0; i < found; i++)
			keep_one(all, seen, indices[i], &statuses[i]);
	}
}

/* Ranks come late in turn. What arrives before the receiver has started is lost. */
static void run_exchange(struct exchange *all, int round)
{
	static void (*const ways[])(struct exchange * all, int test) = {complete_all, complete_one_by_one, complete_any,
									complete_some};

	if (round % 13 == 5 && me == round % ranks)
		usleep(3000);
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < all->count; i++) {
			all->out[side][i] = value(me, side, round, i);
			all->in[side][i] = -1;
		}
	all->mine = me + round;
	if (round % 3)
		CHECK(MPI_Startall(REQUESTS - 1, all->request) == MPI_SUCCESS);
	else
		CHECK(FJMPI_Prequest_startall(2 * SIDES, all->request) == MPI_SUCCESS &&
		      FJMPI_Prequest_start(&all->request[2 * SIDES]) == MPI_SUCCESS);
	ways[round / 2 % 4](all, round % 2);
	CHECK(all->sum == ranks * (ranks - 1) / 2 + ranks * round);
	for (int side = 0; side < SIDES; side++) {
		check_status(&all->status[side], all->neighbour[side], 10 + !side, all->count);
		for (int i = 0; i < all->count; i++)
			CHECK(all->in[side][i] == value(all->neighbour[side], !side, round, i));
		CHECK(all->in[side][all->count] == -7);
	}
}

static void end_exchange(struct exchange *all)
{
	for (int i = 0; i < REQUESTS - 1; i++)
		MPI_Request_free(&all->request[i]);
	for (int side = 0; side < SIDES; side++) {
		free(all->out[side]);
		free(all->in[side]);
	}
}

static void try_exchange(void)
{
	static const int counts[] = {1000, 0, 1, 8192, 20001, LONG_COUNT};
	struct exchange all;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		prepare(&all, counts[i], 100);
		for (int round = 0; round < (i == 0 ? ROUNDS : FEW_ROUNDS); round++)
			run_exchange(&all, round);
		end_exchange(&all);
	}
}

/* All ranks are in the same round. */
static void try_record(void)
{
	struct exchange all;

	prepare(&all, 20001, 0);
	for (int round = 0; round < FEW_ROUNDS; round++) {
		run_exchange(&all, round);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	end_exchange(&all);
}

/*
 * --- Cases: the first two ranks, of which the second receives; alone, a rank sends to itself ---
 */

static double buffer[4][MANY];
static int sender, receiver;

static void finish(MPI_Request *request)
{
	CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS && *request != MPI_REQUEST_NULL);
}

/* A round from a request that sends to one that receives. */
static void pass(MPI_Request *send, double *out, MPI_Request *receive, double *in, double number)
{
	if (me == receiver) {
		in[0] = -1;
		CHECK(FJMPI_Prequest_start(receive) == MPI_SUCCESS);
	}
	if (me == sender) {
		out[0] = number;
		CHECK(FJMPI_Prequest_start(send) == MPI_SUCCESS);
	}
	if (me == receiver) {
		finish(receive);
		CHECK(in[0] == number);
	}
	if (me == sender)
		finish(send);
}

static void make_sender(MPI_Request *request, double *out, int tag)
{
	if (me == sender)
		CHECK(FJMPI_Prequest_send_init(out, 1, MPI_DOUBLE, receiver, tag, MPI_COMM_WORLD, request) ==
		      MPI_SUCCESS);
}

static void make_receiver(MPI_Request *request, double *in, int source, int tag)
{
	if (me == receiver)
		CHECK(FJMPI_Prequest_recv_init(in, 1, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, request) == MPI_SUCCESS);
}

static void free_at(int rank, MPI_Request *request)
{
	if (me == rank)
		CHECK(MPI_Request_free(request) == MPI_SUCCESS && *request == MPI_REQUEST_NULL);
}

/*
 * Two buffers in turn at one side, one at the other. The second comes when the first is connected,
 * and goes again.
 */
static void try_two_buffers(int at_sender)
{
	MPI_Request one[2], other;
	int turns[] = {0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0};

	if (at_sender)
		make_receiver(&other, buffer[2], sender, 20);
	else
		make_sender(&other, buffer[2], 20);
	for (int i = 0; i < 2; i++) {
		if (at_sender)
			make_sender(&one[i], buffer[i], 20);
		else
			make_receiver(&one[i], buffer[i], sender, 20);
		for (int round = 0; round < 12; round++) {
			int turn = i ? turns[round] : 0;

			if (at_sender)
				pass(&one[turn], buffer[turn], &other, buffer[2], 100 * i + round);
			else
				pass(&other, buffer[2], &one[turn], buffer[turn], 100 * i + round);
		}
	}
	free_at(at_sender ? sender : receiver, &one[1]);
	for (int round = 0; round < 12; round++)
		if (at_sender)
			pass(&one[0], buffer[0], &other, buffer[2], round);
		else
			pass(&other, buffer[2], &one[0], buffer[0], round);
	free_at(at_sender ? sender : receiver, &one[0]);
	free_at(at_sender ? receiver : sender, &other);
}

/* One side makes its request again and again. */
static void try_again(int at_sender)
{
	MPI_Request send, receive;

	make_sender(&send, buffer[0], 21);
	make_receiver(&receive, buffer[1], sender, 21);
	for (int i = 0; i < 10; i++) {
		for (int round = 0; round < 5; round++)
			pass(&send, buffer[0], &receive, buffer[1], 10 * i + round);
		if (at_sender) {
			free_at(sender, &send);
			make_sender(&send, buffer[0], 21);
		} else {
			free_at(receiver, &receive);
			make_receiver(&receive, buffer[1], sender, 21);
		}
	}
	free_at(receiver, &receive);
	free_at(sender, &send);
}

static void try_any(void)
{
	MPI_Request send, receive;
	MPI_Status status;

	make_sender(&send, buffer[0], 22);
	make_receiver(&receive, buffer[1], MPI_ANY_SOURCE, MPI_ANY_TAG);
	for (int round = 0; round < 6; round++)
		pass(&send, buffer[0], &receive, buffer[1], round);
	if (me == sender)
		MPI_Start(&send);
	if (me == receiver) {
		MPI_Start(&receive);
		MPI_Wait(&receive, &status);
		check_status(&status, sender, 22, 1);
	}
	if (me == sender)
		finish(&send);
	free_at(sender, &send);
	free_at(receiver, &receive);
}

/* Every second number; and pairs that are contiguous. */
static void try_datatypes(void)
{
	MPI_Request send, receive;
	MPI_Datatype gaps, pairs;

	MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &gaps);
	MPI_Type_commit(&gaps);
	MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
	MPI_Type_commit(&pairs);
	for (int kind = 0; kind < 2; kind++) {
		if (me == sender)
			FJMPI_Prequest_send_init(buffer[0], kind ? 4 : 1, kind ? pairs : gaps, receiver, 23,
						 MPI_COMM_WORLD, &send);
		if (me == receiver)
			FJMPI_Prequest_recv_init(buffer[1], 9, MPI_DOUBLE, sender, 23, MPI_COMM_WORLD, &receive);
		for (int round = 0; round < 6; round++) {
			MPI_Status status;

			for (int i = 0; i < 9; i++) {
				buffer[0][i] = round + i;
				buffer[1][i] = -1;
			}
			if (me == receiver)
				MPI_Start(&receive);
			if (me == sender)
				MPI_Start(&send);
			if (me == receiver) {
				MPI_Wait(&receive, &status);
				check_status(&status, sender, 23, kind ? 8 : 3);
				for (int i = 0; i < 9; i++)
					CHECK(buffer[1][i] == (i < (kind ? 8 : 3) ? round + i * (kind ? 1 : 2) : -1));
			}
			if (me == sender)
				finish(&send);
		}
		free_at(sender, &send);
		free_at(receiver, &receive);
	}
	MPI_Type_free(&gaps);
	MPI_Type_free(&pairs);
}

static void try_nobody(void)
{
	MPI_Request request[3];

	FJMPI_Prequest_recv_init(buffer[0], 5, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[0]);
	FJMPI_Prequest_send_init(buffer[1], 5, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[1]);
	/* Never started. */
	FJMPI_Prequest_send_init(buffer[1], 5, MPI_DOUBLE, me, 24, MPI_COMM_WORLD, &request[2]);
	for (int round = 0; round < 3; round++) {
		MPI_Startall(2, request);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&request[i]);
}

/*
 * A receive that is cancelled before it has a message, in the first round and when it is connected.
 */
static void try_cancel(void)
{
	MPI_Request send, receive;
	MPI_Status status;
	int cancelled;

	make_sender(&send, buffer[0], 25);
	make_receiver(&receive, buffer[1], sender, 25);
	for (int i = 0; i < 3; i++) {
		if (me == receiver) {
			MPI_Start(&receive);
			CHECK(MPI_Cancel(&receive) == MPI_SUCCESS && MPI_Wait(&receive, &status) == MPI_SUCCESS);
			MPI_Test_cancelled(&status, &cancelled);
			CHECK(cancelled);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		for (int round = 0; round < 5; round++)
			pass(&send, buffer[0], &receive, buffer[1], 10 * i + round);
	}
	free_at(sender, &send);
	free_at(receiver, &receive);
}

/* Many requests between all ranks, which some ranks begin late. */
static void try_many(void)
{
	static double out[MANY][3], in[MANY][3];
	MPI_Request *request = malloc(2 * MANY * sizeof *request);

	for (int i = 0; i < MANY; i++) {
		FJMPI_Prequest_recv_init(in[i], 3, MPI_DOUBLE, (me + ranks - 1) % ranks, i, MPI_COMM_WORLD,
					 &request[MANY + i]);
		FJMPI_Prequest_send_init(out[i], 3, MPI_DOUBLE, (me + 1) % ranks, i, MPI_COMM_WORLD, &request[i]);
	}
	for (int round = 0; round < 6; round++) {
		if (me == round % ranks)
			usleep(2000);
		for (int i = 0; i < MANY; i++)
			out[i][2] = me * 1000 + round * 10000 + i;
		MPI_Startall(2 * MANY, request);
		MPI_Waitall(2 * MANY, request, MPI_STATUSES_IGNORE);
		for (int i = 0; i < MANY; i++)
			CHECK(in[i][2] == (me + ranks - 1) % ranks * 1000 + round * 10000 + i);
	}
	for (int i = 0; i < 2 * MANY; i++)
		MPI_Request_free(&request[i]);
	free(request);
}

/* Ranks of a communicator in another order, and both groups of an intercommunicator. */
static void try_communicators(void)
{
	MPI_Comm reversed, half, inter;
	MPI_Request request[2];

	MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed);
	FJMPI_Prequest_send_init(buffer[0], 4, MPI_DOUBLE, me, 26, reversed, &request[0]);
	FJMPI_Prequest_recv_init(buffer[1], 4, MPI_DOUBLE, ranks - 1 - me, 26, MPI_COMM_WORLD, &request[1]);
	MPI_Request_free(&request[1]);
	FJMPI_Prequest_recv_init(buffer[1], 4, MPI_DOUBLE, me, 26, reversed, &request[1]);
	MPI_Comm_free(&reversed);
	for (int round = 0; round < 5; round++) {
		MPI_Status status[2];

		buffer[0][3] = 10 * round + me;
		MPI_Startall(2, request);
		MPI_Waitall(2, request, status);
		CHECK(buffer[1][3] == 10 * round + ranks - 1 - me);
		check_status(&status[1], me, 26, 4);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	if (ranks < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(me % 2), 27, &inter);
	if (me < 2) {
		FJMPI_Prequest_send_init(buffer[0], 4, MPI_DOUBLE, 0, 28, inter, &request[0]);
		FJMPI_Prequest_recv_init(buffer[1], 4, MPI_DOUBLE, 0, 28, inter, &request[1]);
		for (int round = 0; round < 3; round++) {
			buffer[0][3] = 10 * round + me;
			MPI_Startall(2, request);
			MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
			CHECK(buffer[1][3] == 10 * round + !me);
		}
		MPI_Request_free(&request[0]);
		MPI_Request_free(&request[1]);
	}
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

/* The receiver has started and waits for a message that the sender sends behind. */
static void try_other_messages(void)
{
	MPI_Request send, receive;
	int word = 0;

	if (sender == receiver)
		return;
	make_sender(&send, buffer[0], 29);
	make_receiver(&receive, buffer[1], sender, 29);
	for (int round = 0; round < 20 && me <= receiver; round++) {
		buffer[0][0] = round;
		if (me == receiver)
			MPI_Start(&receive);
		if (me == sender) {
			MPI_Start(&send);
			finish(&send);
			MPI_Send(&word, 1, MPI_INT, receiver, 30, MPI_COMM_WORLD);
		}
		if (me == receiver) {
			MPI_Recv(&word, 1, MPI_INT, sender, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			finish(&receive);
			CHECK(buffer[1][0] == round);
		}
	}
	free_at(sender, &send);
	free_at(receiver, &receive);
}

static void try_cases(void)
{
	for (int at_sender = 0; at_sender < 2; at_sender++) {
		try_two_buffers(at_sender);
		try_again(at_sender);
	}
	try_any();
	try_datatypes();
	try_nobody();
	try_cancel();
	try_other_messages();
	try_communicators();
	try_many();
}

/* --- Mistakes --- */

static void try_unfreed(void)
{
	static struct exchange all;

	prepare(&all, 50, 0);
	for (int round = 0; round < 5; round++)
		run_exchange(&all, round);
}

static void make_mistake(const char *which)
{
	MPI_Request send, receive;
	int longer = strncmp(which, "longer", 6) == 0, code;

	make_receiver(&receive, buffer[1], sender, 40);
	if (strcmp(which, "plain") == 0 && me == sender)
		MPI_Send_init(buffer[0], 1, MPI_DOUBLE, receiver, 40, MPI_COMM_WORLD, &send);
	else if (me == sender)
		FJMPI_Prequest_send_init(buffer[0], longer ? 2 : 1, MPI_DOUBLE, receiver, 40, MPI_COMM_WORLD, &send);
	if (strcmp(which, "longer-returns") == 0)
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int round = 0; round < (longer ? 1 : 3); round++) {
		if (me == receiver)
			MPI_Start(&receive);
		if (me == receiver && round == 1 && strcmp(which, "start") == 0)
			MPI_Start(&receive);
		if (me == receiver && round == 1 && strcmp(which, "free") == 0)
			MPI_Request_free(&receive);
		if (me == sender)
			MPI_Start(&send);
		if (me == sender && strcmp(which, "cancel") == 0)
			MPI_Cancel(&send);
		if (me == receiver) {
			MPI_Status status;

			code = MPI_Wait(&receive, &status);
			MPI_Error_class(code, &code);
			CHECK(!longer || code == MPI_ERR_TRUNCATE);
		}
		if (me == sender)
			finish(&send);
	}
	free_at(sender, &send);
	/* Open MPI frees a request with an error. */
	if (me == receiver && receive != MPI_REQUEST_NULL)
		free_at(receiver, &receive);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	CHECK(argc == 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	receiver = ranks > 1;
	if (strcmp(argv[1], "exchange") == 0)
		try_exchange();
	else if (strcmp(argv[1], "record") == 0)
		try_record();
	else if (strcmp(argv[1], "cases") == 0)
		try_cases();
	else if (strcmp(argv[1], "unfreed") == 0)
		try_unfreed();
	else
		make_mistake(argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0)
		printf("%d ranks\n", ranks);
	MPI_Finalize();
	return 0;
}
