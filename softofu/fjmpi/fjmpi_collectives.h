/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_COLLECTIVES_H
#define FJMPI_COLLECTIVES_H

/*
 * MPIX_Barrier_init, MPIX_Bcast_init, MPIX_Reduce_init, MPIX_Allreduce_init, MPIX_Allgather_init
 * and MPIX_Alltoall_init: plans over uTofu (fjmpi_plans.h), or persistent collectives of the MPI
 * below if a rank of the communicator cannot have a plan. mpi-ext.h includes this file.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "fjmpi_plans.h"
#include "fjmpi_requests.h"

/*
 * The collectives of the MPI: Open MPI 4 has them under these names; MPI 4, and Open MPI 5 before
 * it is MPI 4, under names of MPI's own.
 */
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define FJMPI_OF_MPI(name) MPIX_##name
#elif MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define FJMPI_OF_MPI(name) MPI_##name
#endif

#ifdef FJMPI_OF_MPI
#ifdef __cplusplus
extern "C" {
#endif

/* --- What plans can do --- */

static inline void fjmpi_refuse(struct fjmpi_plan_call *call, const char *reason)
{
	if (!call->refused)
		call->refused = reason;
}

/* Without ranks if the MPI must inspect the communicator itself. */
static inline struct fjmpi_plan_call fjmpi_call(enum fjmpi_plan_kind kind, int root, MPI_Comm comm)
{
	struct fjmpi_plan_call call;
	int inter = 1;

	memset(&call, 0, sizeof call);
	call.kind = kind;
	call.root = root;
	if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
		return call;
	PMPI_Comm_rank(MPI_COMM_WORLD, &call.me);
	PMPI_Comm_rank(comm, &call.rank);
	PMPI_Comm_size(comm, &call.ranks);
	if (root < 0 || root >= call.ranks)
		fjmpi_refuse(&call, "there is no such root");
	if (!fjmpi_in_world(comm, call.ranks))
		fjmpi_refuse(&call, "a rank is not in MPI_COMM_WORLD");
	return call;
}

/* The bytes of this many elements, if they are contiguous. */
static inline size_t fjmpi_message(struct fjmpi_plan_call *call, int count, MPI_Datatype type)
{
	int integers, addresses, types, combiner = -1, size = 0;
	MPI_Aint low = 1, extent = 0;

	if (count < 0) {
		fjmpi_refuse(call, "the count is negative");
		return 0;
	}
	if (type == MPI_DATATYPE_NULL ||
	    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
	    combiner != MPI_COMBINER_NAMED || PMPI_Type_size(type, &size) != MPI_SUCCESS ||
	    PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS || low != 0 || extent != size)
		fjmpi_refuse(call, "the datatype is not a predefined one without gaps");
	return (size_t)count * (size_t)size;
}

static inline void fjmpi_buffers(struct fjmpi_plan_call *call, const void *send, void *receive)
{
	if (call->bytes > 0 && (!send || !receive))
		fjmpi_refuse(call, "there is no buffer");
	call->send = send == MPI_IN_PLACE ? NULL : send;
	call->receive = receive;
}

static inline int fjmpi_element(MPI_Datatype type)
{
	const struct {
		MPI_Datatype type;
		char number_class;
	} known[] = {
		{MPI_INT, 'i'},
		{MPI_LONG, 'i'},
		{MPI_LONG_LONG, 'i'},
		{MPI_SHORT, 'i'},
		{MPI_SIGNED_CHAR, 'i'},
		{MPI_INT8_T, 'i'},
		{MPI_INT16_T, 'i'},
		{MPI_INT32_T, 'i'},
		{MPI_INT64_T, 'i'},
		{MPI_AINT, 'i'},
		{MPI_OFFSET, 'i'},
		{MPI_COUNT, 'i'},
		{MPI_INTEGER, 'i'},
		{MPI_INTEGER1, 'i'},
		{MPI_INTEGER2, 'i'},
		{MPI_INTEGER4, 'i'},
		{MPI_INTEGER8, 'i'},
		{MPI_UNSIGNED, 'u'},
		{MPI_UNSIGNED_LONG, 'u'},
		{MPI_UNSIGNED_LONG_LONG, 'u'},
		{MPI_UNSIGNED_SHORT, 'u'},
		{MPI_UNSIGNED_CHAR, 'u'},
		{MPI_UINT8_T, 'u'},
		{MPI_UINT16_T, 'u'},
		{MPI_UINT32_T, 'u'},
		{MPI_UINT64_T, 'u'},
		{MPI_FLOAT, 'f'},
		{MPI_DOUBLE, 'f'},
		{MPI_REAL, 'f'},
		{MPI_REAL4, 'f'},
		{MPI_REAL8, 'f'},
		{MPI_DOUBLE_PRECISION, 'f'},
		{MPI_C_FLOAT_COMPLEX, 'c'},
		{MPI_C_DOUBLE_COMPLEX, 'c'},
		{MPI_COMPLEX, 'c'},
		{MPI_COMPLEX8, 'c'},
		{MPI_COMPLEX16, 'c'},
		{MPI_DOUBLE_COMPLEX, 'c'},
	};
	int size;

	for (size_t i = 0; i < sizeof known / sizeof *known && type != MPI_DATATYPE_NULL; i++)
		if (known[i].type == type && PMPI_Type_size(type, &size) == MPI_SUCCESS)
			return fjmpi_plan_element_of(known[i].number_class, size);
	return -1;
}

static inline int fjmpi_operator(MPI_Op op)
{
	/* In the order of fjmpi_plans.h. */
	const MPI_Op known[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
				MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};

	for (int i = 0; i < (int)(sizeof known / sizeof *known); i++)
		if (known[i] == op)
			return i;
	return -1;
}

static inline void fjmpi_reduction(struct fjmpi_plan_call *call, MPI_Datatype type, MPI_Op op)
{
	int element = fjmpi_element(type), operation = fjmpi_operator(op);

	if (element < 0)
		fjmpi_refuse(call, "plans do not compute with this datatype");
	else if (operation < 0)
		fjmpi_refuse(call, "plans do not have this operation");
	else {
		call->element = (enum fjmpi_plan_element)element;
		call->operation = (enum fjmpi_plan_operator)operation;
	}
}

/* --- Making a plan --- */

/* Returns whether this number is the same on all ranks and not 0. */
static inline int fjmpi_all_agree(uint64_t number, MPI_Comm comm)
{
	uint64_t mine[2] = {number, ~number}, least[2] = {0, 0};

	return PMPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, comm) == MPI_SUCCESS && least[0] != 0 &&
	       least[0] == ~least[1];
}

