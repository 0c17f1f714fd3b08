/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_stores [threads]: two PEs of a job that breaks. PE 1 stores into memory of PE 0 after PE 0
 * has finalized, which must not reach the program. Then both start again.
 *
 * late_stores get [nbi]: PE 0 gets from PE 1, which is stopped, while PE 2 breaks the job. What PE
 * 1 sends when it goes on must not reach memory of the get, which has returned.
 */
#include <fcntl.h>
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 16, PLACES = 3 };

static long data = 1, untouched[BYTES / sizeof(long)];
static volatile long counts;
static atomic_int ends;

static void say(const char *name)
{
	close(open(name, O_CREAT | O_WRONLY, 0600));
}

static void await(const char *name)
{
	while (access(name, F_OK))
		usleep(1000);
}

/* Its stores must not be lost while the data leaves its file. */
static void *count(void *own)
{
	for (; !ends; ++*(long *)own)
		counts = counts + 1;
	return NULL;
}

static int finish_and_look(long *const place[PLACES], pthread_t *thread)
{
	long counted = 0;

	if (thread && pthread_create(thread, NULL, count, &counted))
		return 3;
	while (!shmemx_error(NULL) || (thread && !counts))
		usleep(1000);
	shmem_finalize();
	say("finalized");
	await("stored");
	for (int i = 0; i < PLACES; i++)
		if (*place[i] != i)
			return 10 + i;
	ends = 1;
	if (thread)
		pthread_join(*thread, NULL);
	return counts == counted ? 0 : 3;
}

static int store_late(long *const place[PLACES])
{
	long *there[PLACES];

	for (int i = 0; i < PLACES; i++)
		there[i] = shmem_ptr(place[i], 0);
	if (!there[0] || !there[1] || !there[2])
		return 4;
	shmem_long_p(&data, 1, 99); /* there is no such PE, so this breaks the job */
	await("finalized");
	for (int i = 0; i < PLACES; i++)
		*there[i] = 7;
	say("stored");
	shmem_finalize();
	return 0;
}

/* Global data is shared again, unless it has left its file while another thread ran. */
static int start_again(int is_shared)
{
	int other;

	data = 5;
	shmem_init();
	other = 1 - shmem_my_pe();
	if (shmem_addr_accessible(&data, other) != is_shared)
		return 5;
	shmem_barrier_all();
	if (is_shared)
		shmem_long_p(&data, other, other);
	shmem_barrier_all();
	if (is_shared && data != shmem_my_pe())
		return 6;
	shmem_finalize();
	return 0;
}

static int get_late(int is_nonblocking)
{
	enum { BYTES_OF_GET = 100000, LATER = 100000 /* us */ };
	static int pid;
	char *there = shmem_malloc(BYTES_OF_GET), *here = calloc(1, BYTES_OF_GET);

	if (!there || !here)
		return 7;
	memset(there, 7, BYTES_OF_GET);
	pid = getpid();
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		pid = shmem_int_g(&pid, 1);
		await("through"); /* PE 2 needs PE 1 in the barrier */
		kill(pid, SIGSTOP);
		say("stopped");
		if (is_nonblocking) {
			shmem_getmem_nbi(here, there, BYTES_OF_GET, 1);
			shmem_quiet();
		} else {
			shmem_getmem(here, there, BYTES_OF_GET, 1);
		}
		kill(pid, SIGCONT);
		for (int part = 0; part < 2; part++) {
			memset(here, 0, BYTES_OF_GET);
			usleep(LATER);
			for (int i = 0; i < BYTES_OF_GET; i++)
				if (here[i])
					return 8 + part;
			if (part == 0)
				shmem_finalize();
		}
	} else if (shmem_my_pe() == 2) {
		say("through");
		await("stopped");
		usleep(LATER);
		shmem_long_p(&data, 1, 99);
	}
	while (shmem_my_pe() == 1 && !shmemx_error(NULL))
		usleep(1000);
	if (shmem_my_pe() > 0) {
		usleep(2 * LATER); /* its library answers meanwhile */
		shmem_finalize();
	}
	return 0;
}

int main(int argc, char **argv)
{
	int has_threads = argc > 1 && !strcmp(argv[1], "threads"), failed;
	long *brought = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long *place[PLACES] = {&untouched[BYTES / sizeof(long) / 2], &data, brought};
	shmemx_heap_t heap;
	pthread_t thread;

	shmem_init();
	if (argc > 1 && !strcmp(argv[1], "get"))
		return get_late(argc > 2);
	if (shmemx_heap_create_in(brought, BYTES, &heap))
		return 2;
	brought[0] = 2;
	shmem_barrier_all();
	failed = shmem_my_pe() ? store_late(place) : finish_and_look(place, has_threads ? &thread : NULL);
	return failed ? failed : start_again(1);
}
