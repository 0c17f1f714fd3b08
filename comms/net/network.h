/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NETWORK_H
#define COMMS_NETWORK_H

#include "comms/ops/ops.h"
#include "comms/ops/buffers.h"
#include "comms/core/comms.h"
#include "sessions.h"
#include "comms/ops/notify.h"
#include "comms/groups/groups.h"
#include "comms/observe/counters.h"
#include "comms/torus/shape.h"

#define COMMS_NO_WORD ((size_t)-1)

/* Messages of this PE since the start: what it has sent, and what it has carried out for others. */
struct comms_traffic {
	uint64_t sent, carried_out;
	unsigned notify; /* how many of them a comms_tell of a few bytes is */
	bool pending;	  /* something that is not in these numbers is under way */
	bool blind;	  /* puts may be under way that nobody knows of */
};

/* Did who wanted to sleep do so, and then find something to do for the network? */
enum network_doze { NETWORK_DOZE_NOT, NETWORK_DOZE_DONE, NETWORK_DOZE_SERVED };

/* --- What only some networks can do: each table is whole, or the network has none of it --- */

/* Several notifications in one message. */
struct comms_batching {
	/* Keeps it, to go with others in one message. False: it does not fit, or cannot be. */
	bool (*keep)(struct comms_together *together, struct comms_telling *telling, struct comms_peer *peer,
		     enum comms_segment_id segment, size_t offset, const void *source, size_t bytes, enum comms_segment_id word_segment,
		     size_t word_offset);
	void (*send_kept)(struct comms_together *together);
};

/* Completion at the other side without a flag behind the data. */
struct comms_handling {
	/*
	 * Data of which the network itself says, at the other side, that it has come: no word is put behind it. Listen: a word of this PE becomes value
	 * when the first of such data comes from a peer that names the number returned, then value + step, and so on, all by calls of this PE. 0: there
	 * is no number left. Tell_noted: as tell_later, and what telling->more has goes first.
	 */
	uint8_t (*listen)(struct comms_peer *from, _Atomic uint64_t *word, uint64_t value, uint64_t step);
	/* All of it has come. */
	void (*listen_no_more)(struct comms_peer *from, uint8_t notice);
	/* The PE has waited for the last that came with this number, and goes on. NULL: nobody asks. */
	void (*needed)(struct comms_peer *from, uint8_t notice);
	void (*tell_noted)(struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
			   const void *source, size_t bytes, uint8_t notice);
};

/* Barriers and small reductions in the network. */
struct comms_hardware {
	/* The members meet as the network can make them do it. False: it cannot, alike for all of them. */
	bool (*barrier)(const struct comms_group *group);
	/* They combine so many words, and all have the result; of double sums, a word is a double. False: as above. */
	bool (*reduce)(const struct comms_group *group, enum comms_gate_op op, uint64_t *words, size_t count);
	/* They will do neither again; all have met. */
	void (*part)(const struct comms_group *group);
};

/* Lists of operations that the network's card carries out by itself: sessions.h. */
struct comms_offload {
	/*
	 * Broadcasts: Open says which queues this PE has for so many trees; NULL: it can have none. When
	 * all know each other's, write says what to do in each run; is_over is about this PE's sending only.
	 */
	struct comms_session *(*open)(int trees, const int *children, struct comms_session_shown *shown);
	void (*write)(struct comms_session *session, const struct comms_branch *branches, const struct comms_readiness *ready);
	/* The same for data between pairs. Open says where this PE wants to be told that others are ready; run: a word of this PE. */
	struct comms_session *(*open_edges)(const struct comms_edge_out *out, int outs, int ins, uint64_t *gate);
	void (*write_edges)(struct comms_session *session, const struct comms_edge_out *out, int outs, const struct comms_edge_in *in,
				    int ins, _Atomic uint64_t *run);
	void (*start)(struct comms_session *session, uint64_t run);
	bool (*is_over)(struct comms_session *session);
	void (*close)(struct comms_session *session);
};

/* Where PEs are in a network whose launcher says so. From find on. */
struct comms_map {
	/* The node of a PE, as a number that its other PEs have, too. */
	uint64_t (*node_of)(int pe);
	/* The whole machine, and where a PE's node is in it. False: nobody says. */
	bool (*machine)(struct torus_shape *machine);
	int (*place)(const struct torus_shape *machine, int pe);
};

/*
 * What carries what load and store cannot: one network for the whole job, UCX or Tofu, chosen at the start. Places are
 * (segment, offset) at a peer. Channels as in comms.h; NULL is the default one, NULL from channel_open: no memory. A network
 * that fails ends the job with a message.
 */
struct comms_network {
	const char *name;

