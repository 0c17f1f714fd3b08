/* SPDX-License-Identifier: BSD-3-Clause */
#include "slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sites.h"

enum { DIMENSIONS = 3, LONGEST_LIST = 1 << 14 };

/* --- slurm.conf --- */

/* The value behind "key =", in any case, at the beginning of the text; NULL: something else is there. */
static const char *value_of(const char *text, const char *key)
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

/* The line behind this one; NULL: there is none. */
static const char *next_line(const char *line)
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

	for (const char *line = conf; line; line = next_line(line)) {
		const char *value = value_of(line + strspn(line, " \t"), "TopologyPlugin");

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

/* --- Lists of names --- */

static bool item_has(const char *item, const char *end, const char *name);

/* Does a number of "01-18,20", between brackets, begin the name, and the rest of the item match the rest of the name? */
static bool ranges_have(const char *ranges, const char *rest, const char *end, const char *name)
{
	for (const char *range = ranges; range < rest - 1;) {
		char *after;
		unsigned long first = strtoul(range, &after, 10), last = first;
		int width = (int)(after - range), digits = (int)strspn(name, "0123456789");

		if (width == 0 || width > 9)
			return false;
		if (*after == '-')
			last = strtoul(after + 1, &after, 10);
		for (int length = width; length < 10 && digits >= length; length++) {
			unsigned long number = 0;

			for (int i = 0; i < length; i++)
				number = 10 * number + (unsigned long)(name[i] - '0');
			/* Longer than the first one only without zeros before it. */
			if (number >= first && number <= last && (length == width || name[0] != '0') &&
			    item_has(rest, end, name + length))
				return true;
		}
		if (*after != ',')
			return false;
		range = after + 1;
	}
	return false;
}

static bool item_has(const char *item, const char *end, const char *name)
{
	while (item < end && *item != '[') {
		if (*item++ != *name++)
			return false;
	}
	if (item < end) {
		const char *rest = memchr(item, ']', (size_t)(end - item));

		return rest && ranges_have(item + 1, rest + 1, end, name);
	}
	return !*name || *name == '.';
}

/* Where the item ends: at a comma outside of brackets. */
static const char *item_end(const char *item)
{
	bool inside = false;

	for (; *item && (inside || *item != ','); item++)
		inside = *item == '[' || (inside && *item != ']');
	return item;
}

bool slurm_list_has(const char *list, const char *name)
{
	while (*list) {
		const char *end = item_end(list);

		if (item_has(list, end, name))
			return true;
		list = *end ? end + 1 : end;
	}
	return false;
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
	for (const char *line = nodes; line; line = next_line(line)) {
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

/* False: a host is not in the machine, or another one is in its place. */
static bool find_host_places(const struct torus_shape *machine, char *const *host, size_t hosts, int *place)
{
	int first[DIMENSIONS], at[DIMENSIONS], prefix = read_coordinates(host[0], first);
	bool *taken = calloc((size_t)machine->places, sizeof *taken), good = taken;

	for (size_t h = 0; good && h < hosts; h++) {
		good = read_coordinates(host[h], at) == prefix && !strncmp(host[h], host[0], (size_t)prefix);
		for (int a = 0; good && a < DIMENSIONS; a++)
			good = at[a] < machine->axis[a].size;
		if (!good)
			break;
		place[h] = torus_place_at(machine, at);
		good = !taken[place[h]];
		taken[place[h]] = true;
	}
	free(taken);
	return good;
}

static bool is_whole_box(const struct torus_shape *machine, const int *place, size_t hosts)
{
	struct torus_sites sites = {.nodes = 0};
	struct torus_box box;
	bool whole = torus_sites_some(&sites, &box, machine, place, (int)hosts) && sites.shape.places == (int)hosts;

	torus_sites_free(&sites);
	return whole;
}

static char *shape_line(const struct torus_shape *shape, char *const *host, const int *place, size_t hosts)
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

char *slurm_torus(const char *nodes, char *const *host, size_t hosts)
{
	struct torus_shape machine;
	int *place = calloc(hosts + 1, sizeof *place);
	char *line = NULL;

	if (place && hosts > 0 && find_machine(&machine, nodes, host[0]) &&
	    find_host_places(&machine, host, hosts, place) && is_whole_box(&machine, place, hosts))
		line = shape_line(&machine, host, place, hosts);
	free(place);
	return line;
}

/* --- Blocks --- */

struct blocks {
	char *const *host;
	size_t hosts;
	int *block; /* by host, -1: none */
	int count;
};

static void add_block(struct blocks *blocks, const char *nodes)
{
	char list[LONGEST_LIST];
	size_t length = strcspn(nodes, " \t\r\n#'\"");
	bool used = false;

	if (length >= sizeof list)
		return;
	memcpy(list, nodes, length);
	list[length] = '\0';
	for (size_t h = 0; h < blocks->hosts; h++)
		if (blocks->block[h] < 0 && slurm_list_has(list, blocks->host[h])) {
			blocks->block[h] = blocks->count;
			used = true;
		}
	blocks->count += used;
}

static void forget_blocks(struct blocks *blocks)
{
	blocks->count = 0;
	for (size_t h = 0; h < blocks->hosts; h++)
		blocks->block[h] = -1;
}

/* "BlockName=b1 Nodes=node[01-18]" */
static void read_conf(struct blocks *blocks, const char *text)
{
	for (const char *line = text; line; line = next_line(line)) {
		const char *word = line + strspn(line, " \t");

		if (!value_of(word, "BlockName"))
			continue;
		while (*++word && *word != '\n' && *word != '#')
			if ((word[-1] == ' ' || word[-1] == '\t') && value_of(word, "Nodes"))
				add_block(blocks, value_of(word, "Nodes"));
	}
}

/* What a line of YAML says of a key: the value behind "key:", "" if it is on lines below; NULL: it is another key. */
static const char *yaml_value(const char *line, const char *key)
{
	size_t length = strlen(key);

	line += strspn(line, " -\t");
	if (strncmp(line, key, length) != 0 || line[length] != ':')
		return NULL;
	line += length + 1;
	line += strspn(line, " \t'\"");
	return *line == '\n' || *line == '\r' || *line == '#' ? "" : line;
}

/* Nodes of other topologies than blocks do not count, nor those of a topology behind the default of the cluster. */
static void read_yaml(struct blocks *blocks, const char *text)
{
	bool in_blocks = false, is_default = false;
	int topologies = 0;

	for (const char *line = text; line; line = next_line(line)) {
		const char *value;

		if (yaml_value(line, "topology")) {
			if (is_default)
				return;
			forget_blocks(blocks);
			in_blocks = false;
			topologies++;
		} else if ((value = yaml_value(line, "cluster_default"))) {
			is_default = !strncasecmp(value, "true", 4);
		} else if (yaml_value(line, "blocks")) {
			in_blocks = true;
		} else if (in_blocks && (value = yaml_value(line, "nodes"))) {
			add_block(blocks, value);
		}
	}
	if (topologies > 1 && !is_default)
		forget_blocks(blocks);
}

/* Place of each host: those of a block behind one another. False: blocks have different numbers of hosts. */
static bool place_in_blocks(const struct blocks *blocks, int *place)
{
	int size = blocks->count > 1 ? (int)blocks->hosts / blocks->count : 0, *used;
	bool good = size > 1 && size * blocks->count == (int)blocks->hosts;

	used = good ? calloc((size_t)blocks->count, sizeof *used) : NULL;
	for (size_t h = 0; used && good && h < blocks->hosts; h++) {
		int block = blocks->block[h];

		good = block >= 0 && used[block] < size;
		if (good)
			place[h] = block * size + used[block]++;
	}
	good = good && used;
	free(used);
	return good;
}

/* The nodes of a block are as near a square as their number allows. */
static bool make_block_shape(struct torus_shape *shape, int count, int size)
{
	struct torus_shape inside;

	torus_shape_guess(&inside, size, 2);
	*shape = (struct torus_shape){.axes = inside.axes + 1, .axis = {{count, count > 2}}};
	memcpy(&shape->axis[1], inside.axis, (size_t)inside.axes * sizeof inside.axis[0]);
	return torus_shape_complete(shape);
}

char *slurm_blocks(const char *topology, bool yaml, char *const *host, size_t hosts)
{
	int *numbers = calloc(2 * hosts + 1, sizeof *numbers), *place;
	struct blocks blocks = {host, hosts, numbers, 0};
	struct torus_shape shape;
	char *line = NULL;

	if (!numbers)
		return NULL;
	place = numbers + hosts;
	forget_blocks(&blocks);
	if (yaml)
		read_yaml(&blocks, topology);
	else
		read_conf(&blocks, topology);
	if (place_in_blocks(&blocks, place) && make_block_shape(&shape, blocks.count, (int)hosts / blocks.count))
		line = shape_line(&shape, host, place, hosts);
	free(numbers);
	return line;
}
