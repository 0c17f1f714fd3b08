/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 256
#define MOST_TIMES 1e6 /* slower */

struct reader {
	struct torus_file *file;
	int room;   /* number of hosts that fit */
	int *taken; /* by place: the host there plus 1; negative: it is dead */
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

static bool add_host(struct reader *reader, const char *name, int place)
{
	struct torus_file *file = reader->file;
	char text[TORUS_TEXT];

	if (reader->taken[place])
		return refuse(reader, "host %.60s: %.60s is at %s already", name,
			      file->name[abs(reader->taken[place]) - 1], torus_place_text(&file->shape, place, text));
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

static bool read_shape(struct reader *reader, char **word)
{
	struct torus_file *file = reader->file;
	char problem[TORUS_PROBLEM];

	if (file->shape.axes)
		return refuse(reader, "a second shape; a file has one");
	if (!torus_shape_read(&file->shape, word[0], problem)) {
		file->shape.axes = 0;
		return refuse(reader, "shape %s", problem);
	}
	reader->taken = calloc((size_t)file->shape.places, sizeof *reader->taken);
	return reader->taken || refuse(reader, "no memory for so many places");
}

static bool read_pes(struct reader *reader, char **word)
{
	const char *at = word[0];
	char mark;

	if (!torus_read_size(&at, "", &reader->file->pes, &mark) || *at || reader->file->pes > 65536)
		return refuse(reader, "pes %.60s: not a number of PEs on a node; give 1 to 65536", word[0]);
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
				      torus_shape_text(shape, whole), torus_direction_name(2 * a)[0],
				      shape->axis[a].size - 1);
		*place += (int)c * shape->stride[a];
		at = end + 1;
	}
	return true;
}

