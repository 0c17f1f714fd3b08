/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_STREAM_H
#define TORUS_STREAM_H

#include "tree_inside.h"

/*
 * Pieces of data between a node and its neighbours. Both ends of a link know the list of what goes over it, so a piece needs no name.
 *
 * stream  all pieces that go over a link, one after the other. A node has one stream out and one in for each neighbour.
 * slot    room in the staging of the receiver for a piece. The streams of an all-gather leave it empty: their pieces go straight into dest.
 * grant   how many pieces the receiver allows: as many as there are slots ahead of what it has taken. Each piece that goes the other way over
 *         the same cable brings one; without such pieces it goes by itself, to a word at the sender. So neither
 *         staging nor the network's queues hold more than that of a link. That matters: with full queues before all ports what the two ends
 *         of a cable say to each other takes so long that cables fall idle.
 *
 * Words have the meaning, and the numbers, of those of trees upwards (tree_collective.h), but that the one behind a piece ends with a grant.
 */
struct torus_stream {
	int direction, pe; /* in which the pieces go, and the neighbour */
	ptrdiff_t there;   /* how much further on the neighbour's words and slots lie than mine */
	size_t all, done;  /* pieces: sent, or taken */
	size_t seen;	   /* of a stream in: pieces that have come */
	size_t granted;	   /* of a stream in: how many pieces the neighbour knows it may send */
	size_t allowed;	   /* of a stream out: how many may go, as pieces that came have said */
	struct comms_request request[SEGMENTS_AHEAD], granting;
};

struct torus_streams {
	/* to be filled in */
	const struct torus_topology *topology;
	struct torus_words *words;
	char *staging; /* of streams with slots */
	const ptrdiff_t *
		there; /* by direction towards the neighbour, see above; NULL: they lie alike at all PEs, as those of a team */
	uint64_t number; /* of the operation with these words, as for torus_tree_collective */
	bool by_plan;	 /* a thread of the library may send, as it does for plans */
	const char *routine;
	size_t piece,
		slots; /* bytes of a piece at most; slots: at most TORUS_SLOTS, and for pieces in slots see torus_streams_cut */
	size_t per_grant; /* so many pieces at least, but for the last */
	size_t share;	  /* bytes of staging for each direction */
	/* by torus_streams_find; both by the same neighbour, to it and from it */
	int count;
	struct torus_stream out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS];
};

/* Finds the neighbours. The caller then counts the pieces of each stream. */
void torus_streams_find(struct torus_streams *streams);

/*
 * Pieces of so many bytes at least lie in slots: sets piece, no longer than is good for the streams, the number of slots, and the share. Of a
 * plan, the share is no more than the slots need.
 */
#define TORUS_LEAST_SLOTS 8 /* with fewer, links wait for each other */
void torus_streams_cut(struct torus_streams *streams, size_t longest);

/*
 * Pieces of streams that need no slots, by the rate of the links: long enough to keep these busy, short enough to keep queues short. longest: of
 * what is cut into pieces.
 */
void torus_streams_pace(struct torus_streams *streams, size_t longest);

/* May the next piece go, as far as the receiver and the network are concerned? */
bool torus_stream_may_send(const struct torus_streams *streams, const struct torus_stream *out);
void torus_stream_send(struct torus_streams *streams, struct torus_stream *out, struct comms_piece piece);

/* The slot of the piece that is next, of a stream in, and at the neighbour of a stream out. */
char *torus_stream_slot(const struct torus_streams *streams, const struct torus_stream *in);
char *torus_stream_slot_there(const struct torus_streams *streams, const struct torus_stream *out);

/* Is the next piece here? The receiver takes it by counting done. */
bool torus_stream_has_come(struct torus_streams *streams, struct torus_stream *in);

/* Tells the sender what more it may send, when that is worth a message. Returns true when all have come and nothing is under way. */
bool torus_stream_grant(struct torus_streams *streams, struct torus_stream *in);

/* Has all been sent, and has the network taken it? */
bool torus_stream_is_sent(const struct torus_stream *out);

#endif
