/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_INSIDE_H
#define COMMS_TOFU_INSIDE_H

#include <pthread.h>

#include "comms/ops/ops.h"
#include "comms/core/network.h"
#include "tofu_library.h"

/*
 * What the files of the Tofu path share: tofu_library.c (loads uTofu), tofu_places.c (where PEs are, and which queue goes
 * where), tofu_tnis.c (the queues), tofu_queue.c (what is under way in them), tofu_ops.c (the operations), tofu_notify.c
 * (notifications), tofu_completion_numbers.c (completion numbers), tofu_gates.c (barriers), session_queues.c, tofu_broadcast.c
 * and tofu_edges.c (what the NIC does alone: broadcasts, and data between pairs). docs/tofu.md explains uTofu's own words.
 *
 * queue    one on each TNI that this PE may use, with all memory registered. All that goes to a PE goes by one of them, so that
 *          it can be in order
 * notice   an entry of a completion queue: TCQ has what was sent, MRQ what arrived
 * request  a communication that is under way. Its number is the edata of its notices, so there are at most 255, and neither
 *          the notices' queue nor uTofu's queue of orders can overflow. A caller that wants another one waits until one has ended
 * staging  memory of each request that the NIC can read and write, for small data that lies in unregistered memory
 */
enum { TOFU_TNIS = 6 }; /* TNIs of a node, at most */
enum { TOFU_REQUESTS = 255, TOFU_STAGING = 4096 };

struct tofu_queue {
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_SEGMENTS], staging;
	atomic_int under_way, listeners;
};

struct tofu_request {
	struct tofu_request *next_free;
	struct tofu_queue *queue;
	uint8_t number;
	int pe, notices;	/* notices: still to come */
	bool reports_sent;	/* one of the notices reports that the source may be reused */
	bool reports_only_sent; /* that is the only one */
	bool is_registered;
	utofu_stadd_t registered; /* for this request only */
	void *result;		  /* where to put what comes: an old value, or what came into the staging memory */
	size_t result_bytes;
	struct comms_request *completes; /* with the last of its transfers */
	atomic_int *arrived, *sent;	 /* counters to lower; NULL: nobody counts */
};

/* The counters that a transfer is in until it has arrived, and until its source may be reused. */
struct tofu_counters {
	atomic_int *arrived, *sent; /* NULL: nobody counts */
	struct comms_request *completes;
	unsigned long flags;
	uint8_t notice; /* the completion number that the target sees with the last transfer; 0: none */
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
	bool by_direction;	 /* SHMEM_TOFU_TNIS */
	atomic_bool is_recorded; /* by software Tofu */
	struct tofu_queue queue[TOFU_TNIS];
	int tnis;
	size_t most_bytes, most_small;
	struct tofu_channel main;
	pthread_mutex_t lock; /* of the queues and of the requests */
	char *staging;
	struct tofu_request requests[TOFU_REQUESTS + 1];
	atomic_int under_way_to[TOFU_REQUESTS +
				1]; /* by request: the PE plus 1, 0: at rest; for reports, which take no lock */
	struct tofu_request *free;
	atomic_int under_way;
	/* Messages whose arrival only the receiver learns, sent and received; queues that the NIC works through by itself. */
	_Atomic uint64_t unconfirmed, received;
	atomic_int sessions;
};
extern struct tofu tofu;

/* Of a peer: where its memory is in the network, from its first contact on. */
struct tofu_peer {
	uint64_t vcq; /* that of its queues which takes what comes from here, with a path to it */
	uint64_t memory[COMMS_SEGMENTS];
	int tni;		 /* by which of ours that goes */
	int theirs;		 /* and to which of its */
	atomic_bool unconfirmed; /* what went there last asked for no answer: see tofu_completion_numbers.c */
};
static inline struct tofu_peer *tofu_peer(const struct comms_peer *peer)
{
	return atomic_load_explicit(&peer->driver, memory_order_relaxed);
}

static inline utofu_stadd_t tofu_remote(const struct comms_place *there)
{
	return tofu_peer(there->peer)->memory[there->segment] + there->offset;
}

static inline utofu_stadd_t tofu_buffer(const struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset)
{
	return buffer->network[tofu_peer(peer)->theirs] + offset;
}

/* Of a request: how many of its transfers have not arrived. */
static inline atomic_int *tofu_left(struct comms_request *request)
{
	return (void *)request->driver;
}

static inline atomic_int *tofu_pending(struct comms_channel *channel)
{
	return &(channel ? (struct tofu_channel *)channel : &tofu.main)->pending;
}

/* What tofu_network is made of. tofu_places.c: where PEs are. tofu_tnis.c: the queues, and first contact with a peer. */
bool tofu_find(bool must);
void tofu_leave(void);
extern const struct comms_map tofu_map;

void tofu_start(void);
void *tofu_describe(size_t *size);
void tofu_connect(struct comms_peer *peer);
void tofu_forget(struct comms_peer *peer);
void tofu_stop(void);

/*
 * Which of so many queues a PE uses for what it sends to another one, and for what comes from there: by the direction that leads there. The
 * PEs of a node begin four queues apart, so that four directions of four PEs are spread as evenly as can be (docs/decisions/tofu.md).
 */
int tofu_tni_of(int pe, int other, int tnis);

/* Callers hold this lock while they use the queues. */
void tofu_lock(void);
void tofu_unlock(void);

_Noreturn void tofu_fail(const char *what, int pe, int code);
void tofu_check(int code, const char *what);

/* A request for a communication that is about to begin, counted by its counters; tofu_request_start hands it to uTofu. */
struct tofu_request *tofu_request_begin(const struct tofu_counters *counters, const struct comms_peer *peer);
void tofu_request_start(struct tofu_request *request, struct transfer *transfer);
char *tofu_request_staging(const struct tofu_request *request, utofu_stadd_t *stadd);
void tofu_request_register(struct tofu_request *request, void *memory, size_t bytes, bool read_only,
			   utofu_stadd_t *stadd);

/* tofu_ops.c: puts data, in transfers as long as the network allows; carries out an atomic. */
void tofu_start_puts(const struct tofu_counters *counters, struct comms_peer *peer, utofu_stadd_t there,
		     const struct network_piece *data);
void tofu_atomic(const struct tofu_counters *counters, const struct comms_place *there,
		 const struct comms_atomic *atomic, void *result);

/* tofu_notify.c: around the transfers of a request. */
struct tofu_counters tofu_begin_request(struct comms_request *request);
void tofu_end_beginning(struct comms_request *request);
void tofu_notify(struct comms_request *request, const struct network_notification *notification);
void tofu_complete(void);

/* Memory of the program's, for as long as it likes, with all queues. */
void *tofu_share(struct comms_buffer *buffer);
void tofu_unshare(const struct comms_buffer *buffer, void *handle);

/* Polls the queues; waits, by polling, until a counter is 0. */
bool tofu_progress(void);
void tofu_wait_for(atomic_int *counter);

/* A notice of a queue, with the lock. False: there is none. */
bool tofu_take_notice(const struct tofu_queue *queue);

/* tofu_completion_numbers.c; arrived: a message has come, with the lock. */
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

/* tofu_gates.c. False: these members use another method; this time, or always. */
bool tofu_gates_barrier(const struct comms_group *group);
bool tofu_gates_reduce(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count);
void tofu_gates_part(const struct comms_group *group);
void tofu_gates_stop(void);

#endif
