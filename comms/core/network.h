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

/*
 * The contract between the core and a network: libfabric (net/ofi, the smallest), Tofu (net/tofu, whose NIC needs no help), UCX
 * (net/ucx). One network carries, for the whole job, what load and store cannot. A line in comms/networks.def makes the library
 * know it; networks.c chooses it at the start.
 *
 * A network implements all of struct comms_network but what is marked optional. An optional group is a table of its own: it is
 * whole, or the pointer to it is NULL. Errors end the job with a message; no operation returns one. rte_die is for what one PE
 * finds, rte_die_together for what all PEs find alike (start, find). A library that only some machines have is loaded by dlopen
 * in find, so that programs start without it.
 *
 * Its types: comms_place, comms_atomic and comms_piece are in comms/ops/ops.h, comms_request in notify.h, comms_buffer in
 * buffers.h there; comms_peer and comms.segments in comms/core/comms.h. peers_network_info is in comms/core/peers.h, what
 * begins with rte_ in rte/rte.h.
 *
 * Duties that no single function has:
 *
 * words       PEs poll aligned words of 4 and 8 bytes. A put or get of a word that is aligned at the peer, an atomic, and a
 *             flag are one access each, wherever the word lies here. A flag is 8 bytes wide
 * order       Notifications of the library's own (not counted) without a request that this PE sends to one flag take effect in
 *             the order of the calls: a flag that counts never goes back. A caller with a request waits for it before its next
 *             notification to that flag. All else, counted notifications too, is ordered by fence alone
 * connecting  is one-sided: A connects to B when it first needs B, and B may never connect to A. Where both ends must act
 *             (queue pairs, say), the first operation sends B a message over what B published, and B's network answers from
 *             open on. The message carries what B needs to answer A; if B calls comms_connect(A) instead, it holds no lock
 *             that its own connect takes. A NIC that only puts writes it into the sender's slot of a table with a slot for
 *             each PE, in memory of the network's own; describe publishes the table's address alone
 * oneself     With NETWORK_OWN_ATOMICS a PE's atomics on its own memory come here, too; its puts and gets there do not.
 *             Notifications may also go to PEs of this node that stores reach (comms.loopback, buffers)
 * progress    A thread of the network that has made progress calls wait_lists.serve() (comms/wait/lists.h) and then
 *             comms_wake(comms_peer(comms.pe)), for the PE may sleep until something arrives. serve calls put, get and
 *             notify. A network whose target's library carries out operations, or that has a thread, has blocking. A
 *             longest_wait alone is enough only where the NIC carries out everything, because a PE that sleeps in a barrier
 *             of its node calls no progress
 * thread      A network creates its thread by rte_start_thread, before open returns, or in finish, and at no other time:
 *             comms/wait/deadlock.c counts threads that come between as the program's, and it has stopped before finish. With
 *             SHMEM_PROGRESS_THREAD=no there is none before finish: the network reads it by setting_bool, which leaves its
 *             value as it is for "auto". From finish to rest this PE is served in any case
 * threads     Several threads call operations, channel_open and channel_close, progress, served, wait, wake and the reports at
 *             once, also in a program of one thread: SHMEM_CHECK, hang reports and the executor of plans have their own. One
 *             thread at a time calls each of the others
 * waits       Functions wait by COMMS_WAIT(COMMS_NOWHERE, ...), which calls progress, and moves command lists that call put,
 *             get and notify in turn: no function holds a lock while it waits. One that "waits for nothing" may wait for a
 *             free record of the network's own, by progress. Its thread calls its own progress in a loop then: COMMS_WAIT may
 *             put the thread to sleep. connect, share and unshare are called with a lock of the core: they wait for nothing,
 *             and leave a handshake to the first operation
 * counting    The core counts and traces operations. With NETWORK_RECORDS_ARRIVALS the sender's part of the network asks
 *             trace_take_event which event a message belongs to, and the target's calls trace_arrival (comms/observe/trace.h)
 * loss        A network that finds a peer lost calls rte_let_others_speak before rte_die: the launcher may know why
 *
 * Words used here:
 *
 * peer        comms/core/peers.h; peer->driver is the network's own pointer, which connect or the first operation sets and
 *             forget frees. No other file reads it
 * place       struct comms_place: a peer, a segment of its memory, and an offset there
 * channel     orders and completes its own operations; the network defines what it is, and the core keeps the pointer alone.
 *             NULL is the default one, which all threads use; a private one is used by one thread at a time
 * request     the core's record of a notification; request->driver is room for the network's own record, and holds what its
 *             last use left
 * served      a PE is served when other PEs' operations on its memory go on
 */

#define COMMS_NO_FLAG ((size_t)-1)

struct network_piece {
	size_t offset;
	const void *source;
	size_t bytes;
};

