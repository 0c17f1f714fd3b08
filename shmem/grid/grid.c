/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids: teams whose PEs have coordinates. Every PE computes the placement itself from common data;
 * the members only need to agree on the team's slot.
 *
 * member  a PE of the parent
 * cell    a PE of the grid
 */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include "shmem/collectives.h"
#include "comms/nodes/job_torus.h"
#include "comms/torus/place.h"
#include "comms/torus/routes.h"

const struct grid *api_grid_of(shmem_team_t handle, const char *routine)
{
	const struct shmemx_team *team = api_team_or_die(handle, routine);

	if (!team->grid && !rte_is_broken())
		rte_misuse(routine, "the team is no grid; shmemx_grid_create makes them");
	return team->grid;
}

/* --- The sizes --- */

static bool check_sizes(int dims, const int *sizes, const char *routine)
{
	if (dims < 1 || dims > TORUS_AXES)
		rte_misuse_together(routine, "dims=%d: a grid has 1 to %d dimensions", dims, TORUS_AXES);
	for (int i = 0; i < dims && !rte_is_broken(); i++)
		if (sizes[i] < 0)
			rte_misuse_together(routine, "sizes[%d]=%d: give a size from 1, or 0 to have one chosen", i,
					    sizes[i]);
	return !rte_is_broken();
}

static long product_of_sizes(int dims, const int *sizes)
{
	long cells = 1;

	for (int i = 0; i < dims && cells <= TORUS_PLACES; i++)
		cells *= sizes[i] ? sizes[i] : 1;
	return cells;
}

/* Fills in sizes that are 0, as near a cube as the factors of the rest allow. */
static bool choose_sizes(struct torus_grid *grid, const int *sizes, int pes, const char *routine)
{
	long given = product_of_sizes(grid->dims, sizes);
	struct torus_shape rest;
	int open = 0, next = 0;

	for (int i = 0; i < grid->dims; i++)
		open += sizes[i] == 0;
	if (open ? pes % given != 0 : given != pes) {
		rte_misuse_together(routine, "sizes have a product of %ld, and the team has %d PEs; %s", given, pes,
				    open ? "it must divide them" : "both must be the same");
		return false;
	}
	torus_shape_guess(&rest, pes / (int)given, open ? open : 1);
	for (int i = 0; i < grid->dims; i++) {
		grid->size[i] = sizes[i];
		if (sizes[i] == 0) {
			grid->size[i] = next < rest.axes ? rest.axis[next].size : 1;
			next++;
		}
	}
	torus_grid_complete(grid);
	return true;
}

/* What the program passes. */
struct cells {
	int dims;
	const int *sizes, *wraps;
};

/* False: misuse of a job whose errors return. */
static bool make_cells(struct torus_grid *grid, struct cells cells, int pes, const char *routine)
{
	if (!check_sizes(cells.dims, cells.sizes, routine))
		return false;
	grid->dims = cells.dims;
	for (int i = 0; i < cells.dims; i++)
		grid->wraps[i] = !cells.wraps || cells.wraps[i];
	return choose_sizes(grid, cells.sizes, pes, routine);
}

/* --- The placement --- */

/* The nodes of a team: numbered by their first members, and the members of each in order. */
struct spots {
	int nodes;
	int each;	  /* members per node, 0: they differ */
	int *node, *slot; /* of each member */
	int *member;	  /* at each slot, node after node, if all nodes have equally many */
	int *place;	  /* of each node, in the job's box */
};

static void *grid_allocate(int count, const char *routine)
{
	void *memory = malloc((size_t)count * sizeof(int));

	if (!memory)
		rte_die(routine, "no memory for a grid of %d PEs", count);
	return memory;
}

static void free_spots(struct spots *spots)
{
	free(spots->node);
	free(spots->slot);
	free(spots->member);
	free(spots->place);
}

