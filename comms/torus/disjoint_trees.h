/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_DISJOINT_TREES_H
#define TORUS_DISJOINT_TREES_H

#include "sites.h"
#include "trees.h"

/*
 * Trees found by search, for shapes where the formulas give none or fewer: cables or nodes are
 * missing, or rings and meshes are mixed and allow more trees than axes. Like all trees they reach
 * every node from one root, and no two of them share a link.
 *
 * By Edmonds' theorem there are as many such trees as there are link-disjoint paths to the node
 * that has the fewest. The trees grow one after the other, each from the root outwards, nearest
 * nodes first. A link may be added if the remaining links keep enough paths for the trees to come
 * (Lovasz). A link from u to v takes paths only from sets with v and without u, so one flow, from
 * the root or u to v, decides.
 */
enum { TORUS_DISJOINT_PLACES = 1024 }; /* the search takes too long on more */

/* Is there a hole, or a dead or slow cable? Trees by formula would use it. */
bool torus_sites_flawed(const struct torus_sites *sites);

/* The links that trees may use. */
struct torus_links {
	unsigned char *usable; /* by place * TORUS_DIRECTIONS + direction of the link */
	const struct torus_sites *sites;
};

/*
 * All links that carry at least this share of the usual rate, and more than nothing. Returns false
 * if there is no memory.
 */
bool torus_links_of(struct torus_links *links, const struct torus_sites *sites, float least);
void torus_links_free(struct torus_links *links);

struct torus_disjoint_trees {
	int root, trees, depth;
	float share; /* of the usual rate, that each of its links carries at least */
	/*
	 * By tree * places + place: the direction from the parent to the place; -1: the tree does
	 * not reach it.
	 */
	signed char *direction;
};

/* The number of trees from the root; 0: some node cannot be reached; -1: the shape is too large. */
int torus_disjoint_trees_most(const struct torus_links *links, int root);

/* Finds at most this many trees. Returns false if there is no memory or the shape is too large. */
bool torus_disjoint_trees_find(struct torus_disjoint_trees *disjoint, const struct torus_links *links, int root,
			       int most);

/*
 * Finds the trees with the largest total rate: if some links are slow, either trees without them,
 * or more trees, all at the rate of the slow links. Returns false if there is no memory or the
 * shape is too large.
 */
bool torus_disjoint_trees_best(struct torus_disjoint_trees *disjoint, const struct torus_sites *sites, int root);
/* The most trees of a root, by formula, or by search if that is affordable and gives more. */
int torus_trees_left(const struct torus_sites *sites, int root);
void torus_disjoint_trees_free(struct torus_disjoint_trees *disjoint);

/* A set of trees, by formula or by search; the functions of trees.h for both. */
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
