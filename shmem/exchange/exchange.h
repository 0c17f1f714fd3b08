/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_EXCHANGE_H
#define SHMEM_EXCHANGE_H

/*
 * Neighbour exchange: messages between fixed neighbours, iteration after iteration, without a
 * handshake.
 *
 * station   of an edge, in symmetric memory: what its owner published when the exchange was made,
 *           and the words that the neighbour writes
 * slot      place for a message, two at the receiver: message k goes to slot k mod 2
 * message   header (its number, its length, and how many of the opposite direction's messages its
 *           sender has released) and payload; a small message shares one line with the header
 *
 * Numbers begin with 1 and only grow. A message's number is written after the rest of it has
 * arrived. Message k may be written when message k - 2 has been released. The sender learns that
 * from the header of a message in the opposite direction or, if none may come in time, from the
 * word `released`. In an exchange in both directions in which each side waits before it starts the
 * next one, the header always comes in time.
 *
 * If all edges are started together, messages to the same PE over a network leave in a batch. There
 * are two batches, used alternately.
 *
 * A large message may be sent in parts: those of detours (comms/torus/detours.h) reach its slot
 * through other nodes' libraries, and only the first bytes go directly (exchange_parts.c).
 *
 * If this PE can access the neighbour's memory, the buffer that the user fills is the slot itself.
 *
 * An exchange is used by one thread at a time.
 */
#include <shmemx.h>

#include <stdatomic.h>

#include "shmem/api.h"
#include "comms/plans/commands.h"
#include "comms/ops/notify.h"
#include "comms/torus/detours.h"

#define SLOTS 2
#define LINE 64

struct station {
	int64_t pe, edge; /* the neighbour's */
	uint64_t send_bytes, receive_bytes;
	uint64_t slots; /* position of the first slot in the block */
	/*
	 * The completion number that the neighbour passes with a message, by slot, so that the
	 * network reports it; 0: it uses a flag.
	 */
	uint8_t completion[SLOTS];
	/* Number of messages that the neighbour has released. */
	_Alignas(LINE) _Atomic uint64_t released;
};

struct message {
	_Alignas(LINE) _Atomic uint64_t number;
	uint64_t bytes; /* with the flag PARTED if it came in parts */
	uint64_t released;
	char small[LINE - 3 * sizeof(uint64_t)];
	char large[];
};
_Static_assert(sizeof(struct message) == LINE, "a large payload begins a line");

static inline bool exchange_is_small(size_t most)
{
	return most <= sizeof((struct message *)0)->small;
}

/* Bytes of a slot for messages up to this size, and the position of the payload in it. */
static inline size_t exchange_slot_size(size_t most)
{
	return sizeof(struct message) + (exchange_is_small(most) ? 0 : (most + LINE - 1) / LINE * LINE);
}

static inline size_t exchange_payload_at(size_t most)
{
	return exchange_is_small(most) ? offsetof(struct message, small) : sizeof(struct message);
}

#define PARTED ((uint64_t)1 << 63)

/*
 * Words by slot that count the segments of a part that have reached a node. A second segment may
 * overtake the first, so there are two words. A node that forwards the part has room for it behind
 * them, by slot.
 */
#define SEGMENT_WORDS 2
struct part_words {
	_Alignas(LINE) _Atomic uint64_t came[SLOTS][SEGMENT_WORDS];
};

/* A part of an edge's messages, at its destination. */
struct part_in {
	struct part_words *words;
	int segments;
};

struct batches {
	struct comms_batch epoch[SLOTS];
};

struct edge {
	int pe;
	size_t send_bytes, receive_bytes;
	uint64_t started, waited, released;
	/* Number of messages started that the neighbour is known to have released. */
	uint64_t credit;
	struct station *mine, *theirs;
	struct message *in[SLOTS]; /* of this PE */
	/* The neighbour's; here: NULL if this PE cannot access it. */
	struct message *slot[SLOTS], *slot_here[SLOTS];
	struct message *out[SLOTS];
	/* Position of the payload in a message. */
	size_t payload, their_payload;
	/* Given out by this PE, and by the neighbour. */
	uint8_t completion[SLOTS], their_completion[SLOTS];
	size_t sent_bytes; /* length of the last message started */
	/* Buffer that the user is filling, NULL: none. */
	struct message *filled;
	struct comms_peer *peer;
	struct comms_request request[SLOTS];
	/*
	 * The batch with other edges to the same PE; NULL: there are none, or no network is
	 * between.
	 */
	struct batches *batches;
	bool each_iteration; /* SHMEMX_EDGE_EACH_ITERATION */
	bool one_out;	     /* SHMEMX_EDGE_ONE_SEND_BUFFER */
	/*
	 * For messages of full length, by slot: the direct bytes, and the lists that send the
	 * parts; NULL: none.
	 */
	size_t direct;
	struct comms_list *parts[SLOTS];
	struct part_in in_part[TORUS_DETOURS];
	int in_parts;
	uint64_t parted[SLOTS]; /* messages already waited for that came in parts, by slot */
};

