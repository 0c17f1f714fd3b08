/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement: every PE has a place of its own, no plan is worse than rank order in anything, and
 * what it says it costs is what it costs, counted step by step. Where a grid can be laid out along
 * cables only, it is.
 */
#include "comms/torus/place.h"

#include <stdlib.h>
#include <string.h>

#include "comms/torus/routes.h"
#include "comms/torus/subaxes.h"
#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static char problem[TORUS_PROBLEM], text[TORUS_TEXT];

/* --- Lines --- */

static void check_line(const struct torus_shape *shape, bool closed)
{
	struct torus_subaxis subaxes[TORUS_AXES];
	struct torus_line line = {.offset = malloc((size_t)shape->places * sizeof(int))};
	bool *seen = calloc((size_t)shape->places, sizeof *seen);
	bool even = false, ring = false;
	int longest = 0, axes = 0;

	for (int a = 0; a < shape->axes; a++) {
		subaxes[a] = (struct torus_subaxis){shape->axis[a].size, shape->stride[a], 1, shape->axis[a].ring};
		axes += shape->axis[a].size > 1;
		even = even || shape->axis[a].size % 2 == 0;
		ring = ring || (shape->axis[a].ring && shape->axis[a].size > 1);
	}
	EXPECT(torus_line_make(&line, shape, subaxes, shape->axes, closed) && line.size == shape->places, "memory");
	for (int i = 0; i < line.size; i++) {
		int next = i + 1 < line.size ? i + 1 : 0, hops = torus_hops(shape, line.offset[i], line.offset[next]);

		EXPECT(!seen[line.offset[i]], "%s: %d comes twice", torus_shape_text(shape, text), line.offset[i]);
		seen[line.offset[i]] = true;
		if (next > 0 || closed)
			longest = hops > longest ? hops : longest;
	}
	EXPECT(longest == line.longest, "%s says its longest step is %d", torus_shape_text(shape, text), line.longest);
	if (!closed || ring || shape->places <= 2 || (axes > 1 && even))
		EXPECT(longest <= 1, "%s: a step of %d hops", torus_shape_text(shape, text), longest);
	else
		EXPECT(longest <= 2, "%s: a step of %d hops", torus_shape_text(shape, text), longest);
	free(line.offset);
	free(seen);
}

static void check_lines(void)
{
	for (int i = 0; i < 4000; i++) {
		struct torus_shape shape;

		tori_shape(&shape, 800);
		check_line(&shape, true);
		check_line(&shape, false);
	}
}

static void check_virtual(void)
{
	static const struct {
		const char *shape;
		int axes, sizes[TORUS_AXES]; /* all 0: there is none */
	} rows[] = {
		{"24x23mx24x2x3x2", 3, {48, 48, 69}},
		{"4mx6mx8m", 2, {0}},
		{"3mx3mx3m", 1, {0}},
		{"4mx2", 1, {8}},
		{"4mx6mx2x3", 2, {12, 12}},
		{"4mx6mx8mx2x3x2", 3, {12, 12, 16}},
		{"5mx5m", 1, {0}},
		{"5x5m", 1, {25}},
		{"8", 1, {8}},
		{"8m", 1, {0}},
		{"4x4x4", 3, {4, 4, 4}},
		{"4x4x4", 4, {0}},
		{"1", 1, {0}},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		int sizes[TORUS_AXES], owner[TORUS_AXES], sum = 0, expected = 0;
		bool good;

		tori_read(&shape, rows[i].shape);
		good = torus_virtual(&shape, rows[i].axes, sizes, owner);
		EXPECT(good == (rows[i].sizes[0] > 0), "%s as %d axes", rows[i].shape, rows[i].axes);
		for (int a = 0; good && a < rows[i].axes; a++) {
			sum += sizes[a];
			expected += rows[i].sizes[a];
		}
		EXPECT(sum == expected, "%s as %d axes: sum of sizes %d, expected %d", rows[i].shape, rows[i].axes, sum,
		       expected);
	}
}

/* --- Plans --- */

struct tally {
	long messages, hops, worst;
	int longest;
};

/* The cost, counted by the plainest method: every message takes every step. */
static struct tally walk_all(const struct torus_sites *sites, const struct torus_grid *grid, const int *node)
{
	const struct torus_shape *shape = &sites->shape;
	long *load = calloc((size_t)shape->places * TORUS_DIRECTIONS, sizeof *load);
	struct torus_routes routes = {.pairs = 1};
	struct tally tally = {0};
	bool round;

