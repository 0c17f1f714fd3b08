/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PERSISTENT_H
#define FJMPI_PERSISTENT_H

/*
 * Persistent requests of Fujitsu's MPI, whose data travels by puts as soon as two of them have
 * found each other (fjmpi_pairs.h); and those persistent collectives, under the names that it and
 * Open MPI 4 have, which the MPI below carries out; fjmpi_collectives.h has the others. mpi-ext.h
 * includes this file.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fjmpi_pairs.h"
#include "fjmpi_requests.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Are the elements contiguous and in order, as in every other such datatype? */
static inline int fjmpi_lies_in_order(MPI_Datatype type)
{
	int integers, addresses, types, combiner, size, in_order, counts[1];
	MPI_Aint low, extent;
	MPI_Datatype inner;

	if (PMPI_Type_size(type, &size) != MPI_SUCCESS || PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
	    low != 0 || extent != size ||
	    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
		return 0;
	if (combiner == MPI_COMBINER_NAMED)
		return 1;
	if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || integers > 1 ||
	    PMPI_Type_get_contents(type, integers, 0, 1, counts, &low, &inner) != MPI_SUCCESS)
		return 0;
	in_order = fjmpi_lies_in_order(inner);
	PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner);
	if (combiner != MPI_COMBINER_NAMED)
		PMPI_Type_free(&inner);
	return in_order;
}

/* The launchers of Open MPI and MPICH publish the number of ranks on this machine. */
static inline int fjmpi_on_one_machine(void)
{
	const char *text = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
	int ranks;

	if (!text)
		text = getenv("MPI_LOCALNRANKS");
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	return !text || atoi(text) >= ranks;
}

/*
 * Why the MPI alone carries out a request, for a reason that both sides see; NULL: it has a header.
 */
static inline const char *fjmpi_without_header(const struct fjmpi_pair_call *call, MPI_Comm comm)
{
	int inter = 1, ranks = 0;

	if (!fjmpi_plan_pair_wanted(call->me))
		return "SOFTOFU_PLANS=no";
	if (call->other == MPI_PROC_NULL)
		return "it is of MPI_PROC_NULL";
	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		return "the communicator is an intercommunicator";
	PMPI_Comm_size(comm, &ranks);
	if (!fjmpi_in_world(comm, ranks))
		return "a rank of the communicator is not in MPI_COMM_WORLD";
	return fjmpi_on_one_machine() ? NULL : "the ranks run on several machines";
}

static inline int fjmpi_init_in_mpi(const struct fjmpi_pair_call *call, const void *buffer, int count,
				    MPI_Datatype type, MPI_Comm comm, MPI_Request *request)
{
	void *at = (void *)(uintptr_t)buffer;

	return call->receives ? PMPI_Recv_init(at, count, type, call->other, call->tag, comm, request)
			      : PMPI_Send_init(at, count, type, call->other, call->tag, comm, request);
}

/* A request of the MPI with the header before the data. Replaces one without. */
static inline int fjmpi_init_with_header(const struct fjmpi_pair_call *call, unsigned char *header, const void *buffer,
					 int count, MPI_Datatype type, MPI_Comm comm, MPI_Request *request)
{
	int lengths[2] = {FJMPI_PAIR_HEADER_BYTES, count}, code;
	MPI_Aint places[2];
	MPI_Datatype types[2] = {MPI_BYTE, type}, both;

	PMPI_Request_free(request);
	PMPI_Get_address(header, &places[0]);
	PMPI_Get_address((void *)(uintptr_t)buffer, &places[1]);
	code = PMPI_Type_create_struct(2, lengths, places, types, &both);
	if (code == MPI_SUCCESS)
		code = PMPI_Type_commit(&both);
	if (code == MPI_SUCCESS)
		code = fjmpi_init_in_mpi(call, MPI_BOTTOM, 1, both, comm, request);
	if (code == MPI_SUCCESS)
		code = PMPI_Type_free(&both);
	return code;
}

/* What fjmpi_pairs.h needs to know of a request. */
static inline struct fjmpi_pair_call fjmpi_describe(const struct fjmpi_pair_call *call, const void *buffer, int count,
						    MPI_Datatype type, MPI_Comm comm)
{
	struct fjmpi_pair_call described = *call;
	int size = 0;

	PMPI_Type_size(type, &size);
	described.comm = (uintptr_t)comm;
	described.buffer = (void *)(uintptr_t)buffer;
	described.bytes = (size_t)count * (size_t)size;
	if (call->receives && (call->other == MPI_ANY_SOURCE || call->tag == MPI_ANY_TAG))
		described.refused = "it receives from any rank or with any tag";
	else if (!fjmpi_lies_in_order(type))
		described.refused = "the datatype is not contiguous";
	else if (described.bytes > 0 && buffer == MPI_BOTTOM)
		described.refused = "there is no buffer";
	if (call->other == MPI_ANY_SOURCE)
		described.other = -1;
	if (call->tag == MPI_ANY_TAG)
		described.tag = -1;
	return described;
}

static inline int fjmpi_prequest_init(int receives, const void *buffer, int count, MPI_Datatype type, int other,
				      int tag, MPI_Comm comm, MPI_Request *request)
{
	struct fjmpi_pair_call call, described;
	struct fjmpi_plan *plan;
	unsigned char *header;
	const char *reason;
	int code;

	memset(&call, 0, sizeof call);
	call.receives = receives;
	call.other = other;
	call.tag = tag;
	PMPI_Comm_rank(MPI_COMM_WORLD, &call.me);
	/* The MPI finds mistakes in the arguments. */
	code = fjmpi_init_in_mpi(&call, buffer, count, type, comm, request);
	if (code != MPI_SUCCESS)
		return code;
	reason = fjmpi_without_header(&call, comm);
	if (!reason) {
		described = fjmpi_describe(&call, buffer, count, type, comm);
		plan = fjmpi_plan_pair_make(&described, &header);
		if (!plan)
			return MPI_ERR_NO_MEM;
		code = fjmpi_init_with_header(&call, header, buffer, count, type, comm, request);
		if (code != MPI_SUCCESS)
			return code;
		fjmpi_plan_pair_attach(plan, (uintptr_t)*request);
		if (fjmpi_reaches_plan(plan, *request))
			return MPI_SUCCESS;
		fjmpi_plan_destroy(plan);
		PMPI_Request_free(request);
		code = fjmpi_init_in_mpi(&call, buffer, count, type, comm, request);
		reason = "the program has functions of requests of its own";
	}
	fjmpi_plan_pair_plain(&call, reason);
	return code;
}

static inline int FJMPI_Prequest_send_init(const void *buffer, int count, MPI_Datatype type, int target, int tag,
					   MPI_Comm comm, MPI_Request *request)
{
	return fjmpi_prequest_init(0, buffer, count, type, target, tag, comm, request);
}

static inline int FJMPI_Prequest_recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag,
					   MPI_Comm comm, MPI_Request *request)
{
	return fjmpi_prequest_init(1, buffer, count, type, source, tag, comm, request);
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

/*
 * Open MPI 4 has the collectives under these names; MPI 4, and Open MPI 5 before it is MPI 4, under
 * names of MPI's own.
 */
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
