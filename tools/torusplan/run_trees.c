/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of a torus: as text; as a drawing, together and one by one; and as a page that shows step
 * by step which segment of a message is on which link.
 */
#include "comms/torus/disjoint_trees.h"

#include <math.h>
#include <string.h>

#include "drawing.h"

#define MOST_PLACES 1024
#define GAP 100.0     /* between nodes, for a single tree */
#define GAP_ALL 160.0 /* and for all together */
#define ASIDE 4.0     /* each direction of a cable has its own side */
#define AWAY 12.0     /* from the middle of a node */

static const char page[] =
#include "tools/torusplan/trees_page.h"
	;

static const char *const colours[TORUS_DIRECTIONS] = {"#1b6ca8", "#c2410c", "#2e7d32", "#7b3fa0", "#b8860b", "#c2185b",
						      "#00838f", "#5d4037", "#546e7a", "#827717", "#283593", "#ad1457"};
static const char *const names[] = {"both", "upwards", "twice", "packed"};
static const char *const words[] = {"both", "up", "twice", "packed"};

/*
 * Search finds what formulas do not give: trees around holes and flaws, or more trees if rings and
 * meshes are mixed.
 */
static bool find_disjoint(const struct machine *machine, int root, struct torus_disjoint_trees *disjoint)
{
	const struct torus_shape *shape = &machine->sites.shape;
	int there = torus_tree_count(shape, TORUS_TREES_TWICE);

	memset(disjoint, 0, sizeof *disjoint);
	if (there == 0)
		there = torus_tree_count(shape, TORUS_TREES_BOTH);
	if (!torus_disjoint_trees_best(disjoint, &machine->sites, machine->sites.place[root]))
		return false;
	return torus_sites_flawed(&machine->sites) ? disjoint->trees > 0 : disjoint->trees > there;
}

static void list_tree(const struct machine *machine, const struct torus_tree_set *tree_set, int tree)
{
	const struct torus_sites *sites = &machine->sites;

	printf("  tree %d:", tree);
	for (int n = 0; n < sites->nodes; n++) {
		int direction, parent = torus_tree_set_parent(tree_set, tree, sites->place[n], &direction);

		if (parent >= 0)
			printf(" %d<%d", n, sites->node[parent]);
	}
	puts("");
}

static void describe(const struct machine *machine, const struct torus_tree_set *tree_set, int root, bool all)
{
	int count = torus_tree_set_count(tree_set);

	if (count == 0)
		return;
	printf("trees      %s: %d from node %d, up to %d deep", names[tree_set->kind], count, root,
	       torus_tree_set_depth(tree_set));
	if (tree_set->kind == TORUS_TREES_DISJOINT && torus_sites_flawed(&machine->sites))
		printf(", around what is missing or slow");
	if (tree_set->kind == TORUS_TREES_DISJOINT && tree_set->disjoint->share < 1)
		printf("; over cables that carry %.3g of the usual rate", (double)tree_set->disjoint->share);
	puts("");
	for (int t = 0; all && t < count; t++)
		list_tree(machine, tree_set, t);
}

/* Start and end of a link in the drawing, beside its cable, and the control point of its curve. */
static void write_path(const struct drawing *drawing, int place, int direction)
{
	const struct torus_shape *shape = &drawing->machine->sites.shape;
	int axis = direction / 2, next = torus_neighbour(shape, place, direction), low = direction % 2 ? next : place,
	    high = direction % 2 ? place : next;
	bool closing = torus_coordinate(shape, high, axis) < torus_coordinate(shape, low, axis);
	double x1, y1, x2, y2, bow = closing ? 0.55 * drawing->gap : axis > 2 ? 0.3 * drawing->gap : 0, dx, dy, length;

	drawing_locate(drawing, place, &x1, &y1);
	drawing_locate(drawing, next, &x2, &y2);
	dx = x2 - x1;
	dy = y2 - y1;
	length = hypot(dx, dy);
	dx /= length;
	dy /= length;
	if (direction % 2)
		bow = -bow;
	bow += bow > 0 ? 2 * ASIDE : bow < 0 ? 2 * ASIDE : 0;
	fprintf(drawing->file, "d=\"M%.1f,%.1f ", x1 + AWAY * dx + ASIDE * dy, y1 + AWAY * dy - ASIDE * dx);
	if (bow > 0 || bow < 0)
		fprintf(drawing->file, "Q%.1f,%.1f ", (x1 + x2) / 2 + dy * bow, (y1 + y2) / 2 - dx * bow);
	else
		fputc('L', drawing->file);
	fprintf(drawing->file, "%.1f,%.1f\"", x2 - AWAY * dx + ASIDE * dy, y2 - AWAY * dy - ASIDE * dx);
}

