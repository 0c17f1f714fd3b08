/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_STREAM_H
#define TORUS_STREAM_H

#include "tree_inside.h"

/*
 * Pieces of data between a node and its neighbours. Both ends of a link know the list of pieces on
 * it, so a piece needs no name.
 *
 * stream  all pieces that go over a link, in order. A node has one stream out and one stream in for
 *         each neighbour
 * slot    room for a piece in the receiver's staging. Streams of an all-gather use none: their
 *         pieces go straight into dest
 * grant   number of pieces that the receiver allows: those it has taken plus its slots. A piece
 *         that goes the other way over the same cable carries one; otherwise it goes by itself, to
 *         a word at the sender. So neither staging nor the network's queues hold more than this for
 *         a link. This matters: with full queues before all ports the acknowledgements on a cable
 *         take so long that cables fall idle
 *
 * Words have the meaning and the numbers of those of trees going up (tree_collective.h), except
 * that the word behind a piece ends with a grant.
 */
struct torus_stream {
	int direction, pe; /* direction of the pieces, and the neighbour */
	ptrdiff_t there;   /* offset of the neighbour's words and slots from this node's */
	size_t all, done;  /* pieces: in total; sent or taken */
	size_t seen;	   /* of a stream in: pieces that have arrived */
	size_t granted;	   /* of a stream in: grant that the neighbour knows */
	size_t allowed;	   /* of a stream out: grant, by the pieces that arrived */
	struct comms_request request[SEGMENTS_AHEAD], granting;
};

struct torus_streams {
	/* The caller fills these in. */
	const struct torus_topology *topology;
	struct torus_words *words;
	char *staging; /* of streams with slots */
	/*
	 * By direction of the neighbour: the offset of its words and slots (torus_stream.there).
	 * NULL: they have the same symmetric address on all PEs, as a team's do.
	 */
	const ptrdiff_t *there;
	uint64_t number; /* of the operation with these words, as in torus_tree_collective */
	bool by_plan;	 /* a thread of the library may send, as for plans */
	const char *routine;
	/*
	 * Bytes of a piece at most; slots: at most TORUS_SLOTS. For pieces in slots see
	 * torus_streams_cut.
	 */
	size_t piece, slots;
	/* Least number of pieces that a separate grant message allows, except for the last. */
	size_t per_grant;
	size_t share; /* bytes of staging for each direction */
	/* By torus_streams_find. Both are by the same neighbour, to it and from it. */
	int count;
	struct torus_stream out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS];
};

/* Finds the neighbours. The caller then counts the pieces of each stream. */
void torus_streams_find(struct torus_streams *streams);

/*
 * Of a plan: the streams begin again, with the next number; and their total, which a step
 * increases.
 */
void torus_streams_rewind(struct torus_streams *streams, uint64_t number);
size_t torus_streams_progress(const struct torus_streams *streams);

/*
 * For pieces in slots. longest: the longest data to send, which is cut into equal pieces. Sets
 * piece, slots and share; a plan's share is only what its slots need.
 */
#define TORUS_LEAST_SLOTS 8 /* with fewer, links idle */
void torus_streams_cut(struct torus_streams *streams, size_t longest);

/*
 * Piece size for streams without slots, by the rate of the links: long enough to keep links busy,
 * short enough to keep queues short. longest: the longest data that is cut into pieces.
 */
void torus_streams_pace(struct torus_streams *streams, size_t longest);

/* May the next piece leave, by the receiver's grant and the network's queue? */
bool torus_stream_may_send(const struct torus_streams *streams, const struct torus_stream *out);
void torus_stream_send(struct torus_streams *streams, struct torus_stream *out, struct comms_piece piece);

/* The slot of the next piece: here of a stream in, at the neighbour of a stream out. */
char *torus_stream_slot(const struct torus_streams *streams, const struct torus_stream *in);
char *torus_stream_slot_there(const struct torus_streams *streams, const struct torus_stream *out);

/* Has the next piece arrived? The receiver takes it by increasing `done`. */
bool torus_stream_has_come(struct torus_streams *streams, struct torus_stream *in);

/*
 * Sends the sender a new grant when that is worth a message. Returns true when all pieces have
 * arrived and no grant is under way.
 */
bool torus_stream_grant(struct torus_streams *streams, struct torus_stream *in);

/* Have all pieces been sent and taken by the network? */
bool torus_stream_is_sent(const struct torus_stream *out);

#endif
