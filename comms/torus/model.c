/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "exchange_schedule.h"
#include "ring_schedule.h"

#define LINE 64
#define SHORTEST 4096 /* bytes of a segment */
#define LONGEST (1UL << 20)
#define SLACK 0.03
/* Measured: routes that share a link wait for each other, and links are not busy all the time. */
#define MEETING 1.2
/* Measured: the factor by which combining a segment takes longer than forwarding it. */
#define COMBINING 1.15
#define PIECE 10240 /* bytes that all-gathers and all-to-alls forward at a time */
/* Bytes of a message that leave without waiting, before the next message begins. */
#define TAKEN_AT_ONCE (256UL << 10)

size_t torus_balanced_bytes(const struct torus_costs *costs)
{
	return (size_t)(costs->forward * costs->rate);
}

size_t torus_part_begin(size_t bytes, int trees, int t)
{
	size_t lines = (bytes + LINE - 1) / LINE, each = (lines + (size_t)trees - 1) / (size_t)trees;
	size_t at = each * (size_t)t * LINE;

	return at < bytes ? at : bytes;
}

/*
 * The first segment travels from end to end; the others follow, as fast as the links carry them or
 * the nodes handle them: a node receives and sends as many as there are trees. Before that, a child
 * reports that it is ready. Segments of several trees may share a link, but a first one finds it
 * free.
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

bool torus_tree_beats_chain(int nodes, size_t bytes, size_t segment, const struct torus_costs *costs)
{
	return bytes <= torus_balanced_bytes(costs) ||
	       torus_binomial_seconds(nodes, bytes, costs) < torus_chain_seconds(nodes, bytes, segment, costs);
}

bool torus_several_trees_may_pay(size_t bytes, const struct torus_costs *costs)
{
	return (double)bytes / costs->rate > costs->handle;
}

/* Hops from a place to all others, by the shortest ways; on a mesh the average. */
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
 * Each node receives its part from one node after another, and then sends all parts at once. Routes
 * from all to all load the links equally: the bytes that leave a node, times their hops, are shared
 * by the node's links.
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

/* Messages to the next node share no link; those that go further do. */
double torus_rounds_seconds(int nodes, size_t bytes, const struct torus_costs *costs)
{
	double seconds = 0, each = (double)bytes / nodes;

	for (int have = 1; have < nodes; have = have < nodes - have ? 2 * have : nodes) {
		int count = have < nodes - have ? have : nodes - have;

		seconds += costs->forward + (have > 1 ? MEETING : 1) * count * each / costs->rate;
	}
	return seconds;
}

/*
 * In a ring each message waits for the one before, so it has to be faster by more than the model
 * may be wrong.
 */
bool torus_rounds_beat_ring(int nodes, size_t bytes, const struct torus_costs *costs)
{
	return torus_rounds_seconds(nodes, bytes, costs) <= torus_ring_seconds(nodes, bytes, costs) * (1 + SLACK);
}

/*
 * A node's links share equally the data of all others, for a node at the ends of all meshes, which
 * has the fewest.
 */
static double gathered_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double links = torus_ring_links(shape, TORUS_ONE_WAY), nodes = shape->places;

	return links > 0 ? (double)bytes * (nodes - 1) / (nodes * links * costs->rate) : 0;
}

/* In a ring schedule a node receives each part of all others, and forwards about as many. */
static double ring_schedule_busy(const struct torus_shape *shape, const struct torus_costs *costs)
{
	return 2.0 * (shape->places - 1) * torus_ring_parts(shape) * costs->handle;
}

/* The last data on the busiest link still has to reach its last node, piece by piece. */
double torus_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs)
{
	double parts = torus_ring_parts(shape), part = (double)bytes / (shape->places * parts);
	double piece = part < PIECE ? part : PIECE, busy = ring_schedule_busy(shape, costs);
	double carried = gathered_seconds(shape, bytes, costs);

	return torus_diameter(shape) * (costs->forward + piece / costs->rate) + (carried > busy ? carried : busy);
}

