/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_INSIDE_H
#define COMMS_UCX_INSIDE_H

#include <pthread.h>

#include "comms/ops/ops.h"
#include "comms/core/network.h"
#include "ucx_failure.h"
#include "ucx_filter.h"
#include "ucx_library.h"

/*
 * What the files of the UCX path share: ucx.c (start, stop, connections), ucx_server.c (the serving thread), ucx_channels.c (channels and
 * their connections), ucx_epochs.c (private channels' epochs), ucx_completion.c (quiet, fence, waiting), ucx_ops.c (the operations),
 * ucx_messages.c and ucx_requests.c (operations as messages, at their origin), ucx_target.c and ucx_answers.c (the same at their target),
 * ucx_notify.c (data with a flag), ucx_batch.c (several of these in one message).
 *
 * connection  struct ucx_peer: a worker's endpoint at a PE, with the keys of the PE's memory
 * mark        what a channel knows of a connection: has it used it since its last quiet
 * message     a request of one PE's library to another's: docs/protocols/messages.md
 */

struct mark {
	_Atomic(struct comms_channel *) channel; /* NULL: free for another channel */
	struct ucx_peer *peer;
	atomic_bool touched;
	atomic_bool unflushed; /* by puts of UCX, which only a flush completes */
	_Atomic uint64_t sent; /* the last message that a quiet waits for */
	/* of the channel, before the last operation here; only where there are puts of UCX */
	atomic_uint fences;
	atomic_int unanswered[2];	  /* nonblocking operations whose result has not come: see await_answers */
	atomic_uint half;		  /* which of the two new operations count in */
	struct mark *next;		  /* of the channel's touched ones */
	_Atomic(struct mark *) next_here; /* of the same connection */
	struct mark *next_of_channel;	  /* of those to be freed with it */
	struct mark *next_flushed;	  /* a quiet's own, and so are the next three */
	ucs_status_ptr_t flushing;
	uint64_t awaited;
	atomic_bool in_flush;
};

/* Data for an address of the target's memory, then a value for a word there. No data: bytes is 0; no word: word is 0. */
struct ucx_item {
	uint64_t there, word, value, bytes;
};
#define UCX_ITEM_EVENT 32 /* in a batch, the event is in bytes, shifted by this */

/* The header of a request. */
struct ucx_message {
	uint32_t pe, stream;	 /* the sender, and which of its connections */
	uint64_t sequence;	 /* in that stream, from 1 */
	uint8_t kind, op, width; /* op: what is done to the word, an enum comms_amo */
	uint8_t acknowledge;	 /* the sender waits until it is carried out */
	uint32_t event;		 /* of the sender's trace, 0: none */
	uint64_t token;		 /* identifies the request that an answer belongs to */
	uint64_t compare;
	struct ucx_item item;
};
_Static_assert(sizeof(struct ucx_message) == 72, "the same on all PEs");

struct ucx_peer {
	ucp_ep_h endpoint;
	ucp_rkey_h key[COMMS_SEGMENTS]; /* NULL: puts and gets are messages */
	char *base[COMMS_SEGMENTS];	/* in the peer's address space */
	int pe;
	_Atomic(const char *) last_routine; /* that sent something by it; NULL: not known */
	uint32_t stream;		    /* its number; the PE never uses it for another connection */
	struct ucx_message hello;	    /* the first message */
	_Atomic uint64_t sent;		    /* how many messages */
	_Atomic uint64_t acknowledged;	    /* how many of them have been carried out, as far as is known */
	struct mark mark;		    /* of the channel that the worker is of; others' hang on it */
	struct ucx_peer *next;		    /* of those that are closed */
	/* Of the main worker's: the same by the second cable between the nodes; NULL: not connected yet. */
	_Atomic(struct ucx_peer *) second;
};

/* What this PE publishes: the lengths and where UCX listens, then the worker's address, then the keys. */
struct ucx_info {
	uint32_t address_bytes;
	uint32_t key_bytes[COMMS_SEGMENTS];
	struct socket_address listens[FAILURE_ADDRESSES];
	struct ucx_filter_info filter;
};

struct comms_channel {
	ucp_worker_h worker; /* of a private channel: NULL until it is needed */
	bool private;
	_Atomic(struct mark *) touched;
	atomic_int unsent;  /* nonblocking operations that UCX has not finished */
	atomic_uint fences; /* how many there have been */

	/* Channels that share the main worker. */
	pthread_mutex_t marking; /* of the list of touched ones */
	pthread_mutex_t quieting;
	atomic_bool quiet_under_way;
	struct mark *marks; /* those to be freed with the channel */

