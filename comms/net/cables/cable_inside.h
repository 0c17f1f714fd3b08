/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CABLE_INSIDE_H
#define COMMS_CABLE_INSIDE_H

#include <pthread.h>

#include "cable_hosts.h"
#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "comms/net/server.h"
#include "comms/observe/trace.h"

/*
 * Shared by the files of this network: cable_hosts.c (hosts, cables, routes), cable_addresses.c
 * (where PEs listen), cable_network.c (start and stop), cable_links.c (connections that send),
 * cable_arrivals.c (connections that receive), cable_messages.c (what a message does, and
 * acknowledgements), cable_failure.c (hosts and cables that are lost), cable_ops.c (operations),
 * cable_notify.c (notifications and buffers), cable_verbs.c (RDMA). docs/protocols/cables.md has
 * the rules.
 *
 * link      a TCP connection from this PE to a PE of this host or of a neighbour; only one side
 *           sends messages, the other returns credits. Where both ports of the cable have an RDMA
 *           device, messages go by that instead
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
	CABLE_ROOM = 255,		/* no class: half of an RDMA link's slots are free */
	CABLE_FLOWS = 2
};

enum cable_kind {
	CABLE_PUT,    /* data, then a word */
	CABLE_ATOMIC, /* without a result */
	CABLE_FETCH,
	CABLE_READ,
	CABLE_ANSWER, /* to these two */
	CABLE_ACKNOWLEDGE,
	CABLE_ASK_KEY, /* between neighbours: for the key of this memory */
	CABLE_KEY
};

/* In front of each frame. All PEs run on one kind of processor. */
struct cable_header {
	uint8_t kind, op;  /* enum cable_kind, enum comms_amo */
	uint8_t width;	   /* of an atomic's word */
	uint8_t flow_last; /* bit 0: the flow; bits 1 and 2: below */
	uint32_t bytes;	   /* of data behind the header */
	int32_t from, to;
	uint64_t there; /* address of the data; of an answer, its offset in the request */
	/* The word's address; of a read and its answer, symmetric memory for the data; 0: none. */
	uint64_t word;
	uint64_t value; /* operand; of a read, how many bytes; acknowledged messages */
	uint64_t compare;
	uint64_t token; /* of a request: its record */
	uint32_t event; /* for traces */
	uint32_t unused;
};
_Static_assert(sizeof(struct cable_header) == 64, "docs/protocols/cables.md has the layout");
#define CABLE_LAST 2	 /* the last frame of its message */
#define CABLE_IN_PLACE 4 /* RDMA has written the data to its place; none is behind the header */

/* Behind the greeting of a connection. */
struct cable_hello {
	int32_t pe;
	uint32_t offers; /* 1: an offer follows, and the receiver answers it before all else */
};

/* Addresses of a port's RDMA device: of its IPv4 address, and of its link; zeros: none. */
enum { CABLE_GID_IPV4, CABLE_GID_LINK, CABLE_GIDS };
struct cable_gids {
	uint8_t gid[CABLE_GIDS][16];
};

/* An end of a queue pair. */
struct cable_pair {
	uint32_t number, packet, mtu; /* packet: the first one's number; mtu: enum ibv_mtu */
};

struct cable_offer {
	uint32_t kind; /* which addresses both ends use: CABLE_GID_... */
	struct cable_pair pair;
	uint8_t gid[16], its_gid[16];
	char port[TORUS_PORT]; /* at the receiver */
};

struct cable_answer {
	uint32_t taken; /* 0: the link uses TCP */
	struct cable_pair pair;
};
_Static_assert(sizeof(struct cable_hello) == 8 && sizeof(struct cable_offer) == 64 && sizeof(struct cable_answer) == 16,
	       "docs/protocols/cables.md has the layout");

struct cable_message;
struct cable_arrival;
struct cable_rdma;

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
	/* RDMA may write its data when so many of the flow are acknowledged. */
	uint64_t after;
	bool lent; /* RDMA reads the data where it is */
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
	int64_t unanswered;	   /* for cable_failure.c */
	struct cable_rdma *rdma;   /* NULL: its frames go by TCP */
	struct cable_offer *offer; /* until it is answered; NULL: none is under way */
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
	uint64_t fences, fenced; /* fences seen; messages before the last of them */
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
	void *greetings;		     /* that were accepted */
	_Atomic(struct cable_peer *) *peers; /* reports read it without the lock */
	struct cable_link **links;	     /* by PE; behind them, those of the second cables */
	struct cable_arrival *arrivals;
	struct cable_flow *due; /* flows whose sender waits for an acknowledgement */
	struct cable_channel main;
	atomic_int under_way; /* messages without acknowledgement or answer */
	atomic_int awaited;   /* of these, those that wait for an answer */
	_Atomic uint64_t sent, carried_out;
	_Atomic uint64_t fences;
	int fetching;	   /* atomics without an answer */
	int relay_buffers; /* in use now, and the bytes in them */
	size_t relay_memory;
	atomic_bool ending;		 /* peers may close their connections */
	const struct cable_verbs *verbs; /* NULL: no cable of this host has an RDMA device */
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
/* Takes over the addresses of the ports' RDMA devices, which neighbours need to know. */
void cable_addresses_add_devices(void);
void *cable_describe(size_t *bytes);
/* Takes over the key of the job that PE 0 has published. */
void cable_read_key(void);
/* Cables without a carrier or addresses when PEs published their ports are used no more. */
void cable_check_cables(void);
/*
 * Where a PE listens, by the cable or the network of the route, and the RDMA addresses of the
 * cable's port there. Returns the address's length.
 */
