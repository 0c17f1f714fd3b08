/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "slurm.h"

#define DIGITS "0123456789"

enum { MOST_DIGITS = 9 };

/* --- Lists of nodes, as in "node[01-18,20],login" --- */

/* Are the first digits of the name in the range at the beginning of the text, "01-18" or "20"? */
static bool is_in_range(const char *range, const char *name, int digits)
{
	size_t width = strspn(range, DIGITS);
	char number[MOST_DIGITS + 1] = "", *end;
	unsigned long first, last, n;

	/*
	 * "08-12" has numbers of two digits; "8-12" has 8 to 12 without zeros in front. So a number
	 * may have more digits than the range begins with, if the first digit is not 0.
	 */
	if (width == 0 || width > MOST_DIGITS || digits < (int)width || (digits > (int)width && name[0] == '0'))
		return false;
	memcpy(number, name, (size_t)digits);
	n = strtoul(number, NULL, 10);
	first = last = strtoul(range, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, NULL, 10);
	return n >= first && n <= last;
}

/*
 * Is the node's name one that this item of a list describes? The item ends at `end`; "node[01-18]a"
 * describes node01a to node18a. A domain behind the name, as in node01a.example, does not count.
 */
static bool item_has(const char *item, const char *end, const char *name)
{
	const char *close;

	for (; item < end && *item != '['; item++)
		if (*item != *name++)
			return false;
	if (item == end)
		return !*name || *name == '.';
	close = memchr(item, ']', (size_t)(end - item));
	while (close && ++item < close) {
		for (int digits = 1; digits <= MOST_DIGITS && isdigit((unsigned char)name[digits - 1]); digits++)
			if (is_in_range(item, name, digits) && item_has(close + 1, end, name + digits))
				return true;
		item += strcspn(item, ",]");
	}
	return false;
}

/* Where the item ends: at a comma, a blank or a line's end outside of brackets. */
static const char *item_end(const char *item)
{
	bool inside = false;

	for (; *item && *item != '\n' && (inside || !strchr(", \t\r#'\"", *item)); item++)
		inside = *item == '[' || (inside && *item != ']');
	return item;
}

static bool list_has(const char *list, const char *name)
{
	for (const char *end;; list = end + 1) {
		end = item_end(list);
		if (item_has(list, end, name))
			return true;
		if (*end != ',')
			return false;
	}
}

/* --- Blocks --- */

/* The nodes in a line such as "BlockName=b1 Nodes=node[01-18]"; NULL: it is no such line. */
static const char *nodes_of(const char *line)
{
	const char *word = line + strspn(line, " \t"), *nodes;

	if (!slurm_value_of(word, "BlockName"))
		return NULL;
	while (*++word && *word != '\n' && *word != '#')
		if ((word[-1] == ' ' || word[-1] == '\t') && (nodes = slurm_value_of(word, "Nodes")))
			return nodes;
	return NULL;
}

/*
 * Numbers the blocks that have hosts of the job. Returns how many there are; block: by host, -1:
 * none.
 */
static int find_blocks(const char *topology, char *const *host, size_t hosts, int *block)
{
	int count = 0;

	for (size_t h = 0; h < hosts; h++)
		block[h] = -1;
	for (const char *line = topology; line; line = slurm_next_line(line)) {
		const char *nodes = nodes_of(line);
		bool used = false;

		for (size_t h = 0; nodes && h < hosts; h++)
			if (block[h] < 0 && list_has(nodes, host[h])) {
				block[h] = count;
				used = true;
			}
		count += used;
	}
	return count;
}

/*
 * Turns the block of each host into its place: those of a block behind one another. False: blocks
 * have different numbers of hosts.
 */
static bool place_in_blocks(int count, int size, int *place, size_t hosts)
{
	int *used = calloc((size_t)count, sizeof *used);
	bool good = used;

	for (size_t h = 0; good && h < hosts; h++) {
		int block = place[h];

		good = block >= 0 && used[block] < size;
		if (good)
			place[h] = block * size + used[block]++;
	}
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

char *slurm_blocks(const char *topology, char *const *host, size_t hosts)
{
	int *place = malloc((hosts + 1) * sizeof *place);
	int count = place ? find_blocks(topology, host, hosts, place) : 0;
	int size = count > 1 ? (int)hosts / count : 0;
	struct torus_shape shape;
	char *line = NULL;

	if (size > 1 && size * count == (int)hosts && place_in_blocks(count, size, place, hosts) &&
	    make_block_shape(&shape, count, size))
		line = slurm_shape_line(&shape, host, place, hosts);
	free(place);
	return line;
}
