/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "exchange_schedule.h"
#include "ring_schedule.h"

#define LINE 64
#define SHORTEST 4096 /* bytes of a segment */
#define LONGEST (1UL << 20)
#define SLACK 0.03
#define MEETING \
	1.2 /* measured: routes that meet at a link wait for each other, and links carry their most for part of the time only */
#define COMBINING 1.15		    /* measured: so much longer it takes to handle what is combined */
#define PIECE 10240		    /* bytes that all-gathers and all-to-alls hand on at a time */
#define TAKEN_AT_ONCE (256UL << 10) /* bytes of a message for which nobody waits before the next message begins */

const struct torus_costs torus_costs_usual = {.forward = 20e-6, .handle = 10e-6, .rate = 1e9};

size_t torus_part_begin(size_t bytes, int trees, int t)
{
	size_t lines = (bytes + LINE - 1) / LINE, each = (lines + (size_t)trees - 1) / (size_t)trees;
	size_t at = each * (size_t)t * LINE;

	return at < bytes ? at : bytes;
}

/*
 * The first segment goes from end to end; the others follow, one behind the other, as fast as the links carry them or the nodes
 * handle them: at a node as many come in as there are trees, and as many go out. Before all that a child has to say that it is
 * ready. Segments of several trees may share a link, but a first one finds it free.
 */
static double seconds_of_trees(int levels, int trees, size_t segment, const struct torus_task *task,
			       const struct torus_costs *costs, int sharing)
{
	int traversals = task->up_first ? 2 : 1;
	double part = (double)torus_part_begin(task->bytes, trees, 1), count = part / (double)segment;
	double first = part < (double)segment ? part : (double)segment,
	       on_link = sharing * (double)segment / costs->rate;
	double busy = 2 * traversals * trees * costs->handle;

	return costs->forward + traversals * levels * (costs->forward + first / costs->rate) +
	       traversals * trees * costs->handle + (count > 1 ? (count - 1) * (on_link > busy ? on_link : busy) : 0);
}

double torus_binomial_seconds(int nodes, size_t bytes, const struct torus_costs *costs)
{
	int rounds = 0;

	while (1 << rounds < nodes)
		rounds++;
	return rounds * (costs->forward + (double)bytes / costs->rate);
}

double torus_chain_seconds(int nodes, size_t bytes, size_t segment, const struct torus_costs *costs)
{
	size_t first = bytes < segment ? bytes : segment;

	return (nodes - 1) * (costs->forward + (double)first / costs->rate) + (double)(bytes - first) / costs->rate;
}

/* From a place to all others, by the shortest ways; on a mesh on average. */
static double all_hops(const struct torus_shape *shape)
{
	double hops = 0;

	for (int a = 0; a < shape->axes; a++) {
		int size = shape->axis[a].size;
		double line = shape->axis[a].ring ? (double)(size * size / 4) : (size * (double)size - 1) / 3;

		hops += line * shape->places / size;
	}
	return hops;
}

/*
 * Each gets its part from one after the other, and then all parts at once. Routes from all to all load the links alike: what leaves a node,
 * times the hops it makes, is shared by the node's links.
 */
double torus_parts_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double hops = all_hops(shape), links = 0, nodes = shape->places;

	for (int a = 0; a < shape->axes; a++) {
		double size = shape->axis[a].size;

		links += shape->axis[a].ring ? 2 : 2 * (size - 1) / size;
	}
	return 2 * hops * (costs->forward + 2 * costs->handle) + 2 * (hops + nodes - 1) * costs->handle +
	       2 * (double)bytes * hops / (nodes * links * costs->rate);
}

double torus_ring_seconds(int nodes, size_t bytes, const struct torus_costs *costs)
{
	return (nodes - 1) * (costs->forward + (double)bytes / (nodes * costs->rate));
}

