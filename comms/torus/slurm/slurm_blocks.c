/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "slurm.h"
#include "slurm_parts.h"
#include "slurm_yaml.h"

struct blocks {
	char *const *host;
	size_t hosts;
	int *block; /* by host, -1: none */
	int count;
};

static void add_block(struct blocks *blocks, const char *nodes)
{
	bool used = false;

	for (size_t h = 0; h < blocks->hosts; h++)
		if (blocks->block[h] < 0 && slurm_list_position(nodes, blocks->host[h]) >= 0) {
			blocks->block[h] = blocks->count;
			used = true;
		}
	blocks->count += used;
}

/* "BlockName=b1 Nodes=node[01-18]" */
static void read_conf(struct blocks *blocks, const char *text)
{
	for (const char *line = text; line; line = slurm_next_line(line)) {
		char *nodes = slurm_nodes_of(line, "BlockName");

		if (nodes)
			add_block(blocks, nodes);
		free(nodes);
	}
}

static void read_yaml(struct blocks *blocks, const char *text)
{
	struct yaml yaml;
	const char *nodes;

	if (!yaml_read(&yaml, text))
		return;
	for (const struct yaml_node *item = yaml_items(yaml_topology(&yaml), "block", "blocks"); item;
	     item = item->next)
		if ((nodes = yaml_text(item, "nodes")))
			add_block(blocks, nodes);
	yaml_free(&yaml);
}

/* Place of each host: those of a block behind one another. False: blocks have different numbers of hosts. */
static bool place_in_blocks(const struct blocks *blocks, int *place)
{
	int size = blocks->count > 1 ? (int)blocks->hosts / blocks->count : 0, *used;
	bool good = size > 1 && size * blocks->count == (int)blocks->hosts;

	used = good ? calloc((size_t)blocks->count, sizeof *used) : NULL;
	for (size_t h = 0; used && good && h < blocks->hosts; h++) {
		int block = blocks->block[h];

		good = block >= 0 && used[block] < size;
		if (good)
			place[h] = block * size + used[block]++;
	}
	good = good && used;
	free(used);
	return good;
}

/* The nodes of a block are as near a square as their number allows. */
static bool make_block_shape(struct torus_shape *shape, int count, int size)
{
	struct torus_shape inside;

	torus_shape_guess(&inside, size, 2);
	*shape = (struct torus_shape){.axes = inside.axes + 1, .axis = {{count, count > 2}}};
	memcpy(&shape->axis[1], inside.axis, (size_t)inside.axes * sizeof inside.axis[0]);
	return torus_shape_complete(shape);
}

char *slurm_blocks(const char *topology, bool yaml, char *const *host, size_t hosts)
{
	int *numbers = calloc(2 * hosts + 1, sizeof *numbers), *place;
	struct blocks blocks = {host, hosts, numbers, 0};
	struct torus_shape shape;
	char *line = NULL;

	if (!numbers)
		return NULL;
	place = numbers + hosts;
	for (size_t h = 0; h < hosts; h++)
		blocks.block[h] = -1;
	if (yaml)
		read_yaml(&blocks, topology);
	else
		read_conf(&blocks, topology);
	if (place_in_blocks(&blocks, place) && make_block_shape(&shape, blocks.count, (int)hosts / blocks.count))
		line = slurm_shape_line(&shape, host, place, hosts);
	free(numbers);
	return line;
}
