/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each NIC of the interface is a VCQ, on its own TNI if the rank has enough. A memory is registered
 * with all of them, because any may be its source or target. Its addresses are in this rank's
 * table, which other ranks read by a get over a VCQ that serves nothing else. The notices of the
 * other VCQs belong to the program. An entry of the table may be read while it is written: its
 * check word, a sum over the others, shows whether the read was complete.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utofu.h>
#include "error.h"
#include "fjmpi_rdma.h"

#define RDMA_API __attribute__((visibility("default")))

enum { OFFSET_BITS = 48, CHUNK = 32, CHUNKS = FJMPI_RDMA_MEMORY_IDS / CHUNK };
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)
#define NO_ADDRESS UINT64_MAX

struct rdma_memory {
	utofu_stadd_t stadd[FJMPI_RDMA_NICS];
	uint64_t bytes;
	uint64_t version; /* of the memory id; 0: nothing is registered */
	uint64_t check;
};

struct rdma_peer {
	utofu_vcq_id_t nic[FJMPI_RDMA_NICS], table;
	utofu_stadd_t table_at;
	struct rdma_memory *chunk[CHUNKS]; /* what this rank knows of its memories */
};

struct rdma_name {
	utofu_vcq_id_t id;
	int rank;
};

static struct rdma {
	bool open;
	int rank, ranks;
	utofu_vcq_hdl_t nic[FJMPI_RDMA_NICS], table;
	utofu_stadd_t table_at, entry_at;
	size_t largest; /* operation */
	uint64_t version;
	struct rdma_memory *memory; /* this rank's table; other ranks read it */
	struct rdma_memory *entry;  /* receives an entry of another rank's */
	struct rdma_peer *peer;
	struct rdma_name *name; /* of all queues, sorted by id */
} rdma;

static uint64_t rdma_check_word(const struct rdma_memory *memory)
{
	uint64_t sum = memory->version * UINT64_C(0x9e3779b97f4a7c15) + memory->bytes;

	for (int nic = 0; nic < FJMPI_RDMA_NICS; nic++)
		sum = (sum ^ memory->stadd[nic]) * UINT64_C(0x100000001b3);
	return sum;
}

/*
 * A page of zeros for each: table and entry must not share a line with memory that the program
 * writes.
 */
static void *rdma_pages(size_t bytes)
{
	size_t whole = (bytes + 4095) / 4096 * 4096;
	void *pages = aligned_alloc(4096, whole);

	if (pages)
		memset(pages, 0, whole);
	return pages;
}

static int rdma_create_queues(void)
{
	struct utofu_onesided_caps *caps;
	utofu_tni_id_t *tnis = NULL;
	size_t count = 0;
	int code = utofu_get_onesided_tnis(&tnis, &count);

	if (code == UTOFU_SUCCESS && count > 0) {
		for (size_t nic = 0; nic < FJMPI_RDMA_NICS && code == UTOFU_SUCCESS; nic++)
			code = utofu_create_vcq(tnis[nic % count], UTOFU_VCQ_FLAG_THREAD_SAFE, &rdma.nic[nic]);
		if (code == UTOFU_SUCCESS)
			code = utofu_create_vcq(tnis[FJMPI_RDMA_NICS % count], UTOFU_VCQ_FLAG_THREAD_SAFE, &rdma.table);
		if (code == UTOFU_SUCCESS)
			code = utofu_query_onesided_caps(tnis[0], &caps);
		if (code == UTOFU_SUCCESS)
			rdma.largest = caps->max_putget_size;
	}
	free(tnis);
	return code == UTOFU_SUCCESS && count == 0 ? UTOFU_ERR_NOT_AVAILABLE : code;
}

static void rdma_release(void)
{
	for (int nic = 0; nic < FJMPI_RDMA_NICS; nic++)
		if (rdma.nic[nic])
			utofu_free_vcq(rdma.nic[nic]);
	if (rdma.table)
		utofu_free_vcq(rdma.table);
	for (int rank = 0; rdma.peer && rank < rdma.ranks; rank++)
		for (int chunk = 0; chunk < CHUNKS; chunk++)
			free(rdma.peer[rank].chunk[chunk]);
	free(rdma.peer);
	free(rdma.name);
	free(rdma.memory);
	free(rdma.entry);
	rdma = (struct rdma){.rank = rdma.rank, .version = rdma.version};
}