static bool read_pattern(struct reader *reader, char **word)
{
	const char *pattern = word[0];
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

static bool read_host(struct reader *reader, char **word)
{
	int place;

	if (strlen(word[0]) >= LONGEST_NAME)
		return refuse(reader, "host %.60s...: its name is longer than %d letters", word[0], LONGEST_NAME - 1);
	return read_coordinates(reader, word[1], &place) && add_host(reader, word[0], place);
}

/* A host by its name, or a place by its coordinates. */
static bool read_where(struct reader *reader, const char *text, int *place)
{
	const struct torus_file *file = reader->file;

	if (text[strspn(text, "0123456789,")] == '\0')
		return read_coordinates(reader, text, place);
	for (int h = 0; h < file->hosts; h++)
		if (!strcmp(file->name[h], text)) {
			*place = file->place[h];
			return true;
		}
	return refuse(reader,
		      "%.60s: no such host up to here; give its coordinates, or its name behind the line with it",
		      text);
}

static bool add_flaw(struct reader *reader, int place, int direction, float share)
{
	struct torus_file *file = reader->file;

	/* Grows when the number is a power of two. */
	if ((file->flaws & (file->flaws - 1)) == 0) {
		size_t room = file->flaws ? 2 * (size_t)file->flaws : 1;
		struct torus_flaw *flaw = realloc(file->flaw, room * sizeof *flaw);

		if (!flaw)
			return refuse(reader, "no memory for so many flaws");
		file->flaw = flaw;
	}
	file->flaw[file->flaws++] = (struct torus_flaw){place, direction, share};
	return true;
}

static bool has_cable(const struct torus_shape *shape, int place, int direction)
{
	return shape->axis[direction / 2].size > 1 && torus_neighbour(shape, place, direction) >= 0;
}

/* -1: none; the reason has been reported. */
static int read_direction(struct reader *reader, const char *text, int place)
{
	const struct torus_shape *shape = &reader->file->shape;
	char where[TORUS_TEXT];
	int direction = 0;

	while (direction < 2 * shape->axes && strcmp(text, torus_direction_name(direction)) != 0)
		direction++;
	if (direction == 2 * shape->axes)
		refuse(reader, "%.60s: not a direction; give one of x+ to %s", text,
		       torus_direction_name(direction - 1));
	else if (!has_cable(shape, place, direction))
		refuse(reader, "%.60s: no cable leaves %s in this direction", text,
		       torus_place_text(shape, place, where));
	else
		return direction;
	return -1;
}

static bool read_flaw(struct reader *reader, const char *text, int place, float share)
{
	int direction = read_direction(reader, text, place);

	return direction >= 0 && add_flaw(reader, place, direction, share);
}

static bool read_port(struct reader *reader, char **word)
{
	struct torus_file *file = reader->file;
	struct torus_port *port = file->port;
	int place, direction;

	if (!read_where(reader, word[0], &place) || (direction = read_direction(reader, word[1], place)) < 0)
		return false;
	/* Grows when the number is a power of two. */
	if ((file->ports & (file->ports - 1)) == 0)
		port = realloc(port, (file->ports ? 2 * (size_t)file->ports : 1) * sizeof *port);
	if (!port)
		return refuse(reader, "no memory for so many ports");
	file->port = port;
	file->port[file->ports] = (struct torus_port){place, direction, strdup(word[2])};
	return file->port[file->ports++].name || refuse(reader, "no memory for so many ports");
}

/* One end of a cable: a host that has been named, and its port. */
static bool read_end(struct reader *reader, char **word, struct torus_cable *cable, int end)
{
	const struct torus_file *file = reader->file;
	char where[TORUS_TEXT];
	int place;

	if (!read_where(reader, word[0], &place))
		return false;
	if (!reader->taken[place])
		return refuse(reader, "cable at %s: no host is there up to here; write its line before",
			      torus_place_text(&file->shape, place, where));
	if (strlen(word[1]) >= TORUS_PORT)
		return refuse(reader, "cable: port %.60s: the name of an interface has at most %d letters", word[1],
			      TORUS_PORT - 1);
	cable->host[end] = abs(reader->taken[place]) - 1;
	strcpy(cable->port[end], word[1]);
	for (int c = 0; c < file->cables; c++)
		for (int other = 0; other < 2; other++)
			if (file->cable[c].host[other] == cable->host[end] &&
			    !strcmp(file->cable[c].port[other], word[1]))
				return refuse(reader, "cable: %.60s %s is the end of another cable already", word[0],
					      word[1]);
	return true;
}

static bool read_cable(struct reader *reader, char **word)
{
	struct torus_file *file = reader->file;
	struct torus_cable cable;

	if (!read_end(reader, word, &cable, 0) || !read_end(reader, word + 2, &cable, 1))
		return false;
	if (cable.host[0] == cable.host[1])
		return refuse(reader, "cable: both of its ends, %s and %s, are at %.60s; a cable joins two hosts",
			      cable.port[0], cable.port[1], word[0]);
	/* Grows when the number is a power of two. */
	if ((file->cables & (file->cables - 1)) == 0) {
		size_t room = file->cables ? 2 * (size_t)file->cables : 1;
		struct torus_cable *more = realloc(file->cable, room * sizeof *more);

		if (!more)
			return refuse(reader, "no memory for so many cables");
		file->cable = more;
	}
	file->cable[file->cables++] = cable;
	return true;
}

static bool read_dead(struct reader *reader, char **word)
{
	char where[TORUS_TEXT];
	int place;

	if (!read_where(reader, word[0], &place))
		return false;
	if (word[1])
		return read_flaw(reader, word[1], place, 0);
	if (!reader->taken[place])
		return refuse(reader, "dead %s: no host is there up to here; write its line before",
			      torus_place_text(&reader->file->shape, place, where));
	reader->taken[place] = -abs(reader->taken[place]);
	return true;
}

static bool read_slow(struct reader *reader, char **word)
{
	const struct torus_shape *shape = &reader->file->shape;
	char *end;
	double times = strtod(word[0], &end);
	bool good;
	int place;

	if (end == word[0] || *end || !(times > 1 && times <= MOST_TIMES))
		return refuse(reader, "slow %.60s: not a factor; give a number above 1, to %.0f", word[0], MOST_TIMES);
	good = read_where(reader, word[1], &place);
	if (good && word[2])
		return read_flaw(reader, word[2], place, (float)(1 / times));
	for (int direction = 0; good && direction < 2 * shape->axes; direction++)
		good = !has_cable(shape, place, direction) || add_flaw(reader, place, direction, (float)(1 / times));
	return good;
}

static const struct {
	const char *name;
	int least, most; /* number of words after the name */
	bool (*read)(struct reader *reader, char **word);
	const char *takes;
} statements[] = {
	{"shape", 1, 1, read_shape, "one value"},
	{"pes", 1, 1, read_pes, "one value"},
	{"host", 2, 2, read_host, "a name and coordinates, as in: host node7 1,0,1"},
	{"hosts", 1, 1, read_pattern, "one value"},
	{"dead", 1, 2, read_dead, "a host and perhaps a direction, as in: dead node7 x+"},
	{"port", 3, 3, read_port, "a host, a direction and an interface, as in: port node7 x+ eth2"},
	{"cable", 4, 4, read_cable, "two hosts, each with its port, as in: cable node7 eth2 node8 eth1"},
	{"slow", 2, 3, read_slow, "a number, a host and perhaps a direction, as in: slow 4 node7 x+"},
};

/* NULL follows the last word. */
static bool read_statement(struct reader *reader, char **word, int words)
{
	size_t s = 0, count = sizeof statements / sizeof statements[0];

	while (s < count && strcmp(word[0], statements[s].name) != 0)
		s++;
	if (s == count)
		return refuse(reader,
			      "%.60s: no such statement; there are shape, pes, host, hosts, dead, slow, port and cable",
			      word[0]);
	if (words - 1 < statements[s].least || words - 1 > statements[s].most)
		return refuse(reader, "%s: it takes %s", word[0], statements[s].takes);
	if (!reader->file->shape.axes && statements[s].read != read_shape && statements[s].read != read_pes)
		return refuse(reader, "%s: no shape yet; write the shape before the first host", word[0]);
	return statements[s].read(reader, word + 1);
}

/* As in a shell, # begins a comment only at the start of a word. */
static bool read_line(struct reader *reader, char *line)
{
	char *word[7] = {NULL}, *rest = NULL;
	int words = 0;

	for (char *next = strtok_r(line, " \t\r", &rest); next && next[0] != '#' && words < 6;
	     next = strtok_r(NULL, " \t\r", &rest))
		word[words++] = next;
	return words == 0 || read_statement(reader, word, words);
}

static int compare_names(const void *left, const void *right)
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
	qsort(sorted, count, sizeof *sorted, compare_names);
	for (size_t i = 1; good && i < count; i++)
		if (!strcmp(sorted[i - 1], sorted[i])) {
			snprintf(reader->problem, TORUS_PROBLEM, "host %.60s is there twice; a host is at one place",
				 sorted[i]);
			good = false;
		}
	free(sorted);
	return good;
}

