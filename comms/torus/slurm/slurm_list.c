/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "comms/torus/shape.h"
#include "slurm.h"

enum { MOST_DIGITS = 9 };

/* "01-18" */
struct range {
	unsigned long first, last;
	int width; /* digits of the first number */
};

/* Returns what is behind the range, a comma or the bracket; NULL: it is none. */
static const char *read_range(struct range *range, const char *text)
{
	char *end;
	size_t width = strspn(text, "0123456789"), width_of_last;

	if (width == 0 || width > MOST_DIGITS)
		return NULL;
	range->width = (int)width;
	range->first = range->last = strtoul(text, &end, 10);
	if (*end == '-') {
		width_of_last = strspn(end + 1, "0123456789");
		if (width_of_last == 0 || width_of_last > MOST_DIGITS)
			return NULL;
		range->last = strtoul(end + 1, &end, 10);
	}
	return range->last >= range->first && (*end == ',' || *end == ']') ? end : NULL;
}

/* How many numbers are between the bracket and the one that closes it; *end: what is behind that. 0: they are malformed, or too many. */
static unsigned long count_numbers(const char *bracket, const char **end)
{
	struct range range;
	unsigned long count = 0;
	const char *at = bracket;

	do {
		at = read_range(&range, at + 1);
		count += at ? range.last - range.first + 1 : 0;
		if (!at || count > TORUS_PLACES)
			return 0;
	} while (*at == ',');
	*end = at + 1;
	return count;
}

/* How many names an item stands for; 0: it is malformed. */
static unsigned long count_item(const char *item, const char *end)
{
	unsigned long count = 1;

	while (item < end) {
		if (*item == ']')
			return 0;
		if (*item != '[') {
			item++;
			continue;
		}
		count *= count_numbers(item, &item);
		if (count == 0 || count > TORUS_PLACES)
			return 0;
	}
	return count;
}

/*
 * Slurm counts the last brackets of an item fastest, then the first, the second and so on. step: how many names the last brackets and those
 * before the item stand for.
 */
static long find_in_item(const char *item, const char *end, const char *name, unsigned long step);

/* What is before the bracket is not in the name any more. */
static long find_in_numbers(const char *bracket, const char *end, const char *name, unsigned long step)
{
	int digits = (int)strspn(name, "0123456789");
	const char *rest, *at = bracket;
	unsigned long count = count_numbers(bracket, &rest), before = 0;
	unsigned long weight = memchr(rest, '[', (size_t)(end - rest)) ? step : 1;
	struct range range;

	do {
		at = read_range(&range, at + 1);
		for (int length = range.width; length <= MOST_DIGITS && digits >= length; length++) {
			unsigned long number = 0;
			long inside;

			for (int i = 0; i < length; i++)
				number = 10 * number + (unsigned long)(name[i] - '0');
			/* Longer than the first one only without zeros before it. */
			if (number < range.first || number > range.last || (length > range.width && name[0] == '0'))
				continue;
			inside = find_in_item(rest, end, name + length, step * count);
			if (inside >= 0)
				return (long)((before + number - range.first) * weight) + inside;
		}
		before += range.last - range.first + 1;
	} while (*at == ',');
	return -1;
}

static long find_in_item(const char *item, const char *end, const char *name, unsigned long step)
{
	while (item < end && *item != '[')
		if (*item++ != *name++)
			return -1;
	if (item < end)
		return find_in_numbers(item, end, name, step);
	return !*name || *name == '.' ? 0 : -1;
}

/* Of a well-formed item. */
static unsigned long count_last_numbers(const char *item, const char *end)
{
	unsigned long count = 1;

	while ((item = memchr(item, '[', (size_t)(end - item))))
		count = count_numbers(item, &item);
	return count;
}

/* Where the item ends: at a comma or blank outside of brackets. */
static const char *item_end(const char *item)
{
	bool inside = false;

	for (; *item && (inside || !strchr(", \t", *item)); item++)
		inside = *item == '[' || (inside && *item != ']');
	return item;
}

/* Goes through the list; name may be NULL. Returns how many names are before it, or in the list; -1: the list is malformed. */
static long walk_list(const char *list, const char *name, bool *found)
{
	unsigned long before = 0;

	*found = false;
	for (list += strspn(list, ", \t"); *list; list += strspn(list, ", \t")) {
		const char *end = item_end(list);
		unsigned long count = count_item(list, end);
		long inside = -1;

		if (count > 0 && name)
			inside = find_in_item(list, end, name, count_last_numbers(list, end));
		if (count == 0 || before + count > TORUS_PLACES)
			return -1;
		*found = inside >= 0;
		if (*found)
			return (long)before + inside;
		before += count;
		list = end;
	}
	return (long)before;
}

long slurm_list_count(const char *list)
{
	bool found;

	return walk_list(list, NULL, &found);
}

long slurm_list_position(const char *list, const char *name)
{
	bool found;
	long position = walk_list(list, name, &found);

	return found ? position : -1;
}
