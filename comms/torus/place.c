/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tries several layouts for several tiles, and takes the best that is no worse than rank order in
 * any respect. Hops alone decide which layouts are worth a full measurement.
 *
 * With dead or slow cables, the routes around them count, and the best layouts are also tried
 * shifted along the rings: a grid that does not wrap may then have its end at a dead cable.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "routes.h"

/* Limits that keep the largest machine within seconds. */
#define MOST_TILINGS 24
#define WORK_BY_AXES 3000000L	/* places of lines visited */
#define WORK_GENERAL 1000000L	/* cells, over all tilings */
#define WORK_WITHIN 4000000L	/* visits of pairs, cells, links */
#define WORK_BY_SWAPS 600000L	/* pairs of cells */
#define WORK_BY_SHIFTS 4000000L /* cells, of all layouts */

int *torus_choice_offer(struct torus_choice *choice, struct torus_layout layout, int cells)
{
	int at = choice->count;

	while (at > 0 &&
	       (layout.hops < choice->layouts[at - 1].hops ||
		(layout.hops == choice->layouts[at - 1].hops && layout.longest < choice->layouts[at - 1].longest)))
		at--;
	if (at == TORUS_LAYOUTS)
		return NULL;
	layout.place = malloc((size_t)cells * sizeof *layout.place);
	if (!layout.place)
		return NULL;
	if (choice->count == TORUS_LAYOUTS)
		free(choice->layouts[--choice->count].place);
	memmove(&choice->layouts[at + 1], &choice->layouts[at], (size_t)(choice->count - at) * sizeof layout);
	choice->layouts[at] = layout;
	choice->count++;
	return layout.place;
}

/* --- Tiles --- */

static void complete_tiling(struct torus_tiling *tiling, const struct torus_grid *grid, int pes)
{
	tiling->cells = *grid;
	tiling->leaving = 0;
	for (int i = 0; i < grid->dims; i++)
		tiling->cells.size[i] /= tiling->tile[i];
	torus_grid_complete(&tiling->cells);
	for (int i = 0; i < grid->dims; i++) {
		int size = tiling->cells.size[i], edges = size == 1 ? 0 : size - !grid->wraps[i];

		tiling->weight[i] = pes / tiling->tile[i];
		tiling->leaving += 2L * edges * (tiling->cells.cells / size) * tiling->weight[i];
	}
}

struct tilings {
	struct torus_tiling list[MOST_TILINGS];
	int count;
};

static void add_tiling(struct tilings *tilings, const struct torus_tiling *tiling)
{
	int at = tilings->count;

	while (at > 0 && tiling->leaving < tilings->list[at - 1].leaving)
		at--;
	if (at == MOST_TILINGS)
		return;
	if (tilings->count == MOST_TILINGS)
		tilings->count--;
	memmove(&tilings->list[at + 1], &tilings->list[at], (size_t)(tilings->count - at) * sizeof *tiling);
	tilings->list[at] = *tiling;
	tilings->count++;
}

/* Finds the tilings by tiles of this many PEs with the fewest messages between tiles. */
static void find_tilings(struct tilings *tilings, struct torus_tiling *tiling, const struct torus_grid *grid, int dim,
			 int rest, int pes)
{
	if (dim == grid->dims) {
		if (rest > 1)
			return;
		complete_tiling(tiling, grid, pes);
		add_tiling(tilings, tiling);
		return;
	}
	for (int t = 1; t <= rest; t++) {
		if (rest % t || grid->size[dim] % t)
			continue;
		tiling->tile[dim] = t;
		find_tilings(tilings, tiling, grid, dim + 1, rest / t, pes);
	}
}

/* --- Layouts --- */

static void offer_places(struct torus_choice *choice, int *place, struct torus_layout layout,
			 const struct torus_shape *shape, const struct torus_tiling *tiling)
{
	int *room;

	layout.place = place;
	torus_layout_measure(&layout, shape, tiling);
	room = torus_choice_offer(choice, layout, tiling->cells.cells);
	if (room)
		memcpy(room, place, (size_t)tiling->cells.cells * sizeof *place);
}

/*
 * Improves the best layout so far, if it is small and not perfect; and cells on nodes in their
 * order.
 */
static void offer_swapped(struct torus_choice *choice, const struct tilings *tilings, const struct torus_sites *sites,
			  int most, int *place)
{
	size_t bytes = (size_t)sites->nodes * sizeof *place;
	struct torus_layout best;

	if (choice->count == 0 || choice->layouts[0].longest <= 1)
		return;
	best = choice->layouts[0];
	memcpy(place, best.place, bytes);
	best.how = "by swaps";
	if (torus_layout_improve(place, &sites->shape, &tilings->list[best.tiling], most, WORK_BY_SWAPS))
		offer_places(choice, place, best, &sites->shape, &tilings->list[best.tiling]);
	memcpy(place, sites->place, bytes);
	best = (struct torus_layout){.how = "by swaps"};
	if (torus_layout_improve(place, &sites->shape, &tilings->list[0], most, WORK_BY_SWAPS))
		offer_places(choice, place, best, &sites->shape, &tilings->list[0]);
}

