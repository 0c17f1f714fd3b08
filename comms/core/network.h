/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NETWORK_H
#define COMMS_NETWORK_H

#include "operations.h"
#include "sessions.h"

struct torus_shape;

/*
 * The contract between the core and a network: libfabric (net/ofi, the smallest), Tofu (net/tofu,
 * whose NIC needs no help), UCX (net/ucx). One network carries, for the whole job, what load and
 * store cannot. A line in comms/networks.def makes the library know it; networks.c chooses it at
 * the start.
 *
 * A network implements all of struct comms_network except what is marked optional. An optional
 * group is a table of its own: it is complete, or the pointer to it is NULL. Errors end the job
 * with a message; no operation returns one. rte_die is for an error that one PE detects,
 * rte_die_together for one that all PEs detect alike (start, find). A library that only some
 * machines have is loaded by dlopen in start, or in find if find must ask it: programs run without
 * it, and jobs that need no network do not load it.
 *
 * Its types: comms_place, comms_atomic, comms_piece, comms_request and comms_buffer are in
 * operations.h, comms_peer and comms.segments in comms.h, peers_network_info in peers.h, all beside
 * this file; rte_ functions are in rte/rte.h.
 *
 * Duties of the network as a whole:
 *
 * words       PEs poll aligned words of 4 and 8 bytes. A put or get of a word that is aligned at
 *             the peer, an atomic, and a flag are one access each, wherever the word lies here. A
 *             flag is 8 bytes wide
 * order       Notifications of the library's own (not counted) without a request that this PE sends
 *             to one flag take effect in the order of the calls: a counting flag never decreases. A
 *             caller with a request waits for it before its next notification to that flag. Only
 *             fence orders everything else, counted notifications included
 * connecting  is one-sided: A connects to B when it first needs B, and B may never connect to A.
 *             Where both ends must act (queue pairs, for example), the first operation sends B a
 *             message by the address that B published, and B's network answers from open on. The
 *             message carries what B needs to answer A. If B calls comms_connect(A) instead, it
 *             must hold no lock that its own connect takes. A NIC that can only put writes the
 *             message into the sender's slot of a table at B with a slot for each PE; describe
 *             publishes the table's address only
 * oneself     With NETWORK_OWN_ATOMICS the network also carries a PE's atomics on its own memory,
 *             but not its puts and gets there. It may also carry notifications to PEs of this node
 *             that stores reach (comms.loopback, buffers)
 * progress    A thread of the network that has made progress calls wait_lists.serve()
 *             (comms/wait/lists.h) and then comms_wake(comms_peer(comms.pe)), because the PE may
 *             sleep until something arrives. serve calls put, get and notify. A network needs
 *             blocking if the target's library carries out operations or if the network has a
 *             thread. A longest_wait alone is enough only if the NIC carries out everything,
 *             because a PE that sleeps in a barrier of its node calls no progress
 * thread      A network creates its thread by rte_start_thread, before open returns, or in finish,
 *             and at no other time: comms/wait/deadlock.c counts threads that start in between as
 *             the program's; it stops before finish. With SHMEM_PROGRESS_THREAD=no it creates none
 *             before finish. The network reads the setting by setting_bool, which leaves the value
 *             unchanged for "auto". From finish to rest it serves this PE in any case
 * threads     Several threads at once call operations, channel_open and channel_close, progress,
 *             served, wait, wake and the reports, also in a program with one thread: SHMEM_CHECK,
 *             hang reports and the executor of plans have threads of their own. All other functions
 *             are called by one thread at a time
 * waits       Functions wait by COMMS_WAIT(COMMS_NOWHERE, ...), which calls progress and moves
 *             command lists; these in turn call put, get and notify. So no function may hold a lock
 *             while it waits. A function that "waits for nothing" may wait for a free record of the
 *             network, in a loop that calls the network's own progress: COMMS_WAIT might put the
 *             thread to sleep. The core calls connect, share and unshare with a lock held: they
 *             wait for nothing, and leave a handshake to the first operation
 * counting    The core counts and traces operations. With NETWORK_RECORDS_ARRIVALS the sending side
 *             calls trace_take_event for the event that a message belongs to, and the target calls
 *             trace_arrival (comms/observe/trace.h)
 * loss        A network that detects the loss of a peer calls rte_let_others_speak before rte_die:
 *             the launcher may know the cause
 *
 * Words used here:
 *
 * peer        comms/core/peers.h; peer->driver is the network's own pointer, which connect or the
 *             first operation sets and forget frees. No other file reads it
 * place       struct comms_place: a peer, a segment of its memory, and an offset there
 * channel     orders and completes its own operations; the network defines it, and the core only
 *             keeps the pointer. NULL is the default one, which all threads use; a private one is
 *             used by one thread at a time
 * request     the core's record of a notification; request->driver is memory for the network's own
 *             record; the core does not clear it between uses
 * served      a PE is served when other PEs' operations on its memory make progress
 */

