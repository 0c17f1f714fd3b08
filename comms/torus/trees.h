/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TREES_H
#define TORUS_TREES_H

#include "shape.h"

/*
 * Trees over a torus from any root, no two of which send over the same link in the same direction.
 * A large message is cut into as many parts as there are trees, and each part takes its own tree.
 *
 * Each node finds its own parents and children by a formula. An axis is displaced at a node if its
 * coordinate differs from the root's. In tree t a node that is displaced along the t-th axis (of
 * those longer than 1) receives from its neighbour along the next displaced axis after the t-th,
 * cyclically, ending with the t-th itself. A node that is not displaced along it receives from its
 * neighbour along the t-th axis, as a last, sideways step. So a node receives each tree along a
 * different axis.
 *
 * both      from the neighbour nearer to the root, in either direction: works on any shape, as many
 *           trees as axes, least depth
 * up        always from the neighbour below, so that links go upwards only: needs rings, or pairs
 * twice     up, and the same downwards: two trees for each axis; needs rings, or pairs with two
 *           cables
 * disjoint  found by search: disjoint_trees.h, not this file
 */
enum torus_trees { TORUS_TREES_BOTH, TORUS_TREES_UP, TORUS_TREES_TWICE, TORUS_TREES_DISJOINT };

struct torus_tree {
	const struct torus_shape *shape;
	enum torus_trees kind;
	int root;   /* place */
	int number; /* among the trees of the kind, from 0 */
};

/* The number of trees of the kind; 0: the shape does not allow it. */
int torus_tree_count(const struct torus_shape *shape, enum torus_trees kind);

/* The parent of a place, and the direction in which the parent sends to it; -1 for the root. */
int torus_tree_parent(const struct torus_tree *tree, int place, int *direction);

/* The children of a place and the directions to them; returns their number. */
int torus_tree_children(const struct torus_tree *tree, int place, int children[TORUS_DIRECTIONS],
			int directions[TORUS_DIRECTIONS]);

/* Steps from the root to the deepest place. */
int torus_tree_depth(const struct torus_tree *tree);

#endif
