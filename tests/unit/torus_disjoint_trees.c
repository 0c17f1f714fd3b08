/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees found by search: every node is reached in each, over links that may be used, none of them
 * twice; there are as many as the narrowest cut allows. On random shapes with cables and nodes
 * missing; small ones with all cuts looked at.
 */
#include "comms/torus/disjoint_trees.h"

#include <stdlib.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static char text[TORUS_TEXT];

/* Links into the places of the set from others. */
static int links_into(const struct torus_links *links, unsigned set)
{
	const struct torus_shape *shape = &links->sites->shape;
	int count = 0;

	for (int p = 0; p < shape->places; p++)
		for (int direction = 0; direction < 2 * shape->axes; direction++)
			if (links->usable[p * TORUS_DIRECTIONS + direction] && !(set >> p & 1) &&
			    set >> torus_neighbour(shape, p, direction) & 1)
				count++;
	return count;
}

static int narrowest_cut(const struct torus_links *links, int root)
{
	const struct torus_shape *shape = &links->sites->shape;
	int least = TORUS_DIRECTIONS;

	for (unsigned set = 1; set < 1U << shape->places; set++) {
		bool nodes = !(set >> root & 1);

		for (int p = 0; p < shape->places && nodes; p++)
			nodes = !(set >> p & 1) || links->sites->node[p] >= 0;
		if (nodes && links_into(links, set) < least)
			least = links_into(links, set);
	}
	return least;
}

static void check_tree(const struct torus_tree_set *tree_set, const struct torus_links *links, int tree, char *used)
{
	const struct torus_shape *shape = tree_set->shape;
	int born = 0;

	for (int p = 0; p < shape->places; p++) {
		int direction = -1, parent = torus_tree_set_parent(tree_set, tree, p, &direction),
		    children[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS];
		int count = torus_tree_set_children(tree_set, tree, p, children, directions);

		born += count;
		for (int c = 0; c < count; c++)
			EXPECT(torus_tree_set_parent(tree_set, tree, children[c], &direction) == p &&
				       direction == directions[c],
			       "%s: child %d of %d", text, children[c], p);
		EXPECT((parent < 0) == (p == tree_set->root || links->sites->node[p] < 0),
		       "%s root %d tree %d: parent of %d is %d", text, tree_set->root, tree, p, parent);
		if (parent < 0)
			continue;
		torus_tree_set_parent(tree_set, tree, p, &direction);
		EXPECT(links->usable[parent * TORUS_DIRECTIONS + direction], "%s: link %d %s may not be used", text,
		       parent, torus_direction_name(direction));
		EXPECT(!used[parent * TORUS_DIRECTIONS + direction], "%s: link %d %s is used twice", text, parent,
		       torus_direction_name(direction));
		used[parent * TORUS_DIRECTIONS + direction] = 1;
		EXPECT(torus_tree_set_level(tree_set, tree, p) <= tree_set->disjoint->depth,
		       "%s tree %d: %d is not reached", text, tree, p);
	}
	EXPECT(born == links->sites->nodes - 1, "%s root %d tree %d: %d children", text, tree_set->root, tree, born);
}

static int check(const struct torus_sites *sites, int root, bool all_cuts)
{
	const struct torus_shape *shape = &sites->shape;
	char *used = calloc((size_t)shape->places * TORUS_DIRECTIONS, 1);
	struct torus_disjoint_trees disjoint;
	struct torus_tree_set tree_set = {shape, TORUS_TREES_DISJOINT, root, &disjoint};
	struct torus_links links;
	int most;

	torus_shape_text(shape, text);
	EXPECT(torus_disjoint_trees_best(&disjoint, sites, root), "%s: nothing found", text);
	torus_links_of(&links, sites, disjoint.share);
	most = torus_disjoint_trees_most(&links, root);
	EXPECT(disjoint.trees == most, "%s: %d trees, %d are there", text, disjoint.trees, most);
	for (int tree = 0; tree < disjoint.trees; tree++)
		check_tree(&tree_set, &links, tree, used);
	if (all_cuts)
		EXPECT(most == narrowest_cut(&links, root), "%s from %d: %d trees", text, root, most);
	most = disjoint.trees;
	torus_links_free(&links);
	torus_disjoint_trees_free(&disjoint);
	free(used);
	return most;
}

