/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of a torus: in words; as a drawing, all of them together and each by itself; and as a page that shows step by step which
 * segment of a message is on which link.
 */
#include "comms/torus/packing.h"

#include <math.h>
#include <string.h>

#include "drawing.h"

#define MOST_PLACES 1024
#define GAP 100.0      /* between nodes, where a tree is by itself */
#define GAP_ALL 160.0  /* and where all are together */
#define ASIDE 4.0 /* each direction of a cable has its own side */
#define AWAY 12.0 /* from the middle of a node */

static const char page[] =
#include "tools/torusplan/trees_page.h"
	;

static const char *const colours[TORUS_WAYS] = {"#1b6ca8", "#c2410c", "#2e7d32", "#7b3fa0", "#b8860b", "#c2185b",
						"#00838f", "#5d4037", "#546e7a", "#827717", "#283593", "#ad1457"};
static const char *const names[] = {"both ways", "upwards", "twice", "packed"};
static const char *const words[] = {"both", "up", "twice", "packed"};

/* Search is for what arithmetic does not give: trees around holes and flaws, or more of them where rings and meshes are mixed. */
static bool find_packing(const struct machine *machine, int root, struct torus_packing *packing)
{
	const struct torus_shape *shape = &machine->sites.shape;
	int there = torus_tree_count(shape, TORUS_TREES_TWICE);

	memset(packing, 0, sizeof *packing);
	if (there == 0)
		there = torus_tree_count(shape, TORUS_TREES_BOTH);
	if (!torus_packing_best(packing, &machine->sites, machine->sites.place[root]))
		return false;
	return torus_sites_flawed(&machine->sites) ? packing->trees > 0 : packing->trees > there;
}

static void list_tree(const struct machine *machine, const struct torus_grove *grove, int tree)
{
	const struct torus_sites *sites = &machine->sites;

	printf("  tree %d:", tree);
	for (int n = 0; n < sites->nodes; n++) {
		int way, parent = torus_grove_parent(grove, tree, sites->place[n], &way);

		if (parent >= 0)
			printf(" %d<%d", n, sites->node[parent]);
	}
	puts("");
}

static void describe(const struct machine *machine, const struct torus_grove *grove, int root, bool all)
{
	int count = torus_grove_count(grove);

	if (count == 0)
		return;
	printf("trees      %s: %d from node %d, up to %d deep", names[grove->kind], count, root, torus_grove_depth(grove));
	if (grove->kind == TORUS_TREES_PACKED && torus_sites_flawed(&machine->sites))
		printf(", around what is missing or slow");
	if (grove->kind == TORUS_TREES_PACKED && grove->packing->share < 1)
		printf("; over cables that carry %.3g of the usual rate", (double)grove->packing->share);
	puts("");
	for (int t = 0; all && t < count; t++)
		list_tree(machine, grove, t);
}

/* Where a link begins and ends in the drawing, beside its cable, and the point that pulls it into a bow. */
static void write_path(const struct drawing *drawing, int place, int way)
{
	const struct torus_shape *shape = &drawing->machine->sites.shape;
	int axis = way / 2, next = torus_neighbour(shape, place, way), low = way % 2 ? next : place, high = way % 2 ? place : next;
	bool closing = torus_coordinate(shape, high, axis) < torus_coordinate(shape, low, axis);
	double x1, y1, x2, y2, bow = closing ? 0.55 * drawing->gap : axis > 2 ? 0.3 * drawing->gap : 0, dx, dy, length;

	drawing_locate(drawing, place, &x1, &y1);
	drawing_locate(drawing, next, &x2, &y2);
	dx = x2 - x1;
	dy = y2 - y1;
	length = hypot(dx, dy);
	dx /= length;
	dy /= length;
	if (way % 2)
		bow = -bow;
	bow += bow > 0 ? 2 * ASIDE : bow < 0 ? 2 * ASIDE : 0;
	fprintf(drawing->file, "d=\"M%.1f,%.1f ", x1 + AWAY * dx + ASIDE * dy, y1 + AWAY * dy - ASIDE * dx);
	if (bow > 0 || bow < 0)
		fprintf(drawing->file, "Q%.1f,%.1f ", (x1 + x2) / 2 + dy * bow, (y1 + y2) / 2 - dx * bow);
	else
		fputc('L', drawing->file);
	fprintf(drawing->file, "%.1f,%.1f\"", x2 - AWAY * dx + ASIDE * dy, y2 - AWAY * dy - ASIDE * dx);
}

