/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors_return.c FOLDER RANK SIZE WHAT [JOBS]: PEs of jobs whose errors return. In each job, the
 * last PE fails while the others wait in WHAT; with "stormN", it ends at any time while all call
 * the same routines, and with "mistakes" or "misused", it makes one in each job. The survivors
 * print what they know of it and how long that took, finalize, and start the next job with a new id
 * and without that PE.
 */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static int job;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* PE 0 writes the id where the others find it. */
static void share_id(shmemx_unique_id_t *id, int rank)
{
	char name[256], new[264];
	FILE *file;

	snprintf(name, sizeof name, "%s/id.%d", folder, job);
	snprintf(new, sizeof new, "%s.new", name);
	if (rank == 0) {
		if (shmemx_get_unique_id(id) || !(file = fopen(new, "w")) || !fwrite(id, sizeof *id, 1, file))
			exit(3);
		fclose(file);
		rename(new, name);
		return;
	}
	while (!(file = fopen(name, "r")))
		usleep(1000);
	if (!fread(id, sizeof *id, 1, file))
		exit(3);
	fclose(file);
}

static int start(int rank, int size)
{
	shmemx_unique_id_t id;
	shmemx_init_attr_t attr = {.rank = rank,
				   .size = size,
				   .id = &id,
				   .errors = getenv("ENDS") ? SHMEMX_ERRORS_END : SHMEMX_ERRORS_RETURN,
				   .silence = getenv("SILENCE") ? atof(getenv("SILENCE")) : 0};

	share_id(&id, rank);
	return shmemx_init_attr(&attr);
}

/* Of a ring; the PE that fails makes the exchange, too. */
static int make_exchange(int size, int options, shmemx_exchange_t *exchange)
{
	int me = shmem_my_pe();
	shmemx_edge_t edges[2] = {{(me + 1) % size, 1, 8, 8, options}, {(me + size - 1) % size, 0, 8, 8, options}};

	return shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, exchange);
}

static void exchange_messages(int size)
{
	int me = shmem_my_pe();
	shmemx_exchange_t exchange;

	if (make_exchange(size, 0, &exchange))
		return;
	if (me == size - 1)
		kill(getpid(), SIGKILL);
	if (shmemx_exchange_wait(exchange, me == 0 ? 1 : 0, NULL))
		exit(7);
}

/* --- Storms: in each step, what comes from other PEs decides what is done --- */

static void collect_some(long *words, int size)
{
	(void)size;
	shmem_long_collect(SHMEM_TEAM_WORLD, words + 64, words, (size_t)(1 + shmem_my_pe()));
}

static void alltoallv_some(long *words, int size)
{
	size_t counts[8];

	for (int i = 0; i < size; i++)
		counts[i] = 2;
	shmemx_alltoallv(SHMEM_TEAM_WORLD, words + 64, words, counts, NULL, counts, NULL, SHMEMX_LONG);
}

static void split_team(long *words, int size)
{
	shmem_team_t team;

	(void)words;
	if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &team))
		return;
	shmem_team_sync(team);
	shmem_team_destroy(team);
}

static void make_plan(long *words, int size)
{
	shmemx_plan_t plan;
	size_t counts[8];

	for (int i = 0; i < size; i++)
		counts[i] = (size_t)(i + 1);
	if (shmemx_allgatherv_init(SHMEM_TEAM_WORLD, words + 64, words, counts, NULL, SHMEMX_LONG, SHMEMX_PLAN_AUTO,
				   &plan))
		return;
	shmemx_plan_start(plan);
	if (shmemx_plan_wait_within(plan, 100) && !shmemx_error(NULL))
		exit(8);
	shmemx_plan_free(plan);
}

static void wait_for_request(long *words, int size)
{
	shmemx_req_h request;

	(void)size;
	if (shmemx_long_collect_nb(SHMEM_TEAM_WORLD, words + 64, words, (size_t)shmem_my_pe(), &request))
		return;
	while (words[0] == 0 && shmemx_req_test(&request))
		;
	if (shmemx_req_wait(&request) && !shmemx_error(NULL))
		exit(9);
}

static void wait_for_event(long *words, int size)
{
	static shmemx_rdma_buffer_t buffer;
	shmemx_rdma_event_t event;

	(void)size;
	if (shmemx_rdma_register(words, 8, &buffer))
		return;
	shmem_barrier_all();
	shmemx_rdma_wait(&event);
}