/* Numbers the ends anew for a list without dead hosts, and drops the cables that lead to those. */
static void drop_dead_cables(struct reader *reader, const int *new_number)
{
	struct torus_file *file = reader->file;
	int left = 0;

	for (int c = 0; c < file->cables; c++) {
		struct torus_cable *cable = &file->cable[c];

		for (int end = 0; end < 2; end++)
			cable->host[end] = new_number[cable->host[end]];
		if (cable->host[0] >= 0 && cable->host[1] >= 0)
			file->cable[left++] = *cable;
	}
	file->cables = left;
}

/* Removes dead hosts from the list, but keeps their names for look-ups. */
static bool bury_dead(struct reader *reader)
{
	struct torus_file *file = reader->file;
	int left = 0, *new_number = malloc((size_t)file->hosts * sizeof *new_number);

	file->dead_name = malloc((size_t)file->hosts * sizeof *file->dead_name);
	if (!file->dead_name || !new_number) {
		free(new_number);
		return torus_refuse(reader->problem, "no memory for so many hosts");
	}
	for (int h = 0; h < file->hosts; h++) {
		new_number[h] = reader->taken[file->place[h]] < 0 ? -1 : left;
		if (new_number[h] < 0) {
			file->dead_name[file->dead++] = file->name[h];
		} else {
			file->name[left] = file->name[h];
			file->place[left++] = file->place[h];
		}
	}
	file->hosts = left;
	drop_dead_cables(reader, new_number);
	free(new_number);
	return left || torus_refuse(reader->problem, "all its hosts are dead");
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
	return names_differ(reader) && bury_dead(reader);
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