#define COMMS_NO_FLAG ((size_t)-1)

struct network_piece {
	size_t offset;
	const void *source;
	size_t bytes;
};

/*
 * Data in up to two pieces, then a flag, to one peer. The flag changes after the data has arrived.
 * There are two kinds:
 *
 * counted      an operation of the program (put with signal). op, an atomic as in amo, changes the
 *              flag (COMMS_SWAP sets it, COMMS_ADD adds value to it). A quiet of the channel waits
 *              for it, and a fence of the channel orders it. request is NULL. With nbi, the source
 *              must not change until that quiet; otherwise it may be reused on return
 * not counted  one of the library's own; no quiet waits for it. The flag becomes value by a store
 *              that PEs read atomically. Without a request the source may be reused on return. With
 *              one the call waits for nothing: the network sets request->under_way to true, and
 *              later to false by a store with release order, when the flag has changed and the
 *              source and the request may be reused
 */
struct network_notification {
	struct comms_peer *peer;
	enum comms_segment_id segment; /* of both pieces */
	struct network_piece piece[2]; /* piece[0] goes first; bytes is 0: no data */
	/*
	 * The first piece's offset is in this buffer of the peer; NULL: in the segment, as in all
	 * counted ones.
	 */
	const struct comms_buffer *buffer;
	enum comms_segment_id flag_segment;
	size_t flag_offset; /* COMMS_NO_FLAG: there is no flag */
	uint64_t value;	    /* with a request, request->value is the same */
	/*
	 * Not 0: a completion number from the peer's listen; flag_offset is then COMMS_NO_FLAG. 0
	 * if counted.
	 */
	uint8_t completion;
	/*
	 * Use the second cable of a pair of nodes, if the network has_second_cables; never in a
	 * batch.
	 */
	bool second_cable;
	/* Not NULL: a network with batching may keep this until send_batch. */
	struct comms_batch *batch;
	bool counted, nbi;
	struct comms_channel *channel;
	enum comms_amo op;
};

/*
 * Messages of this PE since the start: what it has sent, and what it has carried out for others.
 * comms/wait/deadlock.c compares the sums over all PEs: equal sums, and nothing pending, mean that
 * no message is under way. A message is counted as sent before it leaves, and as carried out when
 * its effect is in memory. Answers and acknowledgements do not count; an operation that waits for
 * an answer is pending. A network whose NIC carries out everything reports pending alone, and the
 * messages with completion numbers.
 */
struct comms_traffic {
	uint64_t sent, carried_out;
	/*
	 * Number of messages in one notification without a request, with up to 32 bytes of data or
	 * none.
	 */
	unsigned notify;
	bool pending; /* operations are under way that these numbers do not show */
	bool blind;   /* puts may be under way that no number shows */
};

/*
 * Memory beyond the heap and the global data: regions (regions.h), and memory that is not symmetric
 * and that others may put to and get from (comms/ops/buffers.h). All networks support it. The words
 * that share writes for a region are in the record that comms_region_of returns for a place there.
 */
