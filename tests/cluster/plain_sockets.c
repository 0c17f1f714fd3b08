/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the cables of a torus carry by plain TCP sockets, as a measure of this machine:
 * plain_sockets NAME SIZE BYTES REPEATSxCALLS SHAPE PES. The PEs of each host together send BYTES
 * to each neighbour and receive as many, all at once, CALLS times in a row, and nobody forwards
 * anything. Prints the median of the times from the first PE that begins to the last that is done,
 * divided by the calls, as the collective NAME of messages of SIZE. Run by
 * tests/cluster/torus-bench, on hosts that call themselves h0, h1 and so on.
 */
#include <shmem.h>

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
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

/* The port of a cable, by the place of the host that it leads to among the neighbours. */
static const char *port_of(int direction, char name[3])
{
	name[0] = "xyza"[direction / 2];
	name[1] = direction % 2 ? '+' : '-';
	name[2] = '\0';
	return name;
}

/*
 * The address of this host's end of a cable, IPv4 if it has one; family 0 where ports have none
 * that leads only there.
 */
static struct sockaddr_storage address_of_end(int direction)
{
	struct sockaddr_storage found = {.ss_family = AF_UNSPEC};
	struct ifaddrs *all;
	char port[3];

	if (!getenv("CLUSTER_SHAPE_FILE") || getifaddrs(&all))
		return found;
	port_of(direction, port);
	for (struct ifaddrs *at = all; at && found.ss_family != AF_INET; at = at->ifa_next) {
		int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;

		if (strcmp(at->ifa_name, port) != 0)
			continue;
		if (family == AF_INET)
			memcpy(&found, at->ifa_addr, sizeof(struct sockaddr_in));
		if (family == AF_INET6)
			memcpy(&found, at->ifa_addr, sizeof(struct sockaddr_in6));
	}
	freeifaddrs(all);
	return found;
}

/* Takes connections by IPv4 as well. */
static int listen_at(int port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), on = 1, off = 0;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) ||
	    bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, MOST_NEIGHBOURS))
		fail("no socket for neighbours");
	return fd;
}

static struct sockaddr_storage address_of_host(int host)
{
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	struct addrinfo *found;
	char name[16];

	snprintf(name, sizeof name, "h%d", host);
	if (getaddrinfo(name, NULL, &hints, &found))
		fail(name);
	memcpy(&address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return address;
}

/* `address`: of the neighbour's end of the cable, or of the neighbour. */
static int connect_to(struct sockaddr_storage address, int direction, int port)
{
	int fd = socket(address.ss_family, SOCK_STREAM, 0);
	char name[3];

	if (address.ss_family == AF_INET6) {
		struct sockaddr_in6 *end = (struct sockaddr_in6 *)&address;

		end->sin6_port = htons((uint16_t)port);
		end->sin6_scope_id = if_nametoindex(port_of(direction, name));
	} else {
		((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)port);
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
		fail(port_of(direction, name));
	return fd;
}

static void add_half(int fd, bool out)
{
	int on = 1;

	if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
		fail("a socket");
	half[halves++] = (struct half){fd, out, 0};
}

/* Accepts as many connections as there are neighbours. Directions 2a and 2a + 1 are opposite. */
static void join_neighbours(const int *neighbour, int count, int pes)
{
	int me = shmem_my_pe() % pes, port = FIRST_PORT + me, listener = listen_at(port), in = 0;
	struct sockaddr_storage *end = shmem_calloc(MOST_NEIGHBOURS, sizeof *end), other;

	if (!end)
		fail("memory");
	for (int i = 0; i < count; i++)
		if (neighbour[i] >= 0)
			end[i] = address_of_end(i);
	shmem_barrier_all();
	for (int i = 0; i < count; i++) {
		if (neighbour[i] < 0)
			continue;
		shmem_getmem(&other, &end[i ^ 1], sizeof other, neighbour[i] * pes + me);
		if (other.ss_family == AF_UNSPEC)
			other = address_of_host(neighbour[i]);
		add_half(connect_to(other, i, port), true);
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
	int neighbour[MOST_NEIGHBOURS], repeats = 0, calls = 0, pes = argc > 6 ? atoi(argv[6]) : 1, count;
	size_t bytes;
	char *out, *in;
	double *took, *spread;

	shmem_init();
	if (argc != 7 || sscanf(argv[4], "%dx%d", &repeats, &calls) != 2 || repeats < 1 || calls < 1 || pes < 1) {
		fprintf(stderr, "usage: plain_sockets NAME SIZE BYTES REPEATSxCALLS SHAPE PES\n");
		shmem_global_exit(2);
	}
	bytes = strtoul(argv[3], NULL, 10) / (size_t)pes;
	count = find_neighbours(argv[5], shmem_n_pes() / pes, shmem_my_pe() / pes, neighbour, NULL);
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
		for (int call = 0; call < calls; call++)
			exchange(out, in, bytes);
		spread[0] = (seconds_now() - begun) / calls;
		shmem_double_max_reduce(SHMEM_TEAM_WORLD, &spread[1], &spread[0], 1);
		took[i] = spread[1];
	}
	qsort(took, (size_t)repeats, sizeof *took, compare_seconds);
	if (shmem_my_pe() == 0)
		print_time(argv[1], strtoul(argv[2], NULL, 10), took[repeats / 2], (double)(bytes * (size_t)pes), 0);
	shmem_finalize();
	return 0;
}