/* Layouts of any set of nodes, for one tiling. */
static bool offer_general(struct torus_choice *choice, const struct torus_sites *sites,
			  const struct torus_tiling *tiling, int number, int *place)
{
	struct torus_layout layout = {.tiling = number, .how = "along one line"};

	if (!torus_layout_by_line(place, sites, &tiling->cells))
		return false;
	offer_places(choice, place, layout, &sites->shape, tiling);
	layout.how = "by halves";
	if (!torus_layout_by_halves(place, sites, &tiling->cells))
		return false;
	offer_places(choice, place, layout, &sites->shape, tiling);
	return true;
}

static bool find_layouts(struct torus_choice *choice, const struct torus_sites *sites, const struct tilings *tilings,
			 int most)
{
	bool full = sites->nodes == sites->shape.places;
	int *place = malloc((size_t)sites->nodes * sizeof *place);
	long general = WORK_GENERAL;
	bool good = place != NULL;

	for (int t = 0; good && t < tilings->count; t++) {
		const struct torus_tiling *tiling = &tilings->list[t];

		if (full)
			good = torus_layouts_by_axes(choice, &sites->shape, tiling, t, WORK_BY_AXES / tilings->count);
		/*
		 * If all neighbours are one cable apart, no other layout of the same tile is
		 * better.
		 */
		if (choice->count && choice->layouts[0].hops <= tiling->leaving)
			break;
		if (t > 0 && general < sites->nodes)
			continue;
		general -= sites->nodes;
		good = good && offer_general(choice, sites, tiling, t, place);
	}
	if (good)
		offer_swapped(choice, tilings, sites, most, place);
	free(place);
	return good;
}

/* --- The plan --- */

static bool rank_order(struct torus_plan *plan, const struct torus_sites *sites, const struct torus_routes *routes,
		       int pes, const struct torus_grid *grid)
{
	int *place = malloc((size_t)grid->cells * sizeof *place);
	bool good = place != NULL;

	for (int pe = 0; good && pe < grid->cells; pe++) {
		plan->node[pe] = pe / pes;
		plan->slot[pe] = pe % pes;
		place[pe] = sites->place[pe / pes];
	}
	plan->how = "rank order";
	good = good && torus_cost_round(&plan->before, sites, routes, grid, place, NULL) &&
	       torus_cost_round(&plan->after, sites, routes, grid, place, NULL);
	free(place);
	return good;
}

static void take_layout(struct torus_plan *plan, const struct torus_sites *sites, const struct torus_grid *grid,
			const struct torus_tiling *tiling, const struct torus_layout *layout)
{
	int index[TORUS_AXES] = {0};

	for (int pe = 0; pe < grid->cells; pe++) {
		int cell = 0, slot = 0, i = grid->dims - 1;

		for (int d = 0; d < grid->dims; d++) {
			cell = cell * tiling->cells.size[d] + index[d] / tiling->tile[d];
			slot = slot * tiling->tile[d] + index[d] % tiling->tile[d];
		}
		plan->node[pe] = sites->node[layout->place[cell]];
		plan->slot[pe] = slot;
		while (i >= 0 && ++index[i] == grid->size[i])
			index[i--] = 0;
	}
	memcpy(plan->tile, tiling->tile, sizeof plan->tile);
	plan->how = layout->how;
}

static bool is_better(const struct torus_cost *cost, const struct torus_cost *than)
{
	if (cost->hops != than->hops)
		return cost->hops < than->hops;
	return cost->worst != than->worst ? cost->worst < than->worst : cost->longest < than->longest;
}

/*
 * Computes the layout's cost; if it is the best so far, and no worse than rank order, makes it the
 * plan.
 */
static bool try_layout(struct torus_plan *plan, const struct torus_sites *sites, const struct torus_routes *routes,
		       const struct torus_grid *grid, const struct tilings *tilings, const struct torus_layout *layout)
{
	const struct torus_tiling *tiling = &tilings->list[layout->tiling];
	struct torus_cost cost;
	long stay;

	if (!torus_cost_round(&cost, sites, routes, &tiling->cells, layout->place, tiling->weight))
		return false;
	stay = plan->before.messages - cost.messages;
	cost.messages += stay;
	cost.by_hops[0] += stay;
	if (torus_cost_bears(&cost, &plan->before) && is_better(&cost, &plan->after)) {
		take_layout(plan, sites, grid, tiling, layout);
		torus_cost_free(&plan->after);
		plan->after = cost;
	} else {
		torus_cost_free(&cost);
	}
	return true;
}

/*
 * Shifts a place along the rings of a shape, by the vector from the first place to `by`; -1: it
 * would leave a mesh.
 */
static int shifted(const struct torus_shape *shape, int place, int by)
{
	int to = 0;

	for (int a = 0; a < shape->axes; a++) {
		int shift = torus_coordinate(shape, by, a);

		if (shift > 0 && !shape->axis[a].ring)
			return -1;
		to += (torus_coordinate(shape, place, a) + shift) % shape->axis[a].size * shape->stride[a];
	}
	return to;
}

