/* SPDX-License-Identifier: BSD-3-Clause */
/* The result as a shape file, and the same in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_discover.h"
#include "torusplan.h"

static void write_ports(FILE *file, const struct torus_found *found, const struct cabling *cabling)
{
	for (int p = 0; p < cabling->ports; p++) {
		const struct cabling_port *port = &cabling->port[p];

		if (found->direction[p] >= 0 && strcmp(port->name, torus_direction_name(found->direction[p])) != 0)
			fprintf(file, "port %s %s %s\n", cabling->name[port->host],
				torus_direction_name(found->direction[p]), port->name);
	}
}

static const char *host_at(const struct torus_found *found, const struct cabling *cabling, int place)
{
	for (int h = 0; h < cabling->hosts; h++)
		if (found->place[h] == place)
			return cabling->name[h];
	return "";
}

static void write_flaws(FILE *file, const struct torus_found *found, const struct cabling *cabling)
{
	for (int i = 0; i < found->flaws; i++) {
		const struct torus_flaw *flaw = &found->flaw[i];

		if (flaw->share > 0)
			fprintf(file, "slow %.4g ", 1 / (double)flaw->share);
		else
			fputs("dead ", file);
		fprintf(file, "%s %s\n", host_at(found, cabling, flaw->place), torus_direction_name(flaw->direction));
	}
}

char *found_file(const struct torus_found *found, const struct cabling *cabling, const char *known_by)
{
	char *text = NULL, place[TORUS_TEXT], day[32] = "";
	time_t now = time(NULL);
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	strftime(day, sizeof day, "%Y-%m-%d %H:%M", localtime(&now));
	fprintf(file, "# Found by torusplan discover, %s; known by %s.\nshape %s\n", day, known_by,
		torus_shape_text(&found->shape, place));
	for (int h = 0; h < cabling->hosts; h++)
		if (found->place[h] >= 0)
			fprintf(file, "host %s %s\n", cabling->name[h],
				torus_place_text(&found->shape, found->place[h], place));
	for (int h = 0; h < cabling->hosts; h++)
		if (found->place[h] >= 0 && cabling->silent[h])
			fprintf(file, "dead %s\n", cabling->name[h]);
	write_ports(file, found, cabling);
	write_flaws(file, found, cabling);
	for (int i = 0; i < found->faults; i++)
		fprintf(file, "# wrong: %s\n", found->fault[i]);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

char *found_line(const char *text)
{
	char *line = malloc(strlen(text) + 1), *end = line;

	while (line && *text) {
		size_t length = strcspn(text, "\n");

		if (text[0] != '#' && strncmp(text, "port ", 5) != 0) {
			memcpy(end, text, length);
			end += length;
			*end++ = ';';
		}
		text += length + (text[length] == '\n');
	}
	if (line)
		*end = '\0';
	return line;
}
