/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_INSIDE_H
#define COMMS_UCX_INSIDE_H

#include <pthread.h>

#include "comms/ops/ops.h"
#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "ucx_failure.h"
#include "filter/ucx_filter.h"
#include "ucx_library.h"

/*
 * Shared by the files of the UCX path: ucx.c (start, stop, connections), ucx_server.c (the serving
 * thread), ucx_channels.c (channels and their connections), ucx_epochs.c (private channels'
 * epochs), ucx_completion.c (quiet, fence, waiting), ucx_ops.c (the operations), ucx_messages.c and
 * ucx_requests.c (operations as messages, at their origin), ucx_target.c and ucx_answers.c (the
 * same at their target), ucx_notify.c (data with a flag), ucx_batch.c (several of these in one
 * message).
 *
 * connection  struct ucx_peer: a worker's endpoint at a PE, with the keys of the PE's memory
 * mark        what a channel knows of a connection: whether it has used it since its last quiet
 * message     a request of one PE's library to another's: docs/protocols/messages.md
 */

struct mark {
	_Atomic(struct comms_channel *) channel; /* NULL: free for another channel */
	struct ucx_peer *peer;
	atomic_bool touched;
	atomic_bool unflushed; /* UCX puts are outstanding, which only a flush completes */
	_Atomic uint64_t sent; /* last message that a quiet waits for */
	/* Fences of the channel before the last operation here; only used with puts of UCX. */
	atomic_uint fences;
	/* Nonblocking operations without a result so far: see await_answers. */
	atomic_int unanswered[2];
	atomic_uint half;		  /* the half that counts new operations */
	struct mark *next;		  /* in the channel's list of marks touched */
	_Atomic(struct mark *) next_here; /* in the connection's list */
	struct mark *next_of_channel;	  /* in the channel's list of marks to free with it */
	struct mark *next_flushed;	  /* in a quiet's own lists, as the next three */
	ucs_status_ptr_t flushing;
	uint64_t awaited;
	atomic_bool in_flush;
};

/*
 * Data for an address of the target's memory, then a value for a word there. bytes is 0: no data;
 * word is 0: no word.
 */
struct ucx_item {
	uint64_t there, word, value, bytes;
};
#define UCX_ITEM_EVENT 32 /* in a batch, the event is in bytes, shifted by this */

/* The header of a request. */
struct ucx_message {
	uint32_t pe, stream;	 /* the sender, and the number of its connection */
	uint64_t sequence;	 /* in that stream, from 1 */
	uint8_t kind, op, width; /* op: the change to the word, an enum comms_amo */
	uint8_t acknowledge;	 /* the sender waits until it is carried out */
	uint32_t event;		 /* of the sender's trace, 0: none */
	uint64_t token;		 /* identifies the request that an answer belongs to */
	uint64_t compare;
	struct ucx_item item;
};
_Static_assert(sizeof(struct ucx_message) == 72, "the same on all PEs");

struct ucx_peer {
	ucp_ep_h endpoint;
	ucp_rkey_h key[COMMS_FIXED_SEGMENTS]; /* NULL: puts and gets go as messages */
	char *base[COMMS_FIXED_SEGMENTS];     /* in the peer's address space */
	int pe;
	_Atomic(const char *) last_routine; /* the last routine that used it; NULL: unknown */
	uint32_t stream;		    /* unique among this PE's connections to that PE */
	struct ucx_message hello;	    /* first message of the stream */
	_Atomic uint64_t sent;		    /* number of messages sent */
	_Atomic uint64_t acknowledged;	    /* number of messages known to be carried out */
	/* Of the worker's own channel; marks of other channels are in its list. */
	struct mark mark;
	struct ucx_peer *next; /* in the list of closed ones */
	/*
	 * Of the main worker: the same by the second cable between the nodes; NULL: not connected
	 * yet.
	 */
	_Atomic(struct ucx_peer *) second;
};

/*
 * What this PE publishes: lengths and listening addresses, then the worker's address, then the
 * keys.
 */
struct ucx_info {
	uint32_t address_bytes;
	uint32_t key_bytes[COMMS_FIXED_SEGMENTS];
	struct socket_address listens[FAILURE_ADDRESSES];
	struct ucx_filter_info filter;
};

struct comms_channel {
	ucp_worker_h worker; /* of a private channel: NULL until first used */
	bool private;
	_Atomic(struct mark *) touched;
	atomic_int unsent;  /* nonblocking operations that UCX has not completed */
	atomic_uint fences; /* number of fences so far */

	/* Channels that share the main worker. */
	pthread_mutex_t marking; /* protects the list of touched marks */
	pthread_mutex_t quieting;
	atomic_bool quiet_under_way;
	struct mark *marks; /* to be freed with the channel */

