/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_MPI_EXT_H
#define SOFTOFU_MPI_EXT_H

/*
 * Extensions of Fujitsu's MPI, for any MPI: places of ranks (FJMPI_Topology_*, over jTofu), RDMA
 * (FJMPI_Rdma_*, over uTofu), persistent requests (FJMPI_Prequest_*, over uTofu as soon as two of
 * them are connected) and persistent collectives (MPIX_*_init, six of them over uTofu). This header
 * includes the mpi-ext.h of that MPI. The bodies are here, since a library of them would fit one
 * MPI only.
 *
 * Names and arguments are Fujitsu's; the numbers behind the names are ours. fjmpi_topology.h
 * explains views.
 */
#ifdef __GNUC__
#pragma GCC system_header
#endif
#include <mpi.h>
#ifdef __has_include_next
#if __has_include_next(<mpi-ext.h>)
#include_next <mpi-ext.h>
#endif
#endif

#include <stdlib.h>
#include "fjmpi_rdma.h"
#include "fjmpi_topology.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FJMPI_SUCCESS MPI_SUCCESS
#define FJMPI_LOGICAL FJMPI_VIEW_LOGICAL
#define FJMPI_TOFU_SYS FJMPI_VIEW_SYS
#define FJMPI_TOFU_REL FJMPI_VIEW_REL
/* Never returned here: a job has its nodes alone. */
#define FJMPI_ERR_TOPOLOGY_NODE_SHARED_JOB (MPI_ERR_LASTCODE + 1)

static inline int fjmpi_me(void)
{
	int rank = -1;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}

static inline int fjmpi_translate(MPI_Comm from, int rank, MPI_Comm to)
{
	MPI_Group here, there;
	int translated = MPI_UNDEFINED, size;

	/* Not every MPI uses the number. */
	if (MPI_Comm_size(from, &size) != MPI_SUCCESS || rank < 0 || rank >= size)
		return MPI_UNDEFINED;
	MPI_Comm_group(from, &here);
	MPI_Comm_group(to, &there);
	MPI_Group_translate_ranks(here, 1, &rank, there, &translated);
	MPI_Group_free(&here);
	MPI_Group_free(&there);
	return translated;
}

static inline int FJMPI_Topology_get_shape(int *x, int *y, int *z)
{
	int size[3];

	if (fjmpi_topology_shape(fjmpi_me(), size) < 0)
		return MPI_ERR_OTHER;
	*x = size[0];
	*y = size[1];
	*z = size[2];
	return MPI_SUCCESS;
}

static inline int FJMPI_Topology_get_dimension(int *dimension)
{
	int size[3], axes = fjmpi_topology_shape(fjmpi_me(), size);

	if (axes < 0)
		return MPI_ERR_OTHER;
	*dimension = axes;
	return MPI_SUCCESS;
}

static inline int FJMPI_Topology_get_coords(MPI_Comm comm, int rank, int view, int most, int *coords)
{
	int world = fjmpi_translate(comm, rank, MPI_COMM_WORLD);

	if (world == MPI_UNDEFINED)
		return MPI_ERR_RANK;
	if (view < FJMPI_LOGICAL || view > FJMPI_TOFU_REL || most < 1 || !coords)
		return MPI_ERR_ARG;
	return fjmpi_topology_place(fjmpi_me(), world, view, most, coords) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Ranks of the communicator on a node, up to a limit. */
static inline int FJMPI_Topology_get_ranks(MPI_Comm comm, int view, const int *coords, int most, int *count, int *ranks)
{
	int there[FJMPI_RANKS_PER_NODE], found;

	if (view < FJMPI_LOGICAL || view > FJMPI_TOFU_REL || most < 1 || !coords || !count || !ranks)
		return MPI_ERR_ARG;
	found = fjmpi_topology_ranks(fjmpi_me(), view, coords, there);
	if (found < 0)
		return MPI_ERR_ARG;
	*count = 0;
	for (int i = 0; i < found && *count < most; i++) {
		int rank = fjmpi_translate(MPI_COMM_WORLD, there[i], comm);

		if (rank != MPI_UNDEFINED)
			ranks[(*count)++] = rank;
	}
	return MPI_SUCCESS;
}

/* The names from the K computer, for ranks of MPI_COMM_WORLD. */
static inline int FJMPI_Topology_rank2x(int rank, int *x)
{
	return FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 1, x);
}

