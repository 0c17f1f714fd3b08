/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests and collectives as lattice and weather codes use them: channels that own a request, sets of
 * copies of such requests that start and end together, and collectives that start again and again.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <cstdio>
#include <vector>

#include "check.h"

namespace
{

enum { WORDS = 5000, ROUNDS = 50 };

struct Channel {
	std::vector<double> words;
	MPI_Request request;

	Channel() : words(WORDS), request(MPI_REQUEST_NULL)
	{
	}
	~Channel()
	{
		MPI_Request_free(&request);
	}
	Channel(const Channel &) = delete;
	Channel &operator=(const Channel &) = delete;

	int send_to(int rank, int tag)
	{
		return FJMPI_Prequest_send_init(words.data(), WORDS, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
	}
	int receive_from(int rank, int tag)
	{
		return FJMPI_Prequest_recv_init(words.data(), (int)(WORDS * sizeof(double)), MPI_BYTE, rank, tag,
						MPI_COMM_WORLD, &request);
	}
};

void channels(int rank, int ranks)
{
	int up = (rank + 1) % ranks, down = (rank + ranks - 1) % ranks, bytes = 0;
	Channel to_up, to_down, from_up, from_down;
	MPI_Request set[4];
	MPI_Status status[4];

	CHECK(to_up.send_to(up, 1) == MPI_SUCCESS && to_down.send_to(down, 2) == MPI_SUCCESS);
	CHECK(from_up.receive_from(up, 2) == MPI_SUCCESS && from_down.receive_from(down, 1) == MPI_SUCCESS);
	set[0] = from_up.request;
	set[1] = from_down.request;
	set[2] = to_up.request;
	set[3] = to_down.request;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < WORDS; i++)
			to_up.words[i] = to_down.words[i] = rank * 1e6 + round * 1e4 + i;
		if (round % 2) {
			CHECK(FJMPI_Prequest_startall(4, set) == MPI_SUCCESS);
			CHECK(MPI_Waitall(4, set, status) == MPI_SUCCESS);
			MPI_Get_count(&status[0], MPI_BYTE, &bytes);
			CHECK(bytes == (int)(WORDS * sizeof(double)) && status[0].MPI_SOURCE == up);
		} else {
			for (int i = 0; i < 4; i++)
				CHECK(FJMPI_Prequest_start(&set[i]) == MPI_SUCCESS);
			for (int i = 0; i < 4; i++)
				CHECK(MPI_Wait(&set[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
		}
		for (int i = 0; i < WORDS; i++)
			CHECK(from_up.words[i] == up * 1e6 + round * 1e4 + i &&
			      from_down.words[i] == down * 1e6 + round * 1e4 + i);
	}
}

void collectives(int rank, int ranks)
{
	double mine[3] = {}, sum[3] = {}, word = 0;
	std::vector<int> all(ranks);
	MPI_Request request[4];

	CHECK(MPIX_Allreduce_init(mine, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]) ==
	      MPI_SUCCESS);
	CHECK(MPIX_Bcast_init(&word, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]) ==
	      MPI_SUCCESS);
	CHECK(MPIX_Allgather_init(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
				  &request[2]) == MPI_SUCCESS);
	CHECK(MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request[3]) == MPI_SUCCESS);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 3; i++)
			mine[i] = rank + round * i;
		word = rank + round;
		CHECK(MPI_Startall(4, request) == MPI_SUCCESS &&
		      MPI_Waitall(4, request, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
		for (int i = 0; i < 3; i++)
			CHECK(sum[i] == ranks * (ranks - 1) / 2 + ranks * round * i);
		CHECK(word == ranks - 1 + round);
		for (int i = 0; i < ranks; i++)
			CHECK(all[i] == i);
	}
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&request[i]);
}

} // namespace

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	channels(rank, ranks);
	collectives(rank, ranks);
	if (rank == 0)
		printf("%d ranks\n", ranks);
	MPI_Finalize();
	return 0;
}