	/*
	 * Private channels: epochs, see ucx_epochs.c; then connections by PE, in a hash table whose
	 * size is a power of two.
	 */
	atomic_uint epoch;
	atomic_bool pushed;
	unsigned epoch_seen; /* only for the thread that pushes, as the next three */
	bool offered;
	struct comms_channel *previous, *next, *next_spare;
	struct ucx_peer **peers;
	unsigned places, n_peers;
};

struct ucx {
	ucp_context_h context;
	struct comms_channel main; /* the default channel; other PEs know its worker */
	ucp_mem_h memory[COMMS_FIXED_SEGMENTS];
	/* Where the main worker accepts connections. */
	struct socket_address listens[FAILURE_ADDRESSES];
	atomic_bool ending;
	ucp_err_handling_mode_t failure_mode;
	/* UCX has no locks, so calls of it take ours; until the process ends. */
	bool serialized;
	/* A NIC carries out UCX's puts and gets; otherwise they go as messages. */
	bool rma;
	/* Of a thread that waits for UCX's events, in milliseconds; -1: unlimited. */
	int longest_sleep;
	int processors;	     /* per PE of the node; 0: PEs share them */
	int event_fd;	     /* readable when the main worker has work */
	atomic_uint streams; /* last stream number given out */
	bool served;
	atomic_bool resting; /* the server must end */
	pthread_t server;
	atomic_bool blocking;		/* the PE blocks and progresses UCX itself */
	_Atomic uint32_t in_timed_wait; /* of the server, because the PE progresses UCX */
	/* Progress calls on the main worker by other threads than the server, approximately. */
	atomic_uint visits;
	pthread_mutex_t connecting;
	/*
	 * For deadlock detection: messages sent and carried out, results outstanding, data partly
	 * sent.
	 */
	_Atomic uint64_t sent, carried_out;
	atomic_int results, partial;
	struct ucx_peer *closed;	 /* connections to free with the main worker */
	struct comms_channel *abandoned; /* the same for channels of a broken job */
};
extern struct ucx ucx;

/* The callback of operations that need none. */
extern const ucp_request_param_t ucx_plain;

void ucx_check(ucs_status_t status, const char *what);

/*
 * UCX's own messages are left out until ucx_end_silence, which gets the result of ucx_silence,
 * unless the user has asked for them by UCX_LOG_LEVEL.
 */
bool ucx_silence(void);
void ucx_end_silence(bool silent);

/* Registers memory with the network's devices, or ends the PE with a line. */
ucp_mem_h ucx_map_memory(const ucp_mem_map_params_t *params, const char *routine);
/*
 * The PE that an operation goes to, or COMMS_NOBODY. If the operation's PE has lost its peer, the
 * connection's own error message ends the job, perhaps in another thread; this leaves it time to do
 * so.
 */
void ucx_must_succeed(ucs_status_t status, const char *what, int pe);

/* UCX's parameters for start; the caller releases them. */
ucp_config_t *ucx_choices(void);
ucp_err_handling_mode_t ucx_failure_mode(void);
/* Does a NIC carry out puts and gets (SHMEM_UCX_PROTOCOL)? */
bool ucx_wants_rma(void);
ucp_worker_h ucx_make_worker(ucs_thread_mode_t mode);
/*
 * Call with the main worker before another thread calls UCX: unless the worker got
 * UCS_THREAD_MODE_MULTI, calls of UCX take a lock from now on.
 */
void ucx_serialize_if_needed(ucp_worker_h worker);
/* Text for SHMEM_INFO; NULL: UCX has thread support. */
const char *ucx_threads_text(void);
/* A connection of the channel's worker. */
struct ucx_peer *ucx_connect(struct comms_channel *channel, struct comms_peer *peer);
/* The main worker's connection, made on first use; the second function, by the second cable. */
struct ucx_peer *ucx_peer(struct comms_peer *peer);
struct ucx_peer *ucx_second_peer(struct comms_peer *peer);
void ucx_release_keys(struct ucx_peer *peer);
/* Progresses the main worker; returns nonzero if it did something. */
unsigned ucx_work(void);

/* Bytes of data; with UCX's header they fit a segment of 64 KiB. */
#define UCX_MESSAGE_MOST (60 << 10)
/* Bytes of a long put or get; with UCX's header they fit a segment of 256 KiB. */
#define UCX_PIECE_MOST (250UL << 10)

static inline unsigned ucx_worker_progress(ucp_worker_h worker)
{
	unsigned done;

	ucx_filter_calls++;
	done = ucp.worker_progress(worker);
	ucx_filter_calls--;
	return done;
}

static inline uint64_t ucx_remote(const struct ucx_peer *peer, enum comms_segment_id segment, size_t offset)
{
	char *base = segment < COMMS_FIXED_SEGMENTS ? peer->base[segment]
						    : comms_segment_remote(comms_peer(peer->pe), segment).base;

	return (uint64_t)(uintptr_t)(base + offset);
}

