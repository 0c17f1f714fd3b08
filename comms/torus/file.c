/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 256

struct reader {
	struct torus_file *file;
	int room;   /* for so many hosts there is memory */
	int *taken; /* by place: the host there plus 1 */
	int line;
	char *problem;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reader *reader, const char *format, ...)
{
	int length = snprintf(reader->problem, TORUS_PROBLEM, "line %d: ", reader->line);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->problem + length, TORUS_PROBLEM - (size_t)length, format, arguments);
	va_end(arguments);
	return false;
}

bool torus_host_name(const char *pattern, int number, char *name, size_t size)
{
	size_t before = strcspn(pattern, "#"), digits = strspn(pattern + before, "#");
	const char *after = pattern + before + digits;

	if (!digits || strchr(after, '#'))
		return false;
	return (size_t)snprintf(name, size, "%.*s%0*d%s", (int)before, pattern, (int)digits, number, after) < size;
}

static bool add_host(struct reader *reader, const char *name, int place)
{
	struct torus_file *file = reader->file;
	char text[TORUS_TEXT];

	if (reader->taken[place])
		return refuse(reader, "host %.60s: %.60s is at %s already", name, file->name[reader->taken[place] - 1],
			      torus_place_text(&file->shape, place, text));
	if (file->hosts == reader->room) {
		int room = reader->room ? 2 * reader->room : 64;
		char **names = realloc(file->name, (size_t)room * sizeof *names);
		int *places;

		if (!names)
			return refuse(reader, "no memory for so many hosts");
		file->name = names;
		places = realloc(file->place, (size_t)room * sizeof *places);
		if (!places)
			return refuse(reader, "no memory for so many hosts");
		file->place = places;
		reader->room = room;
	}
	file->name[file->hosts] = strdup(name);
	if (!file->name[file->hosts])
		return refuse(reader, "no memory for so many hosts");
	file->place[file->hosts++] = place;
	reader->taken[place] = file->hosts;
	return true;
}

static bool read_shape(struct reader *reader, const char *text)
{
	struct torus_file *file = reader->file;
	char problem[TORUS_PROBLEM];

	if (file->shape.axes)
		return refuse(reader, "a second shape; a file has one");
	if (!torus_shape_read(&file->shape, text, problem)) {
		file->shape.axes = 0;
		return refuse(reader, "shape %s", problem);
	}
	reader->taken = calloc((size_t)file->shape.places, sizeof *reader->taken);
	return reader->taken || refuse(reader, "no memory for so many places");
}

static bool read_pes(struct reader *reader, const char *text)
{
	const char *at = text;
	char mark;

	if (!torus_read_size(&at, "", &reader->file->pes, &mark) || *at || reader->file->pes > 65536)
		return refuse(reader, "pes %.60s: not a number of PEs on a node; give 1 to 65536", text);
	return true;
}

static bool read_coordinates(struct reader *reader, const char *text, int *place)
{
	const struct torus_shape *shape = &reader->file->shape;
	const char *at = text;
	char whole[TORUS_TEXT];

	*place = 0;
	for (int a = 0; a < shape->axes; a++) {
		char *end;
		long c = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : -1;

		if (c < 0 || *end != (a < shape->axes - 1 ? ',' : '\0'))
			return refuse(reader, "%.60s: not a place of %s; give %d coordinate%s with commas between",
				      text, torus_shape_text(shape, whole), shape->axes, shape->axes > 1 ? "s" : "");
		if (c >= shape->axis[a].size)
			return refuse(reader, "%.60s: outside of %s; along axis %c coordinates go to %d", text,
				      torus_shape_text(shape, whole), torus_way_name(2 * a)[0],
				      shape->axis[a].size - 1);
		*place += (int)c * shape->stride[a];
		at = end + 1;
	}
	return true;
}

static bool read_pattern(struct reader *reader, const char *pattern)
{
	char name[LONGEST_NAME];

	for (int p = 0; p < reader->file->shape.places; p++) {
		if (!torus_host_name(pattern, p, name, sizeof name))
			return refuse(reader,
				      "hosts %.60s: not a pattern; give a name with # for digits, as in node###",
				      pattern);
		if (!add_host(reader, name, p))
			return false;
	}
	return true;
}

static bool read_statement(struct reader *reader, char **word, int words)
{
	bool host = !strcmp(word[0], "host"), hosts = !strcmp(word[0], "hosts");
	int place;

	if (!host && !hosts && strcmp(word[0], "shape") && strcmp(word[0], "pes"))
		return refuse(reader, "%.60s: no such statement; there are shape, pes, host and hosts", word[0]);
	if (words != (host ? 3 : 2))
		return refuse(reader, "%s: it takes %s", word[0],
			      host ? "a name and coordinates, as in: host node7 1,0,1" : "one value");
	if (!strcmp(word[0], "shape"))
		return read_shape(reader, word[1]);
	if (!strcmp(word[0], "pes"))
		return read_pes(reader, word[1]);
	if (!reader->file->shape.axes)
		return refuse(reader, "%s: no shape yet; write the shape before the first host", word[0]);
	if (hosts)
		return read_pattern(reader, word[1]);
	if (strlen(word[1]) >= LONGEST_NAME)
		return refuse(reader, "host %.60s...: its name is longer than %d letters", word[1], LONGEST_NAME - 1);
	return read_coordinates(reader, word[2], &place) && add_host(reader, word[1], place);
}

/* As in a shell, # begins a comment only where a word could begin. */
static bool read_line(struct reader *reader, char *line)
{
	char *word[5], *rest = NULL;
	int words = 0;

	for (char *next = strtok_r(line, " \t\r", &rest); next && next[0] != '#' && words < 5;
	     next = strtok_r(NULL, " \t\r", &rest))
		word[words++] = next;
	return words == 0 || read_statement(reader, word, words);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool names_differ(struct reader *reader)
{
	struct torus_file *file = reader->file;
	size_t count = (size_t)file->hosts;
	char **sorted = malloc(count * sizeof *sorted);
	bool good = true;

	if (!sorted)
		return refuse(reader, "no memory for so many hosts");
	memcpy(sorted, file->name, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_name);
	for (size_t i = 1; good && i < count; i++)
		if (!strcmp(sorted[i - 1], sorted[i])) {
			snprintf(reader->problem, TORUS_PROBLEM, "host %.60s is there twice; a host is at one place",
				 sorted[i]);
			good = false;
		}
	free(sorted);
	return good;
}

static bool read_lines(struct reader *reader, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);
		bool good;

		reader->line++;
		if (!line)
			return refuse(reader, "no memory");
		good = read_line(reader, line);
		free(line);
		if (!good)
			return false;
		text += length + (text[length] == '\n');
	}
	if (!reader->file->shape.axes)
		return torus_refuse(reader->problem, "it has no shape; it needs a line like: shape 4x4mx2");
	if (!reader->file->hosts)
		return torus_refuse(reader->problem, "it has no host; it needs lines like: host node7 1,0,1");
	return names_differ(reader);
}

bool torus_file_read(struct torus_file *file, const char *text, char problem[TORUS_PROBLEM])
{
	struct reader reader = {.file = file, .problem = problem};
	bool good;

	memset(file, 0, sizeof *file);
	file->pes = 1;
	good = read_lines(&reader, text);
	free(reader.taken);
	if (!good)
		torus_file_free(file);
	return good;
}

void torus_file_free(struct torus_file *file)
{
	for (int i = 0; i < file->hosts; i++)
		free(file->name[i]);
	free(file->name);
	free(file->place);
	memset(file, 0, sizeof *file);
}