static void find_spots(struct spots *spots, const struct comms_group *team, const struct torus_job *job,
		       const char *routine)
{
	int *number = grid_allocate(job->sites.nodes, routine), *count = grid_allocate(job->sites.nodes, routine);

	memset(number, 0xff, (size_t)job->sites.nodes * sizeof *number);
	*spots = (struct spots){.node = grid_allocate(team->size, routine),
				.slot = grid_allocate(team->size, routine),
				.member = grid_allocate(team->size, routine),
				.place = grid_allocate(job->sites.nodes, routine)};
	for (int i = 0; i < team->size; i++) {
		int pe = comms_group_pe(team, i), node = torus_job_node(job, pe);

		if (number[node] < 0) {
			number[node] = spots->nodes++;
			spots->place[number[node]] = torus_job_place(job, pe);
			count[number[node]] = 0;
		}
		spots->node[i] = number[node];
		spots->slot[i] = count[number[node]]++;
	}
	spots->each = team->size % spots->nodes ? 0 : team->size / spots->nodes;
	for (int n = 0; n < spots->nodes; n++)
		spots->each = count[n] == spots->each ? spots->each : 0;
	for (int i = 0; spots->each && i < team->size; i++)
		spots->member[spots->node[i] * spots->each + spots->slot[i]] = i;
	free(number);
	free(count);
}

static shmemx_grid_cost_t summarise_cost(const struct torus_cost *cost)
{
	return (shmemx_grid_cost_t){cost->messages ? (double)cost->hops / (double)cost->messages : 0, cost->longest,
				    cost->worst};
}

/* The cost of the members in a given order. */
static shmemx_grid_cost_t placement_cost(const struct torus_grid *cells, const struct spots *spots,
					 const struct torus_sites *sites, const int *member, const char *routine)
{
	int *place = grid_allocate(cells->cells, routine);
	struct torus_routes found;
	bool good;
	const struct torus_routes *routes = torus_routes_round(&found, sites, &good);
	struct torus_cost cost;
	shmemx_grid_cost_t sum;

	for (int i = 0; i < cells->cells; i++)
		place[i] = sites->place[spots->node[member[i]]];
	if (!good || !torus_cost_round(&cost, sites, routes, cells, place, NULL))
		rte_die(routine, "no memory to count hops of %d PEs", cells->cells);
	sum = summarise_cost(&cost);
	torus_cost_free(&cost);
	torus_routes_free(&found);
	free(place);
	return sum;
}

static bool is_no_worse(const shmemx_grid_cost_t *cost, const shmemx_grid_cost_t *other)
{
	return cost->mean_hops <= other->mean_hops && cost->longest <= other->longest &&
	       cost->worst_link <= other->worst_link;
}

/*
 * The plan compares itself with members in node order; in another order it might be the worse one,
 * so this compares costs again.
 */
static void take_placement(struct grid *grid, const struct spots *spots, const struct torus_sites *sites, int *member,
			   const char *routine)
{
	int *placed = grid_allocate(grid->cells.cells, routine);
	char problem[TORUS_PROBLEM];
	struct torus_plan plan;
	shmemx_grid_cost_t cost;

	if (!torus_place(&plan, sites, spots->each, &grid->cells, problem))
		rte_die(routine, "%s", problem);
	for (int i = 0; i < grid->cells.cells; i++)
		placed[i] = spots->member[plan.node[i] * spots->each + plan.slot[i]];
	cost = placement_cost(&grid->cells, spots, sites, placed, routine);
	if (is_no_worse(&cost, &grid->report.before)) {
		memcpy(member, placed, (size_t)grid->cells.cells * sizeof *member);
		grid->report.after = cost;
		grid->report.how = plan.how;
	}
	torus_plan_free(&plan);
	free(placed);
}

/* The member of each cell. */
static void place_members(struct grid *grid, int *member, const struct comms_group *team, bool reorder,
			  const char *routine)
{
	const struct torus_job *job = comms_ensure_torus();
	struct torus_sites sites;
	struct torus_box box;
	struct spots spots;

	for (int i = 0; i < team->size; i++)
		member[i] = i;
	grid->report = (shmemx_grid_report_t){.how = "rank order", .logical = torus_job_logical(job)};
	find_spots(&spots, team, job, routine);
	if (spots.nodes > 1) {
		if (!torus_sites_some(&sites, &box, &job->sites.shape, spots.place, spots.nodes) ||
		    !torus_sites_inherit(&sites, &box, &job->sites))
			rte_die(routine, "no memory for a grid of %d PEs", team->size);
		grid->report.before = placement_cost(&grid->cells, &spots, &sites, member, routine);
		grid->report.after = grid->report.before;
		if (reorder && spots.each)
			take_placement(grid, &spots, &sites, member, routine);
		torus_sites_free(&sites);
	}
	free_spots(&spots);
}

