/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection set-up between hosts. The host with the higher number connects. Both send the secret
 * of the job first.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "softofu/net/crc.h"
#include "softofu/net/wires_inside.h"

static double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct addrinfo *find_address(const char *address, int port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;
	char digits[16];

	snprintf(digits, sizeof digits, "%d", port);
	return getaddrinfo(address, digits, &hints, &found) ? NULL : found;
}

static int listen_at(const char *address, int *port)
{
	struct addrinfo *info = find_address(address, 0);
	struct sockaddr_storage mine;
	socklen_t length = sizeof mine;
	int file = info ? socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	if (file >= 0 && (bind(file, info->ai_addr, info->ai_addrlen) || listen(file, 64) ||
			  getsockname(file, (struct sockaddr *)&mine, &length))) {
		close(file);
		file = -1;
	}
	if (file >= 0)
		*port = ntohs(mine.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&mine)->sin6_port
							 : ((struct sockaddr_in *)(void *)&mine)->sin_port);
	if (info)
		freeaddrinfo(info);
	return file;
}

/* --- One call --- */

/* Waits until a file is ready, or until a time. */
static bool file_is_ready(int file, short what, double until)
{
	struct pollfd entry = {file, what, 0};
	double left = until - seconds_now();

	return left > 0 && poll(&entry, 1, (int)(left * 1000) + 1) == 1;
}

static bool send_hello(int file, const struct net_hello *hello)
{
	return send(file, hello, sizeof *hello, MSG_NOSIGNAL) == (ssize_t)sizeof *hello;
}

static bool receive_hello(int file, struct net_hello *hello, double until)
{
	size_t got = 0;

	while (got < sizeof *hello) {
		ssize_t more;

		if (!file_is_ready(file, POLLIN, until))
			return false;
		more = recv(file, (char *)hello + got, sizeof *hello - got, 0);
		if (more <= 0)
			return false;
		got += (size_t)more;
	}
	return true;
}

