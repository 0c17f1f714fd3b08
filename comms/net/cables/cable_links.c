/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: the connections that send. A link has a queue for each class. Frames leave in turns of the
 * queues, those of a class above 0 only with a credit; a message's frames stay together. On TCP,
 * short frames are copied and leave in one call of the kernel; data of longer ones is sent from
 * where it is.
 */
#include "cable_inside.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "rte/host/greeting.h"
#include "rte/rte.h"

/* --- Queues --- */

void cable_queue_add(struct cable_queue *queue, struct cable_message *message)
{
	if (!queue->first)
		queue->last = &queue->first;
	message->next = NULL;
	*queue->last = message;
	queue->last = &message->next;
}

struct cable_message *cable_queue_take(struct cable_queue *queue)
{
	struct cable_message *message = queue->first;

	if (message)
		queue->first = message->next;
	return message;
}

/* --- Making a connection --- */

void cable_watch(int operation, int fd, unsigned events, void *end)
{
	struct epoll_event event = {.events = events, .data.ptr = end};

	if (epoll_ctl(cable_net.epoll, operation, fd, &event))
		rte_die(NULL, "the kernel does not watch a connection (epoll_ctl: %s)", strerror(errno));
}

void cable_link_lose(struct cable_link *link, int error)
{
	cable_lost(link->pe, link->port, error);
	link->gone = true;
	epoll_ctl(cable_net.epoll, EPOLL_CTL_DEL, link->fd, NULL);
}

static void stage_bytes(struct cable_link *link, const void *bytes, size_t n)
{
	memcpy(link->stage + link->staged, bytes, n);
	link->staged += n;
}

/* The first bytes: the greeting, the number of this PE, and an offer of RDMA. */
static void stage_greeting(struct cable_link *link, const struct sockaddr_storage *address)
{
	const struct cable_hello hello = {.pe = comms.pe, .offers = link->offer != NULL};
	struct greeting greeting;

	if (!greeting_make(&greeting, cable_net.key, address))
		rte_die(NULL, "the kernel has no random bytes for a connection (getrandom)");
	stage_bytes(link, &greeting, sizeof greeting);
	stage_bytes(link, &hello, sizeof hello);
	if (link->offer)
		stage_bytes(link, link->offer, sizeof *link->offer);
}

static void make_offer(struct cable_link *link, const struct cable_route *route, const struct cable_gids *its)
{
	struct cable_offer offer;

	if (!cable_net.verbs || route->way != CABLE_WAY_CABLE || !cable_net.verbs->offer(link, route, its, &offer))
		return;
	link->offer = malloc(sizeof offer);
	if (!link->offer)
		rte_die(NULL, "no memory for a connection to PE %d", link->pe);
	*link->offer = offer;
}

static void start_connection(struct cable_link *link, const struct cable_route *route)
{
	struct sockaddr_storage address = {0};
	struct cable_gids gids;
	unsigned length = cable_address(route, &address, &gids);
	int yes = 1;

	link->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (link->fd < 0)
		rte_die(NULL, "no descriptor for a connection to PE %d (%s); raise ulimit -n", link->pe,
			strerror(errno));
	setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	if (connect(link->fd, (struct sockaddr *)&address, length) && errno != EINPROGRESS)
		cable_link_lose(link, errno);
	make_offer(link, route, &gids);
	stage_greeting(link, &address);
	link->connecting = true;
	link->waits_for_room = true;
	cable_watch(EPOLL_CTL_ADD, link->fd, EPOLLIN | EPOLLOUT, link);
}

static struct cable_link *make_link(int pe, bool second)
{
	const struct cable_route route = cable_route_to(pe, second);
	struct cable_link *link = calloc(1, sizeof *link);