RDMA_API int fjmpi_rdma_open(int rank, int ranks, unsigned char block[FJMPI_RDMA_BLOCK_BYTES])
{
	uint64_t word[FJMPI_RDMA_NICS + 2];
	int code;

	if (rdma.open)
		return fjmpi_error("FJMPI_Rdma_init: it was called before; call FJMPI_Rdma_finalize first");
	rdma.rank = rank;
	fjmpi_error_rank(rank);
	rdma.ranks = ranks;
	rdma.peer = calloc((size_t)ranks, sizeof *rdma.peer);
	rdma.name = calloc((size_t)ranks * FJMPI_RDMA_NICS, sizeof *rdma.name);
	rdma.memory = rdma_pages(FJMPI_RDMA_MEMORY_IDS * sizeof *rdma.memory);
	rdma.entry = rdma_pages(sizeof *rdma.entry);
	code = rdma.peer && rdma.name && rdma.memory && rdma.entry ? rdma_create_queues() : UTOFU_ERR_OUT_OF_MEMORY;
	if (code == UTOFU_SUCCESS)
		code = utofu_reg_mem(rdma.table, rdma.memory, FJMPI_RDMA_MEMORY_IDS * sizeof *rdma.memory, 0,
				     &rdma.table_at);
	if (code == UTOFU_SUCCESS)
		code = utofu_reg_mem(rdma.table, rdma.entry, sizeof *rdma.entry, 0, &rdma.entry_at);
	for (int nic = 0; nic < FJMPI_RDMA_NICS && code == UTOFU_SUCCESS; nic++)
		code = utofu_query_vcq_id(rdma.nic[nic], &word[nic]);
	if (code == UTOFU_SUCCESS)
		code = utofu_query_vcq_id(rdma.table, &word[FJMPI_RDMA_NICS]);
	if (code != UTOFU_SUCCESS) {
		rdma_release();
		return fjmpi_error("FJMPI_Rdma_init: no queues of uTofu, which returned %d", code);
	}
	word[FJMPI_RDMA_NICS + 1] = rdma.table_at;
	memcpy(block, word, sizeof word);
	rdma.open = true;
	return 0;
}

static int rdma_compare_names(const void *a, const void *b)
{
	utofu_vcq_id_t first = ((const struct rdma_name *)a)->id, second = ((const struct rdma_name *)b)->id;

	return (first > second) - (first < second);
}

RDMA_API int fjmpi_rdma_connect(const unsigned char *blocks)
{
	for (int rank = 0; rank < rdma.ranks; rank++) {
		struct rdma_peer *peer = &rdma.peer[rank];
		uint64_t word[FJMPI_RDMA_NICS + 2];

		memcpy(word, blocks + (size_t)rank * sizeof word, sizeof word);
		for (int nic = 0; nic < FJMPI_RDMA_NICS; nic++) {
			rdma.name[rank * FJMPI_RDMA_NICS + nic] = (struct rdma_name){word[nic], rank};
			peer->nic[nic] = word[nic];
			utofu_set_vcq_id_path(&peer->nic[nic], NULL);
		}
		peer->table = word[FJMPI_RDMA_NICS];
		utofu_set_vcq_id_path(&peer->table, NULL);
		peer->table_at = word[FJMPI_RDMA_NICS + 1];
	}
	qsort(rdma.name, (size_t)rdma.ranks * FJMPI_RDMA_NICS, sizeof *rdma.name, rdma_compare_names);
	return 0;
}

RDMA_API int fjmpi_rdma_close(void)
{
	if (!rdma.open)
		return fjmpi_error("FJMPI_Rdma_finalize: FJMPI_Rdma_init was not called");
	for (int id = 0; id < FJMPI_RDMA_MEMORY_IDS; id++)
		if (rdma.memory[id].version)
			fjmpi_rdma_deregister(id);
	rdma_release();
	return 0;
}

static bool rdma_id_valid(const char *routine, int id)
{
	if (!rdma.open)
		fjmpi_error("%s: FJMPI_Rdma_init was not called", routine);
	else if (id < 0 || id >= FJMPI_RDMA_MEMORY_IDS)
		fjmpi_error("%s: memid=%d: memory ids are 0 to %d", routine, id, FJMPI_RDMA_MEMORY_IDS - 1);
	else
		return true;
	return false;
}

static uint64_t rdma_address(int id)
{
	return (uint64_t)(id + 1) << OFFSET_BITS;
}