static void draw_tree(const struct drawing *drawing, const struct torus_grove *grove, int tree)
{
	fprintf(drawing->file, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\">\n", colours[tree]);
	for (int p = 0; p < grove->shape->places; p++) {
		int way, parent = torus_grove_parent(grove, tree, p, &way);

		if (parent < 0)
			continue;
		fprintf(drawing->file, "<path class=\"link\" data-tree=\"%d\" data-level=\"%d\" data-link=\"%d%s\" data-to=\"%d\" ", tree,
			torus_grove_level(grove, tree, p), drawing->machine->sites.node[parent], torus_way_name(way),
			drawing->machine->sites.node[p]);
		write_path(drawing, parent, way);
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
static void draw_field(const struct drawing *drawing, const struct torus_grove *grove, int tree)
{
	drawing_cables(drawing);
	for (int t = 0; t < torus_grove_count(grove); t++)
		if (tree < 0 || t == tree)
			draw_tree(drawing, grove, t);
	drawing_nodes(drawing);
	fputs("<text x=\"12\" y=\"18\" font-family=\"sans-serif\" font-size=\"13\"", drawing->file);
	if (tree < 0)
		fprintf(drawing->file, ">all %d trees</text>\n", torus_grove_count(grove));
	else
		fprintf(drawing->file, " fill=\"%s\">tree %d</text>\n", colours[tree], tree);
}

static int draw_fields(const struct machine *machine, const struct torus_grove *grove, const char *path)
{
	struct drawing drawing = {.machine = machine, .pale = true, .gap = GAP};
	int count = torus_grove_count(grove), across = 1, down, code = drawing_open(&drawing, OPT_SVG, path, MOST_PLACES);

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
		draw_field(&drawing, grove, field - 1);
		fputs("</g>\n", drawing.file);
	}
	fputs("</svg>\n", drawing.file);
	return drawing_close(&drawing, OPT_SVG, path);
}

/* The page up to a mark; returns what comes behind it. */
static const char *write_until(FILE *file, const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	fwrite(text, 1, (size_t)(at - text), file);
	return at + strlen(mark);
}

static int write_page(const struct machine *machine, const struct torus_grove *grove, const char *path)
{
	struct drawing drawing = {.machine = machine, .pale = true, .gap = GAP_ALL};
	int code = drawing_open(&drawing, OPT_PAGE, path, MOST_PLACES);
	char text[TORUS_TEXT];
	const char *rest;

	if (code)
		return code;
	rest = write_until(drawing.file, page, "@TITLE@");
	fprintf(drawing.file, "%d trees of %s, %s", torus_grove_count(grove), torus_shape_text(grove->shape, text), names[grove->kind]);
	rest = write_until(drawing.file, rest, "@DRAWING@");
	drawing_lay_out(&drawing);
	drawing_begin(&drawing, drawing.width, drawing.height);
	define_arrows(&drawing, torus_grove_count(grove));
	draw_field(&drawing, grove, -1);
	fprintf(drawing.file, "<g id=\"dots\" data-root=\"%d\"></g>\n</svg>\n", machine->sites.node[grove->root]);
	fputs(rest, drawing.file);
	return drawing_close(&drawing, OPT_PAGE, path);
}

/* The kind that was asked for, else the one with the most trees. */
static int choose_kind(struct torus_grove *grove, const char *word, bool whole)
{
	enum torus_trees best = TORUS_TREES_PACKED;
	int most = torus_grove_count(grove);

	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_PACKED; kind++) {
		int count;

		grove->kind = kind;
		count = kind == TORUS_TREES_PACKED || whole ? torus_grove_count(grove) : 0;
		if (word && !strcmp(word, words[kind]))
			return count > 0 ? 0 : say("--kind %s: this shape has no trees of the kind", word);
		if (count > most) {
			most = count;
			best = kind;
		}
	}
	if (word)
		return say("--kind %s: give both, up, twice or packed", word);
	grove->kind = best;
	return most > 0 ? 0 : say("there are no trees: %s", whole ? "the shape has one node" : "not every node can be reached");
}

static int draw(const struct machine *machine, struct torus_grove *grove, const char *const value[OPTIONS])
{
	int code = choose_kind(grove, value[OPT_KIND], !torus_sites_flawed(&machine->sites));

	if (code == 0 && value[OPT_SVG])
		code = draw_fields(machine, grove, value[OPT_SVG]);
	if (code == 0 && value[OPT_PAGE])
		code = write_page(machine, grove, value[OPT_PAGE]);
	return code;
}

int show_trees(const struct machine *machine, int root, const char *const value[OPTIONS])
{
	const struct torus_sites *sites = &machine->sites;
	bool all = value[OPT_TREES], whole = !torus_sites_flawed(sites);
	struct torus_packing packing;
	struct torus_grove grove = {.shape = &sites->shape, .root = sites->place[root]};
	int code = 0;

	if (find_packing(machine, root, &packing))
		grove.packing = &packing;
	for (grove.kind = TORUS_TREES_BOTH; grove.kind <= TORUS_TREES_PACKED; grove.kind++)
		if (whole || grove.kind == TORUS_TREES_PACKED)
			describe(machine, &grove, root, all);
	if (all && !whole && !grove.packing)
		printf("trees      none: %s\n", sites->shape.places > TORUS_PACKED_PLACES
						? "cables or nodes are missing, and there are too many places to search for trees around them"
						: "not every node can be reached");
	grove.kind = TORUS_TREES_PACKED;
	if (all && (value[OPT_SVG] || value[OPT_PAGE] || value[OPT_KIND]))
		code = draw(machine, &grove, value);
	torus_packing_free(&packing);
	return code;
}