unsigned cable_address(const struct cable_route *route, struct sockaddr_storage *address, struct cable_gids *gids);
/* The same by the network that joins all hosts, of any PE; 0: there is none. */
unsigned cable_common_address(int pe, struct sockaddr_storage *address);
/* The cable of a connection; NULL: none. */
const char *cable_port_of(int fd);
/* Do both ports of the cable to this neighbour have an RDMA device? */
bool cable_has_rdma(const struct cable_route *route);

/* cable_failure.c */
void cable_failure_start(void);
void cable_failure_stop(void);
/* The timer has expired. Call with the lock held. */
void cable_failure_check(void);
/*
 * Ends the job, unless the connection was closed and that is no error any more. error 0: it was
 * closed at the other end; ETIMEDOUT: the host is silent; EIO: RDMA to it has failed.
 */
void cable_lost(int pe, const char *port, int error);

/* cable_links.c. All but cable_submit need the lock. */
struct cable_flow *cable_flow_to(int pe, int flow);
void cable_queue_add(struct cable_queue *queue, struct cable_message *message);
struct cable_message *cable_queue_take(struct cable_queue *queue);
void cable_send(struct cable_flow *flow, struct cable_message *message);
void cable_link_ready(struct cable_link *link, unsigned events);
void cable_link_flush(struct cable_link *link);
void cable_link_free(struct cable_link *link);
/* Ends the job, unless all PEs have completed their operations. */
void cable_link_lose(struct cable_link *link, int error);
/* The header of a message's next frame, with this much data. Takes the frame's credit. */
struct cable_header cable_frame_begin(struct cable_link *link, struct cable_message *message, int class, size_t bytes);
/* The frame has been handed over, or copied. The message may be gone. */
void cable_frame_end(struct cable_link *link, struct cable_message *message, int class, size_t bytes);
/* Tells the kernel what to report about a descriptor. */
void cable_watch(int operation, int fd, unsigned events, void *end);

/* cable_arrivals.c */
struct cable_arrival {
	enum cable_end end;
	int fd, pe; /* pe -1: not known yet */
	struct cable_arrival *next;
	bool gone;
	int64_t unanswered;	 /* for cable_failure.c */
	struct cable_rdma *rdma; /* NULL: frames come by TCP */
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
void cable_arrival_lose(struct cable_arrival *arrival, int error);
/* A frame that has come as a whole. */
void cable_arrival_take(struct cable_arrival *arrival, const char *frame, size_t bytes);
/* A buffer is free again. */
void cable_return_credit(struct cable_arrival *arrival, int class);

/* cable_messages.c */
struct cable_message *cable_message_new(enum cable_kind kind, int pe, size_t copied);
void cable_message_free(struct cable_message *message);
/* The last byte has been handed to the kernel. Call with the lock held. */
void cable_message_sent(struct cable_flow *flow, struct cable_message *message);
/* May RDMA write the data of this message of ours, beside messages that are under way? */
bool cable_message_is_free(const struct cable_message *message);
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
	return (uint64_t)(uintptr_t)(comms_segment_remote(place->peer, place->segment).base + place->offset);
}
static inline uint32_t cable_event(void)
{
	return COMMS_UNLIKELY(comms.traced) ? trace_take_event() : 0;
}

/* cable_notify.c */
void cable_notify(struct comms_request *request, const struct network_notification *notification);
extern const struct network_buffers cable_buffers;

/* cable_verbs.c: RDMA over the cables whose ports have a device. All need the lock. */
struct cable_verbs {
	/*
	 * Opens the devices at this host's cables. Returns a descriptor for the server to sleep on;
	 * -1: there are none.
	 */
	int (*start)(void);
	void (*stop)(void);
	/* The addresses of a port; NULL: it has no device. */
	const struct cable_gids *(*gids)(const char *port);

	/* Can a queue pair join these ports? */
	bool (*reaches)(const char *port, const struct cable_gids *its);
	/* Makes the queue pair of a link whose receiver has these addresses. False: use TCP. */
	bool (*offer)(struct cable_link *link, const struct cable_route *route, const struct cable_gids *its,
		      struct cable_offer *offer);
	/* Connects it. False: use TCP. */
	bool (*begin)(struct cable_link *link, const struct cable_offer *offer, const struct cable_answer *answer);
	/* Makes the queue pair of an arrival, or answers that the link uses TCP. */
	void (*accept)(struct cable_arrival *arrival, const struct cable_offer *offer, struct cable_answer *answer);
	void (*free)(struct cable_rdma *rdma);

	/* May the link send a frame now? */
	bool (*has_room)(const struct cable_rdma *rdma);
	/* Sends the message's next frame. */
	void (*send)(struct cable_link *link, struct cable_message *message, int class);
	/* The receiver returned CABLE_ROOM. */
	void (*add_room)(struct cable_rdma *rdma);
	void (*add_sent)(const struct cable_rdma *rdma, struct network_sent *sent);

	/* Keys of memory: a neighbour asks for one; one has come. */
	void (*give_key)(const struct cable_arrival *arrival);
	void (*take_key)(const struct cable_header *header);

	/* Takes what the devices have done. Returns false if there was nothing. */
	bool (*work)(void);
	/* Does the descriptor tell of the next thing that they do? Call without the lock. */
	bool (*may_sleep)(void);
};
#if HAVE_VERBS
extern const struct cable_verbs cable_verbs;
#endif

#endif
