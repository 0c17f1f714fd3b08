/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that cannot go on, and programs that only seem to hang, one for each cause; the argument
 * names it. PE 1 is to blame. Those that only seem to hang end after DELAY seconds.
 */
#include <fcntl.h>
#include <shmemx.h>

#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DELAY 3
#define STRING_OF(text) #text
#define STRING(text) STRING_OF(text)

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

static void wait_for_end_of_child(void)
{
	signal(SIGCHLD, store_now);
	if (fork() == 0) {
		sleep_for_delay();
		_exit(0);
	}
	value();
}

/* A process that has nothing of this one's but its number. */
static void wait_for_sigterm(void)
{
	char command[64];

	signal(SIGTERM, store_now);
	snprintf(command, sizeof command, "(sleep %d; kill -TERM %d) &", DELAY, (int)getpid());
	if (system(command))
		exit(2);
	value();
}

/* PE 0 waits for a value that something in PE 1 stores, which is in a barrier itself. */
static long *flag_of_pe_0;

static void find_flag(void)
{
	flag_of_pe_0 = shmem_ptr(&flag, 0);
	if (!flag_of_pe_0) /* not on this path */
		shmem_long_p(&flag, 7, 0);
	shmem_quiet();
}

static void store_there(int unused)
{
	(void)unused;
	if (flag_of_pe_0)
		__atomic_store_n(flag_of_pe_0, 7, __ATOMIC_RELEASE);
}

static void *store_there_later(void *unused)
{
	sleep_for_delay();
	store_there(0);
	return unused;
}

static void barrier_with_thread(void)
{
	pthread_t thread;

	find_flag();
	pthread_create(&thread, NULL, store_there_later, NULL);
	barrier();
	pthread_join(thread, NULL);
}

static void barrier_with_handler(void)
{
	find_flag();
	signal(SIGALRM, store_there);
	alarm(DELAY);
	barrier();
}

static void barrier_with_child(void)
{
	find_flag();
	if (fork() == 0) {
		store_there_later(NULL);
		_exit(0);
	}
	barrier();
}

static void value_then_barrier(void)
{
	if (shmem_my_pe() == 0)
		value();
	barrier();
}

/* In the heap, which a child shares; its global data are a copy. */
static void wait_for_child(void)
{
	if (fork() == 0) {
		sleep_for_delay();
		__atomic_store_n((long *)block, 7, __ATOMIC_RELEASE);
		_exit(0);
	}
	shmem_long_wait_until(block, SHMEM_CMP_EQ, 7);
}

static int store_in_same_memory(void *unused)
{
	(void)unused;
	sleep_for_delay();
	__atomic_store_n(&flag, 7, __ATOMIC_RELEASE);
	return 0;
}

static void wait_for_clone(void)
{
	static char stack[65536] __attribute__((aligned(64)));

	if (clone(store_in_same_memory, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL) < 0)
		exit(2);
	value();
}

/* Not a child any more, and another program: it knows only the job's environment. */
static void wait_for_writer(void)
{
	char number[32], address[32];

	snprintf(number, sizeof number, "%d", (int)getpid());
	snprintf(address, sizeof address, "%p", (void *)&flag);
	if (fork() == 0) {
		if (fork() == 0)
			execl("/proc/self/exe", "deadlock", "write", number, address, (char *)NULL);
		_exit(0);
	}
	wait(NULL);
	value();
}

/* All PEs have a heap in a file of their own; returns a word of it. */
static long *file_heap(int *file)
{
	char path[] = "/tmp/deadlock.XXXXXX";
	size_t bytes = 1 << 16;
	shmemx_heap_t heap;
	void *memory;

	*file = mkstemp(path);
	unlink(path);
	if (*file < 0 || ftruncate(*file, (off_t)bytes))
		exit(2);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
	if (shmemx_heap_create_in(memory, bytes, &heap))
		exit(2);
	return memory;
}

static void have_file_heap(void)
{
	int file;

	file_heap(&file);
}