/*
 * Axis by axis from the last one: data of a line goes up and down at once, three times as much each
 * round, and on a ring at most half-way round. At the end of a mesh, data comes back over all its
 * links. A long message goes up before the next begins to go down.
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

/*
 * An all-reduce by rings is a reduce-scatter (the reverse ring schedule) and an all-gather (the
 * ring schedule), so each link carries the data of both. It takes as long as the links carry bytes
 * or the processors handle steps, whichever is longer. COMBINING is the extra time of the
 * reduce-scatter.
 */
double torus_ring_allreduce_seconds(const struct torus_shape *shape, int rounds, size_t bytes,
				    const struct torus_costs *costs)
{
	double nodes = shape->places, links = torus_ring_links(shape, TORUS_BOTH_WAYS);
	double carried = links > 0 ? 2 * (double)bytes * (nodes - 1) / (nodes * links * costs->rate) : 0;
	double busy = 2 * rounds * COMBINING * ring_schedule_busy(shape, costs);

	return 2 * torus_diameter(shape) * costs->forward + (carried > busy ? carried : busy);
}

/*
 * A number of nodes that is no power of two takes a round more before, and one after. Partners are
 * 1, 2, 4, ... nodes away, and those that are several hops apart share links with others.
 */
double torus_doubling_seconds(const struct torus_shape *shape, size_t bytes, size_t most,
			      const struct torus_costs *costs)
{
	double pieces = (double)((bytes + most - 1) / most), hops = 0;
	int rounds = 0;

	for (; 1 << (rounds + 1) <= shape->places; rounds++)
		hops += torus_hops(shape, 0, 1 << rounds);
	if (1 << rounds != shape->places) {
		rounds += 2;
		hops += 2;
	}
	return rounds * pieces * costs->forward + hops * (double)bytes / costs->rate;
}

bool torus_lines_by_pairs(const struct torus_axis *axis)
{
	return axis->ring && axis->size == 4;
}

/* A round sends a piece to both neighbours, or to the only one, which saves work. */
double torus_lines_allreduce_seconds(const struct torus_shape *shape, size_t bytes, size_t most,
				     const struct torus_costs *costs)
{
	double seconds = 0, pieces = (double)((bytes + most - 1) / most);

	for (int a = 0; a < shape->axes; a++) {
		const struct torus_axis *axis = &shape->axis[a];
		int rounds = axis->ring ? axis->size / 2 : axis->size - 1;
		double more = axis->size == 2 || torus_lines_by_pairs(axis) ? 0 : 2 * costs->handle;

		seconds += rounds * (pieces * (costs->forward + more) + (double)bytes / costs->rate);
	}
	return seconds;
}

/*
 * An all-to-all by the exchange schedule takes as long as its bottleneck: the busiest link, which
 * carries its bytes one after another (carried), or the processor of a node, which receives and
 * sends each piece on every link (busy). In addition the first piece crosses the diameter of the
 * torus, because each phase forwards what the phase before has brought.
 */
double torus_links_seconds(const struct torus_shape *shape, const struct torus_lines *lines, size_t bytes,
			   const struct torus_costs *costs)
{
	double on_link = torus_exchange_busiest(shape, lines) * (double)bytes, links = torus_ring_parts(shape);
	double busy = on_link / PIECE * 2 * links * costs->handle, carried = on_link / costs->rate;

	return torus_diameter(shape) * costs->forward + (carried > busy ? carried : busy);
}

/* If each node of a line sends a message to each other one: how many the busiest link carries. */
static double routed_of_line(const struct torus_axis *axis)
{
	int half = axis->size / 2;

	return axis->ring ? half * (half + 1) / 2.0 : (double)half * (axis->size - half);
}

/*
 * A node sends to all others, receives from them, and forwards; and as many acknowledgements go
 * back.
 */
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

/*
 * The phases of the axes run one after another, so their times add up. In each phase a node sends
 * one message to every other node of its line, and the busiest link of the line limits the rate.
 */
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

/* Long segments are less work: the longest that is hardly slower than the best. */
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
 * Up and down at once: a single tree goes down one direction of its cables and up the other, and so
 * do trees that only go upwards, in which no cable has both. Other trees share cables with
 * themselves, so a link carries two of their parts.
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

		/*
		 * As the links are used in both directions, the kind that shares none comes first.
		 */
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
