/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TREE_COLLECTIVE_H
#define TORUS_TREE_COLLECTIVE_H

#include "comms/groups/topology.h"
#include "comms/torus/trees.h"

/*
 * Data that travels over several trees at once: from the root to all nodes of a torus, and before that, in an all-reduce, from all
 * nodes to the root.
 *
 * part      of the message: what one tree carries
 * segment   of a part: what a node hands on at a time
 * leave     word at the sender: how far the receiver lets it send
 * came      word behind each segment, at the receiver
 *
 * No two trees send over one link in one direction. So what belongs to a link belongs to one tree, and words are by direction: both by
 * the direction in which the segments go. A neighbour is always the same one and numbers only grow, so no word is ever reset.
 *
 * Down, a segment goes to its place in dest. The child says once that all may come, when it has begun, and with it ended what was
 * before; so nobody writes a word before it was read. Up, it goes to a slot of the staging, of which each direction has a few, used one after the other;
 * the receiver counts how many may come.
 */
enum {
	TORUS_SEGMENTS = 1024, /* of a part, at most */
	TORUS_SLOTS = 16,      /* for segments that go up in one direction, at most */
	TORUS_STAGING = 512 << 10,
	TORUS_LINE = 256,	  /* nodes along an axis, at most, for exchanges of all with all (torus_alltoall.h) */
	TORUS_WINDOWS = 128 << 10 /* and what these have of memory */
};

/* For segments that go one after the other through a few slots. */
struct torus_words {
	_Atomic uint64_t leave[TORUS_DIRECTIONS];
	_Atomic uint64_t came[TORUS_DIRECTIONS][TORUS_SLOTS];
};

/* Of a group, in the slot of each of its members. */
struct torus_area {
	struct {
		_Atomic uint64_t leave[TORUS_DIRECTIONS];
		_Atomic uint64_t came[TORUS_DIRECTIONS][TORUS_SEGMENTS];
	} down;
	struct torus_words up, across; /* across: results of an all-reduce by rings */
	/* from the node at that coordinate of the line: the number of the exchange */
	_Atomic uint64_t arrived[TORUS_AXES][TORUS_LINE];
	_Alignas(4096) char staging[TORUS_STAGING];
	char windows[TORUS_WINDOWS];
};
_Static_assert(sizeof(struct torus_area) <= COMMS_TORUS_BYTES, "a slot has room for it");

/* All members call this before the first of them begins an operation, with a barrier in between. */
void torus_area_clear(struct torus_area *area);

/* out[i] = low[i] op high[i]; the operation has no order that matters. */
typedef void torus_combine(void *out, const void *low, const void *high, size_t count);

/* What all members begin alike, but for the pointers. */
struct torus_tree_collective {
	const struct torus_topology *topology;
	enum torus_trees kind;
	const struct torus_disjoint_trees *disjoint; /* of kind TORUS_TREES_DISJOINT, from this root */
	int root, root_pe;			     /* a place, and its leader */
	uint64_t number;			     /* of what is done in this area, from 1 */
	struct torus_area *area;
	char *dest;
	const char *source; /* a broadcast's: on the root; of an all-reduce: what this node brings, may be dest */
	size_t bytes, segment;
	torus_combine *combine; /* of an all-reduce, else NULL */
	size_t element;		/* bytes; lines are whole elements */
	const char *routine;
};

/*
 * Call on node leaders only. On return its dest is there and may be changed. Segments of an all-reduce are
 * no longer than torus_longest_up.
 */
void torus_tree_collective_run(const struct torus_tree_collective *collective);
size_t torus_longest_up(const struct torus_shape *shape);

#endif