	/*
	 * Its life, in this order. Those that may be NULL then have nothing to do.
	 *
	 * find      Can this job use it? Asked before anything else, alike on all PEs. Ends the job with a message if it cannot and must. May be NULL
	 * start     Makes what operations go by, and registers the segments
	 * describe  What other PEs need to connect to this one, which the core publishes; the caller frees it
	 * open      All have published: takes connections, and serves other PEs from now on, in a thread if there is one. May be NULL
	 * connect   At first contact with a peer, whose record nobody else knows yet; peers_network_info has what it published. May be NULL
	 * finish    Completes all that this PE has asked for. Peers that go away are no news from here on; they are still served
	 * rest      All PEs have finished: serves no longer. May be NULL
	 * forget    Frees what peer->driver has. May be NULL
	 * stop      Undoes start
	 * leave     Undoes find, also where it was not started. May be NULL
	 */
	bool (*find)(bool must);
	void (*start)(void);
	void *(*describe)(size_t *bytes);
	void (*open)(void);
	void (*connect)(struct comms_peer *peer);
	void (*finish)(void);
	void (*rest)(void);
	void (*forget)(struct comms_peer *peer);
	void (*stop)(void);
	void (*leave)(void);
	const struct comms_map *map; /* NULL: it does not know where PEs are */

	enum watch_row row;
	bool has_own_atomics; /* which are not atomic with the processor's: PEs of a node use them among themselves, too */
	bool records_arrivals; /* the target records when a message comes, for traces */
	const char *(*connections)(void); /* in words, from whom it takes them; NULL: it takes none from outside the job */
	long longest_nap; /* ns; of who waits, where nobody rings for what this network brings. 0: somebody does */

	struct comms_channel *(*channel_open)(bool alone);
	void (*channel_close)(struct comms_channel *channel);

	void (*put)(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		    const void *source, size_t bytes, bool nbi);
	/* Data, which may not be empty, then an atomic on a word of 8 bytes that shows it. */
	void (*put_signal)(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment,
			   size_t offset, const void *source, size_t bytes, bool nbi, enum comms_segment_id word_segment,
			   size_t word_offset, enum comms_amo op, uint64_t value);
	void (*get)(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		    void *dest, size_t bytes, bool nbi);
	void (*amo)(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		    enum comms_amo op, size_t width, uint64_t operand);
	/* result holds 4 or 8 bytes; with nbi it is written by the next quiet at the latest. */
	void (*amo_fetch)(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment,
			  size_t offset, enum comms_amo op, size_t width, uint64_t operand, uint64_t cond, void *result,
			  bool nbi);
	void (*fence)(struct comms_channel *channel);
	void (*quiet)(struct comms_channel *channel);
	void (*quiet_pes)(struct comms_channel *channel, const int *pes, size_t n);

	/*
	 * Data, which may be empty, then a word that shows it, which no quiet waits for: its reader says otherwise that it came. The source may be
	 * reused on return.
	 */
	void (*tell)(struct comms_peer *peer, enum comms_segment_id segment, size_t offset, const void *source, size_t bytes,
		     enum comms_segment_id word_segment, size_t word_offset, uint64_t value);
	/*
	 * The same without waiting: what is to be known until it is at rest is in the record, the word's value among it. False: it would have to
	 * wait for another thread of this PE, and may not.
	 */
	bool (*tell_later)(struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment,
			   size_t offset, const void *source, size_t bytes, enum comms_segment_id word_segment,
			   size_t word_offset, bool may_wait);
	/*
	 * Memory of this PE that is not symmetric, and that others may put to and get from: writes what they need to know into buffer->network. The
	 * network keeps what it returns.
	 */
	void *(*share)(struct comms_buffer *buffer);
	void (*unshare)(const struct comms_buffer *buffer, void *handle);
	/*
	 * Data, which may be empty, for a peer's buffer, then what telling->more has for its heap and a word there, which is telling->value; or, at
	 * COMMS_NO_WORD, neither. And data from a buffer. Both as in tell_later.
	 */
	void (*tell_buffer)(struct comms_telling *telling, struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset,
			    const void *source, size_t bytes, size_t word_offset);
	void (*get_buffer)(struct comms_telling *telling, struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset,
			   void *dest, size_t bytes);
	/* Completes all that was ever put, what no quiet waits for included. */
	void (*complete)(void);

	/* Returns true if something happened. */
	bool (*progress)(void);
	/* Is there a thread that progresses, or none needed? */
	bool (*served)(void);
	/*
	 * Who waits goes to sleep: until there may be something to do, for so long, or the word is another, which who changes it may not be
	 * able to say. Not, and at once, if there is somebody else to look after the network; then one may sleep on the word.
	 */
	enum network_doze (*doze)(_Atomic uint32_t *word, uint32_t value, long nanoseconds);
	/* Has the thread look at the lists of commands, NULL: there is nothing to do for it. */
	void (*nudge)(void);

	void (*count_traffic)(struct comms_traffic *traffic);
	/* "; operations under way to PEs 1, 3", or nothing. */
	void (*name_under_way)(char *text, size_t size);

	/* NULL: it has none of this. */
	const struct comms_batching *batching;
	const struct comms_handling *handling;
	const struct comms_hardware *hardware;
	const struct comms_offload *offload;
};

extern const struct comms_network ucx_network, tofu_network;

#endif
