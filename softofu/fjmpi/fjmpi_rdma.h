/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_RDMA_H
#define FJMPI_RDMA_H

/*
 * RDMA by memory ids over uTofu, in the library libfjmpi: what FJMPI_Rdma_* of mpi-ext.h call. The
 * library does not know MPI, so that one library fits every MPI. It prints a line about each error.
 *
 * An address is a number that a program may add offsets to: bits 48-57 are the memory id plus 1,
 * the bits below are the offset. The same number is valid at all ranks; the rank selects the
 * memory.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	FJMPI_RDMA_NICS = 4,
	FJMPI_RDMA_MEMORY_IDS = 512,
	FJMPI_RDMA_TAGS = 15,
	/* What each rank contributes to the exchange. */
	FJMPI_RDMA_BLOCK_BYTES = 8 * (FJMPI_RDMA_NICS + 2),
};

/* Values of flags in fjmpi_rdma_move, besides the NICs. */
enum {
	FJMPI_RDMA_MOVE_ORDERED = 1,
	FJMPI_RDMA_MOVE_NOTIFY = 2,
	FJMPI_RDMA_MOVE_GET = 4,
	FJMPI_RDMA_MOVE_MORE = 8, /* no notice: a later one tells of this operation, too */
};

struct fjmpi_rdma_move {
	int rank, tag;
	int local_nic, remote_nic;
	uint64_t remote, local;
	size_t bytes;
	unsigned flags;
};

/*
 * The return codes are 0 for success and -1 for an error; addresses are UINT64_MAX if there is
 * none.
 */

/* Creates this rank's queues and fills in its block of the exchange. */
int fjmpi_rdma_open(int rank, int ranks, unsigned char block[FJMPI_RDMA_BLOCK_BYTES]);
/* Takes the blocks of all ranks, in their order. Must not be called before fjmpi_rdma_open. */
int fjmpi_rdma_connect(const unsigned char *blocks);
int fjmpi_rdma_close(void);
uint64_t fjmpi_rdma_register(int memory_id, void *start, size_t bytes);
int fjmpi_rdma_deregister(int memory_id);
/*
 * Reads the other rank's table. The address is UINT64_MAX until that rank has registered the
 * memory.
 */
int fjmpi_rdma_find(int rank, int memory_id, uint64_t *address);
int fjmpi_rdma_move(const struct fjmpi_rdma_move *move);
/*
 * Returns 0 if there is nothing, 1 for a completed operation, 2 for the arrival of another rank's,
 * -1 for an error.
 */
int fjmpi_rdma_poll(int nic, int *rank, int *tag);

#ifdef __cplusplus
}
#endif

#endif
