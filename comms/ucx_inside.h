/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_INSIDE_H
#define COMMS_UCX_INSIDE_H

#include <ucp/api/ucp.h>

#include <pthread.h>

#include "network.h"
#include "silence.h"
#include "ucx.h"

/*
 * What the files of the UCX path share: ucx.c (life, connections), ucx_server.c (serving), channels.c (their lives, connections and
 * turns), completion.c (quiet, fence, waiting), ucx_ops.c (the operations), ucx_tell.c (data with a word that shows it), ucx_together.c (several
 * of these in one message).
 *
 * connection  struct ucx_peer: a worker's endpoint at a PE, with the keys of the PE's memory
 * mark        what a channel knows of a connection: did it use it since its last quiet
 */

struct mark {
	_Atomic(struct comms_channel *) channel; /* NULL: free for another channel */
	struct ucx_peer *peer;
	atomic_bool touched;
	atomic_bool unflushed; /* by something that only a flush completes */
	atomic_uint asked, answered; /* how many operations that their answers complete have been sent, and are complete */
	struct mark *next;		  /* of the channel's touched ones */
	_Atomic(struct mark *) next_here; /* of the same connection */
	struct mark *next_of_channel;	  /* of those to be freed with it */
	struct mark *next_flushed;	  /* a quiet's own, and so are the next three */
	ucs_status_ptr_t flushing;
	unsigned awaited; /* answers */
	atomic_bool in_flush;
};

struct ucx_peer {
	ucp_ep_h endpoint;
	ucp_rkey_h key[COMMS_SEGMENTS];
	char *base[COMMS_SEGMENTS]; /* in the peer's address space */
	int pe;
	atomic_int inside;  /* operations that have begun and that UCX may hold back; see completion.c, and the next one */
	atomic_bool closed; /* a flush is under way */
	struct mark mark; /* of the channel that the worker is of; others' hang on it */
};

struct comms_channel {
	ucp_worker_h worker; /* of an alone channel: NULL until it is needed */
	bool alone;
	_Atomic(struct mark *) touched;
	atomic_int unsent;     /* nonblocking operations that UCX still keeps */
	uint64_t nobody_reads; /* where results go that nobody asked for */

	/* Channels that share the main worker. */
	pthread_mutex_t marking; /* of the list of touched ones */
	pthread_mutex_t quieting;
	atomic_bool quiet_under_way;
	struct mark *marks; /* those to be freed with the channel */

	/* Alone channels: turns, see channels.c; then connections by PE, in a table of a power of two places. */
	atomic_uint turn;
	atomic_bool pushed;
	unsigned turn_seen; /* whose it is who pushes, and so are the next three */
	bool offered;
	struct comms_channel *previous, *next, *next_spare;
	struct ucx_peer **peers;
	unsigned places, n_peers;
};

struct ucx {
	ucp_context_h context;
	struct comms_channel main; /* the default channel; its worker is the one that other PEs know */
	ucp_mem_h memory[COMMS_SEGMENTS];
	struct silence_address listens[SILENCE_ADDRESSES]; /* where the main worker takes connections */
	atomic_bool ending;
	ucp_err_handling_mode_t failure_mode;
	bool overtaking;   /* messages and their answers may overtake each other */
	bool by_software;  /* they may not, and no card carries anything out by itself */
	bool by_messages;  /* whether they may or not, none does */
	bool gated;	   /* they may overtake each other, and there are threads */
	int longest_sleep; /* of whoever waits for UCX's events, in milliseconds; -1: as long as one likes */
	int processors;	   /* for each PE of the node; 0: PEs share them */
	int event_fd;	   /* UCX's: readable when the main worker has something to do */
	bool served;
	atomic_bool resting; /* the server is to end */
	pthread_t server;
	atomic_bool dozing;	    /* the PE sleeps and looks after UCX by itself */
	_Atomic uint32_t napping;   /* the server is, because the PE looks after UCX */
	atomic_uint visits; /* times that others than the server have looked after the main worker, more or less */
	pthread_mutex_t connecting;
};
extern struct ucx ucx;

/* For operations that need no callback. */
extern const ucp_request_param_t ucx_plain;

void ucx_check(ucs_status_t status, const char *what);
/* An operation that UCX fails has lost its peer; that ends the job with its own message, but maybe in another thread. */
void ucx_must_succeed(ucs_status_t status, const char *what);