static inline int FJMPI_Topology_rank2xy(int rank, int *x, int *y)
{
	int at[2], code = FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 2, at);

	if (code == MPI_SUCCESS) {
		*x = at[0];
		*y = at[1];
	}
	return code;
}

static inline int FJMPI_Topology_rank2xyz(int rank, int *x, int *y, int *z)
{
	int at[3], code = FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 3, at);

	if (code == MPI_SUCCESS) {
		*x = at[0];
		*y = at[1];
		*z = at[2];
	}
	return code;
}

static inline int fjmpi_six(int rank, int view, int *const into[FJMPI_AXES])
{
	int at[FJMPI_AXES], code = FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, view, FJMPI_AXES, at);

	for (int axis = 0; axis < FJMPI_AXES && code == MPI_SUCCESS; axis++)
		*into[axis] = at[axis];
	return code;
}

static inline int FJMPI_Topology_sys_rank2xyzabc(int rank, int *x, int *y, int *z, int *a, int *b, int *c)
{
	int *const into[FJMPI_AXES] = {x, y, z, a, b, c};

	return fjmpi_six(rank, FJMPI_TOFU_SYS, into);
}

static inline int FJMPI_Topology_rel_rank2xyzabc(int rank, int *x, int *y, int *z, int *a, int *b, int *c)
{
	int *const into[FJMPI_AXES] = {x, y, z, a, b, c};

	return fjmpi_six(rank, FJMPI_TOFU_REL, into);
}

/* --- RDMA --- */

/*
 * A NIC is its number, as a flag and for FJMPI_Rdma_poll_cq. All paths are the default one. A call
 * never waits until an operation has left, so FJMPI_RDMA_IMMEDIATE_RETURN changes nothing.
 */
#define FJMPI_RDMA_NIC0 0
#define FJMPI_RDMA_NIC1 1
#define FJMPI_RDMA_NIC2 2
#define FJMPI_RDMA_NIC3 3
#define FJMPI_RDMA_LOCAL_NIC0 0
#define FJMPI_RDMA_LOCAL_NIC1 1
#define FJMPI_RDMA_LOCAL_NIC2 2
#define FJMPI_RDMA_LOCAL_NIC3 3
#define FJMPI_RDMA_REMOTE_NIC0 (0 << 4)
#define FJMPI_RDMA_REMOTE_NIC1 (1 << 4)
#define FJMPI_RDMA_REMOTE_NIC2 (2 << 4)
#define FJMPI_RDMA_REMOTE_NIC3 (3 << 4)
#define FJMPI_RDMA_PATH0 (0 << 8)
#define FJMPI_RDMA_PATH1 (1 << 8)
#define FJMPI_RDMA_PATH2 (2 << 8)
#define FJMPI_RDMA_PATH3 (3 << 8)
#define FJMPI_RDMA_REMOTE_NOTICE (1 << 12)
#define FJMPI_RDMA_STRONG_ORDER (1 << 13)
#define FJMPI_RDMA_IMMEDIATE_RETURN (1 << 14)

#define FJMPI_RDMA_ERROR ((uint64_t)-1) /* in place of an address */
#define FJMPI_RDMA_NOTICE 1		/* an operation of this rank is complete at both sides */
/* A put of another rank's with FJMPI_RDMA_REMOTE_NOTICE has arrived. */
#define FJMPI_RDMA_HALFWAY_NOTICE 2

struct FJMPI_Rdma_cq {
	int pid; /* the other rank, in MPI_COMM_WORLD */
	int tag;
};

/* Call on all ranks of MPI_COMM_WORLD. */
static inline int FJMPI_Rdma_init(void)
{
	unsigned char mine[FJMPI_RDMA_BLOCK_BYTES], *all;
	int rank, ranks, bad, any;

	if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS)
		return MPI_ERR_OTHER;
	all = (unsigned char *)malloc((size_t)ranks * sizeof mine);
	bad = fjmpi_rdma_open(rank, ranks, mine) != 0 || !all;
	/* A rank that failed must not leave the others in the exchange. */
	if (MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD) != MPI_SUCCESS || any ||
	    MPI_Allgather(mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, MPI_COMM_WORLD) !=
		    MPI_SUCCESS)
		bad = 1;
	else
		fjmpi_rdma_connect(all);
	free(all);
	return bad ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Must not be called before the other ranks' operations with this rank are complete. */
