/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_RELAY_H
#define TORUS_RELAY_H

#include "ground.h"
#include "torus/trees.h"

/*
 * Data that travels over several trees at once, from the root to all nodes of a torus.
 *
 * part      of the message: what one tree carries
 * segment   of a part: what a node hands on at a time
 * leave     word that a child writes to its parent: broadcast number so and so may come, its memory is ready
 * came      word behind each segment: the number of the broadcast that it belongs to
 *
 * No two trees send over one link in one direction. So what belongs to a link belongs to one tree, and words are by way: leave
 * by the way that the segments will leave the parent, came by the way they came to the child. Numbers only grow and a
 * neighbour is always the same one, so no word is ever reset. A child gives leave when it has begun a broadcast, and with it
 * ended the one before; so nobody writes a word before it was read.
 */
enum {
	TORUS_SEGMENTS = 1024, /* of a part, at most */
	TORUS_STAGING = 512 << 10
};

struct torus_words {
	_Atomic uint64_t leave[TORUS_WAYS];
	_Atomic uint64_t came[TORUS_WAYS][TORUS_SEGMENTS];
};

/* Of a group, in the slot of each of its members. */
struct torus_area {
	struct torus_words words;
	_Alignas(4096) char staging[TORUS_STAGING]; /* for data that cannot go where it belongs at once */
};
_Static_assert(sizeof(struct torus_area) <= COMMS_TORUS_BYTES, "a slot has room for it");

/* To be done by all members before the first of them begins something, with a meeting in between. */
void torus_area_clear(struct torus_area *area);

struct torus_cast {
	const struct torus_ground *ground;
	enum torus_trees kind;
	int root, root_pe;	   /* a place, and who stands for it in this broadcast */
	struct torus_words *words; /* in symmetric memory, alike in all */
	uint64_t number;	   /* more than that of any broadcast before */
	char *dest;
	const char *source; /* the root's; dest in all others */
	size_t bytes, segment;
	const char *routine;
};

/* For the one PE of each node that stands for it. On return its dest is there and may be changed. */
void torus_broadcast(const struct torus_cast *cast);

#endif
