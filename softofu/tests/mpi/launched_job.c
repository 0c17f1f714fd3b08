/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jTofu in a program that does not initialise it, since MPI_Init does so on the machine: queries
 * answer for the job of the launcher, whatever id the program has for it. A program that
 * initialises it afterwards has its own job.
 */
#include <jtofu.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

int main(int argc, char **argv)
{
	union jtofu_phys_coords place, again;
	union jtofu_log_coords size;
	int rank, ranks, per_node;
	jtofu_rank_t there[48];
	size_t found, bytes;
	unsigned count;
	void *map;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	per_node = jtofu_query_max_proc_per_node();
	CHECK(per_node == atoi(argv[1]));
	CHECK(jtofu_query_phys_coords(0, (jtofu_rank_t)rank, &place) == JTOFU_SUCCESS);
	CHECK(jtofu_query_phys_coords(0xbeef1234, (jtofu_rank_t)rank, &again) == JTOFU_SUCCESS);
	CHECK(!memcmp(&place, &again, sizeof place));
	CHECK(jtofu_query_phys_coords(0, (jtofu_rank_t)ranks, &again) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_query_ranks_from_phys_coords(0, &place, 48, there, &found) == JTOFU_SUCCESS);
	CHECK(found >= 1 && (int)there[rank % per_node] == rank);
	CHECK(jtofu_finalize() == JTOFU_ERR_EXCESS_FINALIZE);
	CHECK(jtofu_create_mapinfo_by_envvars(&map, &bytes, &count) == JTOFU_SUCCESS && (int)count == ranks);
	CHECK(jtofu_initialize(3, (jtofu_rank_t)rank, map) == JTOFU_SUCCESS);
	free(map);
	CHECK(jtofu_query_phys_coords(0, (jtofu_rank_t)rank, &again) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_query_phys_coords(3, (jtofu_rank_t)rank, &again) == JTOFU_SUCCESS);
	CHECK(jtofu_finalize() == JTOFU_SUCCESS);
	CHECK(jtofu_query_log_size(&size) == JTOFU_ERR_NOT_INITIALIZED);
	MPI_Finalize();
	return 0;
}