/* For puts and gets by UCX's own; NULL: they go as messages, as all to a region do. */
static inline ucp_rkey_h ucx_key(const struct ucx_peer *peer, enum comms_segment_id segment)
{
	return segment < COMMS_FIXED_SEGMENTS ? peer->key[segment] : NULL;
}

/* The caller uses the channel, so the mark stays valid. */
static inline struct comms_channel *mark_channel(struct mark *mark)
{
	return atomic_load_explicit(&mark->channel, memory_order_relaxed);
}

static inline struct comms_channel *channel_or_main(struct comms_channel *channel)
{
	return channel ? channel : &ucx.main;
}

/*
 * Begins an operation, which channel_end ends; returns the channel's mark for the PE. A NULL
 * channel becomes the main one.
 */
struct mark *channel_begin(struct comms_channel **channel, struct comms_peer *peer);
void channel_end(struct mark *mark);
/* NULL: the channel has not used a connection to the PE yet. */
struct mark *channel_known_mark(struct comms_channel *channel, int pe);
/* NULL: there is none yet. */
struct mark *channel_find_mark(struct comms_channel *channel, struct ucx_peer *peer);
struct mark *channel_add_mark(struct comms_channel *channel, struct ucx_peer *peer);
/* Call before a channel ends. */
void channel_free_marks(struct comms_channel *channel);
/* The position of a PE's connection in a private channel's table, whether or not it is there. */
unsigned channel_place_of(const struct comms_channel *channel, int pe);
/* For private channels only. */
void channel_enter(struct comms_channel *channel);
void channel_leave(struct comms_channel *channel);

/* NULL: not connected yet. */
static inline struct ucx_peer *peer_ucx(struct comms_peer *peer)
{
	return atomic_load_explicit(&peer->driver, memory_order_acquire);
}

/* From now on a thread serves other PEs' requests (SHMEM_PROGRESS_THREAD). */
void ucx_serve(void);
/*
 * From now on the loss of a peer is no error, and this PE serves the others in any case until it
 * rests.
 */
void ucx_expect_end(void);
/* Frees the spare channels; all channels must be closed. Other PEs must still be served. */
void ucx_take_down_spares(void);

/* The functions of ucx_network. */
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
void *ucx_share(struct comms_buffer *buffer, const char *routine);
void ucx_unshare(const struct comms_buffer *buffer, void *handle);
void ucx_get_buffer(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
		    size_t offset, struct comms_piece *to);
/* Touches the request last. */
void ucx_complete_request(struct comms_request *request);
/* Returns false if there is no room. */
bool ucx_batch_add(struct comms_request *request, const struct network_notification *notification);
void ucx_batch_send(struct comms_batch *batch);
bool ucx_progress(void);
bool ucx_served(void);
enum network_block ucx_wait_blocking(_Atomic uint32_t *word, uint32_t value, long nanoseconds);
void ucx_wake_server(void);
/*
 * Makes the server progress the main worker at once, if it sleeps because the PE just progressed
 * it.
 */
void ucx_hand_over(void);
/*
 * Records for the server that another thread progresses the main worker; does nothing in the
 * server.
 */
void ucx_visit(void);
/* True in the server's thread. */
extern _Thread_local bool ucx_serves __attribute__((tls_model("initial-exec")));

/* Waits until the condition holds. */
typedef bool channel_condition(const struct comms_channel *channel, const void *what);
void channel_wait(struct comms_channel *channel, channel_condition *holds, const void *what);
/* Waits for the request of a started operation; returns its status. */
ucs_status_t channel_finish(struct comms_channel *channel, ucs_status_ptr_t request);
/*
 * Records after an operation that a quiet of the channel has work: a flush, or a message to wait
 * for.
 */
void channel_touch(struct mark *mark);
void channel_sent(struct mark *mark, uint64_t sequence);
void channel_put_on_list(struct mark *mark);
/*
 * Call before an operation: completes those before the last fence, if only completion orders them.
 */
void channel_order(struct mark *mark);
/* Completes UCX's puts to the PE, so that a message comes behind them. */
void channel_flush_puts(struct mark *mark);

/* The private channels that have a worker. */
extern struct ucx_private {
	/*
	 * Protects all fields; the pushing thread holds it, so that no channel goes away meanwhile.
	 */
	pthread_mutex_t lock;
	struct comms_channel *first;
	struct comms_channel *spare; /* unused ones */
	int n_spare;
	atomic_int in_use;
	int64_t next_push; /* ms */
} ucx_private;

/*
 * Progresses operations that private channels have begun and left; returns the milliseconds until
 * the next call, -1: none is needed.
 */
int channels_push(void);
/* Do the main channel and the private ones outnumber the processors of this PE? */
bool channels_oversubscribed(void);
void channel_forget_marks(struct ucx_peer *peer);

/*
 * Counters of a private channel need no atomic update, because one thread at a time changes them.
 * They are atomic objects because the serving thread may read them.
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
