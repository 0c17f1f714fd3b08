/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TREE_COLLECTIVE_H
#define TORUS_TREE_COLLECTIVE_H

#include "comms/groups/topology.h"
#include "comms/torus/trees.h"

/*
 * Data that travels over several trees at once: from the root to all nodes of a torus, and before
 * that, in an all-reduce, from all nodes to the root.
 *
 * part      of the message: what one tree carries
 * segment   of a part: what a node forwards at a time
 * leave     word at the sender: how far the receiver lets it send
 * came      word behind each segment, at the receiver
 *
 * No two trees use one link in one direction, so each direction of a link belongs to one tree.
 * Words are therefore indexed by the direction in which the segments go. The neighbour of a
 * direction is always the same and numbers only grow, so no word is ever reset.
 *
 * Going down, a segment goes to its place in dest. The child reports once, when it has begun and so
 * ended the operation before, that all segments may come: nobody overwrites a word that is still to
 * be read. Going up, a segment goes to one of a few staging slots of its direction, which are used
 * in turn; the receiver counts how many may come.
 */
enum {
	TORUS_SEGMENTS = 1024, /* most segments of a part */
	TORUS_SLOTS = 16,      /* most segments going up in one direction */
	TORUS_STAGING = 512 << 10,
	TORUS_LINE = 256,	  /* most nodes along an axis, for torus_alltoall.h */
	TORUS_WINDOWS = 128 << 10 /* and its memory */
};

/* For segments that use a few slots in turn. */
struct torus_words {
	_Atomic uint64_t leave[TORUS_DIRECTIONS];
	_Atomic uint64_t came[TORUS_DIRECTIONS][TORUS_SLOTS];
};

/* Of a group, in the slot of each member. */
struct torus_area {
	struct {
		_Atomic uint64_t leave[TORUS_DIRECTIONS];
		_Atomic uint64_t came[TORUS_DIRECTIONS][TORUS_SEGMENTS];
	} down;
	struct torus_words up, across; /* across: results of an all-reduce by rings */
	/* By coordinate on the line: the number of that node's exchange. */
	_Atomic uint64_t arrived[TORUS_AXES][TORUS_LINE];
	_Alignas(4096) char staging[TORUS_STAGING];
	char windows[TORUS_WINDOWS];
};
_Static_assert(sizeof(struct torus_area) <= COMMS_TORUS_BYTES, "a slot has room for it");

/* All members call this, with a barrier before the first of them begins an operation. */
void torus_area_clear(struct torus_area *area);

/* out[i] = low[i] op high[i]; op is commutative and associative */
typedef void torus_combine(void *out, const void *low, const void *high, size_t count);

/* The arguments of an operation. All members pass the same values except for the pointers. */
struct torus_tree_collective {
	const struct torus_topology *topology;
	enum torus_trees kind;
	/* Of kind TORUS_TREES_DISJOINT, from this root. */
	const struct torus_disjoint_trees *disjoint;
	int root, root_pe; /* a place, and its leader */
	uint64_t number;   /* of the operation in this area, from 1 */
	struct torus_area *area;
	char *dest;
	/* Of a broadcast: data on the root; of an all-reduce: data of this node, may be dest. */
	const char *source;
	size_t bytes, segment;
	torus_combine *combine; /* of an all-reduce; of a broadcast NULL */
	size_t element;		/* bytes; lines are whole elements */
	const char *routine;
};

/*
 * Call on node leaders only. On return dest is complete and may be changed. Segments of an
 * all-reduce are no longer than torus_longest_up.
 */
void torus_tree_collective_run(const struct torus_tree_collective *collective);
size_t torus_longest_up(const struct torus_shape *shape);

#endif