	EXPECT(!sites->share || torus_routes_check(&routes, sites, false), "memory");
	round = routes.pairs == routes.reached;

	for (int pe = 0; pe < grid->cells; pe++)
		for (int i = 0; i < 2 * grid->dims; i++) {
			int next = torus_grid_neighbour(grid, pe, i / 2, i % 2 ? -1 : 1), steps = 0;
			int at = sites->place[node[pe]];

			if (next < 0)
				continue;
			for (int goal = sites->place[node[next]]; at != goal; steps++) {
				int direction = round ? routes.next[node[next] * shape->places + at]
						      : torus_next(shape, at, goal);
				float share = round ? torus_sites_share(sites, at, direction) : 1;
				long now = load[at * TORUS_DIRECTIONS + direction] += (long)(1 / share + 0.5F);

				tally.worst = now > tally.worst ? now : tally.worst;
				at = torus_neighbour(shape, at, direction);
			}
			tally.messages++;
			tally.hops += steps;
			tally.longest = steps > tally.longest ? steps : tally.longest;
		}
	if (sites->share)
		torus_routes_free(&routes);
	free(load);
	return tally;
}

static void check_cost(const char *name, const struct torus_cost *cost, struct tally tally)
{
	long sum = 0;

	EXPECT(cost->messages == tally.messages && cost->hops == tally.hops && cost->longest == tally.longest &&
		       cost->worst == tally.worst,
	       "%s: says %ld messages, %ld hops, longest %d, worst %ld; counted %ld, %ld, %d, %ld", name,
	       cost->messages, cost->hops, cost->longest, cost->worst, tally.messages, tally.hops, tally.longest,
	       tally.worst);
	for (int h = 0; h < cost->n_by_hops; h++)
		sum += cost->by_hops[h];
	EXPECT(sum == cost->messages, "%s: messages by hops add up to %ld", name, sum);
}

static void check_plan(const char *name, const struct torus_sites *sites, int pes, const struct torus_grid *grid,
		       const struct torus_plan *plan)
{
	bool *taken = calloc((size_t)grid->cells, sizeof *taken);
	int *ranks = malloc((size_t)grid->cells * sizeof *ranks);

	for (int pe = 0; pe < grid->cells; pe++) {
		int node = plan->node[pe], slot = plan->slot[pe];
		bool inside = node >= 0 && node < sites->nodes && slot >= 0 && slot < pes;

		EXPECT(inside && !taken[node * pes + slot], "%s: PE %d is at node %d, place %d", name, pe, node, slot);
		if (inside)
			taken[node * pes + slot] = true;
		ranks[pe] = pe / pes;
	}
	check_cost(name, &plan->before, walk_all(sites, grid, ranks));
	check_cost(name, &plan->after, walk_all(sites, grid, plan->node));
	EXPECT(torus_cost_bears(&plan->after, &plan->before), "%s is worse than rank order", name);
	free(taken);
	free(ranks);
}

static int random_divisor(int n)
{
	int d;

	do
		d = 1 + tori_random(n);
	while (n % d);
	return d;
}

/* A grid of so many PEs. */
static void draw_grid(struct torus_grid *grid, int pes)
{
	memset(grid, 0, sizeof *grid);
	grid->dims = 1 + tori_random(4);
	for (int i = 0; i < grid->dims; i++) {
		grid->size[i] = i == grid->dims - 1 ? pes : random_divisor(pes);
		grid->wraps[i] = tori_random(3) > 0;
		pes /= grid->size[i];
	}
	torus_grid_complete(grid);
}

/* Full boxes, and boxes with holes whose nodes come in any order. */
static bool draw_sites(struct torus_sites *sites)
{
	struct torus_shape machine;
	struct torus_box box;
	int places[400], count = 0, holes = tori_random(3);

	tori_shape(&machine, 120);
	for (int p = 0; p < machine.places; p++)
		if (!holes || tori_random(5) >= holes)
			places[count++] = p;
	for (int i = count - 1; holes && i > 0; i--) {
		int other = tori_random(i + 1), saved = places[i];

		places[i] = places[other];
		places[other] = saved;
	}
	return count > 0 && torus_sites_some(sites, &box, &machine, places, count);
}

