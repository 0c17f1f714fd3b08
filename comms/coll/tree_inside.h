/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RELAY_INSIDE_H
#define COMMS_RELAY_INSIDE_H

#include "tree_collective.h"
#include "comms/ops/notify.h"

/*
 * Segments on their way to one neighbour at once. The word of a segment goes out when the network has taken the segment, and so
 * behind those that were begun meanwhile: with more of them the next node learns later what it already has.
 */
#define RELAY_AHEAD 2

/* To a child. */
struct branch {
	int way, pe;
	bool allowed;
	size_t sent;
	size_t granted; /* how many segments the child knows it may send up */
	struct comms_request request[RELAY_AHEAD], granting;
};

struct part {
	size_t at, bytes, segments;
	size_t came;	 /* from above; at the root, what it has to send */
	size_t combined; /* with what the children sent */
	size_t raised;	 /* sent up */
	int way, parent; /* the way from the parent, a PE: -1 at the root */
	struct comms_request asking, raising[RELAY_AHEAD];
	struct branch *first, *end;
};

static inline bool are_at_rest(struct comms_request request[RELAY_AHEAD])
{
	for (int i = 0; i < RELAY_AHEAD; i++)
		if (comms_request_is_under_way(&request[i]))
			return false;
	return true;
}

static inline size_t segment_bytes(const struct torus_cast *cast, const struct part *part, size_t i)
{
	size_t left = part->bytes - i * cast->segment;

	return left < cast->segment ? left : cast->segment;
}

/* On the way up a word holds the number of the operation, and a count of segments. */
static inline uint64_t relay_count(uint64_t number, size_t segments)
{
	return number << 32 | segments;
}

/* Bytes of staging that each way has. */
static inline size_t relay_share(const struct torus_shape *shape)
{
	return (size_t)TORUS_STAGING / (size_t)(2 * shape->axes) / 64 * 64;
}

/* Takes what came from below, and sends it on, as far as it goes now. Is all done? */
bool relay_raise(const struct torus_cast *cast, struct part *part);

#endif