	/* Private channels: epochs, see ucx_epochs.c; then connections by PE, in a table of a power of two places. */
	atomic_uint epoch;
	atomic_bool pushed;
	unsigned epoch_seen; /* of the thread that pushes, and so are the next three */
	bool offered;
	struct comms_channel *previous, *next, *next_spare;
	struct ucx_peer **peers;
	unsigned places, n_peers;
};

struct ucx {
	ucp_context_h context;
	struct comms_channel main; /* the default channel; its worker is the one that other PEs know */
	ucp_mem_h memory[COMMS_SEGMENTS];
	struct socket_address listens[FAILURE_ADDRESSES]; /* where the main worker takes connections */
	atomic_bool ending;
	ucp_err_handling_mode_t failure_mode;
	bool serialized;     /* UCX has no locks, and calls of it take ours; until the process ends */
	bool rma;	     /* puts and gets are UCX's, which a NIC carries out; else they are messages */
	int longest_sleep;   /* of whoever waits for UCX's events, in milliseconds; -1: as long as one likes */
	int processors;	     /* for each PE of the node; 0: PEs share them */
	int event_fd;	     /* UCX's: readable when the main worker has something to do */
	atomic_uint streams; /* the number of the last one */
	bool served;
	atomic_bool resting; /* the server is to end */
	pthread_t server;
	atomic_bool blocking;		/* the PE blocks and progresses UCX by itself */
	_Atomic uint32_t in_timed_wait; /* the server is, because the PE progresses UCX */
	atomic_uint visits; /* times that others than the server have progressed the main worker, approximately */
	pthread_mutex_t connecting;
	/* For the search for deadlocks: messages sent and carried out, results that have not come, data of which a part has not been sent. */
	_Atomic uint64_t sent, carried_out;
	atomic_int results, partial;
	struct ucx_peer *closed; /* connections, to be freed with the main worker */
};
extern struct ucx ucx;

/* For operations that need no callback. */
extern const ucp_request_param_t ucx_plain;

void ucx_check(ucs_status_t status, const char *what);
/*
 * What was to go to a PE, or COMMS_NOBODY. If that has lost its peer, the connection's own message ends the job, but maybe in another thread,
 * which gets time for it.
 */
void ucx_must_succeed(ucs_status_t status, const char *what, int pe);

/* What to start UCX with; the caller releases it. */
ucp_config_t *ucx_choices(void);
ucp_err_handling_mode_t ucx_failure_mode(void);
/* Are puts and gets to be UCX's (SHMEM_UCX_PROTOCOL)? */
bool ucx_wants_rma(void);
ucp_worker_h ucx_make_worker(ucs_thread_mode_t mode);
/*
 * Call with the main worker, before another thread calls UCX: if the worker did not get UCS_THREAD_MODE_MULTI, calls of UCX take a lock from now
 * on.
 */
void ucx_serialize_if_needed(ucp_worker_h worker);
/* In words, for SHMEM_INFO; NULL: UCX has thread support. */
const char *ucx_threads_text(void);
/* A connection of the channel's worker. */
struct ucx_peer *ucx_connect(struct comms_channel *channel, struct comms_peer *peer);
/* The main worker's connection, made on first use; and that by the second cable. */
struct ucx_peer *ucx_peer(struct comms_peer *peer);
struct ucx_peer *ucx_second_peer(struct comms_peer *peer);
void ucx_release_keys(struct ucx_peer *peer);
/* Lets the main worker work; nonzero: it did something. */
unsigned ucx_work(void);

#define UCX_MESSAGE_MOST (60 << 10)  /* bytes of data; with UCX's own they fit a segment of 64 KiB */
#define UCX_PIECE_MOST (250UL << 10) /* bytes of a long put or get; with UCX's own they fit a segment of 256 KiB */

static inline uint64_t ucx_remote(const struct ucx_peer *peer, enum comms_segment_id segment, size_t offset)
{
	return (uint64_t)(uintptr_t)(peer->base[segment] + offset);
}

/* The caller uses the channel, so the mark stays the channel's. */
static inline struct comms_channel *mark_channel(struct mark *mark)
{
	return atomic_load_explicit(&mark->channel, memory_order_relaxed);
}

static inline struct comms_channel *channel_or_main(struct comms_channel *channel)
{
	return channel ? channel : &ucx.main;
}

/* Begins an operation, which channel_end ends: what the channel knows of its connection to the PE. NULL becomes the main one. */
struct mark *channel_begin(struct comms_channel **channel, struct comms_peer *peer);
void channel_end(struct mark *mark);
/* NULL: the channel has not used a connection to the PE yet. */
struct mark *channel_known_mark(struct comms_channel *channel, int pe);
/* NULL: there is none yet. */
struct mark *channel_find_mark(struct comms_channel *channel, struct ucx_peer *peer);
struct mark *channel_add_mark(struct comms_channel *channel, struct ucx_peer *peer);
/* Call for a channel that ends. */
void channel_free_marks(struct comms_channel *channel);
/* Where the connection to a PE is, or would be, in a private channel's table. */
unsigned channel_place_of(const struct comms_channel *channel, int pe);
/* For private channels only. */
void channel_enter(struct comms_channel *channel);
void channel_leave(struct comms_channel *channel);