static void check_random_plans(void)
{
	int better = 0;

	for (int i = 0; i < 2000; i++) {
		struct torus_sites sites;
		struct torus_grid grid;
		struct torus_plan plan;
		int pes = tori_random(3) ? 1 : 1 + tori_random(6);

		if (!draw_sites(&sites))
			continue;
		draw_grid(&grid, sites.nodes * pes);
		EXPECT(torus_place(&plan, &sites, pes, &grid, problem), "%s", problem);
		check_plan(torus_shape_text(&sites.shape, text), &sites, pes, &grid, &plan);
		better += plan.after.hops < plan.before.hops;
		torus_plan_free(&plan);
		torus_sites_free(&sites);
	}
	EXPECT(better > 800, "only %d of 2000 plans are better than rank order", better);
}

static void check_flawed_plans(void)
{
	static const float shares[] = {0, 0, 0.5F, 0.25F, 0.125F};
	int better = 0;

	for (int i = 0; i < 250; i++) {
		struct torus_sites sites;
		struct torus_shape machine;
		struct torus_box box;
		struct torus_grid grid;
		struct torus_plan plan;
		struct torus_flaw flaw[6];
		int places[120], holes = tori_random(2), count = 0, flaws = 1 + tori_random(6);

		tori_shape(&machine, 120);
		for (int p = 0; p < machine.places; p++)
			if (!holes || tori_random(10))
				places[count++] = p;
		if (count < 2 || !torus_sites_some(&sites, &box, &machine, places, count))
			continue;
		for (int f = 0; f < flaws; f++)
			flaw[f] = (struct torus_flaw){tori_random(machine.places), tori_random(2 * machine.axes),
						      shares[tori_random(5)]};
		EXPECT(torus_sites_mark(&sites, &box, &machine, flaw, flaws), "memory");
		draw_grid(&grid, sites.nodes);
		EXPECT(torus_place(&plan, &sites, 1, &grid, problem), "%s", problem);
		check_plan(torus_shape_text(&sites.shape, text), &sites, 1, &grid, &plan);
		better += plan.after.hops < plan.before.hops || plan.after.worst < plan.before.worst;
		torus_plan_free(&plan);
		torus_sites_free(&sites);
	}
	EXPECT(better > 80, "only %d of 250 plans with flaws are better than rank order", better);
}

/*
 * A grid that does not wrap comes to lie so that no message crosses the one cable that is dead or
 * slow.
 */
static void check_grid_beside_flaw(void)
{
	static const struct {
		const char *shape, *grid;
		struct torus_flaw flaw;
	} rows[] = {{"8", "8m", {3, 0, 0}},
		    {"6", "6m", {2, 0, 0.25F}},
		    {"4x5m", "4mx5m", {5, 0, 0}},
		    {"5x4", "5x4m", {1, 2, 0.5F}}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_box box = {.origin = {0}};
		struct torus_shape machine;
		struct torus_sites sites;
		struct torus_grid grid;
		struct torus_plan plan;

		tori_read(&machine, rows[i].shape);
		for (int a = 0; a < machine.axes; a++)
			box.extent[a] = machine.axis[a].size;
		EXPECT(torus_grid_read(&grid, rows[i].grid, problem), "%s", problem);
		EXPECT(torus_sites_all(&sites, &machine) && torus_sites_mark(&sites, &box, &machine, &rows[i].flaw, 1),
		       "memory");
		EXPECT(torus_place(&plan, &sites, 1, &grid, problem), "%s", problem);
		check_plan(rows[i].shape, &sites, 1, &grid, &plan);
		EXPECT(plan.before.longest > 1 || plan.before.worst > 1, "%s: rank order crosses the flaw",
		       rows[i].shape);
		EXPECT(plan.after.longest == 1 && plan.after.worst == 1, "%s: longest route %d, worst link %ld",
		       rows[i].shape, plan.after.longest, plan.after.worst);
		torus_plan_free(&plan);
		torus_sites_free(&sites);
	}
}

/*
 * Boxes of odd sides with a few holes, which fit no grid exactly: nearly every plan is better than
 * rank order all the same.
 */
