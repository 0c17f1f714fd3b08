/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA as programs of Fujitsu's MPI use it: a last word that the receiver polls, after a get has
 * shown that it may be overwritten; many puts that are counted, or have one notice; a put that
 * notifies its target;
 * fifteen tags at once on each NIC; memory that is registered late, and again; and every mistake.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { WORDS = 3000, ROUNDS = 40, NICS = 4, TAGS = 15, COUNTED = 500, FULL = 0x5ead, ALL_IDS = 512 };
static int rank, ranks, next, previous;
static const int local_nic[NICS] = {FJMPI_RDMA_LOCAL_NIC0, FJMPI_RDMA_LOCAL_NIC1, FJMPI_RDMA_LOCAL_NIC2,
				    FJMPI_RDMA_LOCAL_NIC3};
static const int remote_nic[NICS] = {FJMPI_RDMA_REMOTE_NIC0, FJMPI_RDMA_REMOTE_NIC1, FJMPI_RDMA_REMOTE_NIC2,
				     FJMPI_RDMA_REMOTE_NIC3};
static const int poll_nic[NICS] = {FJMPI_RDMA_NIC0, FJMPI_RDMA_NIC1, FJMPI_RDMA_NIC2, FJMPI_RDMA_NIC3};

static uint64_t remote_address(int pid, int memid)
{
	uint64_t address;

	while ((address = FJMPI_Rdma_get_remote_addr(pid, memid)) == FJMPI_RDMA_ERROR)
		sched_yield();
	return address;
}

static void expect_notice(int nic, int pid, int tag)
{
	struct FJMPI_Rdma_cq cq = {-1, -1};
	int code;

	while ((code = FJMPI_Rdma_poll_cq(nic, &cq)) == 0)
		sched_yield();
	CHECK(code == FJMPI_RDMA_NOTICE && cq.pid == pid && cq.tag == tag);
}

/*
 * To the next rank, over one NIC: the target's last word is cleared by its owner when the data is
 * used.
 */