	if (!link)
		rte_die(NULL, "no memory for a connection to PE %d", pe);
	link->end = CABLE_LINK;
	link->pe = pe;
	link->port = route.port;
	link->classes = route.way == CABLE_WAY_CABLE ? cable_hosts_longest() : 1;
	link->queue = calloc((size_t)link->classes, sizeof *link->queue);
	link->credits = calloc((size_t)link->classes, sizeof *link->credits);
	if (!link->queue || !link->credits)
		rte_die(NULL, "no memory for a connection to PE %d", pe);
	for (int class = 0; class < link->classes; class ++)
		link->credits[class] = CABLE_CREDITS;
	start_connection(link, &route);
	return link;
}

static struct cable_link *link_to(int pe, bool second)
{
	struct cable_link **link = &cable_net.links[second ? comms.n_pes + pe : pe];

	if (!*link)
		*link = make_link(pe, second);
	return *link;
}

void cable_link_free(struct cable_link *link)
{
	if (!link)
		return;
	close(link->fd);
	if (link->rdma)
		cable_net.verbs->free(link->rdma);
	free(link->offer);
	free(link->queue);
	free(link->credits);
	free(link);
}

struct cable_flow *cable_flow_to(int pe, int number)
{
	struct cable_peer *peer = atomic_load_explicit(&cable_net.peers[pe], memory_order_relaxed);
	struct cable_flow *flow;
	struct cable_route route;

	if (!peer) {
		peer = calloc(1, sizeof *peer);
		if (!peer)
			rte_die(NULL, "no memory for the record of PE %d", pe);
		peer->pe = pe;
		atomic_store_explicit(&cable_net.peers[pe], peer, memory_order_release);
	}
	flow = &peer->flow[number];
	if (!flow->link) {
		route = cable_route_to(pe, number == 1);
		flow->class = route.hops;
		flow->link = link_to(route.next, route.second);
	}
	return flow;
}

/* --- Sending --- */

static struct cable_flow *flow_of(const struct cable_message *message)
{
	return cable_flow_to(message->header.to, message->header.flow_last & 1);
}

/* The next class that has a frame to send, in turns; -1: none. */
static int next_class(struct cable_link *link)
{
	for (int i = 0; i < link->classes; i++) {
		int class = (link->turn + i) % link->classes;

		if (link->queue[class].first && (class == 0 || link->credits[class] > 0)) {
			link->turn = class + 1;
			return class;
		}
	}
	return -1;
}

void cable_frame_end(struct cable_link *link, struct cable_message *message, int class, size_t bytes)
{
	message->data += bytes;
	message->left -= bytes;
	message->header.there += bytes;
	if (message->left > 0)
		return;
	cable_queue_take(&link->queue[class]);
	cable_message_sent(flow_of(message), message);
}

struct cable_header cable_frame_begin(struct cable_link *link, struct cable_message *message, int class, size_t bytes)
{
	struct cable_header header = message->header;

	header.bytes = (uint32_t)bytes;
	if (message->fate == CABLE_FATE_KEPT)
		header.value = flow_of(message)->done;
	if (message->fate != CABLE_FATE_RELAYED && bytes == message->left)
		header.flow_last |= CABLE_LAST;
	if (class > 0)
		link->credits[class]--;
	return header;
}

static void stage_frame(struct cable_link *link, struct cable_message *message, int class)
{
	const size_t most = class == 0 ? CABLE_FRAME : CABLE_RELAYED_FRAME;
	const size_t bytes = message->left < most ? message->left : most;
	const struct cable_header header = cable_frame_begin(link, message, class, bytes);

	stage_bytes(link, &header, sizeof header);
	if (bytes > CABLE_SHORT) {
		link->current = message;
		link->current_class = class;
		link->current_bytes = bytes;
		link->current_sent = 0;
		return;
	}
	if (bytes > 0)
		stage_bytes(link, message->data, bytes);
	cable_frame_end(link, message, class, bytes);
}

static void stage_frames(struct cable_link *link)
{
	if (link->staged_sent == link->staged && !link->connecting)
		link->staged = link->staged_sent = 0;
	while (!link->current && link->staged + sizeof(struct cable_header) + CABLE_SHORT <= CABLE_STAGED) {
		int class = next_class(link);

		if (class < 0)
			return;
		stage_frame(link, link->queue[class].first, class);
	}
}