static void begin(struct torus_sites *sites, const struct torus_shape *shape)
{
	int links = shape->places * 2 * shape->axes;

	torus_sites_all(sites, shape);
	sites->share = malloc((size_t)links * sizeof *sites->share);
	for (int l = 0; l < links; l++)
		sites->share[l] = 1;
}

static void damage(struct torus_sites *sites, int place, int direction, float share)
{
	int next = torus_neighbour(&sites->shape, place, direction), directions = 2 * sites->shape.axes;

	if (next < 0)
		return;
	sites->share[place * directions + direction] = share;
	sites->share[next * directions + (direction ^ 1)] = share;
}

static void leave_out(struct torus_sites *sites, int place)
{
	int left = 0;

	if (sites->node[place] < 0)
		return;
	sites->node[place] = -1;
	for (int p = 0; p < sites->shape.places; p++)
		if (sites->node[p] >= 0) {
			sites->place[left] = p;
			sites->node[p] = left++;
		}
	sites->nodes = left;
}

/* Some cables missing or slow, some nodes not there. */
static void check_damaged(int most, bool all_cuts)
{
	struct torus_shape shape;
	struct torus_sites sites;
	int root;

	tori_shape(&shape, most);
	root = tori_random(shape.places);
	begin(&sites, &shape);
	for (int i = tori_random(3); i > 0; i--) {
		int place = tori_random(shape.places);

		if (place != root)
			leave_out(&sites, place);
	}
	for (int i = tori_random(5); i > 0; i--)
		damage(&sites, tori_random(shape.places), tori_random(2 * shape.axes), 0.25F * (float)tori_random(4));
	if (sites.nodes > 1)
		check(&sites, root, all_cuts);
	torus_sites_free(&sites);
}

static void expect(const char *shape, int trees, int expected, const char *state)
{
	EXPECT(trees == expected, "%s%s: %d trees, expected %d", shape, state, trees, expected);
}

static void check_known(void)
{
	static const struct {
		const char *shape;
		int whole, fewer; /* trees; and without one cable of the root */
	} rows[] = {{"3x3x3", 6, 5}, {"4x4", 4, 3},	{"4x4m", 3, 2},	 {"5m", 1, 0},
		    {"3x3x2", 5, 4}, {"4mx3x5m", 4, 3}, {"2dx2d", 4, 3}, {"2x2x2", 3, 2}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		struct torus_sites sites;

		tori_read(&shape, rows[i].shape);
		begin(&sites, &shape);
		EXPECT(!torus_sites_flawed(&sites), "%s is whole", rows[i].shape);
		expect(rows[i].shape, check(&sites, 0, false), rows[i].whole, "");
		/*
		 * A cable of half the rate: all trees over it, or one less without; as much of them
		 * as can be.
		 */
		damage(&sites, 0, 0, 0.5F);
		EXPECT(torus_sites_flawed(&sites), "%s is flawed", rows[i].shape);
		expect(rows[i].shape, check(&sites, 0, false),
		       rows[i].fewer * 2 > rows[i].whole ? rows[i].fewer : rows[i].whole, " with a slow cable");
		damage(&sites, 0, 0, 0);
		expect(rows[i].shape, check(&sites, 0, false), rows[i].fewer, " without a cable");
		torus_sites_free(&sites);
	}
}

int main(void)
{
	check_known();
	for (int i = 0; i < 400; i++)
		check_damaged(11, true);
	for (int i = 0; i < 150; i++)
		check_damaged(120, false);
	return unit_failures > 0;
}