static void try_lock(long *words, int size)
{
	(void)size;
	while (shmem_test_lock(words + 6))
		;
	shmem_clear_lock(words + 6);
}

static void (*const storms[])(long *words, int size) = {collect_some,	  alltoallv_some, split_team, make_plan,
							wait_for_request, wait_for_event, try_lock};

static void die_now(int signal)
{
	(void)signal;
	kill(getpid(), SIGKILL);
}

static void storm(void (*step)(long *words, int size), long *words, int size)
{
	struct itimerval soon = {.it_value.tv_usec = 20000 + rand() % 10000};

	if (shmem_my_pe() == size - 1) {
		signal(SIGALRM, die_now);
		setitimer(ITIMER_REAL, &soon, NULL);
	}
	while (!shmemx_error(NULL))
		step(words, size);
}

/* --- Mistakes of the last PE --- */

/* In each job one mistake in the use of an exchange that all PEs have made. */
static void misuse_exchange(int size)
{
	static long words[2];
	shmemx_exchange_t exchange;

	/* On the others, the mistake may come before the end of this. */
	if (make_exchange(size, job == 8 ? SHMEMX_EDGE_EACH_ITERATION : 0, &exchange) || shmem_my_pe() != size - 1)
		return;
	switch (job) {
	case 0: shmemx_exchange_start(exchange, 2, 8); break;
	case 1: shmemx_exchange_send(exchange, 0, words, 9); break;
	case 2: shmemx_exchange_release(exchange, SHMEMX_ALL_EDGES); break;
	case 3:
		if (shmemx_exchange_received(exchange, 0, NULL))
			exit(12);
		break;
	case 4:
		if (shmemx_exchange_wait(exchange, 7, NULL))
			exit(12);
		break;
	case 5: shmemx_exchange_sent(exchange, -3); break;
	case 6:
		if (shmemx_pack(words, words, 8, 0, NULL, NULL, NULL))
			exit(12);
		break;
	case 7:
		if (shmemx_exchange_buffer(SHMEMX_EXCHANGE_INVALID, 0))
			exit(12);
		break;
	case 8:
		shmemx_exchange_start(exchange, 0, 8);
		shmemx_exchange_start(exchange, 0, 8);
		break;
	}
}

static void make_mistake(int which, long *words, int size)
{
	static long here[64];
	long stack[64] = {0};
	uint64_t signal = 0;
	size_t counts[8] = {0};
	shmemx_plan_t plan;
	shmemx_heap_t heap = SHMEMX_HEAP_INVALID;
	shmem_team_t team;
	shmemx_edge_t edge = {.pe = size};
	shmemx_exchange_t exchange;
	int sizes[1] = {size + 1};
	shmem_ctx_t context;

	if (shmem_ctx_create(0, &context))
		exit(10);
	switch (which) {
	case 0: shmem_long_alltoall(SHMEM_TEAM_WORLD, stack, words, 1); break;
	case 1: shmem_long_broadcast(SHMEM_TEAM_WORLD, words, here, 1, size); break;
	case 2: shmem_long_alltoalls(SHMEM_TEAM_WORLD, words, here, 0, 1, 1); break;
	case 3: shmem_long_sum_reduce(SHMEM_TEAM_INVALID, words, here, 1); break;
	case 4: shmem_team_destroy(SHMEM_TEAM_WORLD); break;
	case 5: shmemx_alltoallv(SHMEM_TEAM_WORLD, words, here, NULL, NULL, counts, NULL, SHMEMX_LONG); break;
	case 6: shmemx_plan_start(SHMEMX_PLAN_INVALID); break;
	case 7: shmemx_broadcast_init(SHMEM_TEAM_WORLD, words, here, 8, size, SHMEMX_PLAN_AUTO, &plan); break;
	case 8: shmem_set_lock(stack); break;
	case 9: shmem_long_put_signal(words, here, 1, &signal, 1, SHMEM_SIGNAL_SET, 0); break;
	case 10: shmemx_heap_malloc(heap, 8); break;
	case 11: shmemx_grid_create(SHMEM_TEAM_WORLD, 1, sizes, NULL, 0, &team); break;
	case 12: shmemx_rdma_unregister(NULL); break;
	case 13: shmemx_exchange_create(SHMEM_TEAM_WORLD, &edge, 1, &exchange); break;
	case 14: shmem_barrier(0, 0, size + 1, words); break;
	case 16: shmem_ctx_long_p(SHMEM_CTX_INVALID, words, 1, 0); break;
	case 17: shmem_ctx_long_atomic_fetch_inc(context, words, size); break;
	case 18: shmem_ctx_destroy(SHMEM_CTX_DEFAULT); break;
	case 19:
		shmem_ctx_destroy(context);
		shmem_ctx_quiet(context);
		break;
	case 20:
		shmem_ctx_destroy(context);
		shmem_ctx_long_get(context, here, words, 1, 0);
		break;
	case 21: shmem_long_iput(words, here, 0, 1, 2, 0); break;
	case 15: shmemx_grid_neighbour(SHMEM_TEAM_WORLD, 0, 1); break;
	}
}

