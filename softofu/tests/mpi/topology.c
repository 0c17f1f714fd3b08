/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of ranks, as programs ask Fujitsu's MPI. Every answer must agree with what uTofu says
 * about the rank.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <jtofu.h>
#include <stdio.h>
#include <string.h>
#include <utofu.h>

#include "check.h"

static int has(const int *ranks, int count, int rank)
{
	for (int i = 0; i < count; i++)
		if (ranks[i] == rank)
			return 1;
	return 0;
}

/* All of a communicator know where all of it are, and find them there again. */
static void check_places(MPI_Comm comm)
{
	int size, at[6], relative[6], logical[3], ranks[48], count = 0, few = 0;
	uint8_t mine[6], all[64][6];

	CHECK(utofu_query_my_coords(mine) == UTOFU_SUCCESS);
	MPI_Comm_size(comm, &size);
	CHECK(size <= 64);
	MPI_Allgather(mine, 6, MPI_UINT8_T, all, 6, MPI_UINT8_T, comm);
	for (int rank = 0; rank < size; rank++) {
		CHECK(FJMPI_Topology_get_coords(comm, rank, FJMPI_TOFU_SYS, 6, at) == FJMPI_SUCCESS);
		CHECK(FJMPI_Topology_get_coords(comm, rank, FJMPI_TOFU_REL, 6, relative) == FJMPI_SUCCESS);
		CHECK(FJMPI_Topology_get_coords(comm, rank, FJMPI_LOGICAL, 3, logical) == FJMPI_SUCCESS);
		for (int axis = 0; axis < 6; axis++)
			CHECK(at[axis] == all[rank][axis] && relative[axis] == at[axis]);
		CHECK(FJMPI_Topology_get_ranks(comm, FJMPI_LOGICAL, logical, 48, &count, ranks) == FJMPI_SUCCESS);
		CHECK(has(ranks, count, rank));
		for (int i = 0; i < count; i++)
			CHECK(memcmp(all[ranks[i]], all[rank], 6) == 0);
		CHECK(FJMPI_Topology_get_ranks(comm, FJMPI_TOFU_SYS, at, 48, &few, ranks) == FJMPI_SUCCESS);
		CHECK(few == count && has(ranks, few, rank));
		CHECK(FJMPI_Topology_get_ranks(comm, FJMPI_TOFU_REL, relative, 1, &few, ranks) == FJMPI_SUCCESS &&
		      few == 1);
	}
	CHECK(FJMPI_Topology_get_coords(comm, size, FJMPI_LOGICAL, 3, logical) == MPI_ERR_RANK);
	CHECK(FJMPI_Topology_get_coords(comm, 0, 7, 3, logical) == MPI_ERR_ARG);
}

static void check_old_names(int rank)
{
	int at[6], sys[6], rel[6], logical[3], again[3];

	CHECK(FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_TOFU_SYS, 6, at) == FJMPI_SUCCESS);
	CHECK(FJMPI_Topology_sys_rank2xyzabc(rank, &sys[0], &sys[1], &sys[2], &sys[3], &sys[4], &sys[5]) ==
	      FJMPI_SUCCESS);
	CHECK(FJMPI_Topology_rel_rank2xyzabc(rank, &rel[0], &rel[1], &rel[2], &rel[3], &rel[4], &rel[5]) ==
	      FJMPI_SUCCESS);
	CHECK(memcmp(at, sys, sizeof at) == 0 && memcmp(at, rel, sizeof at) == 0);
	CHECK(FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 3, logical) == FJMPI_SUCCESS);
	CHECK(FJMPI_Topology_rank2xyz(rank, &again[0], &again[1], &again[2]) == FJMPI_SUCCESS);
	CHECK(memcmp(logical, again, sizeof again) == 0);
	CHECK(FJMPI_Topology_rank2xy(rank, &again[2], &again[1]) == FJMPI_SUCCESS);
	CHECK(again[2] == logical[0] && again[1] == logical[1]);
	CHECK(FJMPI_Topology_rank2x(rank, &again[0]) == FJMPI_SUCCESS && again[0] == logical[0]);
}

int main(int argc, char **argv)
{
	union jtofu_phys_coords place;
	int rank, size, dimension = 0, shape[3] = {0};
	unsigned int ranks;
	MPI_Comm part;
	size_t bytes;
	void *map;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check_places(MPI_COMM_WORLD);
	/*
	 * jTofu under the program's own number is not disturbed by the questions, nor disturbs
	 * them.
	 */
	CHECK(jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks) == JTOFU_SUCCESS);
	CHECK(jtofu_initialize(7, (jtofu_rank_t)rank, map) == JTOFU_SUCCESS);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
	check_places(part);
	check_old_names(rank);
	CHECK(jtofu_query_phys_coords(7, (jtofu_rank_t)rank, &place) == JTOFU_SUCCESS);
	CHECK(jtofu_finalize() == JTOFU_SUCCESS && jtofu_finalize() == JTOFU_ERR_EXCESS_FINALIZE);
	free(map);
	CHECK(FJMPI_Topology_get_dimension(&dimension) == FJMPI_SUCCESS);
	CHECK(FJMPI_Topology_get_shape(&shape[0], &shape[1], &shape[2]) == FJMPI_SUCCESS);
	if (rank == 0)
		printf("%d ranks in %d dimensions: %d %d %d\n", size, dimension, shape[0], shape[1], shape[2]);
	MPI_Comm_free(&part);
	MPI_Finalize();
	return 0;
}
