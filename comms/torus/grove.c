/* SPDX-License-Identifier: BSD-3-Clause */
#include "packing.h"

int torus_grove_count(const struct torus_grove *grove)
{
	if (grove->kind == TORUS_TREES_PACKED)
		return grove->packing ? grove->packing->trees : 0;
	return torus_tree_count(grove->shape, grove->kind);
}

static int packed_way(const struct torus_grove *grove, int tree, int place)
{
	return grove->packing->way[tree * grove->shape->places + place];
}

int torus_grove_parent(const struct torus_grove *grove, int tree, int place, int *way)
{
	if (grove->kind != TORUS_TREES_PACKED)
		return torus_tree_parent(grove->shape, grove->kind, grove->root, tree, place, way);
	if (packed_way(grove, tree, place) < 0)
		return -1;
	*way = packed_way(grove, tree, place);
	return torus_neighbour(grove->shape, place, *way ^ 1);
}

int torus_grove_children(const struct torus_grove *grove, int tree, int place, int children[TORUS_WAYS], int ways[TORUS_WAYS])
{
	int count = 0;

	if (grove->kind != TORUS_TREES_PACKED)
		return torus_tree_children(grove->shape, grove->kind, grove->root, tree, place, children, ways);
	for (int way = 0; way < 2 * grove->shape->axes; way++) {
		int next = grove->shape->axis[way / 2].size > 1 ? torus_neighbour(grove->shape, place, way) : -1;

		if (next < 0 || packed_way(grove, tree, next) != way)
			continue;
		children[count] = next;
		ways[count++] = way;
	}
	return count;
}

int torus_grove_level(const struct torus_grove *grove, int tree, int place)
{
	int level = 0, way;

	for (; place >= 0 && place != grove->root && level <= grove->shape->places; level++)
		place = torus_grove_parent(grove, tree, place, &way);
	return level;
}

int torus_grove_depth(const struct torus_grove *grove)
{
	int deepest = 0;

	if (grove->kind == TORUS_TREES_PACKED)
		return grove->packing ? grove->packing->depth : 0;
	for (int t = 0; t < torus_grove_count(grove); t++) {
		int depth = torus_tree_depth(grove->shape, grove->kind, grove->root, t);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}
