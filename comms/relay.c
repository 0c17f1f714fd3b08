/* SPDX-License-Identifier: BSD-3-Clause */
#include "relay.h"

#include <string.h>

#include "torus/model.h"

/*
 * Segments on their way to one child at once. The word of a segment goes out when the network has taken the segment, and so
 * behind those that were begun meanwhile: with more of them the next node learns later what it already has.
 */
#define AHEAD 2

struct branch {
	int way, pe;
	bool allowed;
	size_t sent;
	struct comms_telling telling[AHEAD];
};

struct part {
	size_t at, bytes, segments;
	size_t came;
	int way, parent; /* parent: a PE, -1 at the root */
	struct comms_telling asking;
	struct branch *first, *end;
};

struct relay {
	const struct torus_cast *cast;
	int parts;
	struct part part[TORUS_WAYS];
	struct branch branch[TORUS_WAYS];
};

void torus_area_clear(struct torus_area *area)
{
	memset(&area->words, 0, sizeof area->words);
}

static int pe_at(const struct torus_cast *cast, int place)
{
	return place == cast->root ? cast->root_pe : cast->ground->pe[place];
}

static struct branch *find_children(const struct torus_cast *cast, int tree, struct branch *branch)
{
	int places[TORUS_WAYS], ways[TORUS_WAYS];
	int count = torus_tree_children(&cast->ground->sites.shape, cast->kind, cast->root, tree, cast->ground->me, places, ways);

	for (int i = 0; i < count; i++)
		*branch++ = (struct branch){.way = ways[i], .pe = pe_at(cast, places[i])};
	return branch;
}

static void prepare(struct relay *relay, const struct torus_cast *cast)
{
	struct branch *branch = relay->branch;

	relay->cast = cast;
	relay->parts = torus_tree_count(&cast->ground->sites.shape, cast->kind);
	for (int t = 0; t < relay->parts; t++) {
		struct part *part = &relay->part[t];
		int parent, way = 0;

		*part = (struct part){.at = torus_part_begin(cast->bytes, relay->parts, t), .first = branch, .end = branch};
		part->bytes = torus_part_begin(cast->bytes, relay->parts, t + 1) - part->at;
		if (part->bytes == 0)
			continue;
		part->segments = (part->bytes + cast->segment - 1) / cast->segment;
		parent = torus_tree_parent(&cast->ground->sites.shape, cast->kind, cast->root, t, cast->ground->me, &way);
		part->way = way;
		part->parent = parent < 0 ? -1 : pe_at(cast, parent);
		if (parent < 0)
			part->came = part->segments;
		part->end = branch = find_children(cast, t, branch);
	}
}

static void ask(struct relay *relay)
{
	const struct torus_cast *cast = relay->cast;

	for (int t = 0; t < relay->parts; t++) {
		struct part *part = &relay->part[t];

		if (part->segments > 0 && part->parent >= 0)
			comms_tell_later(&part->asking, NULL, NULL, 0, &cast->words->leave[part->way], cast->number, part->parent,
					 cast->routine);
	}
}

static bool is_under_way(struct comms_telling *telling)
{
	return atomic_load_explicit(&telling->under_way, memory_order_acquire);
}

static bool is_at_rest(struct branch *branch)
{
	for (int i = 0; i < AHEAD; i++)
		if (is_under_way(&branch->telling[i]))
			return false;
	return true;
}

static void send_segment(const struct torus_cast *cast, const struct part *part, struct branch *branch)
{
	size_t i = branch->sent++, at = i * cast->segment, left = part->bytes - at;

	comms_tell_later(&branch->telling[i % AHEAD], cast->dest + part->at + at, cast->source + part->at + at,
			 left < cast->segment ? left : cast->segment, &cast->words->came[branch->way][i], cast->number,
			 branch->pe, cast->routine);
}

/* Hands on what came, as far as it goes now. Is all done towards this child? */
static bool feed(const struct torus_cast *cast, const struct part *part, struct branch *branch)
{
	if (!branch->allowed &&
	    atomic_load_explicit(&cast->words->leave[branch->way], memory_order_acquire) < cast->number)
		return false;
	branch->allowed = true;
	while (branch->sent < part->came && !is_under_way(&branch->telling[branch->sent % AHEAD]))
		send_segment(cast, part, branch);
	return branch->sent == part->segments && is_at_rest(branch);
}

static bool advance_part(const struct torus_cast *cast, struct part *part)
{
	_Atomic uint64_t *came = cast->words->came[part->way];
	bool done = true;

	while (part->came < part->segments &&
	       atomic_load_explicit(&came[part->came], memory_order_acquire) >= cast->number)
		part->came++;
	for (struct branch *branch = part->first; branch < part->end; branch++)
		done &= feed(cast, part, branch);
	return done && part->came == part->segments && !is_under_way(&part->asking);
}

static bool advance(struct relay *relay)
{
	bool done = true;

	for (int t = 0; t < relay->parts; t++)
		done &= advance_part(relay->cast, &relay->part[t]);
	return done;
}

void torus_broadcast(const struct torus_cast *cast)
{
	struct relay relay = {0};

	prepare(&relay, cast);
	ask(&relay);
	COMMS_WAIT(COMMS_ANYWHERE, advance(&relay));
}
