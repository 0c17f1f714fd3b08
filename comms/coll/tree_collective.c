/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down, and what both ways share; tree_up.c has the way up. */
#include <string.h>

#include "tree_inside.h"
#include "comms/torus/model.h"
#include "comms/wait/wait.h"

struct relay {
	const struct torus_cast *cast;
	int parts;
	struct part part[TORUS_WAYS];
	struct branch branch[TORUS_WAYS];
};

void torus_area_clear(struct torus_area *area)
{
	memset(&area->down, 0, sizeof area->down);
	memset(&area->up, 0, sizeof area->up);
	memset(&area->arrived, 0, sizeof area->arrived);
}

static int pe_at(const struct torus_cast *cast, int place)
{
	return place == cast->root ? cast->root_pe : cast->ground->pe[place];
}

static struct branch *find_children(const struct torus_cast *cast, const struct torus_grove *grove, int tree, struct branch *branch)
{
	int places[TORUS_WAYS], ways[TORUS_WAYS], count = torus_grove_children(grove, tree, cast->ground->me, places, ways);

	for (int i = 0; i < count; i++)
		*branch++ = (struct branch){.way = ways[i], .pe = pe_at(cast, places[i])};
	return branch;
}

static void prepare(struct relay *relay, const struct torus_cast *cast)
{
	const struct torus_grove grove = {&cast->ground->sites.shape, cast->kind, cast->root, cast->packing};
	struct branch *branch = relay->branch;

	relay->cast = cast;
	relay->parts = torus_grove_count(&grove);
	for (int t = 0; t < relay->parts; t++) {
		struct part *part = &relay->part[t];
		int parent, way = 0;

		*part = (struct part){.at = torus_part_begin(cast->bytes, relay->parts, t), .first = branch, .end = branch};
		part->bytes = torus_part_begin(cast->bytes, relay->parts, t + 1) - part->at;
		if (part->bytes == 0)
			continue;
		part->segments = (part->bytes + cast->segment - 1) / cast->segment;
		parent = torus_grove_parent(&grove, t, cast->ground->me, &way);
		part->way = way;
		part->parent = parent < 0 ? -1 : pe_at(cast, parent);
		part->came = parent < 0 && !cast->combine ? part->segments : 0;
		part->end = branch = find_children(cast, &grove, t, branch);
	}
}

static void ask(struct relay *relay)
{
	const struct torus_cast *cast = relay->cast;

	for (int t = 0; t < relay->parts; t++) {
		struct part *part = &relay->part[t];

		if (part->segments > 0 && part->parent >= 0)
			comms_put_notify_later(&part->asking, (struct comms_piece){0},
					       (struct comms_flag){&cast->area->down.leave[part->way], cast->number}, part->parent,
					       cast->routine);
	}
}

/* Of a broadcast, the root has what it sends in source; all others have it in dest. */
static const char *data_of(const struct torus_cast *cast, const struct part *part)
{
	return part->parent < 0 && !cast->combine ? cast->source : cast->dest;
}

static void send_segment(const struct torus_cast *cast, const struct part *part, struct branch *branch)
{
	size_t i = branch->sent++, at = part->at + i * cast->segment;

	comms_put_notify_later(&branch->request[i % RELAY_AHEAD],
			       (struct comms_piece){cast->dest + at, data_of(cast, part) + at, segment_bytes(cast, part, i)},
			       (struct comms_flag){&cast->area->down.came[branch->way][i], cast->number}, branch->pe, cast->routine);
}

/* Hands on what came, as far as it goes now. Is all done towards this child? */
static bool feed(const struct torus_cast *cast, const struct part *part, struct branch *branch)
{
	if (!branch->allowed &&
	    atomic_load_explicit(&cast->area->down.leave[branch->way], memory_order_acquire) < cast->number)
		return false;
	branch->allowed = true;
	while (branch->sent < part->came && !comms_request_is_under_way(&branch->request[branch->sent % RELAY_AHEAD]))
		send_segment(cast, part, branch);
	return branch->sent == part->segments && are_at_rest(branch->request);
}

static bool advance_part(const struct torus_cast *cast, struct part *part)
{
	_Atomic uint64_t *came = cast->area->down.came[part->way];
	bool done = cast->combine ? relay_raise(cast, part) : true;

	if (part->parent < 0 && cast->combine)
		part->came = part->combined;
	while (part->parent >= 0 && part->came < part->segments &&
	       atomic_load_explicit(&came[part->came], memory_order_acquire) >= cast->number)
		part->came++;
	for (struct branch *branch = part->first; branch < part->end; branch++)
		done &= feed(cast, part, branch);
	return done && part->came == part->segments && !comms_request_is_under_way(&part->asking);
}

static bool advance(struct relay *relay)
{
	bool done = true;

	for (int t = 0; t < relay->parts; t++)
		done &= advance_part(relay->cast, &relay->part[t]);
	return done;
}

void torus_relay(const struct torus_cast *cast)
{
	struct relay relay = {0};

	prepare(&relay, cast);
	ask(&relay);
	COMMS_WAIT(COMMS_ANYWHERE, advance(&relay));
}
