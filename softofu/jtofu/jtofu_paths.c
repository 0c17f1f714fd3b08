/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "softofu/jtofu/jobs.h"

/*
 * Paths to a node. A packet first goes to some a, b, c within its unit, then along x, y and z, then
 * to the a, b, c of the destination. The middle a, b, c name the path. The shortest paths come
 * first, the default path before all.
 */
struct from {
	struct node_grid grid;
	uint8_t at[GRID_AXES];
};

static int locate_target(struct from *from, const union jtofu_phys_coords *to)
{
	const struct rank_map *map;
	uint32_t rank;
	int code = JTOFU_SUCCESS;

	if (!to)
		return JTOFU_ERR_INVALID_POINTER;
	jobs_lock();
	map = jobs_own(&rank);
	if (map) {
		rank_map_grid(map, &from->grid);
		memcpy(from->at, map->rank[rank].physical, sizeof from->at);
	} else {
		code = JTOFU_ERR_NOT_INITIALIZED;
	}
	jobs_unlock();
	if (!code && node_grid_node(&from->grid, to->a) < 0)
		code = JTOFU_ERR_INVALID_ARG;
	return code;
}

static size_t list_paths(const struct from *from, const union jtofu_phys_coords *to, int hops, size_t found,
			 size_t max_paths, union jtofu_path_coords paths[])
{
	const int *size = from->grid.size;
	uint8_t via[3];

	for (via[0] = 0; via[0] < size[3]; via[0]++)
		for (via[1] = 0; via[1] < size[4]; via[1]++)
			for (via[2] = 0; via[2] < size[5]; via[2]++) {
				bool usual = !memcmp(via, to->a + 3, sizeof via);

				/* The default path is already first. */
				if (found == max_paths || usual ||
				    node_grid_hops(&from->grid, from->at, to->a, via) != hops)
					continue;
				memcpy(paths[found++].a, via, sizeof via);
			}
	return found;
}

static int paths_to(const union jtofu_phys_coords *to, size_t max_paths, union jtofu_path_coords paths[],
		    size_t *num_paths)
{
	struct from from;
	int code = locate_target(&from, to), least, most;
	size_t found = 0;

	if (!num_paths || (max_paths && !paths))
		return JTOFU_ERR_INVALID_POINTER;
	if (code)
		return code;
	least = node_grid_hops(&from.grid, from.at, to->a, to->a + 3);
	most = least + from.grid.size[3] + from.grid.size[4] + from.grid.size[5];
	if (max_paths)
		memcpy(paths[found++].a, to->a + 3, sizeof paths[0].a);
	for (int hops = least; hops <= 2 * most; hops++)
		found = list_paths(&from, to, hops, found, max_paths, paths);
	*num_paths = found;
	return JTOFU_SUCCESS;
}

int jtofu_query_onesided_paths(union jtofu_phys_coords *phys_coords, size_t max_paths,
			       union jtofu_path_coords path_coords[], size_t *num_paths)
{
	return paths_to(phys_coords, max_paths, path_coords, num_paths);
}

int jtofu_query_barrier_paths(union jtofu_phys_coords *phys_coords, size_t max_paths,
			      union jtofu_path_coords path_coords[], size_t *num_paths)
{
	return paths_to(phys_coords, max_paths, path_coords, num_paths);
}

static int hops_to(const union jtofu_phys_coords *to, size_t *num_hops)
{
	struct from from;
	int code = locate_target(&from, to);

	if (!num_hops)
		return JTOFU_ERR_INVALID_POINTER;
	if (!code)
		*num_hops = (size_t)node_grid_hops(&from.grid, from.at, to->a, to->a + 3);
	return code;
}

int jtofu_query_onesided_hops(union jtofu_phys_coords *phys_coords, size_t *num_hops)
{
	return hops_to(phys_coords, num_hops);
}

int jtofu_query_barrier_hops(union jtofu_phys_coords *phys_coords, size_t *num_hops)
{
	return hops_to(phys_coords, num_hops);
}
