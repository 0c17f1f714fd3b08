/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees going down, and code for both directions; tree_up.c has trees going up. */
#include <string.h>

#include "tree_inside.h"
#include "comms/torus/model.h"
#include "comms/wait/wait.h"

struct progress {
	const struct torus_tree_collective *collective;
	int parts;
	struct part part[TORUS_DIRECTIONS];
	struct edge edge[TORUS_DIRECTIONS];
};

void torus_area_clear(struct torus_area *area)
{
	memset(&area->down, 0, sizeof area->down);
	memset(&area->up, 0, sizeof area->up);
	memset(&area->across, 0, sizeof area->across);
	memset(&area->arrived, 0, sizeof area->arrived);
}

static int pe_at_place(const struct torus_tree_collective *collective, int place)
{
	return place == collective->root ? collective->root_pe : collective->topology->pe[place];
}

static struct edge *find_children(const struct torus_tree_collective *collective, const struct torus_tree_set *tree_set,
				  int tree, struct edge *edge)
{
	int places[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS],
		count = torus_tree_set_children(tree_set, tree, collective->topology->me, places, directions);

	for (int i = 0; i < count; i++)
		*edge++ = (struct edge){.direction = directions[i], .pe = pe_at_place(collective, places[i])};
	return edge;
}

static void prepare_trees(struct progress *progress, const struct torus_tree_collective *collective)
{
	const struct torus_tree_set tree_set = {&collective->topology->sites.shape, collective->kind, collective->root,
						collective->disjoint};
	struct edge *edge = progress->edge;

	progress->collective = collective;
	progress->parts = torus_tree_set_count(&tree_set);
	for (int t = 0; t < progress->parts; t++) {
		struct part *part = &progress->part[t];
		int parent, direction = 0;

		*part = (struct part){.at = torus_part_begin(collective->bytes, progress->parts, t),
				      .first = edge,
				      .end = edge};
		part->bytes = torus_part_begin(collective->bytes, progress->parts, t + 1) - part->at;
		if (part->bytes == 0)
			continue;
		part->segments = (part->bytes + collective->segment - 1) / collective->segment;
		parent = torus_tree_set_parent(&tree_set, t, collective->topology->me, &direction);
		part->direction = direction;
		part->parent = parent < 0 ? -1 : pe_at_place(collective, parent);
		part->came = parent < 0 && !collective->combine ? part->segments : 0;
		part->end = edge = find_children(collective, &tree_set, t, edge);
	}
}

static void ask_parents(struct progress *progress)
{
	const struct torus_tree_collective *collective = progress->collective;

	for (int t = 0; t < progress->parts; t++) {
		struct part *part = &progress->part[t];

		if (part->segments > 0 && part->parent >= 0)
			comms_put_notify_later(&part->asking, (struct comms_piece){0},
					       (struct comms_flag){&collective->area->down.leave[part->direction],
								   collective->number},
					       part->parent, collective->routine);
	}
}

/* In a broadcast, the root sends from source; all others forward from dest. */
static const char *part_data(const struct torus_tree_collective *collective, const struct part *part)
{
	return part->parent < 0 && !collective->combine ? collective->source : collective->dest;
}

static void send_segment(const struct torus_tree_collective *collective, const struct part *part, struct edge *edge)
{
	size_t i = edge->sent++, at = part->at + i * collective->segment;

	comms_put_notify_later(&edge->request[i % SEGMENTS_AHEAD],
			       (struct comms_piece){collective->dest + at, part_data(collective, part) + at,
						    segment_bytes(collective, part, i)},
			       (struct comms_flag){&collective->area->down.came[edge->direction][i],
						   collective->number},
			       edge->pe, collective->routine);
}

/*
 * Forwards segments that have arrived, as far as possible now. Returns true when this child has
 * all.
 */
static bool send_to_child(const struct torus_tree_collective *collective, const struct part *part, struct edge *edge)
{
	if (!edge->allowed && atomic_load_explicit(&collective->area->down.leave[edge->direction],
						   memory_order_acquire) < collective->number)
		return false;
	edge->allowed = true;
	while (edge->sent < part->came && !comms_request_is_under_way(&edge->request[edge->sent % SEGMENTS_AHEAD]))
		send_segment(collective, part, edge);
	return edge->sent == part->segments && are_at_rest(edge->request);
}

static bool advance_part(const struct torus_tree_collective *collective, struct part *part)
{
	_Atomic uint64_t *came = collective->area->down.came[part->direction];
	bool done = collective->combine ? raise_segments(collective, part) : true;

	if (part->parent < 0 && collective->combine)
		part->came = part->combined;
	while (part->parent >= 0 && part->came < part->segments &&
	       atomic_load_explicit(&came[part->came], memory_order_acquire) >= collective->number)
		part->came++;
	for (struct edge *edge = part->first; edge < part->end; edge++)
		done &= send_to_child(collective, part, edge);
	return done && part->came == part->segments && !comms_request_is_under_way(&part->asking);
}

static bool advance_trees(struct progress *progress)
{
	bool done = true;

	for (int t = 0; t < progress->parts; t++)
		done &= advance_part(progress->collective, &progress->part[t]);
	return done;
}

void torus_tree_collective_run(const struct torus_tree_collective *collective)
{
	struct progress progress = {0};

	prepare_trees(&progress, collective);
	ask_parents(&progress);
	COMMS_WAIT(COMMS_ANYWHERE, advance_trees(&progress));
}
