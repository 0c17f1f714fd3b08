/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of PE 0, with a context each, put 8 bytes to PE 1 on another host and wait for that, again and again: how many a second they do
 * with private contexts, and with shared ones, which have one UCX worker. In turn, five times each; prints the medians. See tests/cluster/figures.
 */
#include <shmem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 2
#define TURNS 5

static long words[THREADS];
static int count = 5000;

struct worker {
	pthread_t thread;
	shmem_ctx_t context;
	long *word;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void *put(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < count; i++) {
		shmem_ctx_long_p(worker->context, worker->word, i, 1);
		shmem_ctx_quiet(worker->context);
	}
	return NULL;
}

/* Thousands a second. */
static double rate(long options)
{
	struct worker workers[THREADS];
	double start;

	for (int t = 0; t < THREADS; t++) {
		if (shmem_ctx_create(options, &workers[t].context))
			shmem_global_exit(1);
		workers[t].word = &words[t];
		shmem_ctx_long_p(workers[t].context, workers[t].word, 1, 1); /* connects */
		shmem_ctx_quiet(workers[t].context);
	}
	start = now();
	for (int t = 0; t < THREADS; t++)
		if (pthread_create(&workers[t].thread, NULL, put, &workers[t]))
			shmem_global_exit(1);
	for (int t = 0; t < THREADS; t++)
		pthread_join(workers[t].thread, NULL);
	start = now() - start;
	for (int t = 0; t < THREADS; t++)
		shmem_ctx_destroy(workers[t].context);
	return THREADS * (double)count / start * 1e-3;
}

int main(int argc, char **argv)
{
	double alone[TURNS], shared[TURNS];
	int provided;

	if (argc > 1)
		count = atoi(argv[1]);
	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	if (provided != SHMEM_THREAD_MULTIPLE || count < 1)
		shmem_global_exit(1);
	shmem_barrier_all();
	/* What a private context may not do, another thread than its maker's, a serialised one may: it has a worker to itself as well. */
	for (int i = 0; shmem_my_pe() == 0 && i < TURNS; i++) {
		alone[i] = rate(SHMEM_CTX_SERIALIZED);
		shared[i] = rate(0);
	}
	if (shmem_my_pe() == 0) {
		qsort(alone, TURNS, sizeof *alone, compare);
		qsort(shared, TURNS, sizeof *shared, compare);
		printf("put+quiet by two threads: %.1f thousand/s with workers of their own, %.1f with one, ratio %.2f\n",
		       alone[TURNS / 2], shared[TURNS / 2], alone[TURNS / 2] / shared[TURNS / 2]);
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
