/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TREES_H
#define TORUS_TREES_H

#include "shape.h"

/*
 * Trees over a torus from any root, no two of which send over the same link in the same direction. A large
 * message is cut in as many parts as there are trees, and each part takes its own tree.
 *
 * Each node finds its own parents and children by arithmetic. An axis is displaced at a node if the coordinate differs from
 * the root's. In tree t a node that is displaced along the t-th axis (of those longer than 1) takes from its neighbour along
 * the next displaced axis behind the t-th, round to the t-th itself; one that is not, a ghost of this tree, takes from
 * its neighbour along the t-th axis, sideways and last. So a node takes every tree from another axis.
 *
 * both      the neighbour nearer to the root, in either direction: works on any shape, as many trees as axes, least deep
 * up        always the neighbour below, so that links go upwards only: needs rings, or pairs
 * twice     up, and the same downwards: two trees for each axis; needs rings, pairs only with two cables
 * disjoint  found by search: disjoint_trees.h, not this file
 */
enum torus_trees { TORUS_TREES_BOTH, TORUS_TREES_UP, TORUS_TREES_TWICE, TORUS_TREES_DISJOINT };

struct torus_tree {
	const struct torus_shape *shape;
	enum torus_trees kind;
	int root;   /* place */
	int number; /* among the trees of the kind, from 0 */
};

/* How many trees of the kind the shape has; 0: none, the shape does not allow it. */
int torus_tree_count(const struct torus_shape *shape, enum torus_trees kind);

/* The parent of a place, and the direction in which the parent sends to it; -1 for the root. */
int torus_tree_parent(const struct torus_tree *tree, int place, int *direction);

/* The children of a place and the directions to them; returns how many. */
int torus_tree_children(const struct torus_tree *tree, int place, int children[TORUS_DIRECTIONS],
			int directions[TORUS_DIRECTIONS]);

/* Steps from the root to the place, and to the deepest place. */
int torus_tree_level(const struct torus_tree *tree, int place);
int torus_tree_depth(const struct torus_tree *tree);

#endif
