/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of PE 0, with a context each, put to PE 1 on another host and wait for that, again and
 * again: how many puts a second they do with private contexts, and with shared ones, which have one
 * UCX worker. One thread and two; a put and a quiet, and 64 puts and a quiet. All alternately, five
 * times; prints the medians. See tests/cluster/figures.
 */
#include <shmem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MOST 2
#define ROUNDS 5
#define BATCH_MOST 64
#define CASES 4

static const struct {
	const char *name;
	int threads, batch;
} cases[CASES] = {{"put and quiet by one thread", 1, 1},
		  {"put and quiet by two threads", 2, 1},
		  {"64 puts and quiet by one thread", 1, BATCH_MOST},
		  {"64 puts and quiet by two threads", 2, BATCH_MOST}};

static long words[THREADS_MOST][BATCH_MOST];
static int count = 3000;

struct worker {
	pthread_t thread;
	shmem_ctx_t context;
	long *words;
	int batch;
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
		for (int w = 0; w < worker->batch; w++)
			shmem_ctx_long_p(worker->context, &worker->words[w], i, 1);
		shmem_ctx_quiet(worker->context);
	}
	return NULL;
}

/* Thousands of puts a second. */
static double rate(long options, int threads, int batch)
{
	struct worker workers[THREADS_MOST];
	double start;

	for (int t = 0; t < threads; t++) {
		if (shmem_ctx_create(options, &workers[t].context))
			shmem_global_exit(1);
		workers[t].words = words[t];
		workers[t].batch = batch;
		shmem_ctx_long_p(workers[t].context, workers[t].words, 1, 1); /* connects */
		shmem_ctx_quiet(workers[t].context);
	}
	start = now();
	for (int t = 0; t < threads; t++)
		if (pthread_create(&workers[t].thread, NULL, put, &workers[t]))
			shmem_global_exit(1);
	for (int t = 0; t < threads; t++)
		pthread_join(workers[t].thread, NULL);
	start = now() - start;
	for (int t = 0; t < threads; t++)
		shmem_ctx_destroy(workers[t].context);
	return threads * (double)count * batch / start * 1e-3;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof *values, compare);
	return values[ROUNDS / 2];
}

static void measure(void)
{
	double alone[CASES][ROUNDS], shared[CASES][ROUNDS];

	/*
	 * What a private context may not do, another thread than its maker's, a serialised one may:
	 * it has a worker to itself as well.
	 */
	for (int i = 0; i < ROUNDS; i++)
		for (int c = 0; c < CASES; c++) {
			alone[c][i] = rate(SHMEM_CTX_SERIALIZED, cases[c].threads, cases[c].batch);
			shared[c][i] = rate(0, cases[c].threads, cases[c].batch);
		}
	for (int c = 0; c < CASES; c++) {
		double own = median(alone[c]), one = median(shared[c]);

		printf("%-32s %8.1f thousand/s with workers of their own, %8.1f with one, ratio %.2f\n", cases[c].name,
		       own, one, own / one);
	}
}

int main(int argc, char **argv)
{
	int provided;

	if (argc > 1)
		count = atoi(argv[1]);
	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	if (provided != SHMEM_THREAD_MULTIPLE || count < 1)
		shmem_global_exit(1);
	shmem_barrier_all();
	if (shmem_my_pe() == 0)
		measure();
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
