/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_TOPOLOGY_H
#define FJMPI_TOPOLOGY_H

/*
 * Places of ranks, from jTofu, in the library libfjmpi: what FJMPI_Topology_* of mpi-ext.h and of
 * fjmpi.f90 call. The library does not know MPI, so that one library fits every MPI and compiler.
 * Ranks are those of MPI_COMM_WORLD; me is this process.
 *
 * A view is the logical coordinates of a node, as many as the shape of the job has axes, or the six
 * of the machine, counted from its corner or from that of the job.
 */
#ifdef __cplusplus
extern "C" {
#endif

enum { FJMPI_VIEW_LOGICAL, FJMPI_VIEW_SYS, FJMPI_VIEW_REL };
enum { FJMPI_AXES = 6, FJMPI_RANKS_PER_NODE = 48 };

/* All return -1 for an error. */

/* Axes that the job does not have get the size 0. Returns the number of axes. */
int fjmpi_topology_shape(int me, int size[3]);
/* Coordinates of a rank, at most so many. Returns 0. */
int fjmpi_topology_place(int me, int rank, int view, int most, int *coords);
/* Ranks on a node, at most FJMPI_RANKS_PER_NODE. Returns their number. */
int fjmpi_topology_ranks(int me, int view, const int *coords, int ranks[FJMPI_RANKS_PER_NODE]);
/*
 * Sizes of the machine's axes, and whether the ends of each are connected; for libfjmpi alone.
 * Returns 0.
 */
int fjmpi_topology_system(int me, int size[FJMPI_AXES], int ring[FJMPI_AXES]);

#ifdef __cplusplus
}
#endif

#endif
