/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CABLE_INSIDE_H
#define COMMS_CABLE_INSIDE_H

#include <pthread.h>

#include "cable_hosts.h"
#include "comms/core/network.h"
#include "comms/net/server.h"
#include "comms/observe/trace.h"

/*
 * Shared by the files of this network: cable_hosts.c (hosts, cables, routes), cable_addresses.c
 * (where PEs listen), cable_network.c (start and stop), cable_links.c (connections that send),
 * cable_arrivals.c (connections that receive), cable_messages.c (what a message does, and
 * acknowledgements), cable_failure.c (hosts and cables that are lost), cable_ops.c (operations),
 * cable_notify.c (notifications and buffers). docs/protocols/cables.md has the rules.
 *
 * link      a TCP connection from this PE to a PE of this host or of a neighbour; only one side
 *           sends messages, the other returns credits
 * arrival   the receiving end of another PE's link
 * flow      the messages of one PE to another one. They arrive in order. Flow 1 uses the second
 *           cable of a pair of hosts
 * message   an operation or an answer; it travels in one frame or in several
 * frame     a header, with data behind it
 * class     of a frame on a link: the number of cables that it has to go after this link. Frames of
 *           class 0 have reached their destination; others need a buffer of their class there
 * credit    the right to send a frame of a class, for a free buffer at the other end
 *
 * One lock protects all of it. No function waits with the lock held.
 */
enum {
	CABLE_COPIED = 4096,		/* bytes of data that a message may copy */
	CABLE_RELAYED_FRAME = 32 << 10, /* most data of a frame that is relayed */
	CABLE_FRAME = 256 << 10,	/* most data of another one */
	CABLE_CREDITS = 8,		/* of a link, for each class */
	CABLE_UNACKNOWLEDGED = 1024,	/* messages of a flow; then callers wait */
	CABLE_STAGED = 16 << 10,	/* bytes of a link's short frames that are sent at once */
	CABLE_SHORT = 1024,		/* bytes of data that are copied there */
	CABLE_FLOWS = 2
};

enum cable_kind {
	CABLE_PUT,    /* data, then a word */
	CABLE_ATOMIC, /* without a result */
	CABLE_FETCH,
	CABLE_READ,
	CABLE_ANSWER, /* to these two */
	CABLE_ACKNOWLEDGE
};

/* In front of each frame. All PEs run on one kind of processor. */
struct cable_header {
	uint8_t kind, op;  /* enum cable_kind, enum comms_amo */
	uint8_t width;	   /* of an atomic's word */
	uint8_t flow_last; /* bit 0: the flow; bit 1: last frame of its message */
	uint32_t bytes;	   /* of data behind the header */
	int32_t from, to;
	uint64_t there; /* address of the data; of an answer, its offset in the request */
	uint64_t word;	/* the word's address, 0: none */
	uint64_t value; /* operand; of a read, how many bytes; acknowledged messages */
	uint64_t compare;
	uint64_t token; /* of a request: its record */
	uint32_t event; /* for traces */
	uint32_t unused;
};
_Static_assert(sizeof(struct cable_header) == 64, "docs/protocols/cables.md has the layout");
#define CABLE_LAST 2

struct cable_message;
struct cable_arrival;

/* What becomes of a message when its last byte has been handed to the kernel. */
enum cable_fate {
	CABLE_FATE_ACKNOWLEDGED, /* it is kept until it is acknowledged */
	CABLE_FATE_ANSWERED,	 /* or answered */
	CABLE_FATE_FREED,
	CABLE_FATE_RELAYED, /* freed, and its buffer returned to the sender */
	CABLE_FATE_KEPT	    /* an acknowledgement, part of its flow */
};

struct cable_message {
	struct cable_message *next; /* in a queue of a link, or unacknowledged */
	struct cable_header header; /* of the next frame */
	const char *data;	    /* that is not in a frame yet */
	size_t left;
	enum cable_fate fate;
	atomic_int *sent;    /* decreased when the source may be reused; NULL: none */
	atomic_int *pending; /* decreased when it has taken effect; NULL: none */
	struct comms_request *request;
	char *dest;		      /* of an answer */
	size_t awaited;		      /* bytes of the answer that have not come */
	struct cable_arrival *origin; /* of a relayed frame; NULL: its connection is gone */
	int class;		      /* and the class of its buffer */
	char copy[];
};

struct cable_queue {
	struct cable_message *first, **last;
};

/* For epoll: what a descriptor is. */
enum cable_end { CABLE_LISTENER, CABLE_LINK, CABLE_ARRIVAL, CABLE_TIMER };

struct cable_link {
	enum cable_end end;
	int pe, fd;
	const char *port; /* the cable; NULL: none */
	bool connecting, waits_for_room, gone;
	int64_t unanswered; /* for cable_failure.c */
	int classes, turn;
	struct cable_queue *queue; /* by class */
	int *credits;
	/* The frame whose data is being sent, behind what is staged. */
	struct cable_message *current;
	int current_class;
	size_t current_bytes, current_sent;
	size_t staged, staged_sent;
	char stage[CABLE_STAGED];
};

struct cable_flow {
	struct cable_link *link;
	int class;
	/* Messages of this PE. */
	struct cable_queue unacknowledged;
	_Atomic int outstanding;
	uint64_t acknowledged;
	/* Messages of the peer. */
	uint64_t done;
	bool due, acknowledging;
	struct cable_flow *next_due;
	struct cable_message answer; /* the acknowledgement */
};

