/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "rte/text/text.h"
#include "torusplan.h"

static bool fill_from_file(struct machine *machine)
{
	machine->whole = machine->file.shape;
	machine->pes = machine->file.pes;
	return torus_sites_some(&machine->sites, &machine->box, &machine->whole, machine->file.place,
				machine->file.hosts) &&
	       torus_sites_mark(&machine->sites, &machine->box, &machine->whole, machine->file.flaw,
				machine->file.flaws);
}

static int read_file(struct machine *machine, const char *path)
{
	char problem[TORUS_PROBLEM], *text = text_of_file(path, problem, sizeof problem);
	bool good;

	if (!text)
		return say("--file %s: %s", path, problem);
	good = torus_file_read(&machine->file, text, problem);
	free(text);
	if (!good)
		return say("--file %s: %s", path, problem);
	if (!fill_from_file(machine))
		return say("--file %s: no memory for so many places", path);
	return 0;
}

int machine_of_text(struct machine *machine, const char *text)
{
	char problem[TORUS_PROBLEM];

	memset(machine, 0, sizeof *machine);
	if (!torus_file_read(&machine->file, text, problem))
		return say("%s", problem);
	return fill_from_file(machine) ? 0 : say("no memory for so many places");
}

static int read_shape(struct machine *machine, const char *const value[OPTIONS])
{
	char problem[TORUS_PROBLEM];
	int nodes;

	if (value[OPT_SHAPE]) {
		if (!torus_shape_read(&machine->whole, value[OPT_SHAPE], problem))
			return say("--shape %s", problem);
	} else {
		if (!options_number(value, OPT_NODES, 1, TORUS_PLACES, 1, &nodes))
			return MISTAKE;
		torus_shape_guess(&machine->whole, nodes, 3);
		machine->logical = true;
	}
	for (int a = 0; a < machine->whole.axes; a++)
		machine->box.extent[a] = machine->whole.axis[a].size;
	if (!torus_sites_all(&machine->sites, &machine->whole))
		return say("no memory for %d places", machine->whole.places);
	return 0;
}

int machine_read(struct machine *machine, const char *const value[OPTIONS])
{
	int given = (value[OPT_SHAPE] != NULL) + (value[OPT_FILE] != NULL) + (value[OPT_NODES] != NULL), code;
	char name[512];

	memset(machine, 0, sizeof *machine);
	machine->pes = 1;
	machine->pattern = value[OPT_HOSTS] ? value[OPT_HOSTS] : "node#";
	if (given != 1)
		return say(given ? "--shape, --file and --nodes each say what the machine is; give one of them"
				 : "no machine; give --shape, as in --shape 4x4x2, or --file or --nodes");
	if (value[OPT_FILE] && value[OPT_HOSTS])
		return say("--hosts %s: the hosts have their names from --file; give one of them", value[OPT_HOSTS]);
	if (!torus_host_name(machine->pattern, TORUS_PLACES, name, sizeof name))
		return say("--hosts %s: not a pattern; give a name with # for digits, as in node###", machine->pattern);
	code = value[OPT_FILE] ? read_file(machine, value[OPT_FILE]) : read_shape(machine, value);
	if (code == 0 && !options_number(value, OPT_PES, 1, 65536, machine->pes, &machine->pes))
		code = MISTAKE;
	if (code)
		machine_free(machine);
	return code;
}

void machine_free(struct machine *machine)
{
	torus_sites_free(&machine->sites);
	torus_file_free(&machine->file);
}

int machine_place(const struct machine *machine, int node)
{
	return torus_box_outside(&machine->box, &machine->whole, &machine->sites.shape, machine->sites.place[node]);
}

/* "1,0,2", with as many numbers as there are axes, each a coordinate of the machine; else -1. */
static int read_coordinates(const struct machine *machine, const char *text)
{
	const struct torus_shape *whole = &machine->whole;
	int place = 0;

	for (int a = 0; a < whole->axes; a++) {
		char *end;
		long c = strtol(text, &end, 10);

		if (end == text || c < 0 || c >= whole->axis[a].size || *end != (a < whole->axes - 1 ? ',' : '\0'))
			return -1;
		place += (int)c * whole->stride[a];
		text = end + 1;
	}
	return place;
}

int machine_node(const struct machine *machine, enum option_id id, const char *text, int *node)
{
	char name[512], *end;
	long number = strtol(text, &end, 10);
	int place = strchr(text, ',') ? read_coordinates(machine, text) : -1;

	for (*node = 0; *node < machine->sites.nodes; ++*node) {
		if (strchr(text, ',') ? place == machine_place(machine, *node) : end > text && !*end && number == *node)
			return 0;
		if (!strcmp(text, machine_host(machine, *node, name, sizeof name)))
			return 0;
	}
	return say("%s %s: no such node; give a number from 0 to %d, coordinates as in 0,1,2, or a name",
		   options_name(id), text, machine->sites.nodes - 1);
}

const char *machine_host(const struct machine *machine, int node, char *buffer, size_t size)
{
	if (machine->file.hosts)
		return machine->file.name[node];
	torus_host_name(machine->pattern, node, buffer, size);
	return buffer;
}
