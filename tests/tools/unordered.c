/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unordered MODE: a program that needs more order than it asks for, or, as *-right, asks for what
 * it needs. Prints how often what it found was wrong. For unordered.bats.
 */
#include <shmem.h>

#include <stdio.h>
#include <string.h>

#define ROUNDS 40

static long data[ROUNDS + 1], flag, answer, mine[ROUNDS + 1];
static const char *mode;
static int me, wrong;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* A flag that is to come after its data. */
static void flag_after_data(void)
{
	for (long i = 1; i <= ROUNDS; i++) {
		mine[0] = i;
		if (me == 0) {
			if (is("nbi"))
				shmem_long_put_nbi(data, mine, 1, 1);
			else if (is("iput"))
				shmem_long_iput(data, mine, 1, 1, 1, 1);
			else
				shmem_long_p(data, i, 1);
			if (is("put-right"))
				shmem_fence();
			shmem_long_p(&flag, i, 1);
		} else {
			shmem_long_wait_until(&flag, SHMEM_CMP_GE, i);
			wrong += data[0] != i;
		}
		shmem_barrier_all();
	}
}

/* shmem_put_signal orders by itself. */
static void signal_after_data(void)
{
	static uint64_t signal;

	for (long i = 1; i <= ROUNDS; i++) {
		if (me == 0)
			shmem_long_put_signal(data, &i, 1, &signal, (uint64_t)i, SHMEM_SIGNAL_SET, 1);
		else
			shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, (uint64_t)i);
		wrong += me == 1 && data[0] != i;
		shmem_barrier_all();
	}
}

/* A sync completes nothing; a quiet does, on its own context. */
static void read_after_sync(void)
{
	shmem_ctx_t one, other;

	shmem_ctx_create(0, &one);
	shmem_ctx_create(0, &other);
	for (int i = 1; i <= ROUNDS; i++) {
		if (me == 0)
			shmem_ctx_long_p(one, &data[i], i, 1);
		if (is("other-context"))
			shmem_ctx_quiet(other);
		if (is("sync-right"))
			shmem_ctx_quiet(one);
		shmem_sync_all();
		wrong += me == 1 && data[i] != i;
		shmem_sync_all();
	}
	shmem_ctx_destroy(one);
	shmem_ctx_destroy(other);
	shmem_barrier_all();
}

/* The source may change when the routine returns if it blocks, and after a quiet if it does not. */
static void change_source(void)
{
	for (long i = 1; i <= ROUNDS; i++) {
		mine[i] = i;
		if (me == 0 && is("source"))
			shmem_long_put_nbi(&data[i], &mine[i], 1, 1);
		else if (me == 0)
			shmem_long_put(&data[i], &mine[i], 1, 1);
		mine[i] = -1;
	}
	shmem_barrier_all();
	for (int i = 1; i <= ROUNDS && me == 1; i++)
		wrong += data[i] != i;
}

/* The canary of what has not come yet. */
static void read_early(void)
{
	long got = 1;

	flag = 5;
	shmem_barrier_all();
	if (is("fetch"))
		shmem_long_atomic_fetch_nbi(&got, &flag, !me);
	else
		shmem_long_get_nbi(&got, &flag, 1, !me);
	if (is("get-right"))
		shmem_quiet();
	wrong += got != 5;
	if (got != 5)
		printf("PE %d read %lx\n", me, (unsigned long)got);
	shmem_barrier_all();
}

/* Two puts to one word: the last that arrives stays. */
static void put_twice(void)
{
	for (int i = 1; i <= ROUNDS && me == 0; i++) {
		shmem_long_p(&data[i], 1, 1);
		if (is("twice-right"))
			shmem_fence();
		shmem_long_p(&data[i], 2, 1);
	}
	shmem_barrier_all();
	for (int i = 1; i <= ROUNDS && me == 1; i++) {
		if (is("order"))
			putchar('0' + (int)data[i]);
		else
			shmem_long_wait_until(&data[i], SHMEM_CMP_EQ, 2);
	}
	shmem_barrier_all();
}

/* What was put arrives without another call of the library. */
static void compute_after_put(void)
{
	if (me == 0) {
		shmem_long_p(&flag, 1, 1);
		while (!*(volatile long *)&answer)
			;
	} else {
		shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
		shmem_long_p(&answer, 1, 0);
	}
	shmem_barrier_all();
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "put";
	shmem_init();
	me = shmem_my_pe();
	if (is("put") || is("nbi") || is("iput") || is("put-right"))
		flag_after_data();
	else if (is("signal-right"))
		signal_after_data();
	else if (is("sync") || is("other-context") || is("sync-right"))
		read_after_sync();
	else if (is("source") || is("source-right"))
		change_source();
	else if (is("get") || is("fetch") || is("get-right"))
		read_early();
	else if (is("twice") || is("order") || is("twice-right"))
		put_twice();
	else if (is("compute-right"))
		compute_after_put();
	if (wrong)
		printf("PE %d: wrong %d times\n", me, wrong);
	shmem_finalize();
	return 0;
}
