/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_INSIDE_H
#define COMMS_TOFU_INSIDE_H

#include <pthread.h>

#include "comms/ops/ops.h"
#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "tofu_library.h"

/*
 * Shared by the files of the Tofu path: tofu_library.c (loads uTofu), tofu_places.c (where PEs are,
 * and which queue goes where), tofu_tnis.c (the queues), tofu_queue.c (outstanding transfers),
 * tofu_ops.c (the operations), tofu_notify.c (notifications), tofu_completion_numbers.c (completion
 * numbers), tofu_gates.c (barriers), session_queues.c, tofu_broadcast.c and tofu_edges.c (what the
 * NIC does alone: broadcasts, and data between pairs). docs/tofu.md explains uTofu's words.
 *
 * queue    one on each TNI that this PE may use, with all memory registered. Everything for one PE
 *          uses the same queue, so that order is possible
 * notice   an entry of a completion queue: the TCQ reports sent data, the MRQ arrivals
 * request  an outstanding communication. Its number is the edata of its notices, so there are at
 *          most 255, and neither the notices' queue nor uTofu's queue of orders can overflow. A
 *          caller that finds none free waits until one has ended
 * staging  memory of each request that the NIC can access, for small data in unregistered memory
 */
enum { TOFU_TNIS = 6 }; /* most TNIs of a node */
enum { TOFU_REQUESTS = 255, TOFU_STAGING = 4096 };

struct tofu_queue {
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_FIXED_SEGMENTS], staging;
	atomic_int under_way, listeners;
};

struct tofu_request {
	struct tofu_request *next_free;
	struct tofu_queue *queue;
	uint8_t number;
	int pe, notices;	/* notices: still to come */
	bool reports_sent;	/* one of the notices reports that the source may be reused */
	bool reports_only_sent; /* it is the only notice */
	bool is_registered;
	utofu_stadd_t registered; /* for this request only */
	/* Where to store the result: an old value, or data from the staging memory. */
	void *result;
	size_t result_bytes;
	struct comms_request *completes; /* request to complete with its last transfer */
	atomic_int *arrived, *sent;	 /* counters to decrease; NULL: none */
};

/* The counters of a transfer: one until it has arrived, one until its source may be reused. */
struct tofu_counters {
	atomic_int *arrived, *sent; /* NULL: none */
	struct comms_request *completes;
	unsigned long flags;
	uint8_t notice; /* completion number that the target gets with the last transfer; 0: none */
};

enum transfer_kind { TRANSFER_PUT, TRANSFER_SMALL_PUT, TRANSFER_GET, TRANSFER_ATOMIC };

struct transfer {
	enum transfer_kind kind;
	const struct comms_peer *peer;
	utofu_stadd_t here, there;
	const void *data; /* of a small put */
	size_t bytes;
	enum comms_amo op;
	uint64_t operand, cond;
	unsigned long flags;
	uint8_t notice;
};

struct tofu_channel {
	atomic_int pending;
};

struct tofu {
	atomic_bool is_recorded; /* software Tofu records this job */
	struct tofu_queue queue[TOFU_TNIS];
	int tnis;
	size_t most_bytes, most_small;
	struct tofu_channel main;
	pthread_mutex_t lock; /* protects the queues and the requests */
	char *staging;
	struct tofu_request requests[TOFU_REQUESTS + 1];
	/* By request: PE plus 1, 0 if free; for reports, which take no lock. */
	atomic_int under_way_to[TOFU_REQUESTS + 1];
	struct tofu_request *free;
	atomic_int under_way;
	/*
	 * Messages whose arrival only the receiver sees, sent and received; queues that the NIC
	 * processes by itself.
	 */
	_Atomic uint64_t unconfirmed, received;
	atomic_int sessions;
};
extern struct tofu tofu;

/* The record of a peer: where its memory is in the network, from the first contact on. */
struct tofu_peer {
	uint64_t vcq; /* its queue that receives from here, with a path to it */
	uint64_t memory[COMMS_FIXED_SEGMENTS];
	int tni;    /* the TNI of this PE that sends there */
	int theirs; /* the TNI of that PE that receives */
	/* The last message there asked for no answer: see tofu_completion_numbers.c. */
	atomic_bool unconfirmed;
};
static inline struct tofu_peer *tofu_peer(const struct comms_peer *peer)
{
	return atomic_load_explicit(&peer->driver, memory_order_relaxed);
}

static inline utofu_stadd_t tofu_remote(const struct comms_place *there)
{
	const struct tofu_peer *peer = tofu_peer(there->peer);

	if (there->segment < COMMS_FIXED_SEGMENTS)
		return peer->memory[there->segment] + there->offset;
	return comms_region_of(there->peer, there->segment)->network[peer->theirs] + there->offset;
}

