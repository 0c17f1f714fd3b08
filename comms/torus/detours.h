/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_DETOURS_H
#define TORUS_DETOURS_H

#include "model.h"
#include "sites.h"

/*
 * Detours: parts of large messages between neighbours use links that an exchange leaves idle.
 *
 * message  goes from the node at one place to the node at another in each iteration. Its direct
 *          route is in dimension order
 * face     the messages over one link between neighbours. Only faces have detours
 * detour   another path from the sender's place to the receiver's: over the second cable of a pair,
 *          the other way round a short ring, or via a neighbour on another axis (y+, x+, y-). No
 *          two detours share a link, and no link of a detour carries much else
 * part     the bytes of a message that take a detour. The bytes before the first part go directly
 *
 * Nodes on a detour forward a part segment by segment. The parts of a face end at the same time:
 * those of longer detours are smaller.
 */
enum { TORUS_DETOUR_HOPS = 3, TORUS_DETOURS = TORUS_DIRECTIONS - 1 /* of a face, at most */ };

struct torus_message {
	int from, to; /* places */
	size_t bytes;
};

struct torus_detour {
	int message;
	int hops;
	signed char direction[TORUS_DETOUR_HOPS];
	size_t at, bytes, segment; /* the part */
};

struct torus_detour_task {
	const struct torus_sites *sites;
	const struct torus_costs *costs;
	const struct torus_message *messages;
	int n;
	size_t least; /* bytes; shorter messages get no detours */
	bool forced;  /* find detours even if the model expects no gain */
	bool cables;  /* the network can tell the second cable of a pair from the first */
};

/* By message, and by their parts. A message gets no parts if they do not pay. */
struct torus_detours {
	int count;
	struct torus_detour *detour;
	/* Predicted time of the exchange without and with detours; 0: there is no face. */
	double direct, seconds;
};

/* With more messages, or large faces, the search does not pay. */
enum { TORUS_DETOUR_MESSAGES = 1 << 16, TORUS_DETOUR_FACES = 1 << 10 };

/* Returns false if there is no memory. */
bool torus_detours_find(struct torus_detours *found, const struct torus_detour_task *task);
void torus_detours_free(struct torus_detours *found);

/* The place that a detour has reached after this many hops. */
int torus_detour_place(const struct torus_shape *shape, const struct torus_detour *detour, int from, int hops);

static inline int torus_detour_segments(const struct torus_detour *detour)
{
	return (int)((detour->bytes + detour->segment - 1) / detour->segment);
}

#endif
