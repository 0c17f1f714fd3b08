/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#define LINE 64
#define SHORTEST 4096 /* bytes of a segment */
#define LONGEST (1UL << 20)
#define SLACK 0.03

const struct torus_costs torus_costs_usual = {.forward = 20e-6, .handle = 10e-6, .rate = 1e9};

size_t torus_part_begin(size_t bytes, int trees, int t)
{
	size_t lines = (bytes + LINE - 1) / LINE, each = (lines + (size_t)trees - 1) / (size_t)trees;
	size_t at = each * (size_t)t * LINE;

	return at < bytes ? at : bytes;
}

static int depth(const struct torus_shape *shape, enum torus_trees kind, int root, int trees)
{
	int deepest = 0;

	for (int t = 0; t < trees; t++) {
		int levels = torus_tree_depth(shape, kind, root, t);

		deepest = levels > deepest ? levels : deepest;
	}
	return deepest;
}

/*
 * The first segment goes all the way; the others follow, one behind the other, as fast as the links carry them or the nodes
 * handle them: at a node as many come in as there are trees, and as many go out. Before all that a child has to say that it is
 * ready.
 */
static double seconds_of_trees(int levels, int trees, size_t bytes, size_t segment, const struct torus_costs *costs)
{
	double part = (double)torus_part_begin(bytes, trees, 1), count = part / (double)segment;
	double first = part < (double)segment ? part : (double)segment, on_link = (double)segment / costs->rate;
	double busy = 2 * trees * costs->handle;

	return costs->forward + levels * (costs->forward + first / costs->rate) + trees * costs->handle +
	       (count > 1 ? (count - 1) * (on_link > busy ? on_link : busy) : 0);
}

double torus_binomial_seconds(int nodes, size_t bytes, const struct torus_costs *costs)
{
	int rounds = 0;

	while (1 << rounds < nodes)
		rounds++;
	return rounds * (costs->forward + (double)bytes / costs->rate);
}

/* Long segments are less work for everybody: the longest that takes hardly longer than the best. */
static void choose_segment(struct torus_forest *choice, int levels, size_t shortest, size_t bytes,
			   const struct torus_costs *costs)
{
	double best = seconds_of_trees(levels, choice->trees, bytes, shortest, costs);

	for (size_t segment = 2 * shortest; segment <= LONGEST; segment *= 2) {
		double seconds = seconds_of_trees(levels, choice->trees, bytes, segment, costs);

		best = seconds < best ? seconds : best;
	}
	for (size_t segment = shortest; segment == shortest || segment <= LONGEST; segment *= 2) {
		double seconds = seconds_of_trees(levels, choice->trees, bytes, segment, costs);

		if (segment == shortest || seconds <= best * (1 + SLACK)) {
			choice->segment = segment;
			choice->seconds = seconds;
		}
	}
}

struct torus_forest torus_choose_segment(const struct torus_shape *shape, enum torus_trees kind, int root, size_t bytes,
					 size_t most_segments, const struct torus_costs *costs)
{
	struct torus_forest choice = {.trees = torus_tree_count(shape, kind), .kind = kind};
	size_t part, shortest = SHORTEST;

	if (choice.trees == 0)
		return choice;
	part = torus_part_begin(bytes, choice.trees, 1);
	while (shortest * most_segments < part)
		shortest *= 2;
	choose_segment(&choice, depth(shape, kind, root, choice.trees), shortest, bytes, costs);
	return choice;
}

struct torus_forest torus_choose_trees(const struct torus_shape *shape, int root, size_t bytes, size_t most_segments,
				       const struct torus_costs *costs)
{
	struct torus_forest best = {0};

	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_TWICE; kind++) {
		struct torus_forest choice = torus_choose_segment(shape, kind, root, bytes, most_segments, costs);

		if (choice.trees > 0 && (best.trees == 0 || choice.seconds < best.seconds))
			best = choice;
	}
	return best;
}
