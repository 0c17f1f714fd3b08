/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of collectives on a torus: parts of messages, choices of trees and segments; and what
 * the model rests on, that a pipeline over all trees at once takes as many steps as the deepest
 * tree has levels, and one for each further segment.
 */
#include "comms/torus/model.h"
#include "comms/torus/ring_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static const struct torus_costs usual_costs = {.forward = 20e-6, .handle = 10e-6, .rate = 1e9};

static char text[TORUS_TEXT];

static void check_parts(void)
{
	for (int trees = 1; trees <= TORUS_DIRECTIONS; trees++)
		for (size_t bytes = 1; bytes < 3000; bytes += 1 + bytes / 7) {
			size_t longest = torus_part_begin(bytes, trees, 1);

			EXPECT(torus_part_begin(bytes, trees, 0) == 0 && torus_part_begin(bytes, trees, trees) == bytes,
			       "%zu bytes in %d parts", bytes, trees);
			for (int t = 0; t < trees; t++) {
				size_t begin = torus_part_begin(bytes, trees, t),
				       end = torus_part_begin(bytes, trees, t + 1);

				EXPECT(begin <= end && end - begin <= longest, "%zu bytes, part %d: %zu to %zu", bytes,
				       t, begin, end);
				EXPECT(begin % 64 == 0 || begin == bytes, "%zu bytes, part %d begins at %zu", bytes, t,
				       begin);
			}
		}
}

static void check_choice(const struct torus_shape *shape, int root, size_t bytes, const struct torus_costs *costs)
{
	struct torus_task task = {.bytes = bytes, .root = root, .most_segments = 256};
	struct torus_tree_choice best = torus_choose_trees(shape, &task, costs);

	torus_shape_text(shape, text);
	EXPECT((best.trees > 0) == (shape->places > 1), "%s: %d trees", text, best.trees);
	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_TWICE; kind++) {
		struct torus_tree_choice choice = torus_choose_segment(shape, kind, &task, costs);

		EXPECT(choice.trees == torus_tree_count(shape, kind), "%s: %d trees", text, choice.trees);
		if (choice.trees == 0)
			continue;
		EXPECT(choice.segment > 0 && choice.segment * 256 >= torus_part_begin(bytes, choice.trees, 1),
		       "%s, %zu bytes: segments of %zu are too many", text, bytes, choice.segment);
		EXPECT(best.seconds <= choice.seconds, "%s, %zu bytes: kind %d is faster", text, bytes, (int)kind);
	}
}

/*
 * The links need their time for what they carry, and rings take little more; each round is work for
 * the nodes.
 */
static void check_rings(void)
{
	static const char *const shapes[] = {"8", "12", "4x4", "3x3x3", "8x8x8"};

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct torus_costs costs = usual_costs;
		struct torus_shape shape;
		double least;

		costs.rate = 2.5e6;
		tori_read(&shape, shapes[i]);
		least = 2 * (16 << 20) * (shape.places - 1.0) / shape.places / torus_ring_parts(&shape) / costs.rate;
		for (int rounds = 1; rounds <= 8; rounds += 7) {
			double seconds = torus_ring_allreduce_seconds(&shape, rounds, 16 << 20, &costs);

			EXPECT(seconds >= least && seconds < 1.5 * least, "%s, %d rounds: %g s, links need %g",
			       shapes[i], rounds, seconds, least);
		}
		costs.handle = 1;
		EXPECT(torus_ring_allreduce_seconds(&shape, 8, 16 << 20, &costs) >
			       4 * torus_ring_allreduce_seconds(&shape, 1, 16 << 20, &costs),
		       "%s: rounds cost nothing", shapes[i]);
	}
}

/* What one link carries at most, in parts, when a message goes up the trees and down. */
static int most_on_a_link(const struct torus_shape *shape, enum torus_trees kind)
{
	int *carried = calloc((size_t)(shape->places * TORUS_DIRECTIONS), sizeof *carried), most = 0;

	for (int t = 0; t < torus_tree_count(shape, kind); t++)
		for (int p = 0; p < shape->places; p++) {
			int direction,
				parent = torus_tree_parent(&(struct torus_tree){shape, kind, 0, t}, p, &direction);

			if (parent < 0)
				continue;
			carried[parent * TORUS_DIRECTIONS + direction]++;
			carried[p * TORUS_DIRECTIONS + (direction ^ 1)]++;
		}
	for (int i = 0; i < shape->places * TORUS_DIRECTIONS; i++)
		most = carried[i] > most ? carried[i] : most;
	free(carried);
	return most;
}

