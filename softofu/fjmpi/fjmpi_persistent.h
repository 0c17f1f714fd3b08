/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PERSISTENT_H
#define FJMPI_PERSISTENT_H

/*
 * Persistent requests of Fujitsu's MPI, and those persistent collectives, under the names that it and Open MPI 4 have,
 * which the MPI below carries out; fjmpi_collectives.h has the others. mpi-ext.h includes this file.
 */
#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int FJMPI_Prequest_send_init(const void *buffer, int count, MPI_Datatype type, int target, int tag,
					   MPI_Comm comm, MPI_Request *request)
{
	return MPI_Send_init((void *)(uintptr_t)buffer, count, type, target, tag, comm, request);
}

static inline int FJMPI_Prequest_recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag,
					   MPI_Comm comm, MPI_Request *request)
{
	return MPI_Recv_init(buffer, count, type, source, tag, comm, request);
}

static inline int FJMPI_Prequest_start(MPI_Request *request)
{
	return MPI_Start(request);
}

static inline int FJMPI_Prequest_startall(int count, MPI_Request *requests)
{
	return MPI_Startall(count, requests);
}

#ifdef __cplusplus
}
#endif

/* Open MPI 4 has the collectives under these names; MPI 4, and Open MPI 5 before it is MPI 4, under names of MPI's own. */
#if (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)) && \
	!defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define MPIX_Allgatherv_init MPI_Allgatherv_init
#define MPIX_Alltoallv_init MPI_Alltoallv_init
#define MPIX_Alltoallw_init MPI_Alltoallw_init
#define MPIX_Exscan_init MPI_Exscan_init
#define MPIX_Gather_init MPI_Gather_init
#define MPIX_Gatherv_init MPI_Gatherv_init
#define MPIX_Neighbor_allgather_init MPI_Neighbor_allgather_init
#define MPIX_Neighbor_allgatherv_init MPI_Neighbor_allgatherv_init
#define MPIX_Neighbor_alltoall_init MPI_Neighbor_alltoall_init
#define MPIX_Neighbor_alltoallv_init MPI_Neighbor_alltoallv_init
#define MPIX_Neighbor_alltoallw_init MPI_Neighbor_alltoallw_init
#define MPIX_Reduce_scatter_block_init MPI_Reduce_scatter_block_init
#define MPIX_Reduce_scatter_init MPI_Reduce_scatter_init
#define MPIX_Scan_init MPI_Scan_init
#define MPIX_Scatter_init MPI_Scatter_init
#define MPIX_Scatterv_init MPI_Scatterv_init
#endif

#endif