/* What to start UCX with; the caller releases it. */
ucp_config_t *ucx_choices(void);
ucp_err_handling_mode_t ucx_failure_mode(void);
/* Is TCP all there is? */
bool ucx_is_only_tcp(void);
ucp_worker_h ucx_make_worker(ucs_thread_mode_t mode);
/* A connection of the channel's worker. */
struct ucx_peer *ucx_connect(struct comms_channel *channel, struct comms_peer *peer);
/* The main worker's connection, made on first use. */
struct ucx_peer *ucx_peer(struct comms_peer *peer);
void ucx_release_keys(struct ucx_peer *peer);
/* From now on the main worker takes messages of telling (ucx_tell.c). */
void ucx_take_messages(void);
enum ucx_message_number { UCX_TELL = 1, UCX_TELL_SEVERAL };
#define UCX_MESSAGE_MOST (60 << 10) /* bytes of data; with UCX's own they fit a segment of 64 KiB */
void ucx_take_by(enum ucx_message_number number, ucp_am_recv_callback_t taker);
void ucx_take_several(void);
void ucx_leave_several(void);

static inline uint64_t ucx_remote(const struct ucx_peer *peer, enum comms_segment_id segment, size_t offset)
{
	return (uint64_t)(uintptr_t)(peer->base[segment] + offset);
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
/* Of an alone channel. */
void channel_take_turn(struct comms_channel *channel);
void channel_end_turn(struct comms_channel *channel);

/* What ucx_network is made of. */
struct comms_channel *ucx_channel_open(bool is_alone);
void ucx_channel_close(struct comms_channel *channel);
void ucx_put(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
	     const void *source, size_t bytes, bool nbi);
void ucx_get(struct comms_channel *channel, struct comms_peer *from, enum comms_segment_id segment, size_t offset, void *dest,
	     size_t bytes, bool nbi);
void ucx_fence(struct comms_channel *channel);
void ucx_quiet(struct comms_channel *channel);
void ucx_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);
void ucx_complete(void);
void ucx_put_by_messages(struct comms_channel *channel, struct ucx_peer *peer, uint64_t there, const char *source, size_t bytes);
void ucx_tell(struct comms_peer *peer, enum comms_segment_id segment, size_t offset, const void *source, size_t bytes,
	      enum comms_segment_id word_segment, size_t word_offset, uint64_t value);
bool ucx_tell_later(struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		    const void *source, size_t bytes, enum comms_segment_id word_segment, size_t word_offset, bool may_wait);
void ucx_tell_buffer(struct comms_telling *telling, struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset,
		     const void *source, size_t bytes, size_t word_offset);
void *ucx_share(struct comms_buffer *buffer);
void ucx_unshare(const struct comms_buffer *buffer, void *handle);
ucp_rkey_h ucx_buffer_key(const struct ucx_peer *peer, const struct comms_buffer *buffer);
void ucx_get_buffer(struct comms_telling *telling, struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset,
		    void *dest, size_t bytes);
/* The record of a telling is the last that is touched. */
void ucx_rest_telling(struct comms_telling *telling);
bool ucx_keep(struct comms_together *together, struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment,
	      size_t offset, const void *source, size_t bytes, enum comms_segment_id word_segment, size_t word_offset);
void ucx_send_kept(struct comms_together *together);
bool ucx_progress(void);
bool ucx_served(void);
enum network_doze ucx_doze(_Atomic uint32_t *word, uint32_t value, long nanoseconds);
void ucx_nudge(void);
/* The server looks after the main worker at once, if it naps because the PE just did. */
void ucx_hand_over(void);
/* Tells the server that somebody else looks after the main worker; in the server it does nothing. */
void ucx_visit(void);

/* Waits for a request of an operation that has begun; returns what it came to. */
ucs_status_t channel_finish(struct comms_channel *channel, ucs_status_ptr_t request);
void channel_touch(struct mark *mark);
/* Before and behind an operation that its answer completes, and when the answer is there. */
void channel_ask(struct mark *mark);
void channel_asked(struct mark *mark);
void channel_answered(struct mark *mark);
/* Around an operation on a connection that is shared, where messages may overtake each other. */
void connection_enter(struct ucx_peer *peer);
bool connection_try_to_enter(struct ucx_peer *peer);
void connection_leave(struct ucx_peer *peer);

/* Pushes on what alone channels have begun and left; returns in how many milliseconds to do so again, -1: no need. */
int channels_push(void);
/* Are there more alone channels, and the main one, than processors for this PE? */
bool channels_crowd(void);
void channel_forget_marks(struct ucx_peer *peer);

/*
 * Counters of an alone channel are plain ones: one thread at a time changes them. (They are atomic objects because
 * the serving thread may look at them.)
 */
static inline void channel_count(const struct comms_channel *channel, atomic_int *counter, int change)
{
	if (channel->alone)
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + change,
				      memory_order_relaxed);
	else
		atomic_fetch_add(counter, change);
}

#endif