/*
 * Where trees upwards share cables with those downwards, a sum takes twice as long as a broadcast;
 * and there rings are worth more.
 */
static void check_both_directions(void)
{
	static const char *const shapes[] = {"3x3x3", "4x4", "2x3x4", "5mx3", "4mx4m", "2dx3", "7", "7m", "2"};
	struct torus_costs costs = usual_costs;

	costs.rate = 2.5e6;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct torus_task down = {.bytes = 16 << 20}, both = {.bytes = 16 << 20, .up_first = true};
		struct torus_shape shape;

		tori_read(&shape, shapes[i]);
		for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_UP; kind++) {
			double once = torus_choose_segment(&shape, kind, &down, &costs).seconds;
			double twice = torus_choose_segment(&shape, kind, &both, &costs).seconds;
			int most = most_on_a_link(&shape, kind);

			EXPECT(most == 0 || (twice > 0.95 * most * once && twice < 1.1 * most * once),
			       "%s, kind %d: up and down %g s, down %g s, and a link carries %d", shapes[i], (int)kind,
			       twice, once, most);
		}
	}
}

/*
 * A little goes up and down trees, whose first segments find their links free, though later ones
 * share them: rings take longer.
 */
static void check_first_segments(void)
{
	const struct torus_costs costs = {.forward = 180e-6, .handle = 90e-6, .rate = 2.2e6};
	struct torus_task both = {.bytes = 65536, .up_first = true};
	struct torus_shape shape;
	double trees, rings;

	tori_read(&shape, "2x3x4");
	both.root = torus_middle(&shape);
	trees = torus_choose_trees(&shape, &both, &costs).seconds;
	rings = torus_ring_allreduce_seconds(&shape, 1, both.bytes, &costs);
	EXPECT(trees < rings, "2x3x4, 64 KiB: trees %g s, rings %g", trees, rings);
}

/* What people rely on. */
static void check_known(void)
{
	static const struct {
		const char *shape;
		size_t bytes;
		double rate;
		int trees; /* 0: binomial */
	} rows[] = {
		{"3x3x3", 64, 1e9, 0},		{"3x3x3", 16 << 20, 2.5e6, 6}, {"3x3x3", 16 << 20, 1e9, 6},
		{"4x4", 16 << 20, 5e6, 4},	{"4mx4m", 16 << 20, 5e6, 2},   {"2x2x2", 16 << 20, 5e6, 3},
		{"24x16x24", 64 << 20, 5e8, 6},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_costs costs = usual_costs;
		struct torus_tree_choice choice;
		struct torus_shape shape;

		tori_read(&shape, rows[i].shape);
		costs.rate = rows[i].rate;
		choice = torus_choose_trees(&shape, &(struct torus_task){.bytes = rows[i].bytes, .most_segments = 1024},
					    &costs);
		if (torus_binomial_seconds(shape.places, rows[i].bytes, &costs) < choice.seconds)
			choice.trees = 0;
		EXPECT(choice.trees == rows[i].trees, "%s, %zu bytes: %d trees, expected %d", rows[i].shape,
		       rows[i].bytes, choice.trees, rows[i].trees);
	}
}

/*
 * A chain waits for each node once and carries everything once; a tree has fewer waits, and carries
 * everything in each.
 */
