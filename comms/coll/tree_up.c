/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way up of an all-reduce: on each tree, a node combines what it brings with what its children sent, always in the same
 * order, and sends that to its parent. The result is built in dest. There the way down puts the final segment in its place: by
 * then the root has combined what this node sent of it, so nobody needs the old one.
 */
#include "tree_inside.h"

size_t torus_longest_up(const struct torus_shape *shape)
{
	return relay_share(shape) / 2;
}

static size_t slots(const struct torus_cast *cast)
{
	size_t count = relay_share(&cast->ground->sites.shape) / cast->segment;

	return count < TORUS_SLOTS ? count : TORUS_SLOTS;
}

static char *slot_of(const struct torus_cast *cast, int way, size_t i)
{
	return cast->area->staging + (size_t)way * relay_share(&cast->ground->sites.shape) + i % slots(cast) * cast->segment;
}

/* The first segments may come at once; later the child is told when half of the slots are free again. */
static bool grant(const struct torus_cast *cast, const struct part *part, struct branch *branch)
{
	size_t most = part->combined + slots(cast);

	if (most > part->segments)
		most = part->segments;
	if (branch->granted == part->segments || comms_request_is_under_way(&branch->granting))
		return branch->granted == part->segments && !comms_request_is_under_way(&branch->granting);
	if (most < part->segments && most - branch->granted < (slots(cast) + 1) / 2)
		return false;
	branch->granted = most;
	comms_put_notify_later(&branch->granting, (struct comms_piece){0},
			       (struct comms_flag){&cast->area->up.leave[branch->way ^ 1], relay_count(cast->number, most)}, branch->pe,
			       cast->routine);
	return most == part->segments && !comms_request_is_under_way(&branch->granting);
}

static bool all_sent(const struct torus_cast *cast, const struct part *part, size_t i)
{
	for (const struct branch *branch = part->first; branch < part->end; branch++)
		if (atomic_load_explicit(&cast->area->up.came[branch->way ^ 1][i % slots(cast)], memory_order_acquire) <
		    relay_count(cast->number, i + 1))
			return false;
	return true;
}

static void combine(const struct torus_cast *cast, const struct part *part, size_t i)
{
	size_t at = part->at + i * cast->segment, count = segment_bytes(cast, part, i) / cast->element;
	const char *so_far = cast->source + at;

	for (const struct branch *branch = part->first; branch < part->end; branch++) {
		cast->combine(cast->dest + at, so_far, slot_of(cast, branch->way ^ 1, i), count);
		so_far = cast->dest + at;
	}
}

static void send_up(const struct torus_cast *cast, struct part *part)
{
	size_t i = part->raised++, at = part->at + i * cast->segment;
	const char *data = part->first == part->end ? cast->source : cast->dest;

	comms_put_notify_later(&part->raising[i % RELAY_AHEAD],
			       (struct comms_piece){slot_of(cast, part->way ^ 1, i), data + at, segment_bytes(cast, part, i)},
			       (struct comms_flag){&cast->area->up.came[part->way ^ 1][i % slots(cast)], relay_count(cast->number, i + 1)},
			       part->parent, cast->routine);
}

bool relay_raise(const struct torus_cast *cast, struct part *part)
{
	_Atomic uint64_t *leave = &cast->area->up.leave[part->way ^ 1];
	bool done = true;

	while (part->combined < part->segments && all_sent(cast, part, part->combined))
		combine(cast, part, part->combined++);
	for (struct branch *branch = part->first; branch < part->end; branch++)
		done &= grant(cast, part, branch);
	if (part->parent < 0)
		return done && part->combined == part->segments;
	while (part->raised < part->combined && !comms_request_is_under_way(&part->raising[part->raised % RELAY_AHEAD]) &&
	       atomic_load_explicit(leave, memory_order_acquire) >= relay_count(cast->number, part->raised + 1))
		send_up(cast, part);
	return done && part->raised == part->segments && are_at_rest(part->raising);
}
