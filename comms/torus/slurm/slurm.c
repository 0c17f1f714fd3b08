/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "comms/torus/sites.h"
#include "slurm.h"

enum { DIMENSIONS = 3 };

/* --- slurm.conf --- */

const char *slurm_value_of(const char *text, const char *key)
{
	size_t length = strlen(key);

	if (strncasecmp(text, key, length) != 0)
		return NULL;
	text += length;
	text += strspn(text, " \t");
	if (*text != '=')
		return NULL;
	return text + 1 + strspn(text + 1, " \t");
}

const char *slurm_next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

static bool is_word(const char *text, const char *word)
{
	return strcspn(text, " \t\r\n#") == strlen(word) && !strncasecmp(text, word, strlen(word));
}

enum slurm_plugin slurm_plugin(const char *conf)
{
	enum slurm_plugin plugin = SLURM_OTHER;

	for (const char *line = conf; line; line = slurm_next_line(line)) {
		const char *value = slurm_value_of(line + strspn(line, " \t"), "TopologyPlugin");

		if (!value)
			continue;
		if (!strncasecmp(value, "topology/", strlen("topology/")))
			value += strlen("topology/");
		plugin = is_word(value, "3d_torus") ? SLURM_3D_TORUS
			 : is_word(value, "block")  ? SLURM_BLOCK
						    : SLURM_OTHER;
	}
	return plugin;
}

/* --- The torus --- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
}

/* Returns how long the name is before its coordinates; -1: it has none. */
static int read_coordinates(const char *name, int at[DIMENSIONS])
{
	int before = (int)strcspn(name, ". \t\r\n") - DIMENSIONS;

	for (int a = 0; before >= 0 && a < DIMENSIONS; a++) {
		at[a] = digit_of(name[before + a]);
		if (at[a] < 0)
			return -1;
	}
	return before < 0 ? -1 : before;
}

/* The torus that all nodes with the prefix of this one span. */
static bool find_machine(struct torus_shape *machine, const char *nodes, const char *like)
{
	int at[DIMENSIONS], prefix = read_coordinates(like, at);

	*machine = (struct torus_shape){.axes = DIMENSIONS};
	if (prefix < 0)
		return false;
	for (const char *line = nodes; line; line = slurm_next_line(line)) {
		if (read_coordinates(line, at) != prefix || strncmp(line, like, (size_t)prefix) != 0)
			continue;
		for (int a = 0; a < DIMENSIONS; a++)
			if (at[a] >= machine->axis[a].size)
				machine->axis[a].size = at[a] + 1;
	}
	for (int a = 0; a < DIMENSIONS; a++)
		machine->axis[a].ring = machine->axis[a].size > 2;
	return machine->axis[0].size > 0 && torus_shape_complete(machine);
}

/* False: a host is not in the machine. */
static bool find_host_places(const struct torus_shape *machine, char *const *host, size_t hosts, int *place)
{
	int first[DIMENSIONS], at[DIMENSIONS], prefix = read_coordinates(host[0], first);

	for (size_t h = 0; h < hosts; h++) {
		if (read_coordinates(host[h], at) != prefix || strncmp(host[h], host[0], (size_t)prefix) != 0)
			return false;
		for (int a = 0; a < DIMENSIONS; a++)
			if (at[a] >= machine->axis[a].size)
				return false;
		place[h] = torus_place_at(machine, at);
	}
	return true;
}

static bool places_differ(const struct torus_shape *machine, const int *place, size_t hosts)
{
	bool *taken = calloc((size_t)machine->places, sizeof *taken), differ = taken;

	for (size_t h = 0; differ && h < hosts; h++) {
		differ = !taken[place[h]];
		if (differ)
			taken[place[h]] = true;
	}
	free(taken);
	return differ;
}

static bool is_whole_box(const struct torus_shape *machine, const int *place, size_t hosts)
{
	struct torus_sites sites = {.nodes = 0};
	struct torus_box box;
	bool whole = torus_sites_some(&sites, &box, machine, place, (int)hosts) && sites.shape.places == (int)hosts;

	torus_sites_free(&sites);
	return whole;
}

char *slurm_torus(const char *nodes, char *const *host, size_t hosts)
{
	struct torus_shape machine;
	int *place = calloc(hosts + 1, sizeof *place);
	char *line = NULL;

	if (place && hosts > 0 && find_machine(&machine, nodes, host[0]) &&
	    find_host_places(&machine, host, hosts, place) && places_differ(&machine, place, hosts) &&
	    is_whole_box(&machine, place, hosts))
		line = slurm_shape_line(&machine, host, place, hosts);
	free(place);
	return line;
}

char *slurm_shape_line(const struct torus_shape *shape, char *const *host, const int *place, size_t hosts)
{
	char *line = NULL, text[TORUS_TEXT];
	size_t size;
	FILE *file = open_memstream(&line, &size);

	if (!file)
		return NULL;
	fprintf(file, "shape %s;", torus_shape_text(shape, text));
	for (size_t h = 0; h < hosts; h++)
		fprintf(file, "host %s %s;", host[h], torus_place_text(shape, place[h], text));
	if (fclose(file)) {
		free(line);
		return NULL;
	}
	return line;
}