struct network_buffers {
	/*
	 * Writes what others need into buffer->network. Returns a handle for unshare; using the
	 * buffer after unshare is an error. Two threads may be in these functions at once.
	 */
	void *(*share)(struct comms_buffer *buffer, const char *routine);
	void (*unshare)(const struct comms_buffer *buffer, void *handle);
	/*
	 * Waits for nothing. Reads to->bytes into to->dest, memory of this PE. The data has arrived
	 * when the request completes; under_way works as in notify. `to` is invalid after the call.
	 * (Puts are notifications.)
	 */
	void (*get)(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
		    size_t offset, struct comms_piece *to);
};

/* --- Optional groups --- */

/*
 * Several notifications in one message. The core begins and ends a batch (comms/ops/notify.c);
 * notify fills it.
 */
struct network_batching {
	/* Sends what notify has kept in a batch. Called only if batch->count is not 0. */
	void (*send_batch)(struct comms_batch *batch);
};

/* Completions that the receiver's network reports, without a flag behind the data. */
struct network_completions {
	/*
	 * A word of this PE becomes value when the first notification with the returned number
	 * arrives from a peer, then value + step, and so on. Only calls of this PE change it. 0: no
	 * number is left, and the sender must use a flag.
	 */
	uint8_t (*listen)(struct comms_peer *from, _Atomic uint64_t *word, uint64_t value, uint64_t step);
	/* Returns the number. All notifications with it must have arrived. */
	void (*release)(struct comms_peer *from, uint8_t completion);
	/*
	 * This PE has waited for the last notification with this number; a recording of the network
	 * needs to know.
	 */
	void (*needed)(struct comms_peer *from, uint8_t completion);
};

/*
 * Barriers and small reductions in the network. All members of the group call them in the same
 * order.
 */
struct network_collectives {
	/* Returns false on all members if the network cannot do this one. */
	bool (*barrier)(const struct comms_group *group);
	/*
	 * Combines this many words; all members get the result. For sums of doubles a word is a
	 * double. Returns false as above.
	 */
	bool (*reduce)(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count);
	/* Ends the group's use of the network. All members must have left the last barrier. */
	void (*part)(const struct comms_group *group);
};

/* Lists of operations that the NIC carries out by itself: sessions.h. */
struct network_offload {
	/*
	 * Broadcasts. open creates queues for this many trees and describes them; NULL: it cannot.
	 * write prepares the work of each run once all PEs know each other's queues. is_over covers
	 * this PE's sending only.
	 */
	struct comms_session *(*open)(int trees, const int *children, struct comms_session_shown *shown);
	void (*write)(struct comms_session *session, const struct comms_session_tree *branches,
		      const struct comms_readiness *ready);
	/*
	 * The same for data between pairs. open_edges stores the number of the queue that receives
	 * the packets of ready PEs; run: a word of this PE.
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
	 * Blocks until the network has work or the time has passed, at most 20 ms or longest_wait;
	 * returns at once if the word already has another value, which it checks once before
	 * blocking. Returns NETWORK_BLOCK_NOT at once if another thread of this PE makes progress:
	 * the caller may then sleep on the word.
	 */
	enum network_block {
		NETWORK_BLOCK_NOT,
		NETWORK_BLOCKED,
		NETWORK_BLOCKED_AND_PROGRESSED
	} (*wait)(_Atomic uint32_t *word, uint32_t value, long nanoseconds);
	/*
	 * Called after the core adds a command list: makes the network's thread serve the lists.
	 * Does nothing if there is no thread.
	 */
	void (*wake)(void);
};

/* Counters of data sent to the host of another PE. */
struct network_sent {
	/* Acknowledged so far; time with unacknowledged data while the receiver had room. */
	uint64_t bytes, microseconds;
};

