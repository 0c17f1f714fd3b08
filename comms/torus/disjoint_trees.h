/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_DISJOINT_TREES_H
#define TORUS_DISJOINT_TREES_H

#include "sites.h"
#include "trees.h"

/*
 * Trees found by search, where no arithmetic gives them: cables or nodes are missing, or rings and meshes are mixed and have
 * more trees than axes. Like all trees they reach every node from one root, and no two of them use one link.
 *
 * By Edmonds there are as many such trees as there are paths, no two over one link, to the node that has the fewest of them. They
 * are grown one after the other, each from the root outwards, nearest nodes first. A link may be added as long as what is
 * left has enough paths for the trees to come (Lovasz); if it leads from u to v, only sets with v and without u lose one, so
 * one flow, from the root or u to v, says whether it may.
 */
enum { TORUS_DISJOINT_PLACES = 1024 }; /* on more the search takes too long */

/* A hole, or a cable that is dead or slow: trees by arithmetic would lead over it. */
bool torus_sites_flawed(const struct torus_sites *sites);

/* The links that trees may use. */
struct torus_links {
	unsigned char *usable; /* by place * TORUS_DIRECTIONS + direction of the link */
	const struct torus_sites *sites;
};

/* All links that carry at least this share of the usual rate, more than nothing. False: no memory. */
bool torus_links_of(struct torus_links *links, const struct torus_sites *sites, float least);
void torus_links_free(struct torus_links *links);

struct torus_disjoint_trees {
	int root, trees, depth;
	float share; /* of the usual rate that each of its links carries, at least */
	/* by tree * places + place: the direction from the parent to the place; -1: the tree does not reach it */
	signed char *direction;
};

/* How many trees there are from the root; 0: some node cannot be reached. Of shapes that are too large, -1. */
int torus_disjoint_trees_most(const struct torus_links *links, int root);

/* So many trees at most. False: no memory, or the shape is too large. */
bool torus_disjoint_trees_find(struct torus_disjoint_trees *disjoint, const struct torus_links *links, int root,
			       int most);

/*
 * Those that carry the most together: where some links are slow, either trees without them, or more trees, all of which go as
 * the slow ones do. False: no memory, or the shape is too large.
 */
bool torus_disjoint_trees_best(struct torus_disjoint_trees *disjoint, const struct torus_sites *sites, int root);
/* How many trees a root has at most, by arithmetic or, where that is affordable and gives more, by search. */
int torus_trees_left(const struct torus_sites *sites, int root);
void torus_disjoint_trees_free(struct torus_disjoint_trees *disjoint);

/*
 * A set of trees, by arithmetic or found by search; the functions are those of trees.h, for both.
 */
struct torus_tree_set {
	const struct torus_shape *shape;
	enum torus_trees kind;
	int root;
	const struct torus_disjoint_trees *disjoint; /* of kind TORUS_TREES_DISJOINT */
};

int torus_tree_set_count(const struct torus_tree_set *tree_set);
int torus_tree_set_parent(const struct torus_tree_set *tree_set, int tree, int place, int *direction);
int torus_tree_set_children(const struct torus_tree_set *tree_set, int tree, int place, int children[TORUS_DIRECTIONS],
			    int directions[TORUS_DIRECTIONS]);
int torus_tree_set_level(const struct torus_tree_set *tree_set, int tree, int place);
int torus_tree_set_depth(const struct torus_tree_set *tree_set);

#endif
