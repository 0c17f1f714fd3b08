/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees going up, in an all-reduce: on each tree, a node combines its data with its children's,
 * always in the same order, and sends the result to its parent. The result is built in dest. The
 * tree going down then overwrites it with the final segment; the root has combined this node's
 * contribution by then.
 */
#include "tree_inside.h"

size_t torus_longest_up(const struct torus_shape *shape)
{
	return staging_share(shape) / 2;
}

static size_t staging_slots(const struct torus_tree_collective *collective)
{
	size_t count = staging_share(&collective->topology->sites.shape) / collective->segment;

	return count < TORUS_SLOTS ? count : TORUS_SLOTS;
}

static char *staging_slot(const struct torus_tree_collective *collective, int direction, size_t i)
{
	return collective->area->staging + (size_t)direction * staging_share(&collective->topology->sites.shape) +
	       i % staging_slots(collective) * collective->segment;
}

/*
 * The first segments need no permission; later the child is notified when half of the slots are
 * free again.
 */
static bool grant_segments(const struct torus_tree_collective *collective, const struct part *part, struct edge *edge)
{
	size_t most = part->combined + staging_slots(collective);

	if (most > part->segments)
		most = part->segments;
	if (edge->granted == part->segments || comms_request_is_under_way(&edge->granting))
		return edge->granted == part->segments && !comms_request_is_under_way(&edge->granting);
	if (most < part->segments && most - edge->granted < (staging_slots(collective) + 1) / 2)
		return false;
	edge->granted = most;
	comms_put_notify_later(&edge->granting, (struct comms_piece){0},
			       (struct comms_flag){&collective->area->up.leave[edge->direction ^ 1],
						   segment_count(collective->number, most)},
			       edge->pe, collective->routine);
	return most == part->segments && !comms_request_is_under_way(&edge->granting);
}

static bool children_have_sent(const struct torus_tree_collective *collective, const struct part *part, size_t i)
{
	for (const struct edge *edge = part->first; edge < part->end; edge++)
		if (atomic_load_explicit(&collective->area->up.came[edge->direction ^ 1][i % staging_slots(collective)],
					 memory_order_acquire) < segment_count(collective->number, i + 1))
			return false;
	return true;
}

static void combine_segment(const struct torus_tree_collective *collective, const struct part *part, size_t i)
{
	size_t at = part->at + i * collective->segment,
	       count = segment_bytes(collective, part, i) / collective->element;
	const char *so_far = collective->source + at;

	for (const struct edge *edge = part->first; edge < part->end; edge++) {
		collective->combine(collective->dest + at, so_far, staging_slot(collective, edge->direction ^ 1, i),
				    count);
		so_far = collective->dest + at;
	}
}

static void raise_segment(const struct torus_tree_collective *collective, struct part *part)
{
	size_t i = part->raised++, at = part->at + i * collective->segment;
	const char *data = part->first == part->end ? collective->source : collective->dest;

	comms_put_notify_later(&part->raising[i % SEGMENTS_AHEAD],
			       (struct comms_piece){staging_slot(collective, part->direction ^ 1, i), data + at,
						    segment_bytes(collective, part, i)},
			       (struct comms_flag){&collective->area->up
							    .came[part->direction ^ 1][i % staging_slots(collective)],
						   segment_count(collective->number, i + 1)},
			       part->parent, collective->routine);
}

bool raise_segments(const struct torus_tree_collective *collective, struct part *part)
{
	_Atomic uint64_t *leave = &collective->area->up.leave[part->direction ^ 1];
	bool done = true;

	while (part->combined < part->segments && children_have_sent(collective, part, part->combined))
		combine_segment(collective, part, part->combined++);
	for (struct edge *edge = part->first; edge < part->end; edge++)
		done &= grant_segments(collective, part, edge);
	if (part->parent < 0)
		return done && part->combined == part->segments;
	while (part->raised < part->combined &&
	       !comms_request_is_under_way(&part->raising[part->raised % SEGMENTS_AHEAD]) &&
	       atomic_load_explicit(leave, memory_order_acquire) >= segment_count(collective->number, part->raised + 1))
		raise_segment(collective, part);
	return done && part->raised == part->segments && are_at_rest(part->raising);
}
