/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "slurm.h"
#include "slurm_parts.h"
#include "slurm_yaml.h"

enum { DIMENSIONS = 3, LONGEST_AXIS = 65535 };

/* Part of a torus that a list of nodes fills, the first axis fastest. A ring has one axis. */
struct region {
	int anchor[DIMENSIONS], size[DIMENSIONS];
};

struct job {
	char *const *host;
	size_t hosts;
	int *place;		  /* by host, -1: not found so far */
	size_t found;		  /* hosts that have a place */
	struct torus_shape shape; /* of the torus that has them */
};

static bool read_number(const char *text, int least, int *number)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (digits == 0 || digits > 5 || text[digits])
		return false;
	*number = atoi(text);
	return *number >= least && *number <= LONGEST_AXIS;
}

/* "{x: 4, y: 4, z: 2}" */
static bool read_numbers(const struct yaml_node *map, int least, int numbers[DIMENSIONS])
{
	static const char *const names[DIMENSIONS] = {"x", "y", "z"};

	for (int a = 0; a < DIMENSIONS; a++)
		if (!read_number(yaml_text(map, names[a]), least, &numbers[a]))
			return false;
	return true;
}

static bool make_shape(struct torus_shape *shape, int axes, const int *size)
{
	*shape = (struct torus_shape){.axes = axes};
	for (int a = 0; a < axes; a++)
		shape->axis[a] = (struct torus_axis){size[a], size[a] > 2};
	return torus_shape_complete(shape);
}

/* Gives the job's hosts that are in the list their places. False: the list does not fill the region, or the torus has no such region. */
static bool fill_region(struct job *job, const struct torus_shape *shape, const struct region *region,
			const char *nodes)
{
	long count = 1;

	for (int a = 0; a < shape->axes; a++) {
		if (region->anchor[a] + region->size[a] > shape->axis[a].size)
			return false;
		count *= region->size[a];
	}
	if (!nodes || slurm_list_count(nodes) != count)
		return false;
	for (size_t h = 0; h < job->hosts; h++) {
		long position = slurm_list_position(nodes, job->host[h]);
		int at[TORUS_AXES];

		if (position < 0)
			continue;
		for (int a = 0; a < shape->axes; a++) {
			at[a] = region->anchor[a] + (int)(position % region->size[a]);
			position /= region->size[a];
		}
		job->place[h] = torus_place_at(shape, at);
		job->found++;
	}
	return true;
}

static bool read_region(struct region *region, const struct yaml_node *item)
{
	return read_numbers(yaml_member(item, "anchor"), 0, region->anchor) &&
	       read_numbers(yaml_member(item, "dims"), 1, region->size);
}

static bool regions_overlap(const struct region *region, const struct region *other)
{
	for (int a = 0; a < DIMENSIONS; a++)
		if (region->anchor[a] + region->size[a] <= other->anchor[a] ||
		    other->anchor[a] + other->size[a] <= region->anchor[a])
			return false;
	return true;
}

static bool fill_regions(struct job *job, const struct torus_shape *shape, const struct yaml_node *regions)
{
	for (const struct yaml_node *item = regions; item; item = item->next) {
		struct region region, earlier;

		if (!read_region(&region, item) || !fill_region(job, shape, &region, yaml_text(item, "nodes")))
			return false;
		for (const struct yaml_node *before = regions; before != item; before = before->next)
			if (!read_region(&earlier, before) || regions_overlap(&region, &earlier))
				return false;
	}
	return true;
}

/* Which sizes jobs may have, "placements", says nothing about where nodes are. */
static bool read_torus(struct job *job, const struct yaml_node *torus, struct torus_shape *shape)
{
	const struct yaml_node *list = yaml_member(torus, "regions"), *regions = list ? list->child : NULL;
	const char *nodes = yaml_text(torus, "nodes");
	struct region all = {{0}, {0}};

	if (!read_numbers(yaml_member(torus, "dims"), 1, all.size) || !make_shape(shape, DIMENSIONS, all.size) ||
	    (nodes && regions))
		return false;
	return regions ? fill_regions(job, shape, regions) : fill_region(job, shape, &all, nodes);
}

static bool read_ring(struct job *job, const char *nodes, struct torus_shape *shape)
{
	long count = nodes ? slurm_list_count(nodes) : 0;
	struct region all = {{0}, {(int)count}};

	return count > 0 && make_shape(shape, 1, all.size) && fill_region(job, shape, &all, nodes);
}

/* After a torus was read. False: it was malformed, or both it and an earlier one have hosts of the job. */
static bool note_torus(struct job *job, bool good, size_t found_before, const struct torus_shape *shape)
{
	if (!good || (found_before > 0 && job->found > found_before))
		return false;
	if (job->found > found_before)
		job->shape = *shape;
	return true;
}

static bool read_yaml(struct job *job, const struct yaml_node *topology)
{
	const struct yaml_node *torus = yaml_items(topology, "torus3d", "toruses");
	const struct yaml_node *ring = yaml_items(topology, "ring", "rings");

	for (const struct yaml_node *item = torus ? torus : ring; item; item = item->next) {
		struct torus_shape shape;
		size_t before = job->found;
		bool good = torus ? read_torus(job, item, &shape) : read_ring(job, yaml_text(item, "nodes"), &shape);

		if (!note_torus(job, good, before, &shape))
			return false;
	}
	return true;
}

/* "RingName=r1 Nodes=node[01-16]" */
static bool read_conf(struct job *job, const char *text)
{
	for (const char *line = text; line; line = slurm_next_line(line)) {
		char *nodes = slurm_nodes_of(line, "RingName");
		struct torus_shape shape;
		size_t before = job->found;
		bool good = !nodes || note_torus(job, read_ring(job, nodes, &shape), before, &shape);

		free(nodes);
		if (!good)
			return false;
	}
	return true;
}

static bool read_topology(struct job *job, const char *topology, bool is_yaml)
{
	struct yaml yaml;
	bool good;

	if (!is_yaml)
		return read_conf(job, topology);
	good = yaml_read(&yaml, topology);
	if (good) {
		good = read_yaml(job, yaml_topology(&yaml));
		yaml_free(&yaml);
	}
	return good;
}

char *slurm_toruses(const char *topology, bool yaml, char *const *host, size_t hosts)
{
	struct job job = {.host = host, .hosts = hosts, .place = calloc(hosts + 1, sizeof *job.place)};
	char *line = NULL;

	for (size_t h = 0; job.place && h < hosts; h++)
		job.place[h] = -1;
	if (job.place && read_topology(&job, topology, yaml) && job.found == hosts && hosts > 0)
		line = slurm_box_line(&job.shape, host, job.place, hosts);
	free(job.place);
	return line;
}
