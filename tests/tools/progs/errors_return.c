/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors_return.c FOLDER RANK SIZE WHAT [JOBS]: PEs of jobs whose errors return. In each job, the
 * last PE fails while the others wait in WHAT. The survivors print what they know of it and how
 * long that took, finalize, and start the next job with a new id and without that PE.
 */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static void exchange_messages(int size)
{
	int me = shmem_my_pe();
	shmemx_edge_t edges[2] = {{.pe = (me + 1) % size, .edge = 1, .send_bytes = 8, .receive_bytes = 8},
				  {.pe = (me + size - 1) % size, .edge = 0, .send_bytes = 8, .receive_bytes = 8}};
	shmemx_exchange_t exchange;

	if (shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &exchange))
		return;
	if (me == size - 1)
		kill(getpid(), SIGKILL);
	if (shmemx_exchange_wait(exchange, me == 0 ? 1 : 0, NULL))
		exit(7);
}

/* Each call must return; nobody stores to words[0]. */
static void wait_in(const char *what, long *words, int size)
{
	int next = (shmem_my_pe() + 1) % size;

	if (!strcmp(what, "barrier"))
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
	else if (!strcmp(what, "malloc") && shmem_malloc(8))
		exit(4);
	while (!shmemx_error(NULL))
		shmem_barrier_all();
}

static void fail(const char *what, long *words, int size)
{
	if (!strcmp(what, "misuse"))
		shmem_long_p(words, 1, size);
	else if (!strcmp(what, "lock"))
		shmem_set_lock(words + 6);
	if (strcmp(what, "misuse") != 0 && strcmp(what, "exchange") != 0)
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
		int n = strcmp(what, "misuse") ? size - job : size;
		long *words;
		double began;

		if (start(rank, n))
			return 5;
		words = shmem_calloc(64, sizeof *words);
		shmem_barrier_all();
		began = now();
		if (rank == n - 1)
			fail(what, words, n);
		wait_in(what, words, n);
		if (!getenv("QUIET"))
			report(rank, began);
		if (shmem_malloc(8) || !shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words, 1) ||
		    shmem_long_atomic_fetch(words, 0) != 0)
			return 6;
		shmem_finalize();
	}
	return 0;
}