/* Positions of PEs in the network, from a launcher that knows them. Used from find on. */
struct comms_map {
	/* The node of a PE, as a number common to all PEs of the node. */
	uint64_t (*node_of)(int pe);
	/* The whole machine, and the place of a PE's node in it. Returns false if unknown. */
	bool (*machine)(struct torus_shape *machine);
	int (*place)(const struct torus_shape *machine, int pe);
};

enum {
	/*
	 * amo is not atomic with the processor's atomics: PEs of a node use it among themselves,
	 * too
	 */
	NETWORK_OWN_ATOMICS = 1,
	NETWORK_RECORDS_ARRIVALS = 2 /* the target records arrival times for traces */
};

/* --- The core of the contract --- */

struct comms_network {
	/* As SHMEM_INFO prints it; SHMEM_PATHS has the name in networks.def. */
	const char *name;
	unsigned traits; /* NETWORK_..., or'ed */
	int row;	 /* of SHMEM_STATS: ROW_NAME of counters.h, from networks.def */
	/*
	 * longest sleep in ns; 0: unlimited, since arrivals wake the PE. A network whose NIC writes
	 * silently sets it
	 */
	long longest_wait;

	/*
	 * Life cycle, in this order (comms/start.c; connect and forget: comms/core/peers.c). All
	 * but start, describe, finish and stop may be NULL.
	 *
	 * find      Can this job use the network? Called first, if SHMEM_PATHS names the network
	 *           and none before it in networks.def was taken. It must be quick, and looks only
	 *           at libraries, settings and the launcher's information, which are the same on
	 *           all hosts. If the answer is no and must is true (the user has set SHMEM_PATHS,
	 *           and the job has more than one PE) it ends the job with a message; otherwise it
	 *           returns false and must have released everything, because leave is called for
	 *           the chosen network only
	 * start     The job has peers that only a network reaches. Creates what operations need,
	 *           and registers the segments (comms.segments, whole; one of size 0 needs nothing;
	 *           a NIC that pins pages commits them all). It does not wait for peers, and
	 *           COMMS_WAIT calls no progress yet
	 * describe  Returns what other PEs need to connect to this one, in memory that the caller
	 *           frees. The core publishes it. It may be large, but must not grow with the job,
	 *           because a PE reads that of each PE it connects to
	 * connect   First contact with a peer, after all PEs have published. peers_network_info
	 *           returns what the peer published, never NULL. The first peer is this PE itself,
	 *           before open; PEs of this node follow like others. No other thread knows the
	 *           record yet
	 * open      Accepts connections, and serves other PEs from now on, in a thread if there is
	 *           one. It is the last step of comms_start: this PE starts no operation before
	 *           open returns. Other PEs may, because no barrier follows; their operations are
	 *           carried out from open on
	 * finish    Completes all operations of this PE. From now on the loss of a peer is no
	 *           error; peers are still served
	 * rest      All PEs have finished: stops serving
	 * forget    Frees peer->driver, which may still be NULL. A job that ends with an error
	 *           calls none of these
	 * stop      Undoes start
	 * leave     Undoes find, also if start was not called
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

	/*
	 * For contexts. Returns NULL from open: no memory. The core calls quiet on a channel before
	 * it closes it.
	 */
	struct comms_channel *(*channel_open)(bool private);
	void (*channel_close)(struct comms_channel *channel);