/* The edges that take part in each iteration: how many have in the current one. */
struct iteration {
	uint64_t over; /* iterations in which all have */
	int edges, done;
};

struct shmemx_exchange {
	char *block;
	struct shmemx_exchange *next;
	struct iteration sending, receiving;
	struct batches *batches;
	int n_batches, batch_parity;
	struct detour_plan *plan; /* NULL: no message has a detour */
	/* Kept for a while, without edges, so that its further use is detected. */
	bool destroyed;
	int n_edges;
	struct edge edges[];
};

/* --- Checks (exchange_checks.c has the messages) --- */

void exchange_complain_of_destroyed(const struct shmemx_exchange *x, const char *routine);
void exchange_complain_of_edge(const struct shmemx_exchange *x, int i, const char *routine);
/*
 * An edge with SHMEMX_EDGE_EACH_ITERATION was not used in this iteration, and the next one begins.
 */
void exchange_complain_of_iteration(const struct shmemx_exchange *x, const struct iteration *iteration,
				    const char *routine);

/* NULL: misuse. */
static inline struct edge *exchange_edge(struct shmemx_exchange *x, int i, const char *routine)
{
	if (COMMS_LIKELY(x && (unsigned)i < (unsigned)x->n_edges))
		return &x->edges[i];
	exchange_complain_of_edge(x, i, routine);
	return NULL;
}

/* Is the call for all edges? An exchange that was destroyed has none. */
static inline bool exchange_is_all(const struct shmemx_exchange *x, int edge, const char *routine)
{
	if (edge != SHMEMX_ALL_EDGES || !x)
		return false;
	if (COMMS_UNLIKELY(x->destroyed))
		exchange_complain_of_destroyed(x, routine);
	return true;
}

/*
 * For edges marked SHMEMX_EDGE_EACH_ITERATION: call before sending or receiving message `number` of
 * one of them. Breaks the job if another marked edge was not yet used for message
 * number - 1: the program has skipped it.
 */
static inline void exchange_check_number(const struct shmemx_exchange *x, const struct iteration *iteration,
					 uint64_t number, const char *routine)
{
	if (COMMS_UNLIKELY(number > iteration->over + 1))
		exchange_complain_of_iteration(x, iteration, routine);
}

static inline void exchange_end_iteration(struct iteration *iteration)
{
	if (++iteration->done < iteration->edges)
		return;
	iteration->over++;
	iteration->done = 0;
}

/* --- Messages in parts --- */

/* An edge as known to all PEs. */
struct published_edge {
	int32_t pe, edge; /* the neighbour's */
	uint64_t send_bytes, receive_bytes;
	uint64_t slots; /* as in its station */
};

/* The detours that all PEs agree on. */
struct detour_plan {
	struct torus_detours found;
	/* By message: its edge at the sender and at the receiver. */
	struct published_edge *from, *to;
	/*
	 * By detour and hop: the words and room at the end of the hop, as a position in that PE's
	 * block.
	 */
	struct part_place {
		int pe;
		size_t at;
	} (*place)[TORUS_DETOUR_HOPS];
	struct comms_list **relays; /* that this PE forwards */
	int n_relays;
};

/*
 * exchange_detours.c: chooses detours, or none; all PEs call this and find the same ones. most: the
 * longest message of the exchange. Each PE gets its words and the room for parts that it forwards
 * in the exchange's block of symmetric memory, from offset `at` on; returns their size in bytes.
 */
size_t exchange_choose_detours(struct shmemx_exchange *x, const struct published_edge *edges, size_t stations,
			       uint64_t most, size_t at, const char *routine);
void exchange_forget_detours(struct shmemx_exchange *x);

/* exchange_parts.c: starts this PE's work on parts, once the neighbours are known. */
void exchange_begin_parts(struct shmemx_exchange *x, const char *routine);
/*
 * Waits for the parts of messages that the program did not wait for. Between two barriers:
 * afterwards no part is under way anywhere.
 */
void exchange_await_parts(const struct shmemx_exchange *x);
void exchange_end_parts(struct shmemx_exchange *x);

static inline bool exchange_goes_in_parts(const struct edge *edge, size_t bytes)
{
	return COMMS_UNLIKELY(edge->parts[0] != NULL) && bytes == edge->send_bytes;
}

/* exchange.c: waits until everything sent from this slot's out buffer has left it. */
void exchange_await_sent(const struct edge *edge, int s, const char *routine);

/* Have all parts of the next message arrived? Its header has. */
bool exchange_parts_have_come(const struct edge *edge);

static inline bool exchange_is_parted(const struct message *message)
{
	return COMMS_UNLIKELY((message->bytes & PARTED) != 0);
}

static inline size_t exchange_bytes(const struct message *message)
{
	return message->bytes & ~PARTED;
}

#endif
