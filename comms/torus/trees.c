/* SPDX-License-Identifier: BSD-3-Clause */
#include "trees.h"

/* The axes longer than 1, in order; returns their number. */
static int active_axes(const struct torus_shape *shape, int *axes)
{
	int count = 0;

	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1)
			axes[count++] = a;
	return count;
}

int torus_tree_count(const struct torus_shape *shape, enum torus_trees kind)
{
	int axes[TORUS_AXES], count = active_axes(shape, axes);

	for (int i = 0; i < count; i++) {
		const struct torus_axis *axis = &shape->axis[axes[i]];
		bool pair = axis->size == 2 && !axis->ring;

		if (kind != TORUS_TREES_BOTH && !axis->ring && !pair)
			return 0;
		if (kind == TORUS_TREES_TWICE && pair)
			return 0;
	}
	return kind == TORUS_TREES_TWICE ? 2 * count : count;
}

/*
 * The axis along which a place receives in this tree; sets whether the place is displaced along the
 * tree's own axis.
 */
static int choose_axis(const struct torus_tree *tree, int place, bool *displaced)
{
	const struct torus_shape *shape = tree->shape;
	int axes[TORUS_AXES], count = active_axes(shape, axes), own = axes[tree->number % count];

	*displaced = torus_coordinate(shape, place, own) != torus_coordinate(shape, tree->root, own);
	if (!*displaced)
		return own;
	for (int i = 1; i < count; i++) {
		int a = axes[(tree->number + i) % count];

		if (torus_coordinate(shape, place, a) != torus_coordinate(shape, tree->root, a))
			return a;
	}
	return own;
}

int torus_tree_parent(const struct torus_tree *tree, int place, int *direction)
{
	const struct torus_shape *shape = tree->shape;
	int axes[TORUS_AXES], count = active_axes(shape, axes), axis, from;
	bool displaced;

	if (place == tree->root)
		return -1;
	axis = choose_axis(tree, place, &displaced);
	if (tree->kind == TORUS_TREES_BOTH) {
		int steps = torus_steps(&shape->axis[axis], torus_coordinate(shape, tree->root, axis),
					torus_coordinate(shape, place, axis));

		/*
		 * A place that is not displaced receives from above, but at the upper end of a mesh
		 * from below.
		 */
		if (displaced)
			*direction = 2 * axis + (steps < 0);
		else
			*direction = 2 * axis + (torus_neighbour(shape, place, 2 * axis) >= 0);
	} else {
		*direction = 2 * axis + (tree->kind == TORUS_TREES_TWICE && tree->number >= count);
		/* The one cable of a pair is used in both directions. */
		if (torus_neighbour(shape, place, *direction ^ 1) < 0)
			*direction ^= 1;
	}
	from = torus_neighbour(shape, place, *direction ^ 1);
	return from;
}

int torus_tree_children(const struct torus_tree *tree, int place, int children[TORUS_DIRECTIONS],
			int directions[TORUS_DIRECTIONS])
{
	const struct torus_shape *shape = tree->shape;
	int count = 0;

	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, place, direction) : -1, by = 0;

		if (next >= 0 && torus_tree_parent(tree, next, &by) == place && by == direction) {
			children[count] = next;
			directions[count++] = direction;
		}
	}
	return count;
}

/*
 * The largest distance along an axis from the root's coordinate to any other: half of a ring; on a
 * mesh, to the end that is further away.
 */
static int farthest_on_axis(const struct torus_shape *shape, int root, int axis)
{
	int size = shape->axis[axis].size, at = torus_coordinate(shape, root, axis);

	if (shape->axis[axis].ring)
		return size / 2;
	return at > size - 1 - at ? at : size - 1 - at;
}

int torus_tree_depth(const struct torus_tree *tree)
{
	const struct torus_shape *shape = tree->shape;
	int axes[TORUS_AXES], count = active_axes(shape, axes), sum = 0;

	for (int i = 0; i < count; i++)
		sum += tree->kind == TORUS_TREES_BOTH ? farthest_on_axis(shape, tree->root, axes[i])
						      : shape->axis[axes[i]].size - 1;
	if (count < 2)
		return sum;
	if (tree->kind == TORUS_TREES_BOTH) {
		int ghosts = sum - farthest_on_axis(shape, tree->root, axes[tree->number]) + 2;

		return sum > ghosts ? sum : ghosts;
	}
	return sum + 1;
}