RDMA_API uint64_t fjmpi_rdma_register(int memory_id, void *start, size_t bytes)
{
	struct rdma_memory memory = {.bytes = bytes};
	int code = UTOFU_SUCCESS;

	if (!rdma_id_valid("FJMPI_Rdma_reg_mem", memory_id))
		return NO_ADDRESS;
	/* Programs register other memory under the same id. */
	if (rdma.memory[memory_id].version)
		fjmpi_rdma_deregister(memory_id);
	for (int nic = 0; nic < FJMPI_RDMA_NICS && code == UTOFU_SUCCESS; nic++)
		code = utofu_reg_mem(rdma.nic[nic], start, bytes, 0, &memory.stadd[nic]);
	if (code != UTOFU_SUCCESS) {
		fjmpi_error("FJMPI_Rdma_reg_mem: memid=%d, %zu bytes at %p: utofu_reg_mem returned %d", memory_id,
			    bytes, start, code);
		return NO_ADDRESS;
	}
	memory.version = ++rdma.version;
	memory.check = rdma_check_word(&memory);
	rdma.memory[memory_id] = memory;
	atomic_thread_fence(memory_order_seq_cst);
	return rdma_address(memory_id);
}

RDMA_API int fjmpi_rdma_deregister(int memory_id)
{
	struct rdma_memory memory;
	int bad = 0;

	if (!rdma_id_valid("FJMPI_Rdma_dereg_mem", memory_id))
		return -1;
	memory = rdma.memory[memory_id];
	if (!memory.version)
		return fjmpi_error("FJMPI_Rdma_dereg_mem: memid=%d: nothing is registered under this id", memory_id);
	memset(&rdma.memory[memory_id], 0, sizeof memory);
	for (int nic = 0; nic < FJMPI_RDMA_NICS; nic++)
		bad |= utofu_dereg_mem(rdma.nic[nic], memory.stadd[nic], 0) != UTOFU_SUCCESS;
	return bad ? fjmpi_error("FJMPI_Rdma_dereg_mem: memid=%d: uTofu does not release it", memory_id) : 0;
}

/* Reads the entry of a memory id at another rank into rdma.entry. */
static int rdma_read_entry(const struct rdma_peer *peer, int id)
{
	struct utofu_mrq_notice notice;
	void *cbdata;
	int code;

	do {
		code = utofu_get(rdma.table, peer->table, rdma.entry_at,
				 peer->table_at + (size_t)id * sizeof *rdma.entry, sizeof *rdma.entry, 0,
				 UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL);
		if (code == UTOFU_ERR_BUSY)
			utofu_poll_tcq(rdma.table, 0, &cbdata);
	} while (code == UTOFU_ERR_BUSY);
	while (code == UTOFU_SUCCESS || code == UTOFU_ERR_NOT_FOUND) {
		code = utofu_poll_mrq(rdma.table, 0, &notice);
		if (code == UTOFU_SUCCESS)
			return 0;
	}
	return fjmpi_error("FJMPI_Rdma_get_remote_addr: the other rank's table: uTofu returned %d", code);
}

/*
 * Looks up a memory of a rank. Returns -1 for an error, 0 if nothing is registered, and 1 if it is
 * found.
 */
static int rdma_find(int rank, int id, bool again, const struct rdma_memory **found)
{
	struct rdma_peer *peer = &rdma.peer[rank];
	struct rdma_memory **chunk = &peer->chunk[id / CHUNK], *known;

	if (rank == rdma.rank) {
		*found = &rdma.memory[id];
		return rdma.memory[id].version != 0;
	}
	if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk)))
		return fjmpi_error("FJMPI_Rdma_get_remote_addr: no memory");
	*found = known = &(*chunk)[id % CHUNK];
	if (!known->version || again) {
		known->version = 0;
		if (rdma_read_entry(peer, id) != 0)
			return -1;
		if (rdma.entry->check == rdma_check_word(rdma.entry))
			*known = *rdma.entry;
	}
	return known->version != 0;
}

static bool rdma_rank_valid(const char *routine, int rank)
{
	if (rank >= 0 && rank < rdma.ranks)
		return true;
	fjmpi_error("%s: pid=%d: there is no such rank; the job has ranks 0 to %d", routine, rank, rdma.ranks - 1);
	return false;
}

RDMA_API int fjmpi_rdma_find(int rank, int memory_id, uint64_t *address)
{
	const struct rdma_memory *memory;
	int found;

	if (!rdma_id_valid("FJMPI_Rdma_get_remote_addr", memory_id) ||
	    !rdma_rank_valid("FJMPI_Rdma_get_remote_addr", rank))
		return -1;
	found = rdma_find(rank, memory_id, true, &memory);
	*address = found > 0 ? rdma_address(memory_id) : NO_ADDRESS;
	return found < 0 ? -1 : 0;
}

/* The STADD of an address of a rank for a queue, if the memory has this many bytes from there. */
static bool rdma_resolve(int rank, int nic, uint64_t address, size_t bytes, utofu_stadd_t *stadd)
{
	int id = (int)(address >> OFFSET_BITS) - 1;
	uint64_t offset = address & OFFSET_MASK;
	const struct rdma_memory *memory;

	if (id < 0 || id >= FJMPI_RDMA_MEMORY_IDS || rdma_find(rank, id, false, &memory) <= 0)
		return false;
	*stadd = memory->stadd[nic] + offset;
	return offset <= memory->bytes && bytes <= memory->bytes - offset;
}