/* What each node gets of the others comes over its links alike: those of a node at the ends of all meshes. */
static double gathered_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double links = torus_ring_links(shape, TORUS_ONE_WAY), nodes = shape->places;

	return links > 0 ? (double)bytes * (nodes - 1) / (nodes * links * costs->rate) : 0;
}

/* In a ring schedule a node takes each part of all others, and hands on about as many. */
static double ring_schedule_busy(const struct torus_shape *shape, const struct torus_costs *costs)
{
	return 2.0 * (shape->places - 1) * torus_ring_parts(shape) * costs->handle;
}

/* What the busiest link carries last then has to reach its last node, piece by piece. */
double torus_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double parts = torus_ring_parts(shape), part = (double)bytes / (shape->places * parts);
	double piece = part < PIECE ? part : PIECE, busy = ring_schedule_busy(shape, costs);
	double carried = gathered_seconds(shape, bytes, costs);

	return torus_diameter(shape) * (costs->forward + piece / costs->rate) + (carried > busy ? carried : busy);
}

/*
 * Axis by axis from the last one: up and down what is there of a line goes at once, three times as much each round, and on a ring never further
 * than half round. What goes around the end of a mesh comes back over all its links. A long message goes up before another begins to go down.
 */
double torus_lines_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double seconds = 0, each = (double)bytes / shape->places;

	for (int a = shape->axes - 1; a >= 0; a--) {
		int size = shape->axis[a].size, ways = shape->axis[a].ring || size == 2 ? 1 : 2;

		for (int have = 1; have < size; have *= 3) {
			int come = 3 * have < size ? have : (size - have + 1) / 2;
			int hops = shape->axis[a].ring && size - have < have ? size - have : have;
			double late = size > 2 && come * each > TAKEN_AT_ONCE ? come * each - TAKEN_AT_ONCE : 0;

			seconds +=
				costs->forward + 4 * costs->handle + (ways * come * each * hops + late) / costs->rate;
		}
		each *= size;
	}
	return seconds;
}

/* Over each link go the steps of both schedules, in rounds. In one of the two a node combines what it takes. */
double torus_ring_allreduce_seconds(const struct torus_shape *shape, int rounds, size_t bytes,
				    const struct torus_costs *costs)
{
	double nodes = shape->places, links = torus_ring_links(shape, TORUS_BOTH_WAYS);
	double carried = links > 0 ? 2 * (double)bytes * (nodes - 1) / (nodes * links * costs->rate) : 0;
	double busy = 2 * rounds * COMBINING * ring_schedule_busy(shape, costs);

	return 2 * torus_diameter(shape) * costs->forward + (carried > busy ? carried : busy);
}

/* Links carry pieces one after the other; a node takes and sends those of all its links. Each phase begins with what the one before has brought. */
double torus_links_seconds(const struct torus_shape *shape, const struct torus_lines *lines, size_t bytes,
			   const struct torus_costs *costs)
{
	double on_link = torus_exchange_busiest(shape, lines) * (double)bytes, links = torus_ring_parts(shape);
	double busy = on_link / PIECE * 2 * links * costs->handle, carried = on_link / costs->rate;

	return torus_diameter(shape) * costs->forward + (carried > busy ? carried : busy);
}

/* How many messages of a line its busiest link carries. */
static double routed_of_line(const struct torus_axis *axis)
{
	int half = axis->size / 2;

	return axis->ring ? half * (half + 1) / 2.0 : (double)half * (axis->size - half);
}

/* A node sends to all others, receives from them, and passes on what goes through it; and as many acknowledgements go back. */
double torus_direct_seconds(const struct torus_shape *shape, size_t bytes, int messages,
			    const struct torus_costs *costs)
{
	double busiest = 0, busy = 2 * (all_hops(shape) + shape->places - 1) * costs->handle;

	for (int a = 0; a < shape->axes; a++) {
		double here = routed_of_line(&shape->axis[a]) * shape->places / shape->axis[a].size;

		busiest = here > busiest ? here : busiest;
	}
	return messages * (costs->forward + busy) + MEETING * busiest * (double)bytes / costs->rate;
}