/* A process that is none of the job's, as far as its parents and its environment say. */
static void wait_for_mapper(void)
{
	char path[32];
	int file;
	long *word = file_heap(&file);

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	if (fork() == 0) {
		unsetenv("PMIX_NAMESPACE");
		if (fork() == 0)
			execl("/proc/self/exe", "deadlock", "map", path, (char *)NULL);
		_exit(0);
	}
	wait(NULL);
	shmem_long_wait_until(word, SHMEM_CMP_EQ, 7);
}

static int write_to_file(const char *path)
{
	int fd = open(path, O_RDWR);
	long *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	sleep_for_delay();
	__atomic_store_n(word, 7, __ATOMIC_RELEASE);
	return 0;
}

static int write_to_process(const char *number, const char *address)
{
	long seven = 7;
	struct iovec from = {&seven, sizeof seven};
	struct iovec to = {(void *)strtoul(address, NULL, 16), sizeof seven};

	sleep_for_delay();
	return process_vm_writev(atoi(number), &from, 1, &to, 1, 0) != sizeof seven;
}

static int ring_of_kernel(const int *ends, long *to)
{
	struct io_uring_params how = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 1, &how);
	struct io_uring_sqe *entry;
	char *queue;

	if (ring < 0)
		return -1;
	queue = mmap(NULL, how.sq_off.array + 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	entry = mmap(NULL, sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (queue == MAP_FAILED || entry == MAP_FAILED)
		return -1;
	*entry = (struct io_uring_sqe){.opcode = IORING_OP_READ,
				       .fd = ends[0],
				       .addr = (uint64_t)(uintptr_t)to,
				       .len = sizeof *to};
	*(uint32_t *)(queue + how.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(queue + how.sq_off.tail), 1, __ATOMIC_RELEASE);
	return (int)syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0);
}

/* The bytes come from a process outside the job's environment that has no memory of a PE. */
static void wait_for_kernel(void)
{
	const char *command = "sleep " STRING(DELAY) "; printf '\\007\\0\\0\\0\\0\\0\\0\\0'";
	int ends[2];

	if (pipe(ends))
		exit(2);
	if (fork() == 0) {
		dup2(ends[1], 1);
		execl("/usr/bin/env", "env", "-i", "/bin/sh", "-c", command, (char *)NULL);
		_exit(2);
	}
	if (ring_of_kernel(ends, &flag) != 1)
		flag = 7; /* this kernel has none, or forbids it */
	value();
}

/* Nobody gives the value, but while the handler or the child is there the library cannot know. */
static void wait_with_handler(void)
{
	signal(SIGUSR1, store_now);
	value();
}

static void wait_beside_child(void)
{
	if (fork() == 0) {
		sleep_for_delay();
		_exit(0);
	}
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
	{"sigchld", wait_for_end_of_child, nothing},
	{"sigterm", wait_for_sigterm, nothing},
	{"barrier-thread", barrier_with_thread, value_then_barrier},
	{"barrier-handler", barrier_with_handler, value_then_barrier},
	{"barrier-child", barrier_with_child, value_then_barrier},
	{"child", wait_for_child, nothing},
	{"clone", wait_for_clone, nothing},
	{"writer", wait_for_writer, nothing},
	{"mapper", wait_for_mapper, have_file_heap},
	{"kernel", wait_for_kernel, nothing},
	{"unused-handler", wait_with_handler, nothing},
	{"beside-child", wait_beside_child, nothing},
	{"stopped", stop_for_a_while, send_and_synchronise},
};

int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : "";

	if (!strcmp(wanted, "write"))
		return write_to_process(argv[2], argv[3]);
	if (!strcmp(wanted, "map"))
		return write_to_file(argv[2]);
	shmem_init();
	if (!strcmp(wanted, "first"))
		(shmem_my_pe() == 1 ? nothing : value)(); /* before any barrier */
	block = shmem_calloc(8, 8);
	if (!strcmp(wanted, "lock") && shmem_my_pe() == 1)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (!strcmp(causes[i].name, wanted))
			(shmem_my_pe() == 1 ? causes[i].culprit : causes[i].others)();
	shmem_finalize();
	return 0;
}