static void last_words(int nic)
{
	static volatile int out[WORDS + 1], in[WORDS + 1];
	uint64_t mine = FJMPI_Rdma_reg_mem(2 * nic, (void *)out, sizeof out), there, last = sizeof(int) * WORDS;
	int flags = local_nic[nic] | remote_nic[nic] | FJMPI_RDMA_STRONG_ORDER;

	in[WORDS] = 0;
	CHECK(mine != FJMPI_RDMA_ERROR && FJMPI_Rdma_reg_mem(2 * nic + 1, (void *)in, sizeof in) != FJMPI_RDMA_ERROR);
	there = remote_address(next, 2 * nic + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int round = 1; round <= ROUNDS; round++) {
		do {
			out[WORDS] = -1;
			CHECK(FJMPI_Rdma_get(next, nic, there + last, mine + last, sizeof(int), flags) == 0);
			expect_notice(poll_nic[nic], next, nic);
		} while (out[WORDS] != 0);
		for (int i = 0; i < WORDS; i++)
			out[i] = rank * round + i;
		out[WORDS] = FULL;
		CHECK(FJMPI_Rdma_put(next, nic, there, mine, sizeof out, flags) == 0);
		while (in[WORDS] != FULL)
			sched_yield();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		for (int i = 0; i < WORDS; i++)
			CHECK(in[i] == previous * round + i);
		in[WORDS] = 0;
		expect_notice(poll_nic[nic], next, nic);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(FJMPI_Rdma_dereg_mem(2 * nic) == 0 && FJMPI_Rdma_dereg_mem(2 * nic + 1) == 0);
}

/*
 * A runtime of coarrays: it counts its puts, and the notices show that they are complete at the
 * target.
 */
static void counted_puts(void)
{
	enum { FLAGS = FJMPI_RDMA_LOCAL_NIC0 | FJMPI_RDMA_REMOTE_NIC1 | FJMPI_RDMA_IMMEDIATE_RETURN };
	long *array = calloc(COUNTED, sizeof *array), value[COUNTED], back = 0;
	uint64_t there, mine, temporary;
	int outstanding = 0;

	CHECK(FJMPI_Rdma_reg_mem(511, array, COUNTED * sizeof *array) != FJMPI_RDMA_ERROR);
	there = remote_address(next, 511);
	mine = FJMPI_Rdma_reg_mem(0, value, sizeof value);
	for (int i = 0; i < COUNTED; i++, outstanding++) {
		value[i] = 1000 * rank + i;
		CHECK(FJMPI_Rdma_put(next, 0, there + (uint64_t)i * sizeof *array, mine + (uint64_t)i * sizeof *array,
				     sizeof *array, FLAGS) == 0);
	}
	while (outstanding)
		if (FJMPI_Rdma_poll_cq(FJMPI_RDMA_LOCAL_NIC0, NULL) == FJMPI_RDMA_NOTICE)
			outstanding--;
	/* The same id for other memory, while the job runs. */
	temporary = FJMPI_Rdma_reg_mem(0, &back, sizeof back);
	CHECK(FJMPI_Rdma_get(next, 0, there + 7 * sizeof *array, temporary, sizeof back, FLAGS) == 0);
	expect_notice(FJMPI_RDMA_LOCAL_NIC0, next, 0);
	CHECK(back == 1000 * rank + 7);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < COUNTED; i++)
		CHECK(array[i] == 1000 * previous + i);
	CHECK(FJMPI_Rdma_dereg_mem(0) == 0 && FJMPI_Rdma_dereg_mem(511) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
	free(array);
}

/* Sections of an array: one notice for all puts of a call, and one at the target. */
static void many_puts(void)
{
	enum { COUNT = 300, FLAGS = FJMPI_RDMA_LOCAL_NIC1 | FJMPI_RDMA_REMOTE_NIC2 | FJMPI_RDMA_REMOTE_NOTICE };
	static long out[COUNT], in[2][COUNT];
	static uint64_t from[COUNT], to[COUNT];
	static size_t lengths[COUNT];
	uint64_t mine = FJMPI_Rdma_reg_mem(1, out, sizeof out), there;
	struct FJMPI_Rdma_cq cq = {-1, -1};

	FJMPI_Rdma_reg_mem(2, in, sizeof in);
	there = remote_address(next, 2);
	for (int i = 0; i < COUNT; i++) {
		out[i] = 1000 * rank + i;
		from[i] = mine + (uint64_t)i * sizeof *out;
		to[i] = there + (uint64_t)(COUNT - 1 - i) * sizeof *out;
		lengths[i] = sizeof *out;
	}
	FJMPI_Progress_start();
	CHECK(FJMPI_Rdma_mput(next, 4, to, from, lengths, 0, COUNT, FLAGS) == 0);
	expect_notice(FJMPI_RDMA_NIC1, next, 4);
	while (FJMPI_Rdma_poll_cq(FJMPI_RDMA_NIC2, &cq) == 0)
		sched_yield();
	for (int i = 0; i < COUNT; i++)
		CHECK(in[0][i] == 1000 * previous + COUNT - 1 - i);
	MPI_Barrier(MPI_COMM_WORLD);
	to[0] = there + sizeof in[0];
	CHECK(FJMPI_Rdma_mput(next, 5, to, from, lengths, 2 * sizeof *out, COUNT / 2, FLAGS) == 0);
	expect_notice(FJMPI_RDMA_NIC1, next, 5);
	while (FJMPI_Rdma_poll_cq(FJMPI_RDMA_NIC2, &cq) == 0)
		sched_yield();
	for (int i = 0; i < COUNT; i++)
		CHECK(in[1][i] == (i % 2 ? 0 : 1000 * previous + i));
	FJMPI_Progress_stop();
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(FJMPI_Rdma_poll_cq(FJMPI_RDMA_NIC2, &cq) == 0 && FJMPI_Rdma_poll_cq(FJMPI_RDMA_NIC1, &cq) == 0);
	CHECK(FJMPI_Rdma_dereg_mem(1) == 0 && FJMPI_Rdma_dereg_mem(2) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Post and wait: the target learns from whom, and for which tag. */
static void notified(void)
{
	enum { FLAGS = FJMPI_RDMA_LOCAL_NIC2 | FJMPI_RDMA_REMOTE_NIC3 | FJMPI_RDMA_REMOTE_NOTICE | FJMPI_RDMA_PATH0 };
	static double box[64], word;
	struct FJMPI_Rdma_cq cq = {-1, -1};
	uint64_t mine = FJMPI_Rdma_reg_mem(1, &word, sizeof word), there;
	int code, seen = 0;

	FJMPI_Rdma_reg_mem(2, box, sizeof box);
	MPI_Barrier(MPI_COMM_WORLD);
	word = rank + 0.5;
	for (int pid = 0; pid < ranks; pid++) {
		there = FJMPI_Rdma_get_remote_addr(pid, 2);
		CHECK(there != FJMPI_RDMA_ERROR);
		CHECK(FJMPI_Rdma_put(pid, rank % TAGS, there + (uint64_t)rank * sizeof *box, mine, sizeof word,
				     FLAGS) == 0);
		expect_notice(FJMPI_RDMA_NIC2, pid, rank % TAGS);
	}
	while (seen < ranks) {
		code = FJMPI_Rdma_poll_cq(FJMPI_RDMA_NIC3, &cq);
		if (code == 0) {
			sched_yield();
			continue;
		}
		CHECK(code == FJMPI_RDMA_HALFWAY_NOTICE && cq.tag == cq.pid % TAGS && box[cq.pid] == cq.pid + 0.5);
		seen++;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(FJMPI_Rdma_poll_cq(FJMPI_RDMA_NIC3, &cq) == 0);
	CHECK(FJMPI_Rdma_dereg_mem(1) == 0 && FJMPI_Rdma_dereg_mem(2) == 0);
}

/* All tags of all NICs to all ranks at once; each comes back once. */
static void all_tags_at_once(void)
{
	static char out[1 << 12], in[1 << 12];
	uint64_t mine = FJMPI_Rdma_reg_mem(509, out, sizeof out), there;
	int left = 0, seen[NICS][TAGS] = {{0}};

	FJMPI_Rdma_reg_mem(510, in, sizeof in);
	MPI_Barrier(MPI_COMM_WORLD);
	there = FJMPI_Rdma_get_remote_addr(next, 510);
	for (int tag = 0; tag < TAGS; tag++)
		for (int nic = 0; nic < NICS; nic++, left++)
			CHECK(FJMPI_Rdma_put(next, tag, there + (uint64_t)(tag * NICS + nic) * 32, mine, 32,
					     local_nic[nic] | remote_nic[nic]) == 0);
	for (int nic = 0; left; nic = (nic + 1) % NICS) {
		struct FJMPI_Rdma_cq cq;

		if (FJMPI_Rdma_poll_cq(poll_nic[nic], &cq) != FJMPI_RDMA_NOTICE)
			continue;
		CHECK(cq.pid == next && !seen[nic][cq.tag]++);
		left--;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(FJMPI_Rdma_dereg_mem(509) == 0 && FJMPI_Rdma_dereg_mem(510) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 is late; every id has an address of its own. */
static void all_ids(void)
{
	static char memory[ALL_IDS][16], word[16];
	uint64_t mine;

	if (rank == 0)
		usleep(100000);
	for (int id = 1; id < ALL_IDS; id++)
		CHECK(FJMPI_Rdma_reg_mem(id, memory[id], sizeof memory[id]) != FJMPI_RDMA_ERROR);
	mine = FJMPI_Rdma_reg_mem(0, word, sizeof word);
	for (int id = 1; id < ALL_IDS; id++) {
		snprintf(word, sizeof word, "%d to %d", rank, id);
		CHECK(FJMPI_Rdma_put(next, 3, remote_address(next, id), mine, sizeof word, FJMPI_RDMA_LOCAL_NIC1) == 0);
		expect_notice(FJMPI_RDMA_NIC1, next, 3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int id = 1; id < ALL_IDS; id++) {
		snprintf(word, sizeof word, "%d to %d", previous, id);
		CHECK(strcmp(memory[id], word) == 0);
		CHECK(FJMPI_Rdma_dereg_mem(id) == 0);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(FJMPI_Rdma_get_remote_addr(next, 5) == FJMPI_RDMA_ERROR);
	CHECK(FJMPI_Rdma_dereg_mem(0) == 0);
}

/* Each returns an error, and prints a line. */
static void mistakes(void)
{
	static char memory[64];
	uint64_t mine = FJMPI_Rdma_reg_mem(9, memory, sizeof memory);

	CHECK(FJMPI_Rdma_init() != 0);
	CHECK(FJMPI_Rdma_reg_mem(512, memory, sizeof memory) == FJMPI_RDMA_ERROR);
	CHECK(FJMPI_Rdma_dereg_mem(8) != 0);
	CHECK(FJMPI_Rdma_put(rank, TAGS, mine, mine, 8, 0) != 0);
	CHECK(FJMPI_Rdma_put(-1, 0, mine, mine, 8, 0) != 0);
	CHECK(FJMPI_Rdma_put(rank, 0, mine, mine, 1 << 24, 0) != 0);
	CHECK(FJMPI_Rdma_put(rank, 0, mine + 60, mine, 8, 0) != 0);
	CHECK(FJMPI_Rdma_get(rank, 0, mine, 17, 8, 0) != 0);
	CHECK(FJMPI_Rdma_put(rank, 0, mine, mine, 8, 7) != 0);
	CHECK(FJMPI_Rdma_dereg_mem(9) == 0);
}

/* Programs repeat these calls until there is an answer, so a mistake in them ends the job. */
static void endless(const char *routine)
{
	while (strcmp(routine, "find") == 0 ? FJMPI_Rdma_get_remote_addr(ranks, 9) == FJMPI_RDMA_ERROR
					    : FJMPI_Rdma_poll_cq(4, NULL) == 0)
		;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	next = (rank + 1) % ranks;
	previous = (rank + ranks - 1) % ranks;
	CHECK(FJMPI_Rdma_init() == 0);
	if (argc > 1 && strcmp(argv[1], "mistakes") == 0) {
		mistakes();
	} else if (argc > 1) {
		endless(argv[1]);
	} else {
		for (int nic = 0; nic < NICS; nic++)
			last_words(nic);
		counted_puts();
		many_puts();
		notified();
		all_tags_at_once();
		all_ids();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(FJMPI_Rdma_finalize() == 0);
	/* Once more from the beginning. */
	CHECK(FJMPI_Rdma_init() == 0);
	counted_puts();
	CHECK(FJMPI_Rdma_finalize() == 0);
	if (rank == 0)
		printf("%d ranks\n", ranks);
	MPI_Finalize();
	return 0;
}
