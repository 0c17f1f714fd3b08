/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_STATE_H
#define SOFTOFU_NET_STATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "softofu/net/net.h"

/*
 * The state inside a network, for the files of this folder.
 *
 * node     a place in the grid
 * port     an exit of a node's router: one link for each direction, then one receiving TNI for each
 *          TNI
 * input    a queue of packets in a router, in the order of arrival: for each link that ends here
 *          one for each channel, then for each sending TNI one for each class. Its first packet
 *          wants one port.
 * slot     room for one packet. The slots of an input are used in order.
 * agenda   ports that may have something to do, by modelled time; the earliest is served first
 *
 * Numbers that count packets only grow; differences are right when they wrap. Times are in
 * picoseconds. Everything except the receive queues and the counters of NET_THROUGH belongs to the
 * holder of the lock.
 */
#define NET_NEVER INT64_MAX

struct net_port {
	/*
	 * A bit for each input whose first packet leaves here; net_take reads it without the lock.
	 */
	_Atomic uint64_t wants;
	int64_t free_at;
	int64_t due;
	int32_t seat;	/* on the agenda, from 1; 0: it is not */
	int32_t served; /* the input that was served last */
};

struct net_input {
	uint32_t filled, freed; /* packets that came, and that went */
	int64_t head;		/* when the first packet came, or rather its first byte */
	int32_t port;		/* of its node, -1: there is no first packet */
	int32_t channel;	/* the next channel, if the port is a link */
};

/*
 * HERE: both ends are in this memory. OUT and IN: this end sends or receives, and the other end is
 * on another host.
 */
enum net_span { NET_HERE, NET_OUT, NET_IN, NET_ELSEWHERE };

struct net_link {
	int32_t from, to; /* nodes; to is -1 where there is no cable */
	/* Its direction, and the opposite one, by which the node at its end knows the cable. */
	uint8_t direction, enters;
	uint8_t span;
	bool cut;  /* and net_plan avoids it */
	bool dies; /* fails silently after carrying so many more packets */
	bool dead;
	uint64_t carries;

	/*
	 * The sending end. Packets from acknowledged to next are in the window; those from resend
	 * on must be sent (again).
	 */
	uint32_t acknowledged, resend, next;
	uint32_t used[NET_CHANNELS];  /* packets sent into each channel, the first time */
	uint32_t limit[NET_CHANNELS]; /* up to this number there is room at the other end */
	int64_t resume;		      /* not before this time */
	int64_t deadline;	      /* of an answer */
	int failures;		      /* in a row */

	/* The receiving end. */
	uint32_t expected;
	bool asked; /* for the expected packet, when a later one came */

	struct net_link_count count;
};

struct net_tni {
	int64_t free_at; /* as a sender */
	struct net_tni_count count;
};

/*
 * A receive queue is a ring of entries. Sequence 2n: free for the packet of round n. Sequence 2n +
 * 1: holds that packet.
 */
struct net_receive_entry {
	_Atomic uint64_t sequence;
	struct net_slot slot;
};

struct net_receive_queue {
	alignas(NET_ALIGN) _Atomic uint64_t appended;
	alignas(NET_ALIGN) _Atomic uint64_t taken;
};

struct net {
	struct net_settings settings;
	int directions, ports, inputs; /* of a node */
	int cut_links;		       /* known ones */
	/* Host of this memory; it only describes the nodes of other hosts. */
	int host;
	int64_t hop_time, send_time, take_time;
	double link_pace, tni_pace; /* picoseconds for a byte */

	/* Offsets of the parts, in bytes from here. */
	size_t coordinates, hosts, links, port_list, input_list, tni_list, agenda, freed_at, slots, windows,
		receive_queues, receive_entries, size;

	pthread_mutex_t lock;
	_Atomic int broken; /* 1: trouble is written */
	char trouble[NET_PROBLEM];
	uint64_t underway;
	_Atomic int agenda_length; /* net_step reads it without the lock */
	int64_t now, clock;
	uint64_t random_state; /* state of the random number generator */
	double bits_to_error;
};

static inline void *net_part(const struct net *net, size_t offset)
{
	return (char *)(uintptr_t)net + offset;
}

/* Coordinates, eight to a node. */
static inline const uint16_t *net_coordinates(const struct net *net, int node)
{
	return (const uint16_t *)net_part(net, net->coordinates) + 8 * (size_t)node;
}

static inline int net_link_number(const struct net *net, int node, int direction)
{
	return node * net->directions + direction;
}

static inline struct net_link *net_link(const struct net *net, int number)
{
	return (struct net_link *)net_part(net, net->links) + number;
}

static inline int net_port_number(const struct net *net, int node, int port)
{
	return node * net->ports + port;
}

static inline struct net_port *net_port(const struct net *net, int number)
{
	return (struct net_port *)net_part(net, net->port_list) + number;
}

static inline struct net_tni *net_tni(const struct net *net, int node, int tni)
{
	return (struct net_tni *)net_part(net, net->tni_list) + (size_t)node * (size_t)net->settings.tnis + tni;
}

/* Inputs of a node: the one of a link and a channel, and the one of a TNI and a class. */
static inline int net_input_of_link(int direction, int channel)
{
	return direction * NET_CHANNELS + channel;
}

