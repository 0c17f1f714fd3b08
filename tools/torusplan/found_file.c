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

/* A cable of the torus begins where it leads upwards. */
static bool begins(const struct torus_found *found, const struct cabling *cabling, int port)
{
	int peer = cabling_peer(cabling, port);

	return peer >= 0 && found->direction[port] >= 0 && found->direction[port] % 2 == 0;
}

struct ordered_cable {
	int port, place, direction;
};

static int compare_cables(const void *left, const void *right)
{
	const struct ordered_cable *one = left, *other = right;

	if (one->place != other->place)
		return one->place - other->place;
	return one->direction != other->direction ? one->direction - other->direction : one->port - other->port;
}

/* Cables that the torus does not use follow. */
int found_cables(const struct torus_found *found, const struct cabling *cabling, int **port)
{
	struct ordered_cable *list = calloc((size_t)cabling->ports + 1, sizeof *list);
	int count = 0;

	*port = calloc((size_t)cabling->ports + 1, sizeof **port);
	for (int p = 0; list && *port && p < cabling->ports; p++) {
		int peer = cabling_peer(cabling, p);
		bool first = begins(found, cabling, p), other = peer >= 0 && begins(found, cabling, peer);
		int place = found->place[cabling->port[p].host];

		if (peer < 0 || (first ? other && peer < p : other || peer < p))
			continue;
		if (place < 0 || found->place[cabling->port[peer].host] < 0)
			continue;
		list[count++] = (struct ordered_cable){p, first ? place : found->shape.places,
						       first ? found->direction[p] : place};
	}
	if (!list || !*port)
		count = -1;
	else
		qsort(list, (size_t)count, sizeof *list, compare_cables);
	for (int c = 0; c < count; c++)
		(*port)[c] = list[c].port;
	free(list);
	return count;
}

static bool write_cables(FILE *file, const struct torus_found *found, const struct cabling *cabling)
{
	int *port, count = found_cables(found, cabling, &port);

	for (int c = 0; c < count; c++) {
		const struct cabling_port *from = &cabling->port[port[c]], *to = &cabling->port[from->peer];

		fprintf(file, "cable %s %s %s %s\n", cabling->name[from->host], from->name, cabling->name[to->host],
			to->name);
	}
	free(port);
	return count >= 0;
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
	bool good;
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
	good = !cabling->own_networks || write_cables(file, found, cabling);
	write_flaws(file, found, cabling);
	for (int i = 0; i < found->faults; i++)
		fprintf(file, "# wrong: %s\n", found->fault[i]);
	if (fclose(file) || !good) {
		free(text);
		return NULL;
	}
	return text;
}

char *found_line(const char *text)
{
	char *line = malloc(strlen(text) + 1), *end = line;
	bool ports = strstr(text, "\ncable ") != NULL;

	while (line && *text) {
		size_t length = strcspn(text, "\n");

		if (text[0] != '#' && (ports || strncmp(text, "port ", 5) != 0)) {
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
