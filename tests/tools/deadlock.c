/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that cannot go on, and programs that only seem to hang, one for each cause; the argument names it. PE 1 is to blame. Those that only
 * seem to hang end after DELAY seconds.
 */
#include <shmem.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELAY 3

static long flag, lock, source[8], dest[64];
static uint64_t signal_word;

static void nothing(void)
{
}

static void barrier(void)
{
	shmem_barrier_all();
}

static void sync_all(void)
{
	shmem_sync_all();
}

static void allocation(void)
{
	shmem_malloc(64);
}

static void *block;

static void release(void)
{
	shmem_free(block);
}

static void reduction(void)
{
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 8);
}

static void collection(void)
{
	shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 1);
}

static void exchange(void)
{
	shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
}

static void scan(void)
{
	shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, 1);
}

static void value(void)
{
	shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7);
}

static void vector(void)
{
	long values[2] = {1, 2};

	shmem_long_wait_until_all_vector(dest, 2, NULL, SHMEM_CMP_EQ, values);
}

static void await_signal(void)
{
	shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);
}

static void take_lock(void)
{
	shmem_set_lock(&lock);
}

/* --- What only seems to hang --- */

static void sleep_for_delay(void)
{
	sleep(DELAY);
}

static void *store_later(void *unused)
{
	sleep_for_delay();
	__atomic_store_n(&flag, 7, __ATOMIC_RELEASE);
	return unused;
}

static void wait_for_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, store_later, NULL);
	value();
	pthread_join(thread, NULL);
}

static void store_now(int unused)
{
	(void)unused;
	__atomic_store_n(&flag, 7, __ATOMIC_RELEASE);
}

static void wait_for_handler(void)
{
	signal(SIGALRM, store_now);
	alarm(DELAY);
	value();
}

/* Stopped in the middle of a wait, whose end comes meanwhile. */
static void stop_for_a_while(void)
{
	pid_t parent = getpid();

	if (fork() == 0) {
		usleep(300000);
		kill(parent, SIGSTOP);
		sleep_for_delay();
		kill(parent, SIGCONT);
		_exit(0);
	}
	value();
	barrier();
}

static void send_and_synchronise(void)
{
	usleep(600000);
	if (shmem_my_pe() == 0)
		shmem_long_p(&flag, 7, 1);
	barrier();
}

static void come_late(void)
{
	sleep_for_delay();
	barrier();
}

static void send_late(void)
{
	sleep_for_delay();
	for (int pe = 0; pe < shmem_n_pes(); pe++)
		shmem_long_p(&flag, 7, pe);
	shmem_quiet();
}

static const struct cause {
	const char *name;
	void (*culprit)(void), (*others)(void);
} causes[] = {
	{"barrier", nothing, barrier},
	{"sync", nothing, sync_all},
	{"malloc", nothing, allocation},
	{"free", nothing, release},
	{"reduce", nothing, reduction},
	{"fcollect", nothing, collection},
	{"alltoall", nothing, exchange},
	{"scan", nothing, scan},
	{"alone", barrier, nothing},
	{"value", nothing, value},
	{"vector", nothing, vector},
	{"signal", nothing, await_signal},
	{"all-wait", await_signal, value},
	{"lock", nothing, take_lock},
	{"late", come_late, barrier},
	{"sender", send_late, value},
	{"thread", wait_for_thread, nothing},
	{"handler", wait_for_handler, nothing},
	{"stopped", stop_for_a_while, send_and_synchronise},
};

int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : "";

	shmem_init();
	block = shmem_malloc(64);
	if (!strcmp(wanted, "lock") && shmem_my_pe() == 1)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (!strcmp(causes[i].name, wanted))
			(shmem_my_pe() == 1 ? causes[i].culprit : causes[i].others)();
	shmem_finalize();
	return 0;
}