/*
 * Data in up to two pieces, then a flag, to one peer. The flag changes after the data is there. Two sorts:
 *
 * counted      an operation of the program (put with signal). op, an atomic like those of amo, changes the flag (COMMS_SWAP
 *              sets it, COMMS_ADD adds value to it). A quiet of the channel waits for it, and a fence of the channel orders
 *              it. request is NULL; nbi: the source stays as it is until that quiet, else it may be reused on return
 * not counted  one of the library's own, which no quiet waits for. The flag becomes value by a store that PEs read
 *              atomically. Without a request the source may be reused on return. With one the call waits for nothing; the
 *              network sets request->under_way to true, and to false, by a store with release order, when the flag has
 *              changed and the source and the request may be reused
 */
struct network_notification {
	struct comms_peer *peer;
	enum comms_segment_id segment; /* of both pieces */
	struct network_piece piece[2]; /* the first one goes first; bytes is 0: nothing */
	/* the offset of the first piece is in this memory of the peer; NULL: in the segment, as in all that are counted */
	const struct comms_buffer *buffer;
	enum comms_segment_id flag_segment;
	size_t flag_offset; /* COMMS_NO_FLAG: there is no flag */
	uint64_t value;	    /* with a request, request->value is the same */
	uint8_t completion; /* not 0: a number that the peer's listen gave; flag_offset is COMMS_NO_FLAG. 0 if counted */
	bool second_cable; /* by the second cable of a pair of nodes, if the network has_second_cables; no batch then */
	struct comms_batch *batch; /* not NULL: a network with batching may keep the notification until send_batch */
	bool counted, nbi;
	struct comms_channel *channel;
	enum comms_amo op;
};

/*
 * Messages of this PE since the start: what it has sent, and what it has carried out for others. comms/wait/deadlock.c
 * compares the sums over all PEs: equal sums, and nothing pending, mean that nothing is on its way. A message is counted as
 * sent before it leaves, and as carried out when its effect is in memory. Answers and acknowledgements do not count; an
 * operation that waits for an answer is pending. A network whose NIC carries out everything reports pending alone, and the
 * messages with completion numbers.
 */
struct comms_traffic {
	uint64_t sent, carried_out;
	unsigned
		notify; /* how many of them one notification without a request is, with up to 32 bytes of data or none */
	bool pending;	/* something is under way that these numbers do not show */
	bool blind;	/* puts may be under way that no number shows */
};

/* Memory that is not symmetric, and that others may put to and get from: comms/ops/buffers.h. All networks have this. */
struct network_buffers {
	/* Writes what others need into buffer->network. Returns what unshare wants back; after that others' use is an error. */
	void *(*share)(struct comms_buffer *buffer);
	void (*unshare)(const struct comms_buffer *buffer, void *handle);
	/*
	 * Waits for nothing; the data is there when the request is complete, which is under way as in notify. Reads to->bytes
	 * into to->dest, memory of this PE; to is gone after the call. (Puts are notifications.)
	 */
	void (*get)(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
		    size_t offset, struct comms_piece *to);
};

/* --- Optional groups --- */

/* Several notifications in one message. The core begins and ends a batch (comms/ops/notify.c); notify fills it. */
struct network_batching {
	/* Sends what notify has kept in a batch. batch->count is not 0. */
	void (*send_batch)(struct comms_batch *batch);
};

/* Completion that the receiver's network reports, without a flag behind the data. */
struct network_completions {
	/*
	 * A word of this PE becomes value when the first notification with the number that is returned comes from a peer, then
	 * value + step, and so on. All changes are made by calls of this PE. 0: there is no number left, and the sender must
	 * use a flag.
	 */
	uint8_t (*listen)(struct comms_peer *from, _Atomic uint64_t *word, uint64_t value, uint64_t step);
	/* Gives the number back. All notifications with it have come. */
	void (*release)(struct comms_peer *from, uint8_t completion);
	/* This PE has waited for the last notification with this number, and goes on; a recording of the network wants to know. */
	void (*needed)(struct comms_peer *from, uint8_t completion);
};

/* Barriers and small reductions that the network carries out. All members of the group call them in the same order. */
struct network_collectives {
	/* False: the network cannot do this one. All members get the same answer. */
	bool (*barrier)(const struct comms_group *group);
	/* Combines so many words, and gives all members the result; for sums of doubles a word is a double. False: as above. */
	bool (*reduce)(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count);
	/* The group calls neither again. All members have left the last barrier. */
	void (*part)(const struct comms_group *group);
};