static bool rdma_move_valid(const char *routine, const struct fjmpi_rdma_move *move)
{
	if (!rdma_id_valid(routine, 0) || !rdma_rank_valid(routine, move->rank))
		return false;
	if (move->tag < 0 || move->tag >= FJMPI_RDMA_TAGS)
		fjmpi_error("%s: tag=%d: tags are 0 to %d", routine, move->tag, FJMPI_RDMA_TAGS - 1);
	else if (move->local_nic >= FJMPI_RDMA_NICS || move->remote_nic >= FJMPI_RDMA_NICS)
		fjmpi_error("%s: flags: NICs are 0 to %d", routine, FJMPI_RDMA_NICS - 1);
	else if (move->bytes > rdma.largest)
		fjmpi_error("%s: length=%zu: at most %zu bytes in one call", routine, move->bytes, rdma.largest);
	else
		return true;
	return false;
}

RDMA_API int fjmpi_rdma_move(const struct fjmpi_rdma_move *move)
{
	bool get = move->flags & FJMPI_RDMA_MOVE_GET;
	const char *routine = get ? "FJMPI_Rdma_get" : "FJMPI_Rdma_put";
	unsigned long flags = move->flags & FJMPI_RDMA_MOVE_MORE ? 0 : UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
	utofu_stadd_t local, remote;
	utofu_vcq_hdl_t vcq;
	void *cbdata;
	int code;

	if (!rdma_move_valid(routine, move))
		return -1;
	if (!rdma_resolve(rdma.rank, move->local_nic, move->local, move->bytes, &local))
		return fjmpi_error("%s: laddr=%#llx: no registered memory of this rank has %zu bytes there", routine,
				   (unsigned long long)move->local, move->bytes);
	if (!rdma_resolve(move->rank, move->remote_nic, move->remote, move->bytes, &remote))
		return fjmpi_error("%s: raddr=%#llx: no registered memory of rank %d has %zu bytes there", routine,
				   (unsigned long long)move->remote, move->rank, move->bytes);
	if (move->flags & FJMPI_RDMA_MOVE_ORDERED)
		flags |= UTOFU_ONESIDED_FLAG_STRONG_ORDER;
	if (move->flags & FJMPI_RDMA_MOVE_NOTIFY)
		flags |= UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;
	vcq = rdma.nic[move->local_nic];
	do {
		code = (get ? utofu_get : utofu_put)(vcq, rdma.peer[move->rank].nic[move->remote_nic], local, remote,
						     move->bytes, (uint64_t)move->tag, flags, NULL);
		if (code == UTOFU_ERR_BUSY)
			utofu_poll_tcq(vcq, 0, &cbdata);
	} while (code == UTOFU_ERR_BUSY);
	return code == UTOFU_SUCCESS ? 0
				     : fjmpi_error("%s: pid=%d, %zu bytes: uTofu returned %d", routine, move->rank,
						   move->bytes, code);
}

RDMA_API int fjmpi_rdma_poll(int nic, int *rank, int *tag)
{
	struct utofu_mrq_notice notice;
	struct rdma_name wanted, *name;
	void *cbdata;
	int code;

	if (!rdma_id_valid("FJMPI_Rdma_poll_cq", 0))
		return -1;
	if (nic < 0 || nic >= FJMPI_RDMA_NICS)
		return fjmpi_error("FJMPI_Rdma_poll_cq: NIC %d: NICs are 0 to %d", nic, FJMPI_RDMA_NICS - 1);
	code = utofu_poll_tcq(rdma.nic[nic], 0, &cbdata);
	if (code == UTOFU_SUCCESS || code == UTOFU_ERR_NOT_FOUND)
		code = utofu_poll_mrq(rdma.nic[nic], 0, &notice);
	if (code == UTOFU_ERR_NOT_FOUND)
		return 0;
	if (code != UTOFU_SUCCESS)
		return fjmpi_error("FJMPI_Rdma_poll_cq: an operation of NIC %d failed: uTofu returned %d", nic, code);
	wanted.id = notice.vcq_id;
	name = bsearch(&wanted, rdma.name, (size_t)rdma.ranks * FJMPI_RDMA_NICS, sizeof *name, rdma_compare_names);
	*rank = name ? name->rank : -1;
	*tag = (int)notice.edata;
	return notice.notice_type == UTOFU_MRQ_TYPE_LCL_PUT || notice.notice_type == UTOFU_MRQ_TYPE_LCL_GET ? 1 : 2;
}