static inline int net_input_of_tni(const struct net *net, int tni, int class)
{
	return net->directions * NET_CHANNELS + tni * NET_CLASSES + class;
}

static inline struct net_input *net_input(const struct net *net, int node, int input)
{
	return (struct net_input *)net_part(net, net->input_list) + (size_t)node * (size_t)net->inputs + input;
}

/* Packets that an input holds. */
static inline uint32_t net_depth(const struct net *net, int input)
{
	return (uint32_t)(input < net->directions * NET_CHANNELS ? net->settings.buffers : net->settings.queue);
}

/* The number of the slot for the n-th packet of an input. */
static inline size_t net_slot_number(const struct net *net, int node, int input, uint32_t n)
{
	size_t links = (size_t)(net->directions * NET_CHANNELS), buffers = (size_t)net->settings.buffers;
	size_t tnis = (size_t)net->inputs - links, queue = (size_t)net->settings.queue;
	size_t base = (size_t)node * (links * buffers + tnis * queue), in = (size_t)input;

	if (in < links)
		return base + in * buffers + n % (uint32_t)buffers;
	return base + links * buffers + (in - links) * queue + n % (uint32_t)queue;
}

static inline struct net_slot *net_slot(const struct net *net, size_t number)
{
	return (struct net_slot *)net_part(net, net->slots) + number;
}

/* When a slot was freed. */
static inline int64_t *net_freed_at(const struct net *net, size_t number)
{
	return (int64_t *)net_part(net, net->freed_at) + number;
}

/* The window slot that keeps the n-th packet of a link until it is acknowledged. */
static inline struct net_slot *net_window(const struct net *net, int link, uint32_t n)
{
	uint32_t window = (uint32_t)net->settings.window;

	return (struct net_slot *)net_part(net, net->windows) + (size_t)link * window + n % window;
}

static inline uint64_t net_wants(const struct net_port *port)
{
	return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)&port->wants, memory_order_relaxed);
}

static inline int64_t net_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t net_time(double pace, int bytes)
{
	return (int64_t)(pace * bytes + 0.5);
}

/* net_trouble() has the line. */
static inline bool net_is_broken(const struct net *net)
{
	return atomic_load_explicit((_Atomic int *)(uintptr_t)&net->broken, memory_order_relaxed);
}

/*
 * Counters are members of a public structure. The writer holds the lock, except in NET_THROUGH,
 * where several may count at once. Readers take no lock.
 */
#define net_add(counter, value) __atomic_store_n(counter, *(counter) + (value), __ATOMIC_RELAXED)
#define net_add_shared(counter, value) __atomic_fetch_add(counter, value, __ATOMIC_RELAXED)
#define net_counted(counter) __atomic_load_n(counter, __ATOMIC_RELAXED)

/* Fails the network. Keeps the first line only. Returns -1. */
int net_fail(struct net *net, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns false if the network has failed or the holder of the lock is dead. */
bool net_lock(struct net *net);
bool net_try_lock(struct net *net);
void net_unlock(struct net *net);

/* agenda.c */
/* Puts it on the agenda, or forward on it. */
void net_schedule(struct net *net, int port, int64_t due);
/* Takes the first off; -1: there is none. */
int net_earliest(struct net *net, int64_t *due);

/* route.c */
/* False: a cut link is on every route. */
bool net_plan(struct net *net, int from, int to, uint8_t *down);
/* -1: the packet is there. */
int net_next_direction(const struct net *net, int node, int to, uint8_t down);
const char *net_link_text(const struct net *net, const struct net_link *link, char text[NET_PROBLEM]);

/* router.c */
void net_show_first(struct net *net, int node, int input);
/* The first packet leaves, its last byte at end. */
void net_leave(struct net *net, int node, int input, int64_t end);
/* The input to serve; -1: none. */
int net_choose(struct net *net, int node, int port, int64_t *due);

/* link.c */
enum net_answer { NET_NO_ANSWER, NET_ACCEPTED, NET_REFUSED };
void net_serve_link(struct net *net, int node, int direction, int64_t now);
int64_t net_link_room(const struct net *net, const struct net_link *link,
		      int channel); /* since when; NET_NEVER: none */
enum net_answer net_receive(struct net *net, struct net_link *link, const struct net_slot *slot);
void net_handle_answer(struct net *net, struct net_link *link, enum net_answer answer, uint32_t expected, int64_t when);
void net_go_back(struct net *net, struct net_link *link, int64_t when);
void net_copy(struct net_slot *to, const struct net_slot *from);

/* faults.c */
uint64_t net_random(struct net *net);
enum net_fate { NET_GOOD, NET_DAMAGED, NET_VANISHED };
enum net_fate net_fate(struct net *net, struct net_link *link, int bytes);
void net_damage(struct net *net, struct net_slot *slot);

/* receive_queue.c */
bool net_receive_has_room(const struct net *net, const struct net_packet *packet);
bool net_receive_append(struct net *net, const struct net_packet *packet,
			const void *data); /* false: the queue is full */

/* net_tni.c */
void net_serve_tni(struct net *net, int node, int tni, int64_t now);

#endif