/* Each call must return; nobody stores to words[0]. */
static void wait_in(const char *what, long *words, int size)
{
	int next = (shmem_my_pe() + 1) % size;

	if (!strncmp(what, "storm", 5))
		storm(storms[atoi(what + 5)], words, size);
	else if (!strcmp(what, "barrier"))
		shmem_barrier_all();
	else if (!strcmp(what, "wait"))
		shmem_long_wait_until(words, SHMEM_CMP_EQ, 7);
	else if (!strcmp(what, "reduce"))
		shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words + 1, words + 2, 1);
	else if (!strcmp(what, "collect"))
		shmem_long_fcollect(SHMEM_TEAM_WORLD, words + 8, words + 2, 1);
	else if (!strcmp(what, "alltoall"))
		shmem_long_alltoall(SHMEM_TEAM_WORLD, words + 8, words + 32, 1);
	else if (!strcmp(what, "puts"))
		for (int i = 0; !shmemx_error(NULL); i++) {
			shmem_long_p(words + 3, i, size - 1);
			shmem_long_atomic_inc(words + 4, next);
			shmem_quiet();
		}
	else if (!strcmp(what, "lock"))
		for (;;) {
			shmem_set_lock(words + 6);
			if (shmemx_error(NULL))
				break;
			shmem_clear_lock(words + 6);
		}
	else if (!strcmp(what, "exchange"))
		exchange_messages(size);
	else if (!strcmp(what, "misused"))
		misuse_exchange(size);
	else if (!strcmp(what, "malloc") && shmem_malloc(8))
		exit(4);
	while (!shmemx_error(NULL))
		shmem_barrier_all();
}

static void fail(const char *what, long *words, int size)
{
	if (!strcmp(what, "misuse"))
		shmem_long_p(words, 1, size);
	else if (!strcmp(what, "misplaced")) /* behind the block */
		shmem_putmem(words + 128 + 16, words, 8, 0);
	else if (!strcmp(what, "mistakes"))
		make_mistake(job, words, size);
	else if (!strcmp(what, "lock"))
		shmem_set_lock(words + 6);
	if (strncmp(what, "mis", 3) != 0 && strcmp(what, "exchange") != 0 && strncmp(what, "storm", 5) != 0)
		kill(getpid(), getenv("SILENCE") ? SIGSTOP : SIGKILL);
}

static void report(int rank, double began)
{
	shmemx_error_t error;
	double took = now() - began;
	int kind = shmemx_error(&error);

	printf("PE %d job %d: kind %d, PE %d, routine %s, %s: %s\n", rank, job, kind, error.pe,
	       error.routine ? error.routine : "none", took < 3 ? "in time" : "late", error.message);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rank = atoi(argv[2]), size = atoi(argv[3]), jobs = argc > 5 ? atoi(argv[5]) : 1;
	const char *what = argv[4];

	folder = argv[1];
	for (; job < jobs; job++) {
		int n = strncmp(what, "mis", 3) ? size - job : size;
		long *words;
		double began;

		if (start(rank, n))
			return 5;
		words = shmem_calloc(128, sizeof *words);
		shmem_barrier_all();
		began = now();
		if (rank == n - 1)
			fail(what, words, n);
		wait_in(what, words, n);
		if (!getenv("QUIET"))
			report(rank, began);
		if (shmem_malloc(8) || !shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words, 1) ||
		    shmem_long_atomic_fetch(words, 0) != 0 || shmem_long_g(words, 0) != 0)
			return 6;
		shmem_finalize();
	}
	return 0;
}
