/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrivals: the connections that receive, and the round of work that all progress consists of.
 *
 * Data of a long frame goes from the kernel to its place: memory of this PE, or the message that
 * relays the frame. A frame that goes on has a buffer here, because its sender had a credit for it.
 * So reading never waits.
 */
#include "cable_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rte/host/greeting.h"
#include "rte/host/first_data.h"
#include "rte/rte.h"

enum { EVENTS = 32, READS = 4 /* of one connection in a round */ };

/* --- Frames --- */

static _Noreturn void refuse_frame(const struct cable_arrival *arrival)
{
	rte_die(NULL, "PE %d sent a frame that is none (kind %u, %u bytes, from PE %d to PE %d)", arrival->pe,
		arrival->header.kind, arrival->header.bytes, arrival->header.from, arrival->header.to);
}

static void check_frame(const struct cable_arrival *arrival)
{
	const struct cable_header *header = &arrival->header;
	const bool here = header->to == comms.pe;

	if (header->kind > CABLE_KEY || header->from < 0 || header->from >= comms.n_pes || header->to < 0 ||
	    header->to >= comms.n_pes || header->bytes > (here ? CABLE_FRAME : CABLE_RELAYED_FRAME))
		refuse_frame(arrival);
}

/* The data of a frame that goes on comes into the message that relays it. */
static void begin_relaying(struct cable_arrival *arrival)
{
	const struct cable_header *header = &arrival->header;
	struct cable_message *message = cable_message_new(header->kind, header->to, header->bytes);

	message->header = *header;
	message->fate = CABLE_FATE_RELAYED;
	message->left = header->bytes;
	message->origin = arrival;
	message->class = cable_flow_to(header->to, 0)->class + 1;
	arrival->relayed = message;
	arrival->dest = message->copy;
	arrival->left = header->bytes;
}

static void end_frame(struct cable_arrival *arrival)
{
	struct cable_message *relayed = arrival->relayed;

	arrival->relayed = NULL;
	arrival->dest = NULL;
	if (relayed)
		cable_relay_frame(relayed);
	else
		cable_frame_arrived(&arrival->header, NULL);
}

void cable_arrival_take(struct cable_arrival *arrival, const char *frame, size_t bytes)
{
	struct cable_header *header = &arrival->header;
	bool in_place;

	memcpy(header, frame, sizeof *header);
	check_frame(arrival);
	in_place = header->flow_last & CABLE_IN_PLACE;
	if (bytes != sizeof *header + (in_place ? 0 : header->bytes) || (in_place && header->to != comms.pe))
		refuse_frame(arrival);
	if (header->kind == CABLE_ASK_KEY) {
		cable_net.verbs->give_key(arrival);
		return;
	}
	if (header->to == comms.pe) {
		cable_frame_arrived(header, in_place ? NULL : frame + sizeof *header);
		return;
	}
	begin_relaying(arrival);
	memcpy(arrival->dest, frame + sizeof *header, header->bytes);
	end_frame(arrival);
}

/* Returns false if more bytes must come first. */
static bool begin_frame(struct cable_arrival *arrival)
{
	const size_t there = arrival->filled - arrival->begin;
	const char *at = arrival->buffer + arrival->begin;
	struct cable_header *header = &arrival->header;

	if (there < sizeof *header)
		return false;
	memcpy(header, at, sizeof *header);
	check_frame(arrival);
	if (header->to != comms.pe) {
		begin_relaying(arrival);
	} else if (header->bytes > CABLE_SHORT) {
		arrival->dest = cable_frame_place(header);
		arrival->left = header->bytes;
	} else {
		if (there < sizeof *header + header->bytes)
			return false;
		arrival->begin += sizeof *header + header->bytes;
		cable_frame_arrived(header, at + sizeof *header);
		return true;
	}
	arrival->begin += sizeof *header;
	return true;
}

static void take_data(struct cable_arrival *arrival)
{
	size_t there = arrival->filled - arrival->begin;
	size_t bytes = there < arrival->left ? there : arrival->left;

	memcpy(arrival->dest, arrival->buffer + arrival->begin, bytes);
	arrival->begin += bytes;
	arrival->dest += bytes;
	arrival->left -= bytes;
}