static void wait_for_room(struct cable_link *link, bool waits)
{
	if (link->waits_for_room == waits || link->gone)
		return;
	link->waits_for_room = waits;
	cable_watch(EPOLL_CTL_MOD, link->fd, waits ? EPOLLIN | EPOLLOUT : EPOLLIN, link);
}

/* Returns false if the kernel takes no more now. */
static bool send_some(struct cable_link *link)
{
	const size_t staged = link->staged - link->staged_sent;
	struct iovec part[2] = {{link->stage + link->staged_sent, staged}, {NULL, 0}};
	struct msghdr message = {.msg_iov = part, .msg_iovlen = link->current ? 2 : 1};
	ssize_t sent;

	if (link->current)
		part[1] = (struct iovec){(void *)(uintptr_t)(link->current->data + link->current_sent),
					 link->current_bytes - link->current_sent};
	sent = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0 && errno != EAGAIN && errno != EINTR)
		cable_link_lose(link, errno);
	if (sent < 0)
		return false;
	link->staged_sent += (size_t)sent < staged ? (size_t)sent : staged;
	if ((size_t)sent > staged)
		link->current_sent += (size_t)sent - staged;
	if (link->current && link->staged_sent == link->staged && link->current_sent == link->current_bytes) {
		struct cable_message *done = link->current;

		link->current = NULL;
		cable_frame_end(link, done, link->current_class, link->current_bytes);
	}
	return true;
}

static void flush_rdma(struct cable_link *link)
{
	while (!link->gone && cable_net.verbs->has_room(link->rdma)) {
		int class = next_class(link);

		if (class < 0)
			return;
		cable_net.verbs->send(link, link->queue[class].first, class);
	}
}

void cable_link_flush(struct cable_link *link)
{
	if (link->connecting || link->gone)
		return;
	if (link->rdma && !link->offer) {
		flush_rdma(link);
		return;
	}
	for (;;) {
		if (!link->offer)
			stage_frames(link);
		if (link->staged_sent == link->staged && !link->current) {
			wait_for_room(link, false);
			return;
		}
		if (!send_some(link)) {
			wait_for_room(link, true);
			return;
		}
	}
}

void cable_send(struct cable_flow *flow, struct cable_message *message)
{
	cable_queue_add(&flow->link->queue[flow->class], message);
	cable_link_flush(flow->link);
}

/* --- What the kernel reports --- */

/* The receiver's answer to the offer; until then, nothing but the offer is sent. */
static void take_rdma_answer(struct cable_link *link)
{
	struct cable_offer *offer = link->offer;
	struct cable_answer answer;
	ssize_t got = recv(link->fd, &answer, sizeof answer, MSG_DONTWAIT | MSG_PEEK);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		cable_link_lose(link, got == 0 ? 0 : errno);
	if (got < (ssize_t)sizeof answer || recv(link->fd, &answer, sizeof answer, MSG_DONTWAIT) != got)
		return;
	link->offer = NULL;
	if (!cable_net.verbs->begin(link, offer, &answer)) {
		cable_net.verbs->free(link->rdma);
		link->rdma = NULL;
	}
	free(offer);
}

/* Each byte is a credit of the class that it names. */
static void take_credits(struct cable_link *link)
{
	uint8_t classes[256];
	ssize_t got = recv(link->fd, classes, sizeof classes, MSG_DONTWAIT);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		cable_link_lose(link, got == 0 ? 0 : errno);
	for (ssize_t i = 0; i < got; i++)
		if (classes[i] < link->classes)
			link->credits[classes[i]]++;
		else if (classes[i] == CABLE_ROOM && link->rdma)
			cable_net.verbs->add_room(link->rdma);
}

static void end_connecting(struct cable_link *link)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size) || error)
		cable_link_lose(link, error);
	link->connecting = false;
}

void cable_link_ready(struct cable_link *link, unsigned events)
{
	if (link->connecting && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		end_connecting(link);
	if (link->connecting)
		return;
	if (link->offer && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		take_rdma_answer(link);
	else if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		take_credits(link);
	cable_link_flush(link);
}
