/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool hosts_is_here(const char *name)
{
	static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
	char own[HOST_NAME_MAX + 1] = "";
	size_t own_length, length = strlen(name);

	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		if (!strcasecmp(name, always[i]))
			return true;
	gethostname(own, sizeof own - 1);
	if (!strcasecmp(name, own))
		return true;
	/* One of the two names may have its domain. */
	own_length = strlen(own);
	if (length > own_length)
		return name[own_length] == '.' && !strncasecmp(name, own, own_length);
	return own[length] == '.' && !strncasecmp(name, own, length);
}

static void add_host(struct hosts *hosts, const char *name, int slots)
{
	hosts->slots += slots;
	for (size_t i = 0; i < hosts->names.count; i++)
		if (!strcmp(hosts->names.list[i], name))
			return;
	arguments_add(&hosts->names, "%s", name);
	if (!hosts->other && !hosts_is_here(name))
		hosts->other = hosts->names.list[hosts->names.count - 1];
}

/* "node7", "node7:4"; an IPv6 address has more than one colon and no slots. */
static bool split_host(char *text, int *slots)
{
	char *colon = strchr(text, ':'), *end;
	long n;

	*slots = 1;
	if (!colon || strchr(colon + 1, ':'))
		return text[0] != '\0';
	n = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || n < 1 || n > INT_MAX / 2)
		return false;
	*colon = '\0';
	*slots = (int)n;
	return text[0] != '\0';
}

bool hosts_read_list(struct hosts *hosts, const char *list, char *problem, size_t size)
{
	char *copy = strdup(list), *rest = copy, *name;
	bool good = true;

	memset(hosts, 0, sizeof *hosts);
	while (copy && good && (name = strsep(&rest, ","))) {
		int slots;

		good = split_host(name, &slots);
		if (good)
			add_host(hosts, name, slots);
	}
	if (!good)
		snprintf(problem, size, "not a list of hosts; give names with commas between, as in node1,node2:4");
	free(copy);
	return good;
}

/*
 * "node7", "node7:4", "node7 slots=4 max_slots=8"; # begins a comment. Returns false for any other
 * line.
 */
static bool read_host_line(struct hosts *hosts, char *line)
{
	char *rest = line, *name, *word;
	int slots;

	line[strcspn(line, "#\n")] = '\0';
	do
		name = strsep(&rest, " \t\r");
	while (name && !name[0]);
	if (!name)
		return true;
	if (!split_host(name, &slots))
		return false;
	while ((word = strsep(&rest, " \t\r"))) {
		if (!strncmp(word, "slots=", 6))
			slots = atoi(word + 6);
		else if (word[0] && !strchr(word, '='))
			return false;
	}
	if (slots < 1)
		return false;
	add_host(hosts, name, slots);
	return true;
}

bool hosts_read_file(struct hosts *hosts, const char *path, char *problem, size_t room)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int number = 0;
	bool good = true;

	memset(hosts, 0, sizeof *hosts);
	if (!file) {
		snprintf(problem, room, "cannot be read: %s", strerror(errno));
		return false;
	}
	while (good && getline(&line, &size, file) >= 0) {
		number++;
		good = read_host_line(hosts, line);
	}
	if (!good)
		snprintf(problem, room, "line %d is not a host; write one per line, as in: node1 slots=4", number);
	else if (!hosts->names.count)
		snprintf(problem, room, "names no host");
	free(line);
	fclose(file);
	return good && hosts->names.count;
}

void hosts_forget(struct hosts *hosts)
{
	arguments_free(&hosts->names);
}