static void check_chain(void)
{
	static const struct {
		int nodes;
		size_t bytes;
		bool chain;
	} rows[] = {{4, 8192, false},	 {4, 65536, true},   {16, 65536, false},
		    {16, 1 << 20, true}, {64, 65536, false}, {64, 4 << 20, true}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t segment = rows[i].bytes < 1 << 20 ? rows[i].bytes / 8 : 1 << 17;
		double chain = torus_chain_seconds(rows[i].nodes, rows[i].bytes, segment, &usual_costs);
		double tree = torus_binomial_seconds(rows[i].nodes, rows[i].bytes, &usual_costs);

		EXPECT((chain < tree) == rows[i].chain, "%d nodes, %zu bytes: chain %g s, tree %g s", rows[i].nodes,
		       rows[i].bytes, chain, tree);
	}
	EXPECT(torus_chain_seconds(5, 100, 8192, &usual_costs) == 4 * (usual_costs.forward + 100 / usual_costs.rate),
	       "less than a segment goes as one");
}

/*
 * Where one algorithm of a network without a torus ends and the next begins: the last size, of
 * powers of two, that goes down a tree, and of an all-gather the last block that goes in rounds.
 * Faster messages move both down, faster links up.
 */
static void check_crossings(void)
{
	static const struct {
		int nodes;
		double latency_us, rate_mb;
		size_t tree, rounds;
	} rows[] = {
		{2, 20, 1000, 16 << 10, 1 << 20},     {4, 20, 1000, 32 << 10, 64 << 10},
		{8, 20, 1000, 128 << 10, 64 << 10},   {8, 2, 1000, 32 << 10, 8 << 10},
		{4, 20, 10000, 256 << 10, 512 << 10},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_costs costs = {rows[i].latency_us * 1e-6, rows[i].latency_us * 5e-7,
					    rows[i].rate_mb * 1e6};
		size_t tree = 0, rounds = 0;

		for (size_t bytes = 8; bytes <= 1 << 20; bytes *= 2) {
			size_t segment = bytes / 4 < 16384 ? 16384 : bytes / 4 < 131072 ? bytes / 4 : 131072;

			if (torus_tree_beats_chain(rows[i].nodes, bytes, segment, &costs))
				tree = bytes;
			if (torus_rounds_beat_ring(rows[i].nodes, bytes * (size_t)rows[i].nodes, &costs))
				rounds = bytes;
		}
		EXPECT(tree == rows[i].tree && rounds == rows[i].rounds,
		       "%d nodes, %g us, %g MB/s: trees up to %zu, rounds up to %zu", rows[i].nodes, rows[i].latency_us,
		       rows[i].rate_mb, tree, rounds);
	}
	EXPECT(!torus_several_trees_may_pay(8192, &usual_costs) && torus_several_trees_may_pay(16384, &usual_costs),
	       "trees that share no link: not from 16 KiB on");
}

/*
 * In each step every link carries one segment that its node had before. Returns the number of
 * steps.
 */
static int run_pipeline(const struct torus_shape *shape, enum torus_trees kind, int root, int segments)
{
	int trees = torus_tree_count(shape, kind), steps = 0, missing = trees * (shape->places - 1) * segments;
	int *had = calloc((size_t)(trees * shape->places), sizeof *had),
	    *has = calloc((size_t)(trees * shape->places), sizeof *has);

	for (int t = 0; t < trees; t++)
		has[t * shape->places + root] = segments;
	for (; missing > 0 && steps < 100000; steps++) {
		memcpy(had, has, (size_t)(trees * shape->places) * sizeof *had);
		for (int t = 0; t < trees; t++)
			for (int p = 0; p < shape->places; p++) {
				int direction, parent = torus_tree_parent(&(struct torus_tree){shape, kind, root, t}, p,
									  &direction);

				if (parent >= 0 && had[t * shape->places + p] < had[t * shape->places + parent]) {
					has[t * shape->places + p]++;
					missing--;
				}
			}
	}
	free(had);
	free(has);
	return steps;
}

static void check_pipeline(const struct torus_shape *shape, int root)
{
	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_TWICE; kind++) {
		int deepest = 0, steps;

		for (int t = 0; t < torus_tree_count(shape, kind); t++) {
			int depth = torus_tree_depth(&(struct torus_tree){shape, kind, root, t});

			deepest = depth > deepest ? depth : deepest;
		}
		if (deepest == 0)
			continue;
		steps = run_pipeline(shape, kind, root, 20);
		EXPECT(steps == deepest + 19, "%s from %d: %d steps for 20 segments, depth %d",
		       torus_shape_text(shape, text), root, steps, deepest);
	}
}