static void draw_tree(const struct drawing *drawing, const struct torus_tree_set *tree_set, int tree)
{
	fprintf(drawing->file, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\">\n", colours[tree]);
	for (int p = 0; p < tree_set->shape->places; p++) {
		int direction, parent = torus_tree_set_parent(tree_set, tree, p, &direction);

		if (parent < 0)
			continue;
		fprintf(drawing->file,
			"<path class=\"link\" data-tree=\"%d\" data-level=\"%d\" data-link=\"%d%s\" data-to=\"%d\" ",
			tree, torus_tree_set_level(tree_set, tree, p), drawing->machine->sites.node[parent],
			torus_direction_name(direction), drawing->machine->sites.node[p]);
		write_path(drawing, parent, direction);
		fprintf(drawing->file, " marker-end=\"url(#tip%d)\"/>\n", tree);
	}
	fputs("</g>\n", drawing->file);
}

static void define_arrows(const struct drawing *drawing, int trees)
{
	fputs("<defs>\n", drawing->file);
	for (int t = 0; t < trees; t++)
		fprintf(drawing->file,
			"<marker id=\"tip%d\" markerWidth=\"5\" markerHeight=\"5\" refX=\"4\" refY=\"2.5\" orient=\"auto\">"
			"<path d=\"M0,0 L5,2.5 L0,5 z\" fill=\"%s\"/></marker>\n",
			t, colours[t]);
	fputs("</defs>\n", drawing->file);
}

/* One field of the drawing: all trees (-1), or one. */
static void draw_field(const struct drawing *drawing, const struct torus_tree_set *tree_set, int tree)
{
	drawing_cables(drawing);
	for (int t = 0; t < torus_tree_set_count(tree_set); t++)
		if (tree < 0 || t == tree)
			draw_tree(drawing, tree_set, t);
	drawing_nodes(drawing);
	fputs("<text x=\"12\" y=\"18\" font-family=\"sans-serif\" font-size=\"13\"", drawing->file);
	if (tree < 0)
		fprintf(drawing->file, ">all %d trees</text>\n", torus_tree_set_count(tree_set));
	else
		fprintf(drawing->file, " fill=\"%s\">tree %d</text>\n", colours[tree], tree);
}

static int draw_fields(const struct machine *machine, const struct torus_tree_set *tree_set, const char *path)
{
	struct drawing drawing = {.machine = machine, .pale = true, .gap = GAP};
	int count = torus_tree_set_count(tree_set), across = 1, down,
	    code = drawing_open(&drawing, OPT_SVG, path, MOST_PLACES);

	if (code)
		return code;
	while (across * across < count + 1)
		across++;
	down = (count + across) / across;
	drawing_lay_out(&drawing);
	fputs(DRAWING_XML, drawing.file);
	drawing_begin(&drawing, across * drawing.width, down * drawing.height);
	define_arrows(&drawing, count);
	for (int field = 0; field <= count; field++) {
		fprintf(drawing.file, "<g transform=\"translate(%.0f,%.0f)\">\n", field % across * drawing.width,
			field / across * drawing.height);
		draw_field(&drawing, tree_set, field - 1);
		fputs("</g>\n", drawing.file);
	}
	fputs("</svg>\n", drawing.file);
	return drawing_close(&drawing, OPT_SVG, path);
}

