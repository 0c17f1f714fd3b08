/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TREE_INSIDE_H
#define COMMS_TREE_INSIDE_H

#include "tree_collective.h"
#include "comms/ops/notify.h"

/*
 * Segments under way to one neighbour at once. The flag of a segment leaves after the network has
 * taken the segment, and so after segments that started meanwhile: with more of them the next node
 * learns later of segments it already has.
 */
#define SEGMENTS_AHEAD 2

/* A tree edge to a child. */
struct edge {
	int direction, pe;
	bool allowed;
	size_t sent;
	size_t granted; /* segments that the child may send up, as it knows */
	struct comms_request request[SEGMENTS_AHEAD], granting;
};

struct part {
	size_t at, bytes, segments;
	size_t came;	       /* segments that came from above; at the root, all */
	size_t combined;       /* segments combined with the children's */
	size_t raised;	       /* segments sent up */
	int direction, parent; /* direction from the parent, and its PE; -1 at the root */
	struct comms_request asking, raising[SEGMENTS_AHEAD];
	struct edge *first, *end;
};

static inline bool are_at_rest(const struct comms_request request[SEGMENTS_AHEAD])
{
	for (int i = 0; i < SEGMENTS_AHEAD; i++)
		if (comms_request_is_under_way(&request[i]))
			return false;
	return true;
}

static inline size_t segment_bytes(const struct torus_tree_collective *collective, const struct part *part, size_t i)
{
	size_t left = part->bytes - i * collective->segment;

	return left < collective->segment ? left : collective->segment;
}

/* Going up, a flag holds the number of the operation and a count of segments. */
static inline uint64_t segment_count(uint64_t number, size_t segments)
{
	return number << 32 | segments;
}

/* Bytes of staging for each direction. */
static inline size_t staging_share(const struct torus_shape *shape)
{
	return (size_t)TORUS_STAGING / (size_t)(2 * shape->axes) / 64 * 64;
}

/*
 * Combines the children's segments and sends them on, as far as possible now. Returns true when all
 * are done.
 */
bool raise_segments(const struct torus_tree_collective *collective, struct part *part);

#endif
