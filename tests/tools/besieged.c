/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works while strangers connect to its ports (strangers.bats): besieged FOLDER. Each PE writes the
 * TCP ports at which it listens into FOLDER/ports.PE. Then atomics, puts, gets, barriers, and new
 * connections, until FOLDER/stop is there. In the end nothing may be lost.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORDS 4096

static long counter, stopped, block[WORDS], out[WORDS];
static int me, n;

static void write_ports(const char *folder)
{
	DIR *all = opendir("/proc/self/fd");
	char name[4096], finished[4096];
	FILE *file;

	snprintf(name, sizeof name, "%s/.ports.%d", folder, me);
	snprintf(finished, sizeof finished, "%s/ports.%d", folder, me);
	file = fopen(name, "w");
	for (struct dirent *entry; file && (entry = readdir(all));) {
		struct sockaddr_in here; /* the port of IPv6 is in the same place */
		socklen_t size = sizeof here, yes_size = sizeof(int);
		int fd = atoi(entry->d_name), yes = 0;

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &yes_size) || !yes ||
		    getsockname(fd, (struct sockaddr *)&here, &size) ||
		    (here.sin_family != AF_INET && here.sin_family != AF_INET6))
			continue;
		fprintf(file, "%d\n", ntohs(here.sin_port));
	}
	closedir(all);
	if (!file || fclose(file) || rename(name, finished))
		shmem_global_exit(3);
}

static void check(long condition, const char *what, long round)
{
	if (condition)
		return;
	fprintf(stderr, "PE %d, round %ld: %s\n", me, round, what);
	shmem_global_exit(4);
}

static void work(long round)
{
	int next = (me + 1) % n;

	for (int pe = 0; pe < n; pe++)
		shmem_long_atomic_inc(&counter, pe);
	for (int i = 0; i < WORDS; i++)
		out[i] = round * WORDS + i + me;
	shmem_long_put(block, out, WORDS, next);
	shmem_barrier_all();
	for (int i = 0; i < WORDS; i++)
		check(block[i] == round * WORDS + i + (me + n - 1) % n, "a put is lost", round);
	check(shmem_long_atomic_fetch_add(&counter, 0, next) == (round + 1) * n, "an atomic is lost", round);
	shmem_barrier_all();
}

/* A worker of its own, with a port and connections of its own. */
static void work_on_context(long round)
{
	shmem_ctx_t context;

	check(shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) == 0, "no context", round);
	for (int pe = 0; pe < n; pe++)
		shmem_ctx_long_atomic_add(context, &counter, 0, pe);
	check(shmem_ctx_long_g(context, &block[1], (me + 1) % n) == round * WORDS + 1 + me, "a get is wrong", round);
	shmem_ctx_destroy(context);
	shmem_barrier_all();
}

int main(int argc, char **argv)
{
	char stop[4096];
	long round = 0, ends;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	check(argc == 2, "besieged FOLDER", 0);
	snprintf(stop, sizeof stop, "%s/stop", argv[1]);
	for (; !stopped; round++) {
		work(round);
		if (round % 16 == 0)
			work_on_context(round);
		if (round == 0)
			write_ports(argv[1]);
		ends = access(stop, F_OK) == 0; /* once: all PEs leave after the same round */
		for (int pe = 0; me == 0 && pe < n; pe++)
			shmem_long_p(&stopped, ends, pe);
		shmem_barrier_all();
	}
	check(counter == round * n, "atomics are lost", round);
	if (me == 0)
		printf("nothing is lost in %s\n", round > 3 ? "many rounds" : "few rounds");
	shmem_finalize();
	return 0;
}