/* Lists of operations that the NIC carries out by itself: sessions.h. */
struct network_offload {
	/*
	 * Broadcasts. open makes queues for so many trees and shows them; NULL: it cannot. write says what to do in each run,
	 * when all PEs know each other's queues. is_over reports on this PE's sending only.
	 */
	struct comms_session *(*open)(int trees, const int *children, struct comms_session_shown *shown);
	void (*write)(struct comms_session *session, const struct comms_session_tree *branches,
		      const struct comms_readiness *ready);
	/*
	 * The same for data between pairs. open_edges writes the number of the queue that receives the packets of those
	 * that are ready; run: a word of this PE.
	 */
	struct comms_session *(*open_edges)(const struct comms_edge_out *out, int outs, int ins, uint64_t *ready_queue);
	void (*write_edges)(struct comms_session *session, const struct comms_edges *edges, _Atomic uint64_t *run);
	void (*start)(struct comms_session *session, uint64_t run);
	bool (*is_over)(struct comms_session *session);
	void (*close)(struct comms_session *session);
};

/* A wait that blocks in the network, so that a PE that sleeps still serves others. */
struct network_blocking {
	/*
	 * Blocks until the network has something to do or the time is over, at most 20 ms or longest_wait; at once if the
	 * word has another value already. It compares the word once before it blocks. NETWORK_BLOCK_NOT, and at once: another
	 * thread of this PE makes progress, so the caller may sleep on the word.
	 */
	enum network_block {
		NETWORK_BLOCK_NOT,
		NETWORK_BLOCKED,
		NETWORK_BLOCKED_AND_PROGRESSED
	} (*wait)(_Atomic uint32_t *word, uint32_t value, long nanoseconds);
	/* The core has added a command list: makes the network's thread serve the lists; nothing where there is no thread. */
	void (*wake)(void);
};

/* What this PE has sent to the host of another one. */
struct network_sent {
	uint64_t bytes,
		microseconds; /* acknowledged so far; and how long something was not, while the other side had room for it */
};

/* Where PEs are in a network whose launcher says so. Used from find on. */
struct comms_map {
	/* The node of a PE, as a number that the other PEs of the node have, too. */
	uint64_t (*node_of)(int pe);
	/* The whole machine, and where a PE's node is in it. False: nobody says. */
	bool (*machine)(struct torus_shape *machine);
	int (*place)(const struct torus_shape *machine, int pe);
};

enum {
	/* amo is not atomic with the processor's atomics: PEs of a node use it among themselves, too */
	NETWORK_OWN_ATOMICS = 1,
	NETWORK_RECORDS_ARRIVALS = 2 /* the target records for traces when a message came */
};

/* --- The core of the contract --- */

struct comms_network {
	const char *name;      /* as SHMEM_INFO prints it; SHMEM_PATHS has the name in networks.def */
	unsigned traits;       /* NETWORK_..., or'ed */
	enum counters_row row; /* of SHMEM_STATS: ROW_NAME, from networks.def */
	/* longest sleep in ns; 0: unlimited, since arrivals wake the PE. A network whose NIC writes silently sets it */
	long longest_wait;

	/*
	 * Its life, in this order (comms/start.c; connect and forget: comms/core/peers.c). All but start, describe, finish and
	 * stop may be NULL: nothing to do.
	 *
	 * find      Can this job use the network? Called first of all, if SHMEM_PATHS names it and no network before it in
	 *           networks.def was taken. It looks at libraries, settings and what the launcher says, which are alike on
	 *           all hosts; it is quick. If the answer is no and must is true (the user has set SHMEM_PATHS, and the job
	 *           has more than one PE) it ends the job with a message; else it returns false and leaves nothing, for leave
	 *           is called for the chosen network only
	 * start     The job has peers that only a network reaches. Makes what operations need, and registers the segments
	 *           (comms.segments, whole; one of size 0 needs nothing; a NIC that pins pages commits them all). It does not
	 *           wait for peers, and COMMS_WAIT calls no progress yet
	 * describe  Returns what other PEs need to connect to this one, in memory that the caller frees. The core publishes it.
	 *           It may be large, but every PE reads that of each PE it connects to: nothing that grows with the job
	 * connect   All PEs have published; the first contact with a peer. peers_network_info has what it published, never
	 *           NULL. The first of all is with this PE itself, before open; PEs of this node follow like others. No other
	 *           thread knows the record yet
	 * open      Takes connections, and serves other PEs from now on, in a thread if there is one. The last step of
	 *           comms_start: no operation of this PE comes before it has returned. Those of other PEs may, for no barrier
	 *           follows; what they send is carried out from open on
	 * finish    Completes all operations of this PE. From here on the loss of a peer is no error; peers are still served
	 * rest      All PEs have finished: serves no longer
	 * forget    Frees peer->driver, which may still be NULL. A job that ends with an error calls none of these
	 * stop      Undoes start
	 * leave     Undoes find, also where start was not called
	 */
	bool (*find)(bool must);
	void (*start)(void);
	void *(*describe)(size_t *bytes);
	void (*connect)(struct comms_peer *peer);
	void (*open)(void);
	void (*finish)(void);
	void (*rest)(void);
	void (*forget)(struct comms_peer *peer);
	void (*stop)(void);
	void (*leave)(void);

