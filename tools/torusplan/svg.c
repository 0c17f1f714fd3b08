/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A drawing of a torus. The first axis goes to the right, the second upwards, the third diagonally
 * to the back; a fourth axis puts such bodies side by side, a fifth below each other, a sixth again
 * side by side. A cable between neighbours is a line; one that closes a ring, or leads to another
 * body, is a curve.
 */
#include <errno.h>
#include <string.h>

#include "drawing.h"

#define MOST_NODES 4096
#define GAP 64.0 /* between nodes of the shape */

static const char *const colours[TORUS_AXES] = {"#1b6ca8", "#b3541e", "#2e7d32", "#7b3fa0", "#8a6d00", "#444444"};

/* Steps and total size: each axis beyond the third is placed behind all before it. */
void drawing_lay_out(struct drawing *drawing)
{
	const struct torus_shape *shape = &drawing->machine->sites.shape;
	const double gap = drawing->gap, first[3][2] = {{gap, 0}, {0, -gap}, {0.42 * gap, -0.3 * gap}};
	double width = 0, height = 0, up = 0;

	for (int a = 0; a < shape->axes; a++) {
		int steps = shape->axis[a].size - 1;

		drawing->dx[a] = a < 3 ? first[a][0] : a % 2 ? width + 1.5 * gap : 0;
		drawing->dy[a] = a < 3 ? first[a][1] : a % 2 ? 0 : height + 1.5 * gap;
		width += steps * drawing->dx[a];
		height += steps * (drawing->dy[a] < 0 ? -drawing->dy[a] : drawing->dy[a]);
		up += drawing->dy[a] < 0 ? -steps * drawing->dy[a] : 0;
	}
	drawing->left = gap;
	drawing->top = up + gap;
	drawing->width = width + 2 * gap;
	drawing->height = height + 2 * gap + 24;
}

void drawing_locate(const struct drawing *drawing, int place, double *x, double *y)
{
	const struct torus_shape *shape = &drawing->machine->sites.shape;

	*x = drawing->left;
	*y = drawing->top;
	for (int a = 0; a < shape->axes; a++) {
		*x += torus_coordinate(shape, place, a) * drawing->dx[a];
		*y += torus_coordinate(shape, place, a) * drawing->dy[a];
	}
}

/* Dead cables are dashed, slow ones dotted. */
static const char *style_of(const struct torus_sites *sites, int place, int axis)
{
	float share = torus_sites_share(sites, place, 2 * axis);

	if (share < 1)
		return share > 0 ? " stroke-dasharray=\"1.5,2\"" : " stroke-dasharray=\"6,5\" stroke-opacity=\"0.5\"";
	return "";
}

static void draw_cable(const struct drawing *drawing, int place, int axis, int next)
{
	const struct torus_shape *shape = &drawing->machine->sites.shape;
	const char *style = style_of(&drawing->machine->sites, place, axis);
	bool closing = torus_coordinate(shape, next, axis) < torus_coordinate(shape, place, axis);
	double x1, y1, x2, y2, bow = closing ? 0.55 * drawing->gap : axis > 2 ? 0.3 * drawing->gap : 0;
	const char *colour = drawing->pale ? "#ccc" : colours[axis];
	double length = 1, across_x, across_y;

	drawing_locate(drawing, place, &x1, &y1);
	drawing_locate(drawing, next, &x2, &y2);
	across_x = y2 - y1;
	across_y = x1 - x2;
	length = (across_x < 0 ? -across_x : across_x) + (across_y < 0 ? -across_y : across_y);
	if (bow > 0)
		fprintf(drawing->file, "<path d=\"M%.1f,%.1f Q%.1f,%.1f %.1f,%.1f\" stroke=\"%s\"%s%s/>\n", x1, y1,
			(x1 + x2) / 2 + across_x / length * bow, (y1 + y2) / 2 + across_y / length * bow, x2, y2,
			colour, axis > 2 ? " stroke-width=\"0.6\"" : "", style);
	else
		fprintf(drawing->file, "<path d=\"M%.1f,%.1f L%.1f,%.1f\" stroke=\"%s\"%s/>\n", x1, y1, x2, y2, colour,
			style);
}

