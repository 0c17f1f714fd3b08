/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees over a torus: in every tree all places are reached, from the root, over cables that are
 * there; no link is used twice, neither in a tree nor between trees; children and parents agree;
 * levels are as the formula says. For all shapes of up to three short axes with every mark and
 * every root, and random ones of up to six.
 */
#include "comms/torus/trees.h"

#include <stdlib.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static char text[TORUS_TEXT];
static long checked[3];
static const char *const names[] = {"both", "up", "twice"};

static void check_children(const struct torus_tree *tree, int place)
{
	const struct torus_shape *shape = tree->shape;
	int children[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS], axes = 0;
	int count = torus_tree_children(tree, place, children, directions);

	for (int a = 0; a < shape->axes; a++)
		axes += shape->axis[a].size > 1;
	EXPECT(count <= (tree->kind == TORUS_TREES_BOTH ? 2 * axes : axes), "%s %s: %d children",
	       torus_shape_text(shape, text), names[tree->kind], count);
	for (int c = 0; c < count; c++) {
		int direction = -1;

		EXPECT(torus_neighbour(shape, place, directions[c]) == children[c], "%s: a child is a neighbour", text);
		EXPECT(torus_tree_parent(tree, children[c], &direction) == place && direction == directions[c],
		       "%s %s: child %d of %d has another parent", torus_shape_text(shape, text), names[tree->kind],
		       children[c], place);
	}
}

/* Steps from the root to the place. */
static int level_of(const struct torus_tree *tree, int place)
{
	int level = 0, direction;

	for (; place != tree->root && level <= tree->shape->places; level++)
		place = torus_tree_parent(tree, place, &direction);
	return level;
}

/* One tree: marks the links it uses, returns how many places are somebody's children. */
static void check_tree(const struct torus_tree *tree, char *used)
{
	const struct torus_shape *shape = tree->shape;
	int deepest = 0, born = 0;

	for (int p = 0; p < shape->places; p++) {
		int direction = -1, parent = torus_tree_parent(tree, p, &direction), level;
		int children[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS];

		born += torus_tree_children(tree, p, children, directions);
		check_children(tree, p);
		EXPECT((parent < 0) == (p == tree->root), "%s %s root %d: parent of %d is %d",
		       torus_shape_text(shape, text), names[tree->kind], tree->root, p, parent);
		if (parent < 0)
			continue;
		EXPECT(torus_neighbour(shape, parent, direction) == p, "%s %s: %d to %d by %s",
		       torus_shape_text(shape, text), names[tree->kind], parent, p, torus_direction_name(direction));
		EXPECT(!used[parent * TORUS_DIRECTIONS + direction], "%s %s root %d: link %d %s is used twice",
		       torus_shape_text(shape, text), names[tree->kind], tree->root, parent,
		       torus_direction_name(direction));
		used[parent * TORUS_DIRECTIONS + direction] = 1;
		level = level_of(tree, p);
		EXPECT(level <= shape->places, "%s %s root %d: %d is not reached", torus_shape_text(shape, text),
		       names[tree->kind], tree->root, p);
		deepest = level > deepest ? level : deepest;
	}
	EXPECT(born == shape->places - 1, "%s %s root %d: %d children in all", torus_shape_text(shape, text),
	       names[tree->kind], tree->root, born);
	EXPECT(deepest == torus_tree_depth(tree), "%s %s root %d tree %d: depth %d, formula %d",
	       torus_shape_text(shape, text), names[tree->kind], tree->root, tree->number, deepest,
	       torus_tree_depth(tree));
}

static void check_root(const struct torus_shape *shape, int root)
{
	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_TWICE; kind++) {
		int count = torus_tree_count(shape, kind);
		char *used = calloc((size_t)shape->places * TORUS_DIRECTIONS, 1);

		for (int tree = 0; tree < count; tree++)
			check_tree(&(struct torus_tree){shape, kind, root, tree}, used);
		checked[kind] += count > 0;
		free(used);
	}
}

/*
 * Sizes 1 to 4 (and 5 for two axes), rings, meshes, pairs with one cable and with two, from every
 * root.
 */
static void check_small(int axes)
{
	int most = axes < 3 ? 5 : 4, kinds = 1;

	for (int a = 0; a < axes; a++)
		kinds *= 2 * most;
	for (int k = 0; k < kinds; k++) {
		struct torus_shape shape = {.axes = axes};

		for (int a = 0, rest = k; a < axes; a++, rest /= 2 * most)
			shape.axis[a] =
				(struct torus_axis){1 + rest % (2 * most) / 2, rest % 2 && rest % (2 * most) > 1};
		torus_shape_complete(&shape);
		for (int root = 0; root < shape.places; root++)
			check_root(&shape, root);
	}
}

static void check_random(void)
{
	for (int i = 0; i < 800; i++) {
		struct torus_shape shape;

		tori_shape(&shape, 600);
		check_root(&shape, tori_random(shape.places));
	}
}

/* The figures of well-known machines. */
static void check_known(void)
{
	static const struct {
		const char *shape;
		enum torus_trees kind;
		int count, depth;
	} rows[] = {
		{"2x3x2", TORUS_TREES_BOTH, 3, 4},     {"2x3x2", TORUS_TREES_UP, 3, 5},
		{"2x3x2", TORUS_TREES_TWICE, 0, 0},    {"3x3x4", TORUS_TREES_BOTH, 3, 5},
		{"3x3x4", TORUS_TREES_UP, 3, 8},       {"3x3x4", TORUS_TREES_TWICE, 6, 8},
		{"8x8x8", TORUS_TREES_BOTH, 3, 12},    {"8x8x8", TORUS_TREES_TWICE, 6, 22},
		{"16x16x16", TORUS_TREES_BOTH, 3, 24}, {"24x16x24", TORUS_TREES_TWICE, 6, 62},
		{"8mx8mx8m", TORUS_TREES_BOTH, 3, 21}, {"8mx8mx8m", TORUS_TREES_UP, 0, 0},
		{"2dx2dx2d", TORUS_TREES_TWICE, 6, 4}, {"7", TORUS_TREES_BOTH, 1, 3},
		{"7", TORUS_TREES_TWICE, 2, 6},	       {"1x1", TORUS_TREES_BOTH, 0, 0},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		int deepest = 0;

		tori_read(&shape, rows[i].shape);
		EXPECT(torus_tree_count(&shape, rows[i].kind) == rows[i].count, "%s %s: %d trees", rows[i].shape,
		       names[rows[i].kind], torus_tree_count(&shape, rows[i].kind));
		for (int t = 0; t < rows[i].count; t++) {
			int depth = torus_tree_depth(&(struct torus_tree){&shape, rows[i].kind, 0, t});

			deepest = depth > deepest ? depth : deepest;
		}
		EXPECT(deepest == rows[i].depth, "%s %s: depth %d, expected %d", rows[i].shape, names[rows[i].kind],
		       deepest, rows[i].depth);
		if (rows[i].count && shape.places < 1000)
			check_root(&shape, shape.places / 2);
	}
}

int main(void)
{
	for (int axes = 1; axes <= 3; axes++)
		check_small(axes);
	check_random();
	check_known();
	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_TWICE; kind++)
		EXPECT(checked[kind] > 1000, "only %ld cases of %s", checked[kind], names[kind]);
	return unit_failures > 0;
}