	/* --- Operations: comms/ops/carry.c and comms/ops/ops.c call them --- */

	/* For contexts. NULL from open: no memory. The core has called quiet on a channel before it closes it. */
	struct comms_channel *(*channel_open)(bool private);
	void (*channel_close)(struct comms_channel *channel);

	/*
	 * Without nbi, the source may be reused, or the data is here, on return. With nbi, after the next quiet of the
	 * channel. bytes is never 0, and may be more than the NIC takes in one message. source, dest and result are any
	 * memory of this process: a NIC that needs registered memory here copies small data through memory of its own and
	 * registers the rest for the operation, like tofu_ops.c.
	 */
	void (*put)(struct comms_channel *channel, const struct comms_place *there, const void *source, size_t bytes,
		    bool nbi);
	void (*get)(struct comms_channel *channel, const struct comms_place *there, void *dest, size_t bytes, bool nbi);
	/*
	 * Atomics of 4 or 8 bytes, all of enum comms_amo. The result has the width of the operation, and is here on return,
	 * or with nbi after the next quiet; amo has taken effect by then. A network that lacks some sends them to the
	 * target's library, which checks the place and calls comms_amo_32 or comms_amo_64 (comms/ops/ops.h); it has no
	 * NETWORK_OWN_ATOMICS.
	 */
	void (*amo)(struct comms_channel *channel, const struct comms_place *there, const struct comms_atomic *atomic);
	void (*amo_fetch)(struct comms_channel *channel, const struct comms_place *there,
			  const struct comms_atomic *atomic, void *result, bool nbi);
	/* The counted ones are from carry.c, the library's own from comms/ops/notify.c. */
	void (*notify)(struct comms_request *request, const struct network_notification *notification);
	/*
	 * Puts, atomics and counted notifications after a fence take effect at a peer after those before it. The core calls
	 * quiet instead where the processor stores to the same peers.
	 */
	void (*fence)(struct comms_channel *channel);
	/*
	 * Waits until all operations of the channel have taken effect; towards these PEs only. One may be there twice, be
	 * this PE, or be one that this PE has not connected to (peer->driver is NULL). It may wait for more than these PEs.
	 */
	void (*quiet)(struct comms_channel *channel);
	void (*quiet_pes)(struct comms_channel *channel, const int *pes, size_t n);
	/* Waits until everything that ever left this PE has taken effect, also what no quiet waits for. */
	void (*complete)(void);

	/*
	 * Moves whatever can move, and waits for nothing. True: something happened, and the caller wakes this PE's other
	 * threads. Each poll of a wait calls it (comms/wait/wait.c).
	 */
	bool (*progress)(void);
	/* Do other PEs' operations on this one go on while this PE computes? The executor of plans asks (comms/plans/executor.c). */
	bool (*served)(void);
	/* Can it tell the two cables of a pair of nodes apart? The pointer may be NULL. */
	bool (*has_second_cables)(void);

	/* For reports (comms/wait/deadlock.c, hang_text.c, SHMEM_INFO). traffic comes with zeros. */
	void (*count_traffic)(struct comms_traffic *traffic);
	/* Writes "; operations under way to PEs 1, 3", or "". */
	void (*name_under_way)(char *text, size_t size);
	/* To the hosts of these PEs, zeros where it is not known. The pointer may be NULL. comms/observe/cables.c asks. */
	void (*sent_to)(const int *pes, int n, struct network_sent *sent);
	/* From whom it takes connections, in words; NULL: from nobody. The pointer may be NULL. */
	const char *(*connections)(void);
	/* What its library cannot do with threads, in words; NULL: nothing. The pointer may be NULL. */
	const char *(*threads)(void);

	const struct network_buffers *buffers; /* comms/ops/buffers.c, comms/rdma/transfers.c */

	/* Optional, and who uses them. */
	const struct network_batching *batching;       /* comms/ops/notify.c */
	const struct network_completions *completions; /* comms/ops/completion_numbers.c */
	const struct network_collectives *collectives; /* comms/groups/groups.c */
	const struct network_offload *offload;	       /* comms/plans/offload.c */
	const struct network_blocking *blocking;       /* comms/wait/wait.c; wake: comms/plans/commands.c */
	const struct comms_map *map;		       /* comms/core/peers.c, comms/nodes/ */
};

/* Those of comms/networks.def; one that this library was configured without is only declared. */
#define NETWORK(NAME, name) extern const struct comms_network name##_network;
#include "comms/networks.def"
#undef NETWORK

#endif
