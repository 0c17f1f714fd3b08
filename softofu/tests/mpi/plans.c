/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives as plans: plans KIND... compares the results of these kinds with those of
 * the MPI, for messages of many sizes, in place and not, on communicators of several orders and
 * sizes. plans_requests.c has the functions of requests.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 4, BARRIERS = 120 };

static const int counts[] = {0, 1, 8192, 8193, 100000};
#define COUNTS ((int)(sizeof counts / sizeof *counts))

struct place {
	MPI_Comm comm;
	int rank, ranks;
};

/* Whole numbers, so that sums are the same in every order. */
static void fill(double *list, size_t count, const struct place *at, int round)
{
	for (size_t i = 0; i < count; i++)
		list[i] = (double)((i * 7 + (size_t)round * 31 + (size_t)at->rank * 1009) % 4093);
}

static double *new_list(size_t count)
{
	double *list = malloc((count + 1) * sizeof *list);

	CHECK(list != NULL);
	for (size_t i = 0; i <= count; i++)
		list[i] = -1;
	return list;
}

/* Ranks come late in turn. What arrives in a result before its rank has started is lost. */
static void run_round(MPI_Request *request, const struct place *at, int round, double *result, size_t count)
{
	if (round % 2 == 1 && at->rank == round / 2 % at->ranks)
		usleep(3000);
	for (size_t i = 0; result && i < count; i++)
		result[i] = -2;
	CHECK(MPI_Start(request) == MPI_SUCCESS);
	CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(*request != MPI_REQUEST_NULL);
}

/* --- Kinds --- */