API int shmemx_grid_create(shmem_team_t parent, int dims, const int *sizes, const int *wraps, int reorder,
			   shmem_team_t *grid)
{
	struct set set = set_of_team(parent, __func__);
	const struct comms_group *group = set.group;
	int *pes = grid_allocate(group->size, __func__), me = 0;
	struct grid *new = calloc(1, sizeof *new);
	struct shmemx_team *team;

	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	if (!new)
		rte_die(__func__, "no memory");
	*grid = SHMEM_TEAM_INVALID;
	if (!make_cells(&new->cells, (struct cells){dims, sizes, wraps}, group->size, __func__)) {
		free(new);
		free(pes);
		return 1;
	}
	set_check_agreement(&set, "dims", dims, "reorder", reorder, NULL);
	set_check_agreement(&set, "sizes[0]", new->cells.size[0], "sizes[dims-1]", new->cells.size[dims - 1], NULL);
	place_members(new, pes, group, reorder, __func__);
	for (int i = 0; i < group->size; i++) {
		me = pes[i] == group->me ? i : me;
		pes[i] = comms_group_pe(group, pes[i]);
	}
	team = api_team_of_list(&set, pes, me);
	if (!team) {
		free(new);
		free(pes);
		return 1;
	}
	team->grid = new;
	*grid = team;
	return 0;
}

/* --- Queries --- */

static int stride_of(const struct torus_grid *cells, int dim)
{
	int stride = 1;

	for (int i = cells->dims - 1; i > dim; i--)
		stride *= cells->size[i];
	return stride;
}

int api_grid_neighbour(const struct grid *grid, int pe, int dim, int steps)
{
	const struct torus_grid *cells = &grid->cells;
	int stride = stride_of(cells, dim), size = cells->size[dim], at = pe / stride % size;
	long to = (long)at + steps;

	if (cells->wraps[dim])
		to = (to % size + size) % size;
	return to < 0 || to >= size ? -1 : pe + ((int)to - at) * stride;
}

/* NULL: misuse of a job whose errors return. */
static const struct grid *check_dim(shmem_team_t team, int dim, const char *routine)
{
	const struct grid *grid = api_grid_of(team, routine);

	if (!grid || (dim >= 0 && dim < grid->cells.dims))
		return grid;
	rte_misuse(routine, "dim=%d: the grid has dimensions 0 to %d", dim, grid->cells.dims - 1);
	return NULL;
}

API int shmemx_grid_sizes(shmem_team_t team, int *sizes, int *wraps)
{
	const struct grid *grid = api_grid_of(team, __func__);

	for (int i = 0; grid && i < grid->cells.dims; i++) {
		if (sizes)
			sizes[i] = grid->cells.size[i];
		if (wraps)
			wraps[i] = grid->cells.wraps[i];
	}
	return grid ? grid->cells.dims : 0;
}

API void shmemx_grid_coordinates(shmem_team_t team, int pe, int *coordinates)
{
	const struct grid *grid = api_grid_of(team, __func__);

	if (!grid)
		return;
	if (pe < 0 || pe >= grid->cells.cells)
		rte_misuse(__func__, "pe=%d: the grid has PEs 0 to %d", pe, grid->cells.cells - 1);
	for (int i = 0; i < grid->cells.dims && pe >= 0 && pe < grid->cells.cells; i++)
		coordinates[i] = pe / stride_of(&grid->cells, i) % grid->cells.size[i];
}

API int shmemx_grid_pe(shmem_team_t team, const int *coordinates)
{
	const struct grid *grid = api_grid_of(team, __func__);
	int pe = grid ? 0 : -1;

	for (int i = 0; grid && i < grid->cells.dims && pe >= 0; i++)
		pe = api_grid_neighbour(grid, pe, i, coordinates[i]);
	return pe;
}

API int shmemx_grid_neighbour(shmem_team_t team, int dim, int steps)
{
	const struct grid *grid = check_dim(team, dim, __func__);

	return grid ? api_grid_neighbour(grid, team->group.me, dim, steps) : -1;
}

API void shmemx_grid_shift(shmem_team_t team, int dim, int steps, int *source, int *dest)
{
	const struct grid *grid = check_dim(team, dim, __func__);

	*source = grid ? api_grid_neighbour(grid, team->group.me, dim, -steps) : -1;
	*dest = grid ? api_grid_neighbour(grid, team->group.me, dim, steps) : -1;
}

API void shmemx_grid_report(shmem_team_t team, shmemx_grid_report_t *report)
{
	const struct grid *grid = api_grid_of(team, __func__);

	*report = grid ? grid->report : (shmemx_grid_report_t){.how = "none"};
}
