/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer of message passing that exchanges no addresses. Ids are constructed from places,
 * component and CQ, memory has fixed tags, and jTofu lists the paths. Each rank has a ring of
 * slots. A sender takes a ticket by an atomic addition, gets the position of the reader, and posts
 * two descriptors at once: the message, then its sequence number. A long message contains its
 * address: the reader gets it, and notifies the sender.
 */
#include <jtofu.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utofu.h>

#include "check.h"

enum { COMPONENT = 7, STAG = 11, SLOTS = 8, RANKS = 64, LONG = 50000, MESSAGES = 200 };

struct slot {
	uint64_t from, where, length; /* where: of a long message, in the sender's memory */
	volatile uint64_t sequence;
};
struct memory {
	uint64_t drawn, read;
	volatile uint64_t taken; /* of my long messages */
	uint64_t reader_at;	 /* what a get brought */
	struct slot slots[SLOTS];
	char out[LONG], in[LONG];
};

static struct memory *memory;
static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t ids[RANKS];
static utofu_stadd_t own, at[RANKS];
static unsigned long paths_to[RANKS];
static int rank, ranks;

#define AT(to, field) (at[to] + offsetof(struct memory, field))

static uint64_t wait_for(uint8_t type)
{
	struct utofu_mrq_notice notice;
	int code;

	do
		code = utofu_poll_mrq(vcq, 0, &notice);
	while (code == UTOFU_ERR_NOT_FOUND);
	CHECK(code == UTOFU_SUCCESS && notice.notice_type == type);
	return notice.rmt_value;
}

static void find(int other)
{
	union jtofu_phys_coords place;
	union jtofu_path_coords paths[8];
	utofu_path_id_t path;
	size_t count;

	CHECK(jtofu_query_phys_coords(4711, (jtofu_rank_t)other, &place) == JTOFU_SUCCESS);
	CHECK(utofu_construct_vcq_id(place.a, 0, 0, COMPONENT, &ids[other]) == UTOFU_SUCCESS);
	CHECK(utofu_query_stadd(ids[other], STAG, &at[other]) == UTOFU_SUCCESS);
	CHECK(jtofu_query_onesided_paths(&place, 8, paths, &count) == JTOFU_SUCCESS && count > 0);
	CHECK(utofu_get_path_id(ids[other], paths[(size_t)rank % count].a, &path) == UTOFU_SUCCESS);
	paths_to[other] = UTOFU_ONESIDED_FLAG_PATH(path);
	CHECK(utofu_set_vcq_id_path(&ids[other], NULL) == UTOFU_SUCCESS);
}

static void start(void)
{
	unsigned count;
	size_t bytes;
	void *map, *place = NULL;

	CHECK(jtofu_create_mapinfo_by_envvars(&map, &bytes, &count) == JTOFU_SUCCESS && (int)count == ranks);
	CHECK(jtofu_initialize(4711, (jtofu_rank_t)rank, map) == JTOFU_SUCCESS);
	free(map);
	CHECK(posix_memalign(&place, 256, sizeof *memory) == 0);
	memory = memset(place, 0, sizeof *memory);
	CHECK(utofu_create_vcq_with_cmp_id(0, COMPONENT, 0, &vcq) == UTOFU_SUCCESS);
	CHECK(utofu_reg_mem_with_stag(vcq, memory, sizeof *memory, STAG, 0, &own) == UTOFU_SUCCESS);
	for (int other = 0; other < ranks; other++)
		find(other);
	CHECK(own == at[rank]);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Reads one message, if there is one. */
static int take(char wanted[LONG], uint64_t *from, uint64_t *length)
{
	struct slot *slot = &memory->slots[memory->read % SLOTS];

	if (slot->sequence != memory->read + 1)
		return 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*from = slot->from;
	*length = slot->length;
	if (slot->where) {
		CHECK(utofu_get(vcq, ids[*from], own + offsetof(struct memory, in), slot->where, *length, 0,
				UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE | paths_to[*from], NULL) == UTOFU_SUCCESS);
		wait_for(UTOFU_MRQ_TYPE_LCL_GET);
		memcpy(wanted, memory->in, *length);
		CHECK(utofu_put_piggyback8(vcq, ids[*from], 1, AT(*from, taken), 8, 0,
					   UTOFU_ONESIDED_FLAG_CACHE_INJECTION | UTOFU_ONESIDED_FLAG_PADDING,
					   NULL) == UTOFU_SUCCESS);
	}
	memory->read++;
	return 1;
}

static uint64_t sum, received;

static void receive_some(void)
{
	static char got[LONG];
	uint64_t from, length;

	while (take(got, &from, &length)) {
		for (uint64_t i = 0; length > 8 && i < length; i++)
			CHECK(got[i] == (char)(from + i));
		sum += from;
		received++;
	}
}

static void send(int to, uint64_t length)
{
	struct slot slot = {.from = (uint64_t)rank, .length = length};
	char descriptors[2 * 64];
	uint64_t sequence;
	size_t first, second;

	if (length > 8)
		slot.where = own + offsetof(struct memory, out);
	memory->taken = 0;
	CHECK(utofu_armw8(vcq, ids[to], UTOFU_ARMW_OP_ADD, 1, AT(to, drawn), 0, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE,
			  NULL) == UTOFU_SUCCESS);
	sequence = wait_for(UTOFU_MRQ_TYPE_LCL_ARMW);
	do {
		receive_some();
		CHECK(utofu_get(vcq, ids[to], own + offsetof(struct memory, reader_at), AT(to, read), 8, 0,
				UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL) == UTOFU_SUCCESS);
		wait_for(UTOFU_MRQ_TYPE_LCL_GET);
	} while (sequence >= memory->reader_at + SLOTS);
	CHECK(utofu_prepare_put_piggyback(vcq, ids[to], &slot, AT(to, slots[sequence % SLOTS]),
					  offsetof(struct slot, sequence), 0,
					  UTOFU_ONESIDED_FLAG_STRONG_ORDER | paths_to[to], descriptors,
					  &first) == UTOFU_SUCCESS);
	CHECK(utofu_prepare_put_piggyback8(vcq, ids[to], sequence + 1, AT(to, slots[sequence % SLOTS].sequence), 8, 0,
					   UTOFU_ONESIDED_FLAG_STRONG_ORDER | paths_to[to], descriptors + first,
					   &second) == UTOFU_SUCCESS);
	CHECK(utofu_post_toq(vcq, descriptors, first + second, NULL) == UTOFU_SUCCESS);
	while (length > 8 && !memory->taken)
		receive_some();
}

int main(void)
{
	uint64_t all;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	start();
	for (int i = 0; i < LONG; i++)
		memory->out[i] = (char)(rank + i);
	for (int i = 0; i < MESSAGES; i++)
		send((rank + 1 + i % ranks) % ranks, i % 10 == 9 ? LONG : 8);
	while (received < MESSAGES)
		receive_some();
	MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	CHECK(all == (uint64_t)MESSAGES * (uint64_t)(ranks * (ranks - 1) / 2));
	if (rank == 0)
		printf("%d messages of %d ranks\n", MESSAGES, ranks);
	CHECK(utofu_free_vcq(vcq) == UTOFU_SUCCESS && jtofu_finalize() == JTOFU_SUCCESS);
	MPI_Finalize();
	return 0;
}
