/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of a shape file that has been read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

const char *torus_file_port(const struct torus_file *file, int place, int direction)
{
	for (int i = 0; i < file->ports; i++)
		if (file->port[i].place == place && file->port[i].direction == direction)
			return file->port[i].name;
	return torus_direction_name(direction);
}

static bool same_host(const char *name, const char *other)
{
	size_t length = strcspn(name, "."), other_length = strcspn(other, ".");

	if (name[length] && other[other_length])
		return !strcmp(name, other);
	return length == other_length && !strncmp(name, other, length);
}

int torus_file_host(const struct torus_file *file, const char *name, int likely)
{
	/*
	 * Jobs often use hosts in the order of the file: the search continues where it found the
	 * last one.
	 */
	for (int i = 0; i < file->hosts; i++)
		if (same_host(name, file->name[(likely + i) % file->hosts]))
			return (likely + i) % file->hosts;
	for (int i = 0; i < file->dead; i++)
		if (same_host(name, file->dead_name[i]))
			return file->hosts + i;
	return -1;
}

bool torus_host_name(const char *pattern, int number, char *name, size_t size)
{
	size_t before = strcspn(pattern, "#"), digits = strspn(pattern + before, "#");
	const char *after = pattern + before + digits;

	if (!digits || strchr(after, '#'))
		return false;
	return (size_t)snprintf(name, size, "%.*s%0*d%s", (int)before, pattern, (int)digits, number, after) < size;
}

bool torus_file_read_line(struct torus_file *file, const char *line)
{
	char problem[TORUS_PROBLEM], *text = strdup(line);
	bool good;

	for (char *at = text; at && *at; at++)
		*at = *at == ';' ? '\n' : *at;
	good = text && text[0] && torus_file_read(file, text, problem);
	free(text);
	return good;
}

void torus_file_free(struct torus_file *file)
{
	for (int i = 0; i < file->hosts; i++)
		free(file->name[i]);
	for (int i = 0; i < file->dead; i++)
		free(file->dead_name[i]);
	free(file->name);
	free(file->place);
	free(file->dead_name);
	free(file->flaw);
	for (int i = 0; i < file->ports; i++)
		free(file->port[i].name);
	free(file->port);
	free(file->cable);
	memset(file, 0, sizeof *file);
}