static inline int FJMPI_Rdma_finalize(void)
{
	return fjmpi_rdma_close() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static inline uint64_t FJMPI_Rdma_reg_mem(int memid, const void *start, size_t length)
{
	return fjmpi_rdma_register(memid, (void *)(uintptr_t)start, length);
}

static inline int FJMPI_Rdma_dereg_mem(int memid)
{
	return fjmpi_rdma_deregister(memid) ? MPI_ERR_ARG : MPI_SUCCESS;
}

/*
 * FJMPI_RDMA_ERROR until that rank has registered the memory. Programs wait for that, so a mistake
 * ends the job.
 */
static inline uint64_t FJMPI_Rdma_get_remote_addr(int pid, int memid)
{
	uint64_t address = FJMPI_RDMA_ERROR;

	if (fjmpi_rdma_find(pid, memid, &address))
		MPI_Abort(MPI_COMM_WORLD, 1);
	return address;
}

static inline int fjmpi_move(struct fjmpi_rdma_move move, int flags)
{
	move.local_nic = flags & 0xf;
	move.remote_nic = flags >> 4 & 0xf;
	move.flags |= (flags & FJMPI_RDMA_STRONG_ORDER ? (unsigned)FJMPI_RDMA_MOVE_ORDERED : 0) |
		      (flags & FJMPI_RDMA_REMOTE_NOTICE ? (unsigned)FJMPI_RDMA_MOVE_NOTIFY : 0);
	return fjmpi_rdma_move(&move) ? MPI_ERR_ARG : MPI_SUCCESS;
}

static inline int FJMPI_Rdma_put(int pid, int tag, uint64_t raddr, uint64_t laddr, size_t length, int flags)
{
	struct fjmpi_rdma_move move = {pid, tag, 0, 0, raddr, laddr, length, 0};

	return fjmpi_move(move, flags);
}

static inline int FJMPI_Rdma_get(int pid, int tag, uint64_t raddr, uint64_t laddr, size_t length, int flags)
{
	struct fjmpi_rdma_move move = {pid, tag, 0, 0, raddr, laddr, length, FJMPI_RDMA_MOVE_GET};

	return fjmpi_move(move, flags);
}

/*
 * Many puts to one rank, with the notices of one: the last goes behind the others. With a stride,
 * the addresses are the first and multiples of the stride from there, and the length is the first;
 * a stride of 0 means that each put has its own.
 */
static inline int FJMPI_Rdma_mput(int pid, int tag, const uint64_t raddrs[], const uint64_t laddrs[],
				  const size_t lengths[], int stride, size_t count, int flags)
{
	int code = MPI_SUCCESS;

	for (size_t i = 0; i < count && code == MPI_SUCCESS; i++) {
		size_t from = stride ? 0 : i;
		uint64_t offset = (uint64_t)stride * i;
		int last = i == count - 1;
		struct fjmpi_rdma_move move = {pid,
					       tag,
					       0,
					       0,
					       raddrs[from] + offset,
					       laddrs[from] + offset,
					       lengths[from],
					       last ? FJMPI_RDMA_MOVE_ORDERED : FJMPI_RDMA_MOVE_MORE};

		code = fjmpi_move(move, last ? flags : flags & ~FJMPI_RDMA_REMOTE_NOTICE);
	}
	return code;
}

/*
 * FJMPI_RDMA_NOTICE, FJMPI_RDMA_HALFWAY_NOTICE, or 0. Programs wait for one of them, so an error
 * ends the job.
 */
static inline int FJMPI_Rdma_poll_cq(int nic, struct FJMPI_Rdma_cq *cq)
{
	int pid = -1, tag = -1, found = fjmpi_rdma_poll(nic, &pid, &tag);

	if (found < 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (found > 0 && cq) {
		cq->pid = pid;
		cq->tag = tag;
	}
	return found;
}

/* --- Progress --- */

/*
 * On the machine, a thread on a core of its own makes MPI go on while the program computes. Here
 * plans and connected requests have such a thread always, and the MPI has what it has.
 */
static inline int FJMPI_Progress_start(void)
{
	return MPI_SUCCESS;
}

static inline int FJMPI_Progress_stop(void)
{
	return MPI_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#include "fjmpi_collectives.h"
#include "fjmpi_persistent.h"

#endif