	/*
	 * Without nbi, the source may be reused, or the data has arrived, on return; with nbi,
	 * after the next quiet of the channel. bytes is never 0, and may exceed the NIC's longest
	 * message. source, dest and result are any memory of this process. A NIC that needs
	 * registered memory on this side copies small data through its own memory and registers the
	 * rest for the operation, like tofu_ops.c.
	 */
	void (*put)(struct comms_channel *channel, const struct comms_place *there, const void *source, size_t bytes,
		    bool nbi);
	void (*get)(struct comms_channel *channel, const struct comms_place *there, void *dest, size_t bytes, bool nbi);
	/*
	 * Atomics of 4 or 8 bytes, all of enum comms_amo. The result has the width of the operation
	 * and has arrived on return, or with nbi after the next quiet; amo has then taken effect. A
	 * network that lacks some of them sends them to the target's library, which checks the
	 * place and calls comms_amo_32 or comms_amo_64 (operations.h); it does not set
	 * NETWORK_OWN_ATOMICS.
	 */
	void (*amo)(struct comms_channel *channel, const struct comms_place *there, const struct comms_atomic *atomic);
	void (*amo_fetch)(struct comms_channel *channel, const struct comms_place *there,
			  const struct comms_atomic *atomic, void *result, bool nbi);
	/* carry.c sends counted notifications, comms/ops/notify.c the library's own. */
	void (*notify)(struct comms_request *request, const struct network_notification *notification);
	/*
	 * Puts, atomics and counted notifications after a fence take effect at a peer after those
	 * before it. If the processor also stores to the same peers, the core calls quiet instead.
	 */
	void (*fence)(struct comms_channel *channel);
	/*
	 * Waits until all operations of the channel have taken effect; the second, only those to
	 * these PEs. A PE may be listed twice, be this PE, or have no connection (peer->driver is
	 * NULL). It may wait for other PEs, too.
	 */
	void (*quiet)(struct comms_channel *channel);
	void (*quiet_pes)(struct comms_channel *channel, const int *pes, size_t n);
	/*
	 * Waits until everything that this PE ever sent has taken effect, also operations that no
	 * quiet waits for.
	 */
	void (*complete)(void);

	/*
	 * Makes all possible progress without waiting. Returns true if something happened; the
	 * caller then wakes this PE's other threads. Each poll of a wait calls it
	 * (comms/wait/wait.c).
	 */
	bool (*progress)(void);
	/*
	 * Do other PEs' operations on this one make progress while this PE computes? The executor
	 * of plans asks (comms/plans/executor.c).
	 */
	bool (*served)(void);
	/* Can it tell the two cables of a pair of nodes apart? The pointer may be NULL. */
	bool (*has_second_cables)(void);

	/*
	 * For reports (comms/wait/deadlock.c, hang_text.c, SHMEM_INFO). traffic is zeroed by the
	 * caller.
	 */
	void (*count_traffic)(struct comms_traffic *traffic);
	/* Writes "; operations under way to PEs 1, 3", or "". */
	void (*name_under_way)(char *text, size_t size);
	/*
	 * Data sent to the hosts of these PEs; zeros if unknown. The pointer may be NULL. For
	 * comms/observe/cables.c.
	 */
	void (*sent_to)(const int *pes, int n, struct network_sent *sent);
	/*
	 * Describes the sources it accepts connections from; NULL: none. The pointer may be NULL.
	 */
	const char *(*connections)(void);
	/*
	 * Describes how it reaches the other hosts; NULL: there is nothing to say. The pointer may
	 * be NULL.
	 */
	const char *(*routes)(void);
	/*
	 * Describes what its library cannot do with threads; NULL: it has no limit. The pointer may
	 * be NULL.
	 */
	const char *(*threads)(void);

	const struct network_buffers *buffers; /* comms/ops/buffers.c, comms/rdma/transfers.c */

	/* Optional groups, and the files that use them. */
	const struct network_batching *batching;       /* comms/ops/notify.c */
	const struct network_completions *completions; /* comms/ops/completion_numbers.c */
	const struct network_collectives *collectives; /* comms/groups/groups.c */
	const struct network_offload *offload;	       /* comms/plans/offload.c */
	/* comms/wait/wait.c; wake: comms/plans/commands.c. */
	const struct network_blocking *blocking;
	const struct comms_map *map; /* comms/core/peers.c, comms/nodes/ */
};

/*
 * The networks of comms/networks.def. One that this library was configured without is only
 * declared.
 */
#define NETWORK(NAME, name) extern const struct comms_network name##_network;
#include "comms/networks.def"
#undef NETWORK

#endif