static void check_odd_plans(void)
{
	static const char *const shapes[] = {"5x5", "7mx5", "5mx7m", "3x5x3", "9x3m", "7x3x3m"};
	int tried = 0, better = 0;

	for (int i = 0; i < 200; i++) {
		int places[400], count = 0, side = 2;
		struct torus_shape machine;
		struct torus_sites sites;
		struct torus_grid grid = {.dims = 2, .wraps = {tori_random(2), tori_random(2)}};
		struct torus_plan plan;
		struct torus_box box;

		tori_read(&machine, shapes[i % 6]);
		for (int p = 0; p < machine.places; p++)
			if (tori_random(machine.places) > 2)
				places[count++] = p;
		for (int s = 2; s * s <= count; s++)
			side = count % s ? side : s;
		if (count % side || !torus_sites_some(&sites, &box, &machine, places, count))
			continue;
		grid.size[0] = side;
		grid.size[1] = count / side;
		torus_grid_complete(&grid);
		EXPECT(torus_place(&plan, &sites, 1, &grid, problem), "%s", problem);
		check_plan(shapes[i % 6], &sites, 1, &grid, &plan);
		tried++;
		better += plan.after.hops < plan.before.hops;
		torus_plan_free(&plan);
		torus_sites_free(&sites);
	}
	EXPECT(tried > 50 && better * 10 >= tried * 9, "%d of %d plans with holes are better than rank order", better,
	       tried);
}

/* Grids that fit a shape exactly: no message goes further than one cable. */
static void check_perfect_plans(void)
{
	static const struct {
		const char *shape;
		int pes;
		const char *grid;
	} rows[] = {
		{"4x4x4", 1, "4x4x4"},
		{"8x4", 1, "4x8"},
		{"4mx2", 1, "8"},
		{"4mx6m", 1, "24"},
		{"5x5m", 1, "25"},
		{"3x3x3", 1, "27"},
		{"3x3x3", 1, "9x3"},
		{"5mx5m", 1, "25m"},
		{"4mx6mx8mx2x3x2", 1, "12x16x12"},
		{"4mx6mx8mx2x3x2", 1, "8x18x16"},
		{"6mx4mx3mx2x3x2", 1, "6x2x3x24"},
		{"4x4", 4, "8x8"},
		{"4x4", 4, "16x4"},
		{"4x4x4", 8, "8x8x8"},
		{"4mx4m", 2, "8mx4m"},
		{"2dx2d", 1, "2x2"},
		{"1", 6, "3x2"},
		{"7", 1, "7"},
		{"8mx8m", 4, "256"},
		{"2x2x2x2x2x2", 1, "8x8"},
		{"2x2x2x2x2x2", 1, "4x4x4"},
		{"16", 3, "3x16"},
		{"24x23mx24x2x3x2", 1, "48x69x48"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		struct torus_sites sites;
		struct torus_grid grid;
		struct torus_plan plan;

		tori_read(&shape, rows[i].shape);
		EXPECT(torus_sites_all(&sites, &shape), "memory");
		EXPECT(torus_grid_read(&grid, rows[i].grid, problem), "%s", problem);
		EXPECT(torus_place(&plan, &sites, rows[i].pes, &grid, problem), "%s", problem);
		EXPECT(plan.after.longest <= 1, "%s on %s: a message of %d hops", rows[i].grid, rows[i].shape,
		       plan.after.longest);
		check_plan(rows[i].shape, &sites, rows[i].pes, &grid, &plan);
		torus_plan_free(&plan);
		torus_sites_free(&sites);
	}
}

static void check_grids(void)
{
	static const char *const bad[] = {"", "x", "4x", "0x3", "4r", "4d", "2x2x2x2x2x2x2", "70000x70000", "-1"};
	struct torus_grid grid;
	struct torus_shape shape;
	struct torus_sites sites;
	struct torus_plan plan;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		EXPECT(!torus_grid_read(&grid, bad[i], problem) && strlen(problem) > 10, "\"%s\"", bad[i]);
	EXPECT(torus_grid_read(&grid, "8x8mx4", problem) && grid.cells == 256 && !grid.wraps[1] && grid.wraps[2],
	       "8x8mx4");
	tori_read(&shape, "4x4");
	EXPECT(torus_sites_all(&sites, &shape), "memory");
	EXPECT(!torus_place(&plan, &sites, 1, &grid, problem) && strstr(problem, "does not fit"),
	       "256 PEs on 16 nodes");
	torus_sites_free(&sites);
}

int main(void)
{
	check_lines();
	check_virtual();
	check_random_plans();
	check_odd_plans();
	check_flawed_plans();
	check_grid_beside_flaw();
	check_perfect_plans();
	check_grids();
	return unit_failures > 0;
}