/* NULL: not connected yet. */
static inline struct ucx_peer *peer_ucx(struct comms_peer *peer)
{
	return atomic_load_explicit(&peer->driver, memory_order_acquire);
}

/* Serves other PEs' requests in a thread of its own from now on (SHMEM_PROGRESS_THREAD). */
void ucx_serve(void);
/* From here on peers that go away are no news, and this PE serves the others in any case until it rests. */
void ucx_expect_end(void);
/* All channels are closed; this frees the spare ones. Other PEs must still be served. */
void ucx_take_down_spares(void);

/* What ucx_network is made of. */
void ucx_start(void);
void *ucx_describe(size_t *size);
void ucx_open(void);
void ucx_finish(void);
void ucx_rest(void);
void ucx_forget(struct comms_peer *peer);
void ucx_stop(void);
struct comms_channel *ucx_channel_open(bool is_private);
void ucx_channel_close(struct comms_channel *channel);
void ucx_fence(struct comms_channel *channel);
void ucx_quiet(struct comms_channel *channel);
void ucx_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);
void ucx_complete(void);
void ucx_notify(struct comms_request *request, const struct network_notification *notification);
/* By UCX's put; offset is the address at the peer. */
void ucx_put_by_rma(struct mark *mark, ucp_rkey_h key, const struct network_piece *data, bool nbi);
void *ucx_share(struct comms_buffer *buffer);
void ucx_unshare(const struct comms_buffer *buffer, void *handle);
void ucx_get_buffer(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
		    size_t offset, struct comms_piece *to);
/* Touches the request last. */
void ucx_complete_request(struct comms_request *request);
/* False: there is no room. */
bool ucx_batch_add(struct comms_request *request, const struct network_notification *notification);
void ucx_batch_send(struct comms_batch *batch);
bool ucx_progress(void);
bool ucx_served(void);
enum network_block ucx_wait_blocking(_Atomic uint32_t *word, uint32_t value, long nanoseconds);
void ucx_wake_server(void);
/* The server progresses the main worker at once, if it sleeps because the PE just did so. */
void ucx_hand_over(void);
/* Notes for the server that another thread progresses the main worker; does nothing in the server. */
void ucx_visit(void);
extern _Thread_local bool ucx_serves __attribute__((tls_model("initial-exec"))); /* this thread is the server */

/* Waits until the condition holds. */
typedef bool channel_condition(const struct comms_channel *channel, const void *what);
void channel_wait(struct comms_channel *channel, channel_condition *holds, const void *what);
/* Waits for a request of an operation that has begun; returns what it came to. */
ucs_status_t channel_finish(struct comms_channel *channel, ucs_status_ptr_t request);
/* A quiet of the channel has something to do: a flush, or to wait for a message. Behind the operation. */
void channel_touch(struct mark *mark);
void channel_sent(struct mark *mark, uint64_t sequence);
void channel_put_on_list(struct mark *mark);
/* Before an operation: completes what a fence has come behind since, where only that orders. */
void channel_order(struct mark *mark);
/* Completes the puts of UCX to the PE, so that a message comes behind them. */
void channel_flush_puts(struct mark *mark);

/* The private channels that have a worker. */
extern struct ucx_private {
	pthread_mutex_t lock; /* of all this; the thread that pushes holds it, so that no channel goes away meanwhile */
	struct comms_channel *first;
	struct comms_channel *spare; /* those of them that nobody uses */
	int n_spare;
	atomic_int in_use;
	int64_t next_push; /* ms */
} ucx_private;

/* Progresses what private channels have begun and left; returns in how many milliseconds to do so again, -1: no need. */
int channels_push(void);
/* Are there more channels, private ones and the main one, than processors for this PE? */
bool channels_oversubscribed(void);
void channel_forget_marks(struct ucx_peer *peer);

/*
 * Counters of a private channel need no atomic update: one thread at a time changes them. (They are atomic objects because
 * the serving thread may read them.)
 */
static inline void channel_count(const struct comms_channel *channel, atomic_int *counter, int change)
{
	if (channel->private)
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + change,
				      memory_order_relaxed);
	else
		atomic_fetch_add_explicit(counter, change, memory_order_seq_cst);
}

void ucx_sent_to(const int *pes, int n, struct network_sent *sent);

#endif