/* The record of a PE that this one has sent to or received from. */
struct cable_peer {
	int pe;
	struct cable_flow flow[CABLE_FLOWS];
};

struct cable_channel {
	atomic_int pending;
};

struct cable_net {
	pthread_mutex_t lock;
	int epoll, listener;
	uint16_t port; /* of the listener */
	uint64_t key[2];
	void *greetings; /* that were accepted */
	struct cable_peer **peers;
	struct cable_link **links; /* by PE; behind them, those of the second cables */
	struct cable_arrival *arrivals;
	struct cable_flow *due; /* flows whose sender waits for an acknowledgement */
	struct cable_channel main;
	atomic_int under_way; /* messages without acknowledgement or answer */
	atomic_int awaited;   /* of these, those that wait for an answer */
	_Atomic uint64_t sent, carried_out;
	int relay_buffers; /* in use now, and the bytes in them */
	size_t relay_memory;
	atomic_bool ending; /* peers may close their connections */
	struct network_server server;
};
extern struct cable_net cable_net;

/* cable_network.c */
struct sockaddr_storage;
bool cable_find(bool must);
void cable_start(void);
void cable_connect(struct comms_peer *peer);
void cable_open(void);
void cable_forget(struct comms_peer *peer);
void cable_stop(void);
void cable_sent_to(const int *pes, int n, struct network_sent *sent);

/* cable_addresses.c */
void cable_addresses_start(void);
void cable_addresses_stop(void);
void *cable_describe(size_t *bytes);
/* Takes over the key of the job that PE 0 has published. */
void cable_read_key(void);
/* Cables that had no carrier when PEs published their ports are used no more. */
void cable_check_carriers(void);
/* Where a PE listens, by the cable or the network of the route. Returns the address's length. */
unsigned cable_address(const struct cable_route *route, struct sockaddr_storage *address);
/* The same by the network that joins all hosts, of any PE; 0: there is none. */
unsigned cable_common_address(int pe, struct sockaddr_storage *address);
/* The cable of a connection; NULL: none. */
const char *cable_port_of(int fd);

/* cable_failure.c */
void cable_failure_start(void);
void cable_failure_stop(void);
/* The timer has expired. Call with the lock held. */
void cable_failure_check(void);
/*
 * Ends the job, unless the connection was closed and that is no error any more. error 0: it was
 * closed at the other end; ETIMEDOUT: the host is silent.
 */
void cable_lost(int pe, const char *port, int error);

/* cable_links.c. All but cable_submit need the lock. */
struct cable_flow *cable_flow_to(int pe, int flow);
struct cable_link *cable_link_to(int pe, bool second);
void cable_queue_add(struct cable_queue *queue, struct cable_message *message);
struct cable_message *cable_queue_take(struct cable_queue *queue);
void cable_send(struct cable_flow *flow, struct cable_message *message);
void cable_link_ready(struct cable_link *link, unsigned events);
void cable_link_flush(struct cable_link *link);
void cable_link_free(struct cable_link *link);
/* Tells the kernel what to report about a descriptor. */
void cable_watch(int operation, int fd, unsigned events, void *end);

/* cable_arrivals.c */
struct cable_arrival {
	enum cable_end end;
	int fd, pe; /* pe -1: not known yet */
	struct cable_arrival *next;
	bool gone;
	int64_t unanswered; /* for cable_failure.c */
	struct cable_header header;
	/* The frame's data that has not come; for a relayed one, the message that it becomes. */
	char *dest;
	size_t left;
	struct cable_message *relayed;
	size_t begin, filled; /* of the buffer: bytes that are not taken yet */
	char buffer[CABLE_STAGED];
};
void cable_listen(void);
bool cable_work(void);
void cable_arrivals_free(void);
/* A buffer is free again. */
void cable_return_credit(struct cable_arrival *arrival, int class);

/* cable_messages.c */
struct cable_message *cable_message_new(enum cable_kind kind, int pe, size_t copied);
void cable_message_free(struct cable_message *message);
/* The last byte has been handed to the kernel. Call with the lock held. */
void cable_message_sent(struct cable_flow *flow, struct cable_message *message);
/* Where data of a frame to this PE goes. */
char *cable_frame_place(const struct cable_header *header);
/* The frame is complete; its data is in place, or at data if that is not NULL. */
void cable_frame_arrived(const struct cable_header *header, const char *data);
void cable_relay_frame(struct cable_message *message);
/* Sends acknowledgements that are due. */
bool cable_acknowledge(void);

/* cable_ops.c */
static inline atomic_int *cable_pending(struct comms_channel *channel)
{
	return &(channel ? (struct cable_channel *)channel : &cable_net.main)->pending;
}
/*
 * Sends a message of this flow. With may_wait, waits first while the flow has too many. The caller
 * has no lock.
 */
void cable_submit(struct cable_message *message, int flow, bool may_wait);
void cable_wait_for(atomic_int *counter);
bool cable_progress(void);
struct cable_message *cable_put_message(int pe, uint64_t there, const void *source, size_t bytes, bool copied);
struct cable_message *cable_read_message(int pe, uint64_t there, void *dest, size_t bytes);
static inline uint64_t cable_place(const struct comms_place *place)
{
	return (uint64_t)(uintptr_t)(place->peer->remote_base[place->segment] + place->offset);
}
static inline uint32_t cable_event(void)
{
	return COMMS_UNLIKELY(comms.traced) ? trace_take_event() : 0;
}

/* cable_notify.c */
void cable_notify(struct comms_request *request, const struct network_notification *notification);
extern const struct network_buffers cable_buffers;

#endif