/* The page up to a mark; returns the rest. */
static const char *write_until(FILE *file, const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	fwrite(text, 1, (size_t)(at - text), file);
	return at + strlen(mark);
}

static int write_page(const struct machine *machine, const struct torus_tree_set *tree_set, const char *path)
{
	struct drawing drawing = {.machine = machine, .pale = true, .gap = GAP_ALL};
	int code = drawing_open(&drawing, OPT_PAGE, path, MOST_PLACES);
	char text[TORUS_TEXT];
	const char *rest;

	if (code)
		return code;
	rest = write_until(drawing.file, page, "@TITLE@");
	fprintf(drawing.file, "%d trees of %s, %s", torus_tree_set_count(tree_set),
		torus_shape_text(tree_set->shape, text), names[tree_set->kind]);
	rest = write_until(drawing.file, rest, "@DRAWING@");
	drawing_lay_out(&drawing);
	drawing_begin(&drawing, drawing.width, drawing.height);
	define_arrows(&drawing, torus_tree_set_count(tree_set));
	draw_field(&drawing, tree_set, -1);
	fprintf(drawing.file, "<g id=\"dots\" data-root=\"%d\"></g>\n</svg>\n", machine->sites.node[tree_set->root]);
	fputs(rest, drawing.file);
	return drawing_close(&drawing, OPT_PAGE, path);
}

/* The kind that the user asked for, otherwise the one with the most trees. */
static int choose_kind(struct torus_tree_set *tree_set, const char *word, bool whole)
{
	enum torus_trees best = TORUS_TREES_DISJOINT;
	int most = torus_tree_set_count(tree_set);

	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_DISJOINT; kind++) {
		int count;

		tree_set->kind = kind;
		count = kind == TORUS_TREES_DISJOINT || whole ? torus_tree_set_count(tree_set) : 0;
		if (word && !strcmp(word, words[kind]))
			return count > 0 ? 0 : say("--kind %s: this shape has no trees of the kind", word);
		if (count > most) {
			most = count;
			best = kind;
		}
	}
	if (word)
		return say("--kind %s: give both, up, twice or packed", word);
	tree_set->kind = best;
	return most > 0 ? 0
			: say("there are no trees: %s",
			      whole ? "the shape has one node" : "not every node can be reached");
}

static int draw(const struct machine *machine, struct torus_tree_set *tree_set, const char *const value[OPTIONS])
{
	int code = choose_kind(tree_set, value[OPT_KIND], !torus_sites_flawed(&machine->sites));

	if (code == 0 && value[OPT_SVG])
		code = draw_fields(machine, tree_set, value[OPT_SVG]);
	if (code == 0 && value[OPT_PAGE])
		code = write_page(machine, tree_set, value[OPT_PAGE]);
	return code;
}

int show_trees(const struct machine *machine, int root, const char *const value[OPTIONS])
{
	const struct torus_sites *sites = &machine->sites;
	bool all = value[OPT_TREES], whole = !torus_sites_flawed(sites);
	struct torus_disjoint_trees disjoint;
	struct torus_tree_set tree_set = {.shape = &sites->shape, .root = sites->place[root]};
	int code = 0;

	if (find_disjoint(machine, root, &disjoint))
		tree_set.disjoint = &disjoint;
	for (tree_set.kind = TORUS_TREES_BOTH; tree_set.kind <= TORUS_TREES_DISJOINT; tree_set.kind++)
		if (whole || tree_set.kind == TORUS_TREES_DISJOINT)
			describe(machine, &tree_set, root, all);
	if (all && !whole && !tree_set.disjoint)
		printf("trees      none: %s\n",
		       sites->shape.places > TORUS_DISJOINT_PLACES
			       ? "cables or nodes are missing, and there are too many places to search for trees around them"
			       : "not every node can be reached");
	tree_set.kind = TORUS_TREES_DISJOINT;
	if (all && (value[OPT_SVG] || value[OPT_PAGE] || value[OPT_KIND]))
		code = draw(machine, &tree_set, value);
	torus_disjoint_trees_free(&disjoint);
	return code;
}