static inline int fjmpi_exchange(const void *mine, void *all, int bytes, MPI_Comm comm)
{
	return PMPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm) == MPI_SUCCESS;
}

/* Returns whether the request has a plan; otherwise the MPI must make one. */
static inline int fjmpi_make_plan(struct fjmpi_plan_call *call, MPI_Comm comm, MPI_Request *request)
{
	unsigned char mine[FJMPI_PLAN_PLACES_BYTES], *all;
	struct fjmpi_plan *plan = NULL;
	int kept = 0;

	if (call->ranks == 0)
		return 0;
	all = (unsigned char *)malloc((size_t)call->ranks * sizeof mine);
	if (!all)
		fjmpi_refuse(call, "there is no memory");
	if (fjmpi_all_agree(fjmpi_plan_agree(call), comm)) {
		plan = fjmpi_plan_prepare(call, mine);
		kept = fjmpi_exchange(mine, all, FJMPI_PLAN_IDS_BYTES, comm);
		fjmpi_plan_lay_out(plan, all, mine);
		kept = fjmpi_exchange(mine, all, FJMPI_PLAN_PLACES_BYTES, comm) && kept;
		kept = fjmpi_plan_connect(plan, all) == 0 && kept &&
		       PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, request) == MPI_SUCCESS;
		if (kept) {
			fjmpi_plan_attach(plan, (uintptr_t)*request);
			if (!fjmpi_reaches_plan(plan, *request))
				fjmpi_refuse(call, "the program has functions of requests of its own");
		}
		if (!fjmpi_all_agree(kept && !call->refused, comm)) {
			if (kept)
				PMPI_Request_free(request);
			kept = 0;
		}
	}
	free(all);
	fjmpi_plan_conclude(call, plan, kept);
	return kept;
}

static inline int fjmpi_barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct fjmpi_plan_call call = fjmpi_call(FJMPI_PLAN_BARRIER, 0, comm);

	return fjmpi_make_plan(&call, comm, request) ? MPI_SUCCESS : FJMPI_OF_MPI(Barrier_init)(comm, info, request);
}