static void answer_offer(struct cable_arrival *arrival)
{
	struct cable_answer answer = {0};
	struct cable_offer offer;

	memcpy(&offer, arrival->buffer + arrival->begin, sizeof offer);
	arrival->begin += sizeof offer;
	offer.port[sizeof offer.port - 1] = '\0';
	if (cable_net.verbs)
		cable_net.verbs->accept(arrival, &offer, &answer);
	if (send(arrival->fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof answer)
		cable_arrival_lose(arrival, errno);
}

/* Behind the greeting are the number of the PE that has connected, and its offer of RDMA. */
static bool take_hello(struct cable_arrival *arrival)
{
	const size_t there = arrival->filled - arrival->begin;
	struct cable_hello hello;

	if (there < sizeof hello)
		return false;
	memcpy(&hello, arrival->buffer + arrival->begin, sizeof hello);
	if (hello.pe < 0 || hello.pe >= comms.n_pes)
		rte_die(NULL, "a connection says that it is PE %d's, and the job has %d PEs", hello.pe, comms.n_pes);
	if (hello.offers && there < sizeof hello + sizeof(struct cable_offer))
		return false;
	arrival->pe = hello.pe;
	arrival->begin += sizeof hello;
	if (hello.offers)
		answer_offer(arrival);
	return true;
}

static void take_frames(struct cable_arrival *arrival)
{
	if (arrival->pe < 0 && !take_hello(arrival))
		return;
	for (;;) {
		if (arrival->dest) {
			take_data(arrival);
			if (arrival->left > 0)
				break;
			end_frame(arrival);
		} else if (!begin_frame(arrival)) {
			break;
		}
	}
	memmove(arrival->buffer, arrival->buffer + arrival->begin, arrival->filled - arrival->begin);
	arrival->filled -= arrival->begin;
	arrival->begin = 0;
}

/* --- Connections --- */

void cable_arrival_lose(struct cable_arrival *arrival, int error)
{
	if (arrival->pe >= 0)
		cable_lost(arrival->pe, cable_port_of(arrival->fd), error);
	arrival->gone = true;
	epoll_ctl(cable_net.epoll, EPOLL_CTL_DEL, arrival->fd, NULL);
}

/* Returns false if there was nothing to read. */
static bool read_arrival(struct cable_arrival *arrival)
{
	struct iovec part[2] = {{arrival->dest, arrival->dest ? arrival->left : 0},
				{arrival->buffer + arrival->filled, sizeof arrival->buffer - arrival->filled}};
	ssize_t got = readv(arrival->fd, part, 2);
	size_t data;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		cable_arrival_lose(arrival, got == 0 ? 0 : errno);
		return false;
	}
	data = (size_t)got < part[0].iov_len ? (size_t)got : part[0].iov_len;
	if (arrival->dest) {
		arrival->dest += data;
		arrival->left -= data;
	}
	arrival->filled += (size_t)got - data;
	take_frames(arrival);
	return true;
}

static void read_some(struct cable_arrival *arrival)
{
	for (int i = 0; i < READS && !arrival->gone; i++)
		if (!read_arrival(arrival))
			return;
}

void cable_return_credit(struct cable_arrival *arrival, int class)
{
	const uint8_t byte = (uint8_t) class;

	if (!arrival->gone && send(arrival->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		cable_arrival_lose(arrival, errno);
}

static bool has_proven_itself(int fd)
{
	struct greeting greeting;

	return greeting_receive(fd, cable_net.key, &greeting) && greetings_seen_add(&cable_net.greetings, &greeting);
}

static void accept_connections(void)
{
	struct cable_arrival *arrival;
	int fd;

	while ((fd = first_data_accept(cable_net.listener, NULL, NULL, has_proven_itself)) >= 0) {
		arrival = calloc(1, sizeof *arrival);
		if (!arrival)
			rte_die(NULL, "no memory for a connection");
		fcntl(fd, F_SETFL, O_NONBLOCK);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		arrival->end = CABLE_ARRIVAL;
		arrival->fd = fd;
		arrival->pe = -1;
		arrival->next = cable_net.arrivals;
		cable_net.arrivals = arrival;
		cable_watch(EPOLL_CTL_ADD, fd, EPOLLIN, arrival);
	}
}

void cable_listen(void)
{
	static enum cable_end listener = CABLE_LISTENER;

	cable_watch(EPOLL_CTL_ADD, cable_net.listener, EPOLLIN, &listener);
}

void cable_arrivals_free(void)
{
	while (cable_net.arrivals) {
		struct cable_arrival *next = cable_net.arrivals->next;

		close(cable_net.arrivals->fd);
		if (cable_net.arrivals->rdma)
			cable_net.verbs->free(cable_net.arrivals->rdma);
		if (cable_net.arrivals->relayed)
			cable_message_free(cable_net.arrivals->relayed);
		free(cable_net.arrivals);
		cable_net.arrivals = next;
	}
}

/* --- Work --- */

static void take_event(const struct epoll_event *event)
{
	enum cable_end *end = event->data.ptr;

	switch (*end) {
	case CABLE_LISTENER: accept_connections(); break;
	case CABLE_LINK: cable_link_ready((struct cable_link *)end, event->events); break;
	case CABLE_ARRIVAL: read_some((struct cable_arrival *)end); break;
	case CABLE_TIMER: cable_failure_check(); break;
	}
}

bool cable_work(void)
{
	struct epoll_event events[EVENTS];
	bool any;
	int n;

	/* Another thread that works does it for this one, too. */
	if (pthread_mutex_trylock(&cable_net.lock))
		return false;
	if (rte_is_broken()) { /* the memory and counters of calls that have returned */
		pthread_mutex_unlock(&cable_net.lock);
		return false;
	}
	any = cable_net.verbs && cable_net.verbs->work();
	n = epoll_wait(cable_net.epoll, events, EVENTS, 0);
	for (int i = 0; i < n; i++)
		take_event(&events[i]);
	cable_acknowledge();
	pthread_mutex_unlock(&cable_net.lock);
	return any || n > 0;
}
