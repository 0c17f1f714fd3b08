/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_EXCHANGE_H
#define SHMEM_EXCHANGE_H

/*
 * Neighbour exchange: messages between fixed neighbours, iteration after iteration, without asking first.
 *
 * station   of an edge, in symmetric memory: what its owner published when it was made, and the words that the neighbour writes
 * slot      place for a message, two at the receiver: message k goes to slot k mod 2
 * message   header (its number, its length, and how many of the other direction's messages its sender has released) and
 *           payload; a small one is in one line with the header
 *
 * Numbers begin with 1 and only grow. A message's number is written after the rest of it is there. Message k may be written
 * when message k - 2 was released, which the sender learns from the header of a message in
 * the opposite direction or, where none may come in time, from the word `released`. In an exchange in both directions, in which
 * each side waits before it starts the next one, the header always comes in time.
 *
 * Messages to the same PE over a network leave together when all edges are started in a batch. There are two batches, used alternately.
 *
 * A large message may be sent in parts: those of detours (comms/torus/detours.h) go to its slot by way of other nodes' libraries, and
 * only the rest, in front of them, directly (exchange_parts.c).
 *
 * Where the neighbour's memory can be loaded and stored, the buffer that the user fills is the slot itself.
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
	uint64_t slots; /* where the first slot is, from the beginning of the block */
	/* the number for each slot that the neighbour names with a message, so that the network reports it; 0: it uses a flag */
	uint8_t completion[SLOTS];
	_Alignas(LINE) _Atomic uint64_t released; /* how many messages the neighbour has released */
};

struct message {
	_Alignas(LINE) _Atomic uint64_t number;
	uint64_t bytes; /* and PARTED, if it came in parts */
	uint64_t released;
	char small[LINE - 3 * sizeof(uint64_t)];
	char large[];
};
_Static_assert(sizeof(struct message) == LINE, "a large payload begins a line");

static inline bool exchange_is_small(size_t most)
{
	return most <= sizeof((struct message *)0)->small;
}

/* Bytes of a slot for messages of at most so many, and where the payload is in it. */
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
 * Words that count the segments of a part which have come to a node, by slot; a second segment may overtake the first, so there are
 * two of each. A node that hands the part on has room for it behind them, by slot.
 */
#define SEGMENT_WORDS 2
struct part_words {
	_Alignas(LINE) _Atomic uint64_t came[SLOTS][SEGMENT_WORDS];
};

/* A part of the messages of an edge, where it ends. */
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
	uint64_t credit; /* of the messages started, how many the neighbour is known to have released */
	struct station *mine, *theirs;
	struct message *in[SLOTS]; /* mine */
	/* the neighbour's; here: NULL where it cannot be loaded and stored */
	struct message *slot[SLOTS], *slot_here[SLOTS];
	struct message *out[SLOTS];
	size_t payload, their_payload;			    /* where it is in a message */
	uint8_t completion[SLOTS], their_completion[SLOTS]; /* given by this PE, and by the neighbour */
	size_t sent_bytes;				    /* of the last message started */
	struct message *filled;				    /* what the user got last to fill, NULL: nothing */
	struct comms_peer *peer;
	struct comms_request request[SLOTS];
	/* of this one and others to the same PE, NULL: there are none, or no network is between */
	struct batches *batches;
	bool each_iteration; /* SHMEMX_EDGE_EACH_ITERATION */
	bool one_out;	     /* SHMEMX_EDGE_ONE_SEND_BUFFER */
	/* Of messages of full length: what goes directly, and what sends the parts, by slot; NULL: there are none. */
	size_t direct;
	struct comms_list *parts[SLOTS];
	struct part_in in_part[TORUS_DETOURS];
	int in_parts;
	uint64_t parted[SLOTS]; /* messages waited for that came in parts, by slot */
};

/* How many of the edges that take part in each iteration have done so in this one. */
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
	bool destroyed;		  /* such a one is kept for a while, without edges, so that its further use is seen */
	int n_edges;
	struct edge edges[];
};

/* --- Checks (exchange_checks.c has the messages) --- */

_Noreturn void exchange_complain_of_destroyed(const struct shmemx_exchange *x, const char *routine);
_Noreturn void exchange_complain_of_edge(const struct shmemx_exchange *x, int i, const char *routine);
/* Some edge with SHMEMX_EDGE_EACH_ITERATION was not used in this iteration, and the next one begins. */
_Noreturn void exchange_complain_of_iteration(const struct shmemx_exchange *x, const struct iteration *iteration,
					      const char *routine);

static inline void exchange_check_alive(const struct shmemx_exchange *x, const char *routine)
{
	if (COMMS_UNLIKELY(x->destroyed))
		exchange_complain_of_destroyed(x, routine);
}

static inline struct edge *exchange_edge(struct shmemx_exchange *x, int i, const char *routine)
{
	if (COMMS_UNLIKELY(!x || (unsigned)i >= (unsigned)x->n_edges))
		exchange_complain_of_edge(x, i, routine);
	return &x->edges[i];
}

/* Does the call concern all edges? */
static inline bool exchange_is_all(const struct shmemx_exchange *x, int edge, const char *routine)
{
	if (edge != SHMEMX_ALL_EDGES || !x)
		return false;
	exchange_check_alive(x, routine);
	return true;
}

/* Call before an edge with the mark is used for message `number`: all others have been used for the message before. */
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

/* An edge as all PEs know it. */
struct published_edge {
	int32_t pe, edge; /* the neighbour's */
	uint64_t send_bytes, receive_bytes;
	uint64_t slots; /* as in its station */
};

/* What is agreed on detours. */
struct detour_plan {
	struct torus_detours found;
	struct published_edge *from, *to; /* by message, its edge at the sender and at the receiver */
	/* By detour and hop, what the hop leads to: the words and the room of this PE, from so many bytes on in its block. */
	struct part_place {
		int pe;
		size_t at;
	} (*place)[TORUS_DETOUR_HOPS];
	struct comms_list **relays; /* of this PE */
	int n_relays;
};

/*
 * exchange_detours.c: chooses detours, or none; all PEs call this and find the same ones. most: the longest message of the exchange.
 * Returns the bytes that a PE needs for words and for what it hands on, from `at` in the block.
 */
size_t exchange_choose_detours(struct shmemx_exchange *x, const struct published_edge *edges, size_t stations,
			       uint64_t most, size_t at, const char *routine);
void exchange_forget_detours(struct shmemx_exchange *x);

/* exchange_parts.c: begins what this PE does for parts, when the neighbours are known. */
void exchange_begin_parts(struct shmemx_exchange *x, const char *routine);
/* Waits for the parts of messages that were not waited for. A barrier before it, and one behind: then no part is under way anywhere. */
void exchange_await_parts(const struct shmemx_exchange *x);
void exchange_end_parts(struct shmemx_exchange *x);

static inline bool exchange_goes_in_parts(const struct edge *edge, size_t bytes)
{
	return COMMS_UNLIKELY(edge->parts[0] != NULL) && bytes == edge->send_bytes;
}

/* exchange.c: waits until what was sent from this slot's out buffer, in whatever way, has left it. */
void exchange_await_sent(const struct edge *edge, int s, const char *routine);

/* Have all parts of the next message come? Its header has. */
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