/* Axis by axis, and what goes along one goes there on top of what goes along the others. */
double torus_lines_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double seconds = 0;

	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1)
			seconds += costs->forward + 2 * (shape->axis[a].size - 1) * costs->handle +
				   routed_of_line(&shape->axis[a]) * (double)bytes * shape->places /
					   shape->axis[a].size / costs->rate;
	return seconds;
}

/* Long segments are less work for everybody: the longest that takes hardly longer than the best. */
static void choose_segment(struct torus_tree_choice *tree_choice, int levels, size_t shortest,
			   const struct torus_task *task, const struct torus_costs *costs, int sharing)
{
	size_t longest = task->longest ? task->longest : LONGEST;
	double best = seconds_of_trees(levels, tree_choice->trees, shortest, task, costs, sharing);

	for (size_t segment = 2 * shortest; segment <= longest; segment *= 2) {
		double seconds = seconds_of_trees(levels, tree_choice->trees, segment, task, costs, sharing);

		best = seconds < best ? seconds : best;
	}
	for (size_t segment = shortest; segment == shortest || segment <= longest; segment *= 2) {
		double seconds = seconds_of_trees(levels, tree_choice->trees, segment, task, costs, sharing);

		if (segment == shortest || seconds <= best * (1 + SLACK)) {
			tree_choice->segment = segment;
			tree_choice->seconds = seconds;
		}
	}
}

/*
 * Up and down at once: a single tree goes down one direction of its cables and up the other, and so do trees that go upwards only, where
 * no cable is both up and down. Other trees share cables with themselves, and a link carries two of their parts.
 */
static bool links_carry_both(const struct torus_shape *shape, enum torus_trees kind, int trees)
{
	if (trees == 1)
		return false;
	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1 && !shape->axis[a].ring)
			return true;
	return kind != TORUS_TREES_UP;
}

struct torus_tree_choice torus_choose_segment(const struct torus_shape *shape, enum torus_trees kind,
					      const struct torus_task *task, const struct torus_costs *costs)
{
	struct torus_tree_set tree_set = {shape, kind, task->root, task->disjoint};
	struct torus_tree_choice tree_choice = {.kind = kind};
	size_t part, shortest = SHORTEST;
	int sharing;

	if (kind != TORUS_TREES_DISJOINT && task->damaged)
		return tree_choice;
	tree_choice.trees = torus_tree_set_count(&tree_set);
	if (tree_choice.trees == 0)
		return tree_choice;
	sharing = task->up_first && links_carry_both(shape, kind, tree_choice.trees) ? 2 : 1;
	part = torus_part_begin(task->bytes, tree_choice.trees, 1);
	while (task->most_segments && shortest * task->most_segments < part)
		shortest *= 2;
	choose_segment(&tree_choice, torus_tree_set_depth(&tree_set), shortest, task, costs, sharing);
	return tree_choice;
}

struct torus_tree_choice torus_choose_trees(const struct torus_shape *shape, const struct torus_task *task,
					    const struct torus_costs *costs)
{
	struct torus_tree_choice best = {0};

	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_DISJOINT; kind++) {
		struct torus_tree_choice tree_choice = {0};

		if (!task->up_first || kind < TORUS_TREES_TWICE || task->damaged)
			tree_choice = torus_choose_segment(shape, kind, task, costs);

		/* With the links used in both directions, the kind that shares none goes first. */
		if (tree_choice.trees > 0 && (best.trees == 0 || task->up_first || tree_choice.seconds < best.seconds))
			best = tree_choice;
	}
	return best;
}

int torus_middle(const struct torus_shape *shape)
{
	int at[TORUS_AXES];

	for (int a = 0; a < shape->axes; a++)
		at[a] = shape->axis[a].ring ? 0 : shape->axis[a].size / 2;
	return torus_place_at(shape, at);
}