static inline int fjmpi_bcast_init(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
				   MPI_Request *request)
{
	struct fjmpi_plan_call call = fjmpi_call(FJMPI_PLAN_BCAST, root, comm);

	call.bytes = fjmpi_message(&call, count, type);
	fjmpi_buffers(&call, MPI_IN_PLACE, buffer);
	return fjmpi_make_plan(&call, comm, request)
		       ? MPI_SUCCESS
		       : FJMPI_OF_MPI(Bcast_init)(buffer, count, type, root, comm, info, request);
}

static inline int fjmpi_reduce_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
				    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct fjmpi_plan_call call = fjmpi_call(FJMPI_PLAN_REDUCE, root, comm);

	call.bytes = fjmpi_message(&call, count, type);
	fjmpi_reduction(&call, type, op);
	if (call.rank != root && send == MPI_IN_PLACE)
		fjmpi_refuse(&call, "MPI_IN_PLACE is for the root");
	/* The receive buffer of the other ranks is ignored. */
	fjmpi_buffers(&call, send, call.rank == root ? receive : (void *)(uintptr_t)send);
	return fjmpi_make_plan(&call, comm, request)
		       ? MPI_SUCCESS
		       : FJMPI_OF_MPI(Reduce_init)(send, receive, count, type, op, root, comm, info, request);
}

static inline int fjmpi_allreduce_init(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
				       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct fjmpi_plan_call call = fjmpi_call(FJMPI_PLAN_ALLREDUCE, 0, comm);

	call.bytes = fjmpi_message(&call, count, type);
	fjmpi_reduction(&call, type, op);
	fjmpi_buffers(&call, send, receive);
	return fjmpi_make_plan(&call, comm, request)
		       ? MPI_SUCCESS
		       : FJMPI_OF_MPI(Allreduce_init)(send, receive, count, type, op, comm, info, request);
}

/* Blocks of the same size on both sides. */
static inline void fjmpi_send_block(struct fjmpi_plan_call *call, int count, MPI_Datatype type)
{
	if (fjmpi_message(call, count, type) != call->bytes)
		fjmpi_refuse(call, "blocks that are sent and received differ in size");
}

static inline int fjmpi_allgather_init(const void *send, int send_count, MPI_Datatype send_type, void *receive,
				       int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
				       MPI_Request *request)
{
	struct fjmpi_plan_call call = fjmpi_call(FJMPI_PLAN_ALLGATHER, 0, comm);

	call.bytes = fjmpi_message(&call, receive_count, receive_type);
	if (send != MPI_IN_PLACE)
		fjmpi_send_block(&call, send_count, send_type);
	fjmpi_buffers(&call, send, receive);
	return fjmpi_make_plan(&call, comm, request)
		       ? MPI_SUCCESS
		       : FJMPI_OF_MPI(Allgather_init)(send, send_count, send_type, receive, receive_count, receive_type,
						      comm, info, request);
}

static inline int fjmpi_alltoall_init(const void *send, int send_count, MPI_Datatype send_type, void *receive,
				      int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
				      MPI_Request *request)
{
	struct fjmpi_plan_call call = fjmpi_call(FJMPI_PLAN_ALLTOALL, 0, comm);

	call.bytes = fjmpi_message(&call, receive_count, receive_type);
	if (send == MPI_IN_PLACE)
		fjmpi_refuse(&call, "an all-to-all in place has no plan");
	else
		fjmpi_send_block(&call, send_count, send_type);
	fjmpi_buffers(&call, send, receive);
	return fjmpi_make_plan(&call, comm, request)
		       ? MPI_SUCCESS
		       : FJMPI_OF_MPI(Alltoall_init)(send, send_count, send_type, receive, receive_count, receive_type,
						     comm, info, request);
}

#ifdef __cplusplus
}
#endif

#define MPIX_Allgather_init fjmpi_allgather_init
#define MPIX_Allreduce_init fjmpi_allreduce_init
#define MPIX_Alltoall_init fjmpi_alltoall_init
#define MPIX_Barrier_init fjmpi_barrier_init
#define MPIX_Bcast_init fjmpi_bcast_init
#define MPIX_Reduce_init fjmpi_reduce_init
#endif

#endif