static inline utofu_stadd_t tofu_buffer(const struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset)
{
	return buffer->network[tofu_peer(peer)->theirs] + offset;
}

/* Number of transfers of a request that have not arrived. */
static inline atomic_int *tofu_left(struct comms_request *request)
{
	return (void *)request->driver;
}

static inline atomic_int *tofu_pending(struct comms_channel *channel)
{
	return &(channel ? (struct tofu_channel *)channel : &tofu.main)->pending;
}

/*
 * The functions of tofu_network. tofu_places.c: where PEs are. tofu_tnis.c: the queues, and the
 * first contact with a peer.
 */
bool tofu_find(bool must);
void tofu_leave(void);
extern const struct comms_map tofu_map;

void tofu_start(void);
void *tofu_describe(size_t *size);
void tofu_connect(struct comms_peer *peer);
void tofu_forget(struct comms_peer *peer);
void tofu_stop(void);

/*
 * Which of a PE's queues sends to another PE, and which receives from it: by the direction of that
 * PE. PEs of a node begin four queues apart, which spreads four directions of four PEs evenly
 * (docs/decisions/tofu.md).
 */
int tofu_tni_of(int pe, int other, int tnis);

/* Callers hold this lock while they use the queues. */
void tofu_lock(void);
void tofu_unlock(void);

_Noreturn void tofu_fail(const char *what, int pe, int code);
void tofu_check(int code, const char *what);

/*
 * Takes a request for a communication and adds it to its counters; tofu_request_start passes it to
 * uTofu.
 */
struct tofu_request *tofu_request_begin(const struct tofu_counters *counters, const struct comms_peer *peer);
void tofu_request_start(struct tofu_request *request, struct transfer *transfer);
char *tofu_request_staging(const struct tofu_request *request, utofu_stadd_t *stadd);
void tofu_request_register(struct tofu_request *request, void *memory, size_t bytes, bool read_only,
			   utofu_stadd_t *stadd);

/* tofu_ops.c: put data, in transfers no longer than the network allows; carry out an atomic. */
void tofu_start_puts(const struct tofu_counters *counters, struct comms_peer *peer, utofu_stadd_t there,
		     const struct network_piece *data);
void tofu_atomic(const struct tofu_counters *counters, const struct comms_place *there,
		 const struct comms_atomic *atomic, void *result);

/* tofu_notify.c: called before and after the transfers of a request. */
struct tofu_counters tofu_begin_request(struct comms_request *request);
void tofu_end_beginning(struct comms_request *request);
void tofu_notify(struct comms_request *request, const struct network_notification *notification);
void tofu_complete(void);

/* Registers memory of the program with all queues, until it is released. */
void *tofu_share(struct comms_buffer *buffer, const char *routine);
void tofu_unshare(const struct comms_buffer *buffer, void *handle);

/* Polls the queues; the second polls until a counter is 0. */
bool tofu_progress(void);
void tofu_wait_for(atomic_int *counter);

/* Reads a notice of a queue; the caller holds the lock. Returns false if there is none. */
bool tofu_take_notice(const struct tofu_queue *queue);

/* tofu_completion_numbers.c; arrived: a message has arrived, the caller holds the lock. */
uint8_t tofu_completion_listen(struct comms_peer *from, _Atomic uint64_t *word, uint64_t value, uint64_t step);
void tofu_completion_release(struct comms_peer *from, uint8_t notice);
void tofu_needed(struct comms_peer *from, uint8_t notice);
void tofu_completion_arrived(const struct tofu_queue *queue, uint8_t notice);

/* tofu_broadcast.c, tofu_edges.c, session_queues.c. */
struct comms_session *tofu_session_open(int trees, const int *children, struct comms_session_shown *shown);
void tofu_session_write(struct comms_session *session, const struct comms_session_tree *session_trees,
			const struct comms_readiness *ready);
struct comms_session *tofu_session_open_edges(const struct comms_edge_out *out, int outs, int ins,
					      uint64_t *ready_queue);
void tofu_session_write_edges(struct comms_session *session, const struct comms_edges *edges, _Atomic uint64_t *run);
void tofu_session_start(struct comms_session *session, uint64_t run);
bool tofu_session_is_over(struct comms_session *session);
void tofu_session_close(struct comms_session *session);

/* tofu_gates.c. False: these members use another method, this time or always. */
bool tofu_gates_barrier(const struct comms_group *group);
bool tofu_gates_reduce(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count);
void tofu_gates_part(const struct comms_group *group);
void tofu_gates_stop(void);

#endif
