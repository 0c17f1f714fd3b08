/* SPDX-License-Identifier: BSD-3-Clause */
/* torusplan show: describes a shape. */
#include <string.h>

#include "comms/torus/subaxes.h"
#include "torusplan.h"

static const char *axis_kind(const struct torus_axis *axis)
{
	if (axis->size == 1)
		return "no cables";
	if (axis->size == 2)
		return axis->ring ? "a pair with two cables" : "a pair with one cable";
	return axis->ring ? "a ring" : "a mesh";
}

static long count_cables(const struct torus_sites *sites)
{
	long links = 0;

	for (int n = 0; n < sites->nodes; n++)
		for (int direction = 0; direction < 2 * sites->shape.axes; direction++)
			links += torus_sites_share(sites, sites->place[n], direction) > 0;
	return links / 2;
}

static void show_box(const struct machine *machine)
{
	const struct torus_shape *whole = &machine->whole;
	char text[TORUS_TEXT];
	bool part = false;

	for (int a = 0; a < whole->axes; a++)
		part = part || machine->box.extent[a] < whole->axis[a].size;
	if (!part)
		return;
	printf("machine    %s; the hosts are in a box of it:\n", torus_shape_text(whole, text));
	for (int a = 0; a < whole->axes; a++) {
		int first = machine->box.origin[a], extent = machine->box.extent[a];

		printf("  along %c  from %d to %d%s\n", torus_direction_name(2 * a)[0], first,
		       (first + extent - 1) % whole->axis[a].size,
		       torus_box_wraps(&machine->box, whole, a) ? ", over the end of the ring" : "");
	}
}

static void show_shape(const struct machine *machine)
{
	const struct torus_sites *sites = &machine->sites;
	const struct torus_shape *shape = &sites->shape;
	char text[TORUS_TEXT];

	printf("shape      %s%s\n", torus_shape_text(shape, text),
	       machine->logical ? " (logical: made up from the number of nodes)" : "");
	for (int a = 0; a < shape->axes; a++)
		printf("  axis %c   %d, %s\n", torus_direction_name(2 * a)[0], shape->axis[a].size,
		       axis_kind(&shape->axis[a]));
	printf("nodes      %d", sites->nodes);
	if (sites->nodes < shape->places)
		printf("; %d of %d places are holes", shape->places - sites->nodes, shape->places);
	printf("\ncables     %ld\nfarthest   %d hop%s\n", count_cables(sites), torus_diameter(shape),
	       torus_diameter(shape) == 1 ? "" : "s");
}

/* Dead and slow cables of the file, also outside of the box. */
static void show_flaws(const struct machine *machine)
{
	const struct torus_file *file = &machine->file;
	char text[TORUS_TEXT];

	for (int i = 0; i < file->dead; i++)
		printf("dead       %s\n", file->dead_name[i]);
	for (int i = 0; i < file->flaws; i++) {
		const struct torus_flaw *flaw = &file->flaw[i];

		torus_place_text(&machine->whole, flaw->place, text);
		if (flaw->share > 0)
			printf("slow       %s %s, %.4g times\n", text, torus_direction_name(flaw->direction),
			       1 / (double)flaw->share);
		else
			printf("dead       %s %s\n", text, torus_direction_name(flaw->direction));
	}
}

/* The tori that the box contains, with one cable from neighbour to neighbour. */
static void show_virtual(const struct torus_shape *shape)
{
	int sizes[TORUS_AXES], owner[TORUS_AXES];

	for (int axes = 1; axes <= shape->axes; axes++) {
		if (!torus_virtual(shape, axes, sizes, owner))
			continue;
		printf("as torus   ");
		for (int i = 0; i < axes; i++)
			printf("%s%d", i ? "x" : "", sizes[i]);
		for (int i = 0; i < axes; i++) {
			printf("%s", i ? "," : ":");
			for (int a = 0, some = 0; a < shape->axes; a++)
				if (owner[a] == i && shape->axis[a].size > 1)
					printf("%s%c", some++ ? " with " : " ", torus_direction_name(2 * a)[0]);
		}
		puts("");
	}
}

static void show_links(const struct machine *machine)
{
	const struct torus_sites *sites = &machine->sites;
	char text[TORUS_TEXT], name[512];

	puts("links");
	for (int n = 0; n < sites->nodes; n++) {
		printf("  %d %s %s:", n, machine_host(machine, n, name, sizeof name),
		       torus_place_text(&machine->whole, machine_place(machine, n), text));
		for (int direction = 0; direction < 2 * sites->shape.axes; direction++) {
			if (torus_sites_share(sites, sites->place[n], direction) > 0)
				printf(" %s %d", torus_direction_name(direction),
				       sites->node[torus_neighbour(&sites->shape, sites->place[n], direction)]);
		}
		puts("");
	}
}

int show_machine(const struct machine *machine, int root, const char *const value[OPTIONS])
{
	int code = value[OPT_SVG] && !value[OPT_TREES] ? draw_svg(machine, value[OPT_SVG]) : 0;

	if (code)
		return code;
	show_box(machine);
	show_shape(machine);
	show_flaws(machine);
	if (machine->sites.nodes == machine->sites.shape.places)
		show_virtual(&machine->sites.shape);
	code = show_trees(machine, root, value);
	if (value[OPT_LINKS])
		show_links(machine);
	return code;
}

int run_show(const char *const value[OPTIONS])
{
	struct machine machine;
	int code = machine_read(&machine, value), root = 0;

	if (code)
		return code;
	if (value[OPT_ROOT])
		code = machine_node(&machine, OPT_ROOT, value[OPT_ROOT], &root);
	if (code == 0 && (value[OPT_PAGE] || value[OPT_KIND]) && !value[OPT_TREES])
		code = say("%s is about trees; give --trees as well",
			   options_name(value[OPT_PAGE] ? OPT_PAGE : OPT_KIND));
	if (code == 0)
		code = show_machine(&machine, root, value);
	machine_free(&machine);
	return code;
}