/*
 * On a fast network direct messages cost a node what it sends, receives and passes on, and their
 * acknowledgements as much again.
 */
static void check_direct(const struct torus_shape *shape)
{
	const struct torus_costs costs = {.forward = 1e-3, .handle = 1e-6, .rate = 1e30};
	double hops = 0, took = torus_direct_seconds(shape, 100, 1, &costs);

	for (int p = 0; p < shape->places; p++)
		for (int q = 0; q < shape->places; q++)
			hops += torus_hops(shape, p, q);
	hops /= shape->places;
	EXPECT(took > 0.999999 * (1e-3 + 2 * (hops + shape->places - 1) * 1e-6) &&
		       took < 1.000001 * (1e-3 + 2 * (hops + shape->places - 1) * 1e-6),
	       "%s: direct messages take %g s, with %g hops", torus_shape_text(shape, text), took, hops);
}

/* Words that cost much go together, axis by axis; bytes that cost much make the way once. */
static void check_alltoall(void)
{
	const struct torus_costs slow_words = {.forward = 1e-4, .handle = 1e-4, .rate = 1e9},
				 slow_links = {.forward = 1e-6, .handle = 1e-7, .rate = 1e6};
	struct torus_shape shape;
	char problem[TORUS_PROBLEM];

	torus_shape_read(&shape, "3x3x3", problem);
	EXPECT(torus_lines_seconds(&shape, 64, &slow_words) * 3 < torus_direct_seconds(&shape, 64, 1, &slow_words),
	       "lines: %g, direct: %g", torus_lines_seconds(&shape, 64, &slow_words),
	       torus_direct_seconds(&shape, 64, 1, &slow_words));
	EXPECT(torus_direct_seconds(&shape, 4096, 1, &slow_links) * 2 < torus_lines_seconds(&shape, 4096, &slow_links),
	       "direct: %g, lines: %g", torus_direct_seconds(&shape, 4096, 1, &slow_links),
	       torus_lines_seconds(&shape, 4096, &slow_links));
}

/*
 * Over a link of 1 B/s: a ring's line brings each node one part over each of its links, a mesh's
 * brings two.
 */
static void check_gather(void)
{
	const struct torus_costs links = {.rate = 1}, work = {.handle = 1, .rate = 1e30};
	struct torus_shape shape;
	char problem[TORUS_PROBLEM];
	double rings, meshes;

	torus_shape_read(&shape, "3x3", problem);
	rings = torus_lines_gather_seconds(&shape, 9, &links);
	torus_shape_read(&shape, "3mx3m", problem);
	meshes = torus_lines_gather_seconds(&shape, 9, &links);
	EXPECT(rings == 4 && meshes == 8, "lines of 3: %g s on rings, %g on meshes", rings, meshes);
	EXPECT(torus_gather_seconds(&shape, 9 << 20, &links) < meshes * (1 << 20),
	       "on meshes the links' schedule is %g s", torus_gather_seconds(&shape, 9 << 20, &links));
	torus_shape_read(&shape, "2x3x4", problem); /* whose links do not have equally many steps */
	EXPECT(torus_gather_seconds(&shape, 64, &work) == 2 * 23 * 6, "2x3x4: a node handles %g",
	       torus_gather_seconds(&shape, 64, &work));
	torus_shape_read(&shape, "2", problem);
	EXPECT(torus_lines_gather_seconds(&shape, 2, &links) == 1, "two nodes take %g s",
	       torus_lines_gather_seconds(&shape, 2, &links));
	/* A message that is long goes before the one in the other direction. */
	torus_shape_read(&shape, "3", problem);
	EXPECT(torus_lines_gather_seconds(&shape, 3 << 18, &links) == 1 << 18 &&
		       torus_lines_gather_seconds(&shape, 3 << 20, &links) > 1.5 * (1 << 20),
	       "on a ring of three, lines of 1 MiB take %g s", torus_lines_gather_seconds(&shape, 3 << 20, &links));
	/* The last part comes from the neighbour on the other side. */
	torus_shape_read(&shape, "4", problem);
	EXPECT(torus_lines_gather_seconds(&shape, 4, &links) == 2, "a ring of four takes %g s",
	       torus_lines_gather_seconds(&shape, 4, &links));
	EXPECT(torus_gather_seconds(&shape, 4 << 20, &links) <
		       0.8 * torus_lines_gather_seconds(&shape, 4 << 20, &links),
	       "on a ring of four the links' schedule is %g s", torus_gather_seconds(&shape, 4 << 20, &links));
	/* One part from each side, then three parts over three links at most. */
	torus_shape_read(&shape, "8", problem);
	EXPECT(torus_lines_gather_seconds(&shape, 8, &links) == 10, "a ring of eight takes %g s",
	       torus_lines_gather_seconds(&shape, 8, &links));
}