/* The upward link of every cable, so that each is drawn once. */
void drawing_cables(const struct drawing *drawing)
{
	const struct torus_sites *sites = &drawing->machine->sites;

	fputs("<g fill=\"none\" stroke-width=\"1.6\">\n", drawing->file);
	for (int p = 0; p < sites->shape.places; p++)
		for (int a = sites->shape.axes - 1; a >= 0; a--) {
			int next = sites->shape.axis[a].size > 1 ? torus_neighbour(&sites->shape, p, 2 * a) : -1;

			if (next >= 0 && sites->node[p] >= 0 && sites->node[next] >= 0)
				draw_cable(drawing, p, a, next);
		}
	fputs("</g>\n", drawing->file);
}

/* Escapes characters of a name that have a meaning in SVG. */
static void write_escaped(FILE *file, const char *text)
{
	for (; *text; text++) {
		const char *special = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;

		if (special)
			fputs(special, file);
		else
			fputc(*text, file);
	}
}

void drawing_nodes(const struct drawing *drawing)
{
	const struct machine *machine = drawing->machine;
	const struct torus_shape *shape = &machine->sites.shape;
	char text[TORUS_TEXT], name[512];

	fputs("<g font-family=\"sans-serif\" font-size=\"10\" text-anchor=\"middle\">\n", drawing->file);
	for (int p = 0; p < shape->places; p++) {
		int node = machine->sites.node[p];
		double x, y;

		drawing_locate(drawing, p, &x, &y);
		if (node < 0) {
			fprintf(drawing->file,
				"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"none\" stroke=\"#999\" "
				"stroke-dasharray=\"2,2\"/>\n",
				x, y);
			continue;
		}
		fprintf(drawing->file, "<g><title>");
		write_escaped(drawing->file, machine_host(machine, node, name, sizeof name));
		fprintf(drawing->file,
			" at %s</title><circle class=\"node\" cx=\"%.1f\" cy=\"%.1f\" r=\"10\" fill=\"#fff\" stroke=\"#222\"/>"
			"<text x=\"%.1f\" y=\"%.1f\">%d</text></g>\n",
			torus_place_text(&machine->whole, machine_place(machine, node), text), x, y, x, y + 3.5, node);
	}
	fputs("</g>\n", drawing->file);
}

static void draw_legend(const struct drawing *drawing)
{
	const struct torus_shape *shape = &drawing->machine->sites.shape;
	double x = 12, y = drawing->height - 12;
	char text[TORUS_TEXT];

	fputs("<g font-family=\"sans-serif\" font-size=\"13\">\n", drawing->file);
	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1) {
			fprintf(drawing->file, "<text x=\"%.0f\" y=\"%.0f\" fill=\"%s\">%c</text>\n", x, y, colours[a],
				torus_direction_name(2 * a)[0]);
			x += 14;
		}
	fprintf(drawing->file, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n</g>\n", x, y, torus_shape_text(shape, text));
}

int drawing_open(struct drawing *drawing, enum option_id id, const char *path, int most)
{
	int places = drawing->machine->sites.shape.places;

	if (places > most)
		return say("%s: a drawing of %d places shows nothing; at most %d can be drawn", options_name(id),
			   places, most);
	drawing->file = fopen(path, "we");
	return drawing->file ? 0 : say("%s %s: cannot be written: %s", options_name(id), path, strerror(errno));
}

int drawing_close(struct drawing *drawing, enum option_id id, const char *path)
{
	if (ferror(drawing->file) | fclose(drawing->file)) {
		say("%s %s: cannot be written: %s", options_name(id), path, strerror(errno));
		return FAILED;
	}
	return 0;
}

void drawing_begin(const struct drawing *drawing, double width, double height)
{
	fprintf(drawing->file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height, width, height);
}

int draw_svg(const struct machine *machine, const char *path)
{
	struct drawing drawing = {.machine = machine, .gap = GAP};
	int code = drawing_open(&drawing, OPT_SVG, path, MOST_NODES);

	if (code)
		return code;
	drawing_lay_out(&drawing);
	fputs(DRAWING_XML, drawing.file);
	drawing_begin(&drawing, drawing.width, drawing.height);
	drawing_cables(&drawing);
	drawing_nodes(&drawing);
	draw_legend(&drawing);
	fputs("</svg>\n", drawing.file);
	return drawing_close(&drawing, OPT_SVG, path);
}
