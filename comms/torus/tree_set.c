/* SPDX-License-Identifier: BSD-3-Clause */
#include "disjoint_trees.h"

int torus_tree_set_count(const struct torus_tree_set *tree_set)
{
	if (tree_set->kind == TORUS_TREES_DISJOINT)
		return tree_set->disjoint ? tree_set->disjoint->trees : 0;
	return torus_tree_count(tree_set->shape, tree_set->kind);
}

static struct torus_tree tree_of(const struct torus_tree_set *tree_set, int tree)
{
	return (struct torus_tree){tree_set->shape, tree_set->kind, tree_set->root, tree};
}

static int packed_direction(const struct torus_tree_set *tree_set, int tree, int place)
{
	return tree_set->disjoint->direction[tree * tree_set->shape->places + place];
}

int torus_tree_set_parent(const struct torus_tree_set *tree_set, int tree, int place, int *direction)
{
	const struct torus_tree arithmetic = tree_of(tree_set, tree);

	if (tree_set->kind != TORUS_TREES_DISJOINT)
		return torus_tree_parent(&arithmetic, place, direction);
	if (packed_direction(tree_set, tree, place) < 0)
		return -1;
	*direction = packed_direction(tree_set, tree, place);
	return torus_neighbour(tree_set->shape, place, *direction ^ 1);
}

int torus_tree_set_children(const struct torus_tree_set *tree_set, int tree, int place, int children[TORUS_DIRECTIONS],
			    int directions[TORUS_DIRECTIONS])
{
	const struct torus_tree arithmetic = tree_of(tree_set, tree);
	int count = 0;

	if (tree_set->kind != TORUS_TREES_DISJOINT)
		return torus_tree_children(&arithmetic, place, children, directions);
	for (int direction = 0; direction < 2 * tree_set->shape->axes; direction++) {
		int next = tree_set->shape->axis[direction / 2].size > 1
				   ? torus_neighbour(tree_set->shape, place, direction)
				   : -1;

		if (next < 0 || packed_direction(tree_set, tree, next) != direction)
			continue;
		children[count] = next;
		directions[count++] = direction;
	}
	return count;
}

int torus_tree_set_level(const struct torus_tree_set *tree_set, int tree, int place)
{
	int level = 0, direction;

	for (; place >= 0 && place != tree_set->root && level <= tree_set->shape->places; level++)
		place = torus_tree_set_parent(tree_set, tree, place, &direction);
	return level;
}

int torus_tree_set_depth(const struct torus_tree_set *tree_set)
{
	int deepest = 0;

	if (tree_set->kind == TORUS_TREES_DISJOINT)
		return tree_set->disjoint ? tree_set->disjoint->depth : 0;
	for (int t = 0; t < torus_tree_set_count(tree_set); t++) {
		const struct torus_tree tree = tree_of(tree_set, t);
		int depth = torus_tree_depth(&tree);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}