/* Only a node that sends both ways in a round has more work than one message is. */
static void check_work_of_lines(void)
{
	static const struct {
		const char *shape;
		double seconds;
	} known[] = {{"2", 0}, {"4", 0}, {"4m", 3}, {"2x2", 0}, {"4x3", 1}, {"6", 3}};
	const struct torus_costs work = {.handle = 0.5, .rate = 1e30};
	char problem[TORUS_PROBLEM];
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		double seconds;

		torus_shape_read(&shape, known[i].shape, problem);
		seconds = torus_lines_allreduce_seconds(&shape, 64, 64, &work);
		EXPECT(seconds < known[i].seconds + 1e-9 && seconds > known[i].seconds - 1e-9,
		       "%s: lines have %g s of work", known[i].shape, seconds);
	}
}

/* Rounds of one second, whatever their bytes: as many as a torus is wide, for each piece. */
static void check_little_sums(void)
{
	static const struct {
		const char *shape;
		double lines, doubling;
	} known[] = {{"3", 1, 3}, {"4", 2, 2}, {"6", 3, 4}, {"3x3", 2, 5}, {"4x4", 4, 4}, {"5m", 4, 4}, {"2x2", 2, 2}};
	const struct torus_costs rounds = {.forward = 1, .rate = 1e30};
	char problem[TORUS_PROBLEM];
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		torus_shape_read(&shape, known[i].shape, problem);
		for (int pieces = 1; pieces <= 3; pieces++) {
			size_t bytes = (size_t)pieces * 64;
			double lines = torus_lines_allreduce_seconds(&shape, bytes, 64, &rounds),
			       doubling = torus_doubling_seconds(&shape, bytes, 64, &rounds);

			EXPECT(lines == known[i].lines * pieces && doubling == known[i].doubling * pieces,
			       "%s, %d pieces: %g rounds along lines, %g of doubling", known[i].shape, pieces, lines,
			       doubling);
		}
	}
}

/* Partners that are several hops apart share links: so many messages go over one. */
static void check_shared_links(void)
{
	static const struct {
		const char *shape;
		double messages;
	} known[] = {{"2", 1}, {"4", 3}, {"2x2", 2}, {"4x4", 6}, {"8", 7}, {"3", 3}};
	const struct torus_costs bytes = {.forward = 0, .rate = 64};
	char problem[TORUS_PROBLEM];
	struct torus_shape shape;
	double messages;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		torus_shape_read(&shape, known[i].shape, problem);
		messages = torus_doubling_seconds(&shape, 64, 64, &bytes);
		EXPECT(messages == known[i].messages, "%s: %g messages", known[i].shape, messages);
	}
}

int main(void)
{
	struct torus_costs costs = usual_costs;
	struct torus_shape shape;

	check_parts();
	check_known();
	check_rings();
	check_both_directions();
	check_first_segments();
	check_chain();
	check_crossings();
	check_alltoall();
	check_gather();
	check_work_of_lines();
	check_little_sums();
	check_shared_links();
	for (int i = 0; i < 300; i++) {
		tori_shape(&shape, 300);
		check_direct(&shape);
		costs.rate = 1e5 * (1 + tori_random(100000));
		check_choice(&shape, tori_random(shape.places), (size_t)1 << tori_random(28), &costs);
		check_pipeline(&shape, tori_random(shape.places));
	}
	return unit_failures != 0;
}