static void try_barrier(const struct place *at)
{
	volatile int *mine, *other;
	MPI_Request request;
	MPI_Aint bytes;
	MPI_Win window;
	int unit;

	MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, at->comm, (void *)&mine, &window);
	*mine = 0;
	MPI_Barrier(at->comm);
	CHECK(MPIX_Barrier_init(at->comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
	for (int round = 1; round <= BARRIERS; round++) {
		__atomic_store_n(mine, round, __ATOMIC_RELEASE);
		run_round(&request, at, round, NULL, 0);
		for (int rank = 0; rank < at->ranks; rank++) {
			MPI_Win_shared_query(window, rank, &bytes, &unit, (void *)&other);
			CHECK(__atomic_load_n(other, __ATOMIC_ACQUIRE) >= round);
		}
	}
	MPI_Request_free(&request);
	MPI_Win_free(&window);
}

static void try_bcast(const struct place *at, int count)
{
	double *list = new_list((size_t)count), *wanted = new_list((size_t)count);

	for (int root = 0; root<at->ranks; root += at->ranks> 2 ? at->ranks - 1 : 1) {
		MPI_Request request;

		CHECK(MPIX_Bcast_init(list, count, MPI_DOUBLE, root, at->comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
		for (int round = 0; round < ROUNDS; round++) {
			fill(list, (size_t)count, at, round);
			memcpy(wanted, list, (size_t)count * sizeof *list);
			MPI_Bcast(wanted, count, MPI_DOUBLE, root, at->comm);
			run_round(&request, at, round, at->rank == root ? NULL : list, (size_t)count);
			CHECK(memcmp(list, wanted, (size_t)count * sizeof *list) == 0 && list[count] == -1);
		}
		MPI_Request_free(&request);
		CHECK(request == MPI_REQUEST_NULL);
	}
	free(list);
	free(wanted);
}

static void try_reduce(const struct place *at, int count, int in_place)
{
	double *list = new_list((size_t)count), *sum = new_list((size_t)count), *wanted = new_list((size_t)count);
	int root = at->ranks / 2, is_root = at->rank == root;
	MPI_Request request;

	CHECK(MPIX_Reduce_init(in_place && is_root ? MPI_IN_PLACE : list, is_root ? sum : NULL, count, MPI_DOUBLE,
			       MPI_SUM, root, at->comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
	for (int round = 0; round < ROUNDS; round++) {
		fill(list, (size_t)count, at, round);
		if (in_place)
			memcpy(sum, list, (size_t)count * sizeof *list);
		MPI_Reduce(list, wanted, count, MPI_DOUBLE, MPI_SUM, root, at->comm);
		run_round(&request, at, round, in_place ? NULL : sum, (size_t)count);
		CHECK(!is_root || memcmp(sum, wanted, (size_t)count * sizeof *list) == 0);
		CHECK(sum[count] == -1);
	}
	MPI_Request_free(&request);
	free(list);
	free(sum);
	free(wanted);
}

static void try_allreduce(const struct place *at, int count, int in_place)
{
	double *list = new_list((size_t)count), *sum = new_list((size_t)count), *wanted = new_list((size_t)count);
	MPI_Request request;

	CHECK(MPIX_Allreduce_init(in_place ? MPI_IN_PLACE : list, sum, count, MPI_DOUBLE, MPI_SUM, at->comm,
				  MPI_INFO_NULL, &request) == MPI_SUCCESS);
	for (int round = 0; round < ROUNDS; round++) {
		fill(list, (size_t)count, at, round);
		if (in_place)
			memcpy(sum, list, (size_t)count * sizeof *list);
		MPI_Allreduce(list, wanted, count, MPI_DOUBLE, MPI_SUM, at->comm);
		run_round(&request, at, round, in_place ? NULL : sum, (size_t)count);
		CHECK(memcmp(sum, wanted, (size_t)count * sizeof *list) == 0 && sum[count] == -1);
	}
	MPI_Request_free(&request);
	free(list);
	free(sum);
	free(wanted);
}

static void try_allgather(const struct place *at, int count, int in_place)
{
	size_t all = (size_t)count * (size_t)at->ranks;
	double *list = new_list((size_t)count), *blocks = new_list(all), *wanted = new_list(all);
	MPI_Request request;

	CHECK(MPIX_Allgather_init(in_place ? MPI_IN_PLACE : list, count, MPI_DOUBLE, blocks, count, MPI_DOUBLE,
				  at->comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
	for (int round = 0; round < ROUNDS; round++) {
		fill(list, (size_t)count, at, round);
		if (in_place)
			memcpy(blocks + (size_t)at->rank * (size_t)count, list, (size_t)count * sizeof *list);
		MPI_Allgather(list, count, MPI_DOUBLE, wanted, count, MPI_DOUBLE, at->comm);
		run_round(&request, at, round, in_place ? NULL : blocks, all);
		CHECK(memcmp(blocks, wanted, all * sizeof *list) == 0 && blocks[all] == -1);
	}
	MPI_Request_free(&request);
	free(list);
	free(blocks);
	free(wanted);
}

static void try_alltoall(const struct place *at, int count)
{
	size_t all = (size_t)count * (size_t)at->ranks;
	double *list = new_list(all), *blocks = new_list(all), *wanted = new_list(all);
	MPI_Request request;

	CHECK(MPIX_Alltoall_init(list, count, MPI_DOUBLE, blocks, count * (int)sizeof *list, MPI_BYTE, at->comm,
				 MPI_INFO_NULL, &request) == MPI_SUCCESS);
	for (int round = 0; round < ROUNDS; round++) {
		fill(list, all, at, round);
		MPI_Alltoall(list, count, MPI_DOUBLE, wanted, count, MPI_DOUBLE, at->comm);
		run_round(&request, at, round, blocks, all);
		CHECK(memcmp(blocks, wanted, all * sizeof *list) == 0 && blocks[all] == -1);
	}
	MPI_Request_free(&request);
	free(list);
	free(blocks);
	free(wanted);
}

/* --- Every operator of every element --- */

enum { NUMBERS = 9, REAL_TYPES = 8, TYPES = 12, RANKS_MOST = 8 };

static const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
			     MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};

static __int128 load_integer(const unsigned char *bytes, int size, int is_signed)
{
	uint64_t word = 0;

	memcpy(&word, bytes, (size_t)size);
	if (is_signed && size < 8 && word >> (8 * size - 1))
		word |= ~UINT64_C(0) << (8 * size);
	return is_signed ? (__int128)(int64_t)word : (__int128)word;
}

/*
 * By this test, since not every MPI has the sum of 16-bit words and the minimum of unsigned ones
 * right.
 */
static __int128 apply(int op, __int128 a, __int128 b)
{
	switch (op) {
	case 0: return a + b;
	case 1: return (__int128)((uint64_t)a * (uint64_t)b);
	case 2: return a < b ? a : b;
	case 3: return a > b ? a : b;
	case 4: return a && b;
	case 5: return a || b;
	case 6: return !a != !b;
	case 7: return a & b;
	case 8: return a | b;
	default: return a ^ b;
	}
}

static void reduce_integers(const unsigned char *lists, unsigned char *result, int op, int size, int is_signed)
{
	int ranks;

	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	memcpy(result, lists, (size_t)(NUMBERS * size));
	for (int rank = 1; rank < ranks; rank++)
		for (int i = 0; i < NUMBERS; i++) {
			unsigned char *at = result + i * size;
			__int128 left = load_integer(at, size, is_signed);
			uint64_t word =
				(uint64_t)apply(op, left,
						load_integer(lists + (rank * NUMBERS + i) * size, size, is_signed));

			memcpy(at, &word, (size_t)size);
		}
}

static void try_operator(int t, MPI_Datatype type, int op)
{
	unsigned char list[16 * NUMBERS], result[16 * NUMBERS], wanted[16 * NUMBERS], lists[16 * NUMBERS * RANKS_MOST];
	MPI_Request request;
	int size, rank;

	MPI_Type_size(type, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CHECK(MPIX_Allreduce_init(list, result, NUMBERS, type, ops[op], MPI_COMM_WORLD, MPI_INFO_NULL, &request) ==
	      MPI_SUCCESS);
	for (int i = 0; i < 16 * NUMBERS; i++)
		list[i] = (unsigned char)((i * 37 + rank * 101) % 5 ? i * 37 + rank * 101 : 0);
	for (int i = 0; t >= REAL_TYPES && i < 4 * NUMBERS; i++) {
		float one = (float)((i + rank) % 5 - 2);
		double two = one;

		if (t % 2 == 0)
			memcpy(list + 4 * i, &one, 4);
		else if (i < 2 * NUMBERS)
			memcpy(list + 8 * i, &two, 8);
	}
	MPI_Allgather(list, NUMBERS * size, MPI_BYTE, lists, NUMBERS * size, MPI_BYTE, MPI_COMM_WORLD);
	if (t < REAL_TYPES)
		reduce_integers(lists, wanted, op, size, t < REAL_TYPES / 2);
	else
		MPI_Allreduce(list, wanted, NUMBERS, type, ops[op], MPI_COMM_WORLD);
	CHECK(MPI_Start(&request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(memcmp(result, wanted, (size_t)(NUMBERS * size)) == 0);
	MPI_Request_free(&request);
}

static void try_operators(void)
{
	const MPI_Datatype types[TYPES] = {MPI_INT8_T,	MPI_INT16_T,  MPI_INT32_T,	   MPI_INT64_T,
					   MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,	   MPI_UINT64_T,
					   MPI_FLOAT,	MPI_DOUBLE,   MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};

	for (int t = 0; t < TYPES; t++)
		for (int op = 0; op < (t < REAL_TYPES ? 10 : t < REAL_TYPES + 2 ? 4 : 2); op++)
			try_operator(t, types[t], op);
}

/* --- Communicators --- */

static void try_kind(const char *kind, MPI_Comm comm)
{
	struct place at = {.comm = comm};

	MPI_Comm_rank(comm, &at.rank);
	MPI_Comm_size(comm, &at.ranks);
	if (strcmp(kind, "barrier") == 0)
		try_barrier(&at);
	for (int i = 0; i < COUNTS; i++) {
		if (strcmp(kind, "bcast") == 0)
			try_bcast(&at, counts[i]);
		for (int in_place = 0; in_place < 2; in_place++) {
			if (strcmp(kind, "reduce") == 0)
				try_reduce(&at, counts[i], in_place);
			if (strcmp(kind, "allreduce") == 0)
				try_allreduce(&at, counts[i], in_place);
			if (strcmp(kind, "allgather") == 0 && counts[i] < 20000)
				try_allgather(&at, counts[i], in_place);
		}
		if (strcmp(kind, "alltoall") == 0 && counts[i] < 20000)
			try_alltoall(&at, counts[i]);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm reversed, half;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	CHECK(argc >= 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "operators") == 0) {
			CHECK(ranks <= RANKS_MOST);
			try_operators();
		} else {
			try_kind(argv[i], MPI_COMM_WORLD);
			try_kind(argv[i], reversed);
			try_kind(argv[i], half);
		}
	}
	MPI_Comm_free(&reversed);
	MPI_Comm_free(&half);
	if (rank == 0)
		printf("%d ranks\n", ranks);
	MPI_Finalize();
	return 0;
}