/* Tries all shifts of a layout on a full torus with flaws. */
static bool try_shifts(struct torus_plan *plan, const struct torus_sites *sites, const struct torus_routes *routes,
		       const struct torus_grid *grid, const struct tilings *tilings, const struct torus_layout *layout)
{
	const struct torus_shape *shape = &sites->shape;
	struct torus_layout other = *layout;
	long work = WORK_BY_SHIFTS / TORUS_LAYOUTS;
	bool good;

	if (!routes || sites->nodes != shape->places)
		return true;
	other.place = malloc((size_t)sites->nodes * sizeof *other.place);
	good = other.place != NULL;
	for (int by = 1; good && by < shape->places && work > 0; by++) {
		if (shifted(shape, 0, by) < 0)
			continue;
		for (int c = 0; c < sites->nodes; c++)
			other.place[c] = shifted(shape, layout->place[c], by);
		good = try_layout(plan, sites, routes, grid, tilings, &other);
		work -= sites->nodes;
	}
	free(other.place);
	return good;
}

/*
 * The tiling that keeps PEs in rank order, if there is one: nodes take runs of the last dimension.
 */
static const struct torus_tiling *tiling_of_runs(const struct tilings *tilings, int pes, int *number)
{
	for (*number = 0; *number < tilings->count; ++*number) {
		const struct torus_tiling *tiling = &tilings->list[*number];

		if (tiling->tile[tiling->cells.dims - 1] == pes)
			return tiling;
	}
	return NULL;
}

/*
 * If every layout is worse than rank order in some respect, improves rank order itself step by
 * step.
 */
static bool improve_rank_order(struct torus_plan *plan, const struct torus_sites *sites,
			       const struct torus_routes *routes, int pes, const struct torus_grid *grid,
			       const struct tilings *tilings)
{
	struct torus_layout layout = {.how = "by careful swaps"};
	const struct torus_tiling *tiling = tiling_of_runs(tilings, pes, &layout.tiling);
	struct torus_cost limit;
	bool good = true;

	if (!tiling || plan->after.longest <= 1 || plan->after.hops < plan->before.hops)
		return true;
	layout.place = malloc((size_t)sites->nodes * sizeof *layout.place);
	if (!layout.place || !torus_cost_find(&limit, &sites->shape, &tiling->cells, sites->place, tiling->weight)) {
		free(layout.place);
		return false;
	}
	memcpy(layout.place, sites->place, (size_t)sites->nodes * sizeof *layout.place);
	if (torus_layout_improve_within(layout.place, &sites->shape, tiling, &limit, WORK_WITHIN))
		good = try_layout(plan, sites, routes, grid, tilings, &layout);
	torus_cost_free(&limit);
	free(layout.place);
	return good;
}

static bool make_plan(struct torus_plan *plan, const struct torus_sites *sites, int pes, const struct torus_grid *grid)
{
	struct torus_choice choice = {0};
	struct tilings *tilings = calloc(1, sizeof *tilings);
	struct torus_tiling tiling;
	struct torus_routes found;
	bool good;
	const struct torus_routes *routes = torus_routes_round(&found, sites, &good);

	good = good && tilings && rank_order(plan, sites, routes, pes, grid);
	if (good) {
		find_tilings(tilings, &tiling, grid, 0, pes, pes);
		good = find_layouts(&choice, sites, tilings, plan->before.longest);
	}
	for (int c = 0; c < choice.count; c++) {
		good = good && try_layout(plan, sites, routes, grid, tilings, &choice.layouts[c]) &&
		       try_shifts(plan, sites, routes, grid, tilings, &choice.layouts[c]);
		free(choice.layouts[c].place);
	}
	good = good && improve_rank_order(plan, sites, routes, pes, grid, tilings);
	torus_routes_free(&found);
	free(tilings);
	return good;
}

bool torus_place(struct torus_plan *plan, const struct torus_sites *sites, int pes, const struct torus_grid *grid,
		 char problem[TORUS_PROBLEM])
{
	memset(plan, 0, sizeof *plan);
	if ((long)sites->nodes * pes != grid->cells)
		return torus_refuse(
			problem,
			"a grid of %d PEs does not fit %d nodes with %d PEs each; the product must be the same",
			grid->cells, sites->nodes, pes);
	plan->node = malloc((size_t)grid->cells * sizeof *plan->node);
	plan->slot = malloc((size_t)grid->cells * sizeof *plan->slot);
	if (plan->node && plan->slot && make_plan(plan, sites, pes, grid))
		return true;
	torus_plan_free(plan);
	return torus_refuse(problem, "no memory to place %d PEs", grid->cells);
}

void torus_plan_free(struct torus_plan *plan)
{
	free(plan->node);
	free(plan->slot);
	torus_cost_free(&plan->before);
	torus_cost_free(&plan->after);
	memset(plan, 0, sizeof *plan);
}
