/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the cables of a torus carry by plain TCP sockets, as a measure of this machine:
 * plain_sockets NAME SIZE BYTES REPEATS SHAPE PES. The PEs of each host together send BYTES to each
 * neighbour and receive as many, all at once, and nobody forwards anything. Prints the median of
 * the times from the first PE that begins to the last that is done, as the collective NAME of
 * messages of SIZE. Run by tests/cluster/torus-bench, on hosts that call themselves h0, h1 and so
 * on.
 */
#include <shmem.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "torus_times.h"

#define FIRST_PORT 9000
#define CHUNK 65536

/* One direction of a cable: out to a neighbour, or in from one. */
struct half {
	int fd;
	bool out;
	size_t done;
};

static struct half half[2 * MOST_NEIGHBOURS];
static int halves;

static void fail(const char *what)
{
	fprintf(stderr, "plain_sockets: PE %d: %s: %s\n", shmem_my_pe(), what, strerror(errno));
	shmem_global_exit(1);
}

static int listen_at(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
	    bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, MOST_NEIGHBOURS))
		fail("no socket for neighbours");
	return fd;
}

static int connect_to(int host, int port)
{
	char name[16], service[16];
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	snprintf(name, sizeof name, "h%d", host);
	snprintf(service, sizeof service, "%d", port);
	if (fd < 0 || getaddrinfo(name, service, &hints, &address) ||
	    connect(fd, address->ai_addr, address->ai_addrlen))
		fail(name);
	freeaddrinfo(address);
	return fd;
}

static void add_half(int fd, bool out)
{
	int on = 1;

	if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
		fail("a socket");
	half[halves++] = (struct half){fd, out, 0};
}

/* Each neighbour accepts as many as it has neighbours. */
static void join_neighbours(const int *neighbour, int count, int pes)
{
	int port = FIRST_PORT + shmem_my_pe() % pes, listener = listen_at(port), in = 0;

	shmem_barrier_all();
	for (int i = 0; i < count; i++)
		if (neighbour[i] >= 0) {
			add_half(connect_to(neighbour[i], port), true);
			in++;
		}
	while (in-- > 0)
		add_half(accept(listener, NULL, NULL), false);
	close(listener);
	shmem_barrier_all();
}

/* As much as goes without waiting. Returns whether all is done. */
static bool move(struct half *h, char *data, size_t bytes)
{
	while (h->done < bytes) {
		size_t most = bytes - h->done < CHUNK ? bytes - h->done : CHUNK;
		ssize_t moved =
			h->out ? send(h->fd, data + h->done, most, MSG_NOSIGNAL) : recv(h->fd, data + h->done, most, 0);

		if (moved < 0 && errno == EAGAIN)
			return false;
		if (moved <= 0)
			fail(h->out ? "send" : "recv");
		h->done += (size_t)moved;
	}
	return true;
}

static void exchange(char *out, char *in, size_t bytes)
{
	struct pollfd polled[2 * MOST_NEIGHBOURS];
	bool done;

	for (int i = 0; i < halves; i++)
		half[i].done = 0;
	do {
		done = true;
		for (int i = 0; i < halves; i++) {
			bool over = move(&half[i], half[i].out ? out : in, bytes);

			polled[i] = (struct pollfd){over ? -1 : half[i].fd, half[i].out ? POLLOUT : POLLIN, 0};
			done &= over;
		}
		if (!done)
			poll(polled, (nfds_t)halves, -1);
	} while (!done);
}

int main(int argc, char **argv)
{
	int neighbour[MOST_NEIGHBOURS], repeats = argc > 4 ? atoi(argv[4]) : 1, pes = argc > 6 ? atoi(argv[6]) : 1,
					count;
	size_t bytes;
	char *out, *in;
	double *took, *spread;

	shmem_init();
	if (argc != 7 || repeats < 1 || pes < 1) {
		fprintf(stderr, "usage: plain_sockets NAME SIZE BYTES REPEATS SHAPE PES\n");
		shmem_global_exit(2);
	}
	bytes = strtoul(argv[3], NULL, 10) / (size_t)pes;
	count = find_neighbours(argv[5], shmem_n_pes() / pes, shmem_my_pe() / pes, neighbour);
	spread = shmem_malloc(2 * sizeof *spread);
	out = calloc(1, bytes + 1);
	in = malloc(bytes + 1);
	took = calloc((size_t)repeats, sizeof *took);
	if (!spread || !out || !in || !took)
		fail("memory");
	join_neighbours(neighbour, count, pes);
	exchange(out, in, bytes < CHUNK ? bytes : CHUNK);
	for (int i = 0; i < repeats; i++) {
		double begun;

		shmem_barrier_all();
		begun = seconds_now();
		exchange(out, in, bytes);
		spread[0] = seconds_now() - begun;
		shmem_double_max_reduce(SHMEM_TEAM_WORLD, &spread[1], &spread[0], 1);
		took[i] = spread[1];
	}
	qsort(took, (size_t)repeats, sizeof *took, compare_seconds);
	if (shmem_my_pe() == 0)
		print_time(argv[1], strtoul(argv[2], NULL, 10), took[repeats / 2], (double)(bytes * (size_t)pes), 0);
	shmem_finalize();
	return 0;
}
