/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crash WHAT [unmapped] [met]: PE 1 gives a routine bad memory, or dies otherwise; for
 * crashes.bats. The bad memory is at NULL, or, unmapped, at a place that nobody may access. Met: PE
 * 1 knows PE 0 already, so that on one node only the routine's own code runs.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <shmemx.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MANY 65536 /* bytes */

static long word[MANY / sizeof(long)], more[MANY / sizeof(long)], psync[SHMEM_SYNC_SIZE];
static uint64_t flag;
static const char *what;
static char *bad;

static int is(const char *name)
{
	return !strcmp(what, name);
}

__attribute__((noinline)) static void innermost(long *volatile at)
{
	*at = 1; /* LINE: innermost */
}

static inline void between(long *at)
{
	innermost(at + 1); /* LINE: between */
}

__attribute__((noinline)) void work(long *at)
{
	between(at);
	word[0]++;
}

static void put_or_get(shmem_ctx_t ctx)
{
	if (is("p"))
		shmem_ctx_long_p((shmem_ctx_t)bad, word, 1, 0);
	else if (is("put"))
		shmem_long_put(word, (long *)bad, 1, 0);
	else if (is("put-many"))
		shmem_putmem(word, bad, MANY, 0);
	else if (is("put-end"))
		shmem_putmem(word, bad - 4096, 4096 + 8, 0);
	else if (is("get"))
		shmem_long_get((long *)bad, word, 1, 0);
	else if (is("get-many"))
		shmem_getmem(bad, word, MANY, 0);
	else if (is("put-nbi"))
		shmem_long_put_nbi(word, (long *)bad, 4096, 0);
	else if (is("get-nbi"))
		shmem_long_get_nbi((long *)bad, word, 4096, 0);
	else if (is("ctx-put"))
		shmem_ctx_long_put(ctx, word, (long *)bad, 1, 0);
	else if (is("iput"))
		shmem_long_iput(word, (long *)bad, 2, 2, 10, 0);
	else if (is("iget"))
		shmem_long_iget((long *)bad, word, 2, 2, 10, 0);
	else if (is("put-signal"))
		shmem_long_put_signal(word, (long *)bad, 4, &flag, 1, SHMEM_SIGNAL_SET, 0);
	else if (is("put-signal-many"))
		shmem_putmem_signal(word, bad, MANY, &flag, 1, SHMEM_SIGNAL_SET, 0);
	else if (is("fetch-add"))
		shmem_long_atomic_fetch_add_nbi((long *)bad, word, 1, 0);
	else if (is("swap"))
		shmem_int_atomic_compare_swap_nbi((int *)bad, (int *)word, 1, 2, 0);
	shmem_quiet();
}

static void collective(int me)
{
	void *source = me == 1 ? bad : (char *)more;

	if (is("broadcast"))
		shmem_broadcastmem(SHMEM_TEAM_WORLD, word, source, 8, 1);
	else if (is("broadcast-many"))
		shmem_broadcastmem(SHMEM_TEAM_WORLD, word, source, MANY, 1);
	else if (is("collect"))
		shmem_collectmem(SHMEM_TEAM_WORLD, word, source, 8);
	else if (is("fcollect"))
		shmem_fcollectmem(SHMEM_TEAM_WORLD, word, source, 8000);
	else if (is("fcollect-old"))
		shmem_fcollect64(word, source, 8, 0, 0, 2, psync);
	else if (is("alltoall"))
		shmem_alltoallmem(SHMEM_TEAM_WORLD, word, source, 8);
	else if (is("reduce"))
		shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, source, 8);
	else if (is("scan"))
		shmem_long_sum_inscan(SHMEM_TEAM_WORLD, word, source, 8);
}

/* No more calls to be found. */
static void lose_stack(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mov $64, %rsp; mov $8, %rbp; ud2");
#endif
}

__attribute__((noinline)) static void divide(volatile int by)
{
	word[0] = 7 / by;
}

/* All connections of this process over TCP but those to its launcher, which are to one port. */
static void cut_connections(void)
{
	const char *uri = getenv("PMIX_SERVER_URI41"), *colon = uri ? strrchr(uri, ':') : NULL;
	int launcher = colon ? atoi(colon + 1) : 0;

	for (int fd = 3; fd < 1024; fd++) {
		struct sockaddr_storage there;
		socklen_t size = sizeof there;
		int port;

		if (getpeername(fd, (struct sockaddr *)&there, &size) ||
		    (there.ss_family != AF_INET && there.ss_family != AF_INET6))
			continue;
		port = ntohs(there.ss_family == AF_INET ? ((struct sockaddr_in *)&there)->sin_port
							: ((struct sockaddr_in6 *)&there)->sin6_port);
		if (port != launcher)
			shutdown(fd, SHUT_RDWR);
	}
}

__attribute__((noinline)) static void otherwise(void)
{
	void (*volatile nothing)(void) = NULL;

	if (is("segv"))
		work(NULL);
	else if (is("bus"))
		raise(SIGBUS);
	else if (is("fpe"))
		divide(0);
	else if (is("ill"))
		raise(SIGILL);
	else if (is("abort"))
		abort();
	else if (is("no-function"))
		nothing();
	else if (is("stack"))
		lose_stack();
	else if (is("cut")) {
		shmem_putmem(word, more, 8, 0);
		shmem_quiet();
		cut_connections();
		shmem_putmem(word, more, 8, 0);
		shmem_quiet();
	} else if (is("sleep")) {
		printf("pid %d\n", (int)getpid());
		fflush(stdout);
		sleep(60);
	}
}

/* A heap in a file that its owner, PE 0, makes shorter. */
static void shorter_file(int me)
{
	int fd = memfd_create("heap", MFD_CLOEXEC);
	shmemx_heap_t heap;
	char *memory;

	if (!is("shorter-file") || fd < 0 || ftruncate(fd, MANY))
		return;
	memory = mmap(NULL, MANY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shmemx_heap_create_in(memory, MANY, &heap))
		return;
	if (me == 0 && ftruncate(fd, 0))
		return;
	shmem_barrier_all();
	if (me == 1)
		shmem_putmem(memory, word, sizeof word, 0);
}

int main(int argc, char *argv[])
{
	shmem_ctx_t ctx;
	int me;

	what = argv[1];
	shmem_init();
	me = shmem_my_pe();
	shmem_ctx_create(0, &ctx);
	if (argc > 2)
		bad = (char *)mmap(NULL, 2 * MANY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + MANY;
	if (argc > 2 && is("put-end"))
		mprotect(bad - MANY, MANY, PROT_READ | PROT_WRITE);
	if (argc > 3 && me == 1)
		shmem_long_p(word, 1, 0);
	if (me == 1) {
		put_or_get(ctx);
		otherwise();
	}
	collective(me);
	shorter_file(me);
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