/* Takes the same time wherever the first difference is. */
static bool same_token(const unsigned char *a, const unsigned char *b)
{
	unsigned char difference = 0;

	for (int i = 0; i < NET_TOKEN; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

static bool hello_is_ours(const struct net_wires *wires, const struct net_hello *hello)
{
	return memcmp(hello->name, wires->hello.name, sizeof hello->name) == 0 && hello->order == wires->hello.order &&
	       same_token(hello->token, wires->hello.token);
}

static void store_socket(struct net_wires *wires, int file, uint32_t host)
{
	int yes = 1;

	setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
	wires->wire[host]->file = file;
}

static int connect_socket(const struct net_host *host)
{
	struct addrinfo *info = find_address(host->address, host->port);
	int file = info ? socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	if (file >= 0 && connect(file, info->ai_addr, info->ai_addrlen)) {
		close(file);
		file = -1;
	}
	if (info)
		freeaddrinfo(info);
	return file;
}

static bool connect_host(struct net_wires *wires, int host, const struct net_host *where, double until,
			 char problem[NET_PROBLEM])
{
	struct net_hello hello;
	int file = connect_socket(where);

	if (file < 0)
		return net_refuse(problem, "host %d at %s port %d cannot be reached: %s", host, where->address,
				  where->port, strerror(errno));
	if (!send_hello(file, &wires->hello) || !receive_hello(file, &hello, until) || !hello_is_ours(wires, &hello) ||
	    hello.host != (uint32_t)host) {
		close(file);
		return net_refuse(problem, "host %d at %s port %d is not of this job", host, where->address,
				  where->port);
	}
	if (hello.plan != wires->hello.plan) {
		close(file);
		return net_refuse(problem, "host %d has another network: shape, nodes and settings must be alike",
				  host);
	}
	store_socket(wires, file, (uint32_t)host);
	return true;
}

/* Closes connections without the secret, and goes on waiting for the expected hosts. */
static bool accept_host(struct net_wires *wires, double until, char problem[NET_PROBLEM])
{
	struct net_hello hello;
	int file = accept4(wires->listener, NULL, NULL, SOCK_CLOEXEC);
	double patience = seconds_now() + 2;

	if (file < 0)
		return true;
	if (!receive_hello(file, &hello, patience < until ? patience : until) || !hello_is_ours(wires, &hello) ||
	    hello.host >= (uint32_t)wires->hosts || !wires->wire[hello.host] || wires->wire[hello.host]->file >= 0 ||
	    !send_hello(file, &wires->hello)) {
		close(file);
		return true;
	}
	if (hello.plan != wires->hello.plan) {
		close(file);
		return net_refuse(problem, "host %u has another network: shape, nodes and settings must be alike",
				  hello.host);
	}
	store_socket(wires, file, hello.host);
	return true;
}

bool net_wires_join(struct net_wires *wires, const struct net_host *hosts, double seconds, char problem[NET_PROBLEM])
{
	double until = seconds_now() + seconds;

	for (int host = 0; host < wires->me; host++)
		if (wires->wire[host] && !connect_host(wires, host, &hosts[host], until, problem))
			return false;
	for (int host = wires->me + 1; host < wires->hosts; host++)
		while (wires->wire[host] && wires->wire[host]->file < 0) {
			if (!file_is_ready(wires->listener, POLLIN, until))
				return net_refuse(problem, "host %d at %s did not call within %g seconds", host,
						  hosts[host].address, seconds);
			if (!accept_host(wires, until, problem))
				return false;
		}
	close(wires->listener);
	wires->listener = -1;
	return true;
}

int net_wires_port(const struct net_wires *wires)
{
	return wires->port;
}

/* --- Cutting the network up --- */

static uint32_t plan_sum(const struct net *net, const struct net_party *party)
{
	const struct net_settings *settings = &net->settings;
	struct {
		uint32_t shape, hosts;
		int numbers[6];
	} sum;
	char text[NET_TEXT];

	memset(&sum, 0, sizeof sum);
	net_shape_text(&settings->shape, text);
	sum.shape = net_crc(text, strlen(text));
	sum.hosts = net_crc(party->host_of, (size_t)settings->shape.places * sizeof *party->host_of);
	sum.numbers[0] = settings->tnis;
	sum.numbers[1] = settings->cqs;
	sum.numbers[2] = settings->buffers;
	sum.numbers[3] = settings->lanes;
	sum.numbers[4] = settings->cuts;
	sum.numbers[5] = party->hosts;
	return net_crc(&sum, sizeof sum);
}

/*
 * Finds the links with one end on this host, and makes a connection entry for each host at the
 * other ends. Returns false if memory runs out.
 */
static bool divide_links(struct net_wires *wires, const struct net_party *party)
{
	struct net *net = wires->net;
	int links = net->settings.shape.places * net->directions;
	uint16_t *host_of = net_part(net, net->hosts);

	net->host = party->me;
	for (int node = 0; node < net->settings.shape.places; node++)
		host_of[node] = (uint16_t)party->host_of[node];
	for (int number = 0; number < links; number++) {
		struct net_link *link = net_link(net, number);
		bool from = link->to >= 0 && party->host_of[link->from] == party->me;
		bool to = link->to >= 0 && party->host_of[link->to] == party->me;
		int host = from && !to ? party->host_of[link->to] : party->host_of[link->from];

		link->span = from && to ? NET_HERE : from ? NET_OUT : to ? NET_IN : NET_ELSEWHERE;
		wires->end_of[number] = -1;
		if (from == to)
			continue;
		wires->end_of[number] = wires->ends;
		wires->end[wires->ends++] = (struct net_end){.link = number, .host = host, .sends = from};
		if (!wires->wire[host]) {
			wires->wire[host] = calloc(1, sizeof *wires->wire[host]);
			if (!wires->wire[host])
				return false;
			wires->wire[host]->file = -1;
		}
	}
	return true;
}

static bool is_plausible(const struct net *net, const struct net_party *party, char problem[NET_PROBLEM])
{
	if (net->settings.mode != NET_PACKETS)
		return net_refuse(problem, "links between hosts need mode=packets");
	if (party->hosts < 1 || party->hosts > UINT16_MAX || party->me < 0 || party->me >= party->hosts)
		return net_refuse(problem, "host %d of %d: there is no such host", party->me, party->hosts);
	for (int node = 0; node < net->settings.shape.places; node++)
		if (party->host_of[node] < 0 || party->host_of[node] >= party->hosts)
			return net_refuse(problem, "node %d is on host %d of %d", node, party->host_of[node],
					  party->hosts);
	return true;
}

struct net_wires *net_wires_open(struct net *net, const struct net_party *party, const char *address,
				 char problem[NET_PROBLEM])
{
	size_t links = (size_t)(net->settings.shape.places * net->directions);
	struct net_wires *wires;

	if (!is_plausible(net, party, problem) || !(wires = calloc(1, sizeof *wires)))
		return NULL;
	wires->net = net;
	wires->hosts = party->hosts;
	wires->me = party->me;
	wires->wire = calloc((size_t)party->hosts, sizeof(struct net_wire *));
	wires->end = calloc(links, sizeof *wires->end);
	wires->end_of = calloc(links, sizeof *wires->end_of);
	memcpy(wires->hello.name, NET_HELLO, sizeof wires->hello.name);
	wires->hello.order = 0x01020304;
	wires->hello.host = (uint32_t)party->me;
	wires->hello.plan = plan_sum(net, party);
	memcpy(wires->hello.token, party->token, NET_TOKEN);
	wires->listener = listen_at(address, &wires->port);
	if (wires->listener >= 0 && wires->wire && wires->end && wires->end_of && divide_links(wires, party))
		return wires;
	net_refuse(problem, "the network cannot listen at %.60s: %s", address, strerror(errno));
	net_wires_free(wires);
	return NULL;
}

void net_wires_free(struct net_wires *wires)
{
	for (int host = 0; wires->wire && host < wires->hosts; host++)
		if (wires->wire[host]) {
			if (wires->wire[host]->file >= 0)
				close(wires->wire[host]->file);
			free(wires->wire[host]);
		}
	if (wires->listener >= 0)
		close(wires->listener);
	free(wires->wire);
	free(wires->end);
	free(wires->end_of);
	free(wires);
}
