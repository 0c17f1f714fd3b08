/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the order of axes so that host names follow the places. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define MOST_TURNS 4096 /* orders of the axes that are tried */

/* The number at the end of all names, if they differ in nothing else; otherwise false. */
static bool read_numbers(const struct cabling *cabling, int *number)
{
	size_t common = 0;

	for (int h = 0; h < cabling->hosts; h++) {
		const char *name = cabling->name[h];
		size_t digits = strcspn(name, ".");

		while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
			digits--;
		if (!isdigit((unsigned char)name[digits]) ||
		    strlen(name + digits) > 9 + strlen(name + strcspn(name, ".")))
			return false;
		if (h == 0)
			common = digits;
		if (digits != common || strncmp(name, cabling->name[0], common) != 0)
			return false;
		number[h] = atoi(name + digits);
	}
	return true;
}

/* The next permutation, in lexicographic order; false after the last. */
static bool next_order(int *order, int count)
{
	int i = count - 2, j = count - 1;

	while (i >= 0 && order[i] > order[i + 1])
		i--;
	if (i < 0)
		return false;
	while (order[j] < order[i])
		j--;
	for (int kept = order[i], a = (order[i] = order[j], order[j] = kept, i + 1), b = count - 1; a < b; a++, b--) {
		int swapped = order[a];

		order[a] = order[b];
		order[b] = swapped;
	}
	return true;
}

struct ordering {
	struct cabling_turn turn; /* axes in their counting order */
	int agree;
};

/*
 * Number of hosts at the place that their number gives with this order of axes, after the best
 * shift of the rings.
 */
static void try_turn(const struct cabling_layout *layout, const int *number, int hosts, const struct cabling_turn *turn,
		     int *count, struct ordering *best)
{
	struct torus_shape shape = {.axes = turn->axes};

	for (int a = 0; a < turn->axes; a++)
		shape.axis[a] = layout->shape.axis[turn->from[a]];
	torus_shape_complete(&shape);
	memset(count, 0, (size_t)shape.places * sizeof *count);
	for (int h = 0; h < hosts; h++) {
		struct cabling_turn shifted = *turn;
		int index = 0, at;

		if (layout->place[h] < 0 || number[h] < 0 || number[h] >= shape.places)
			continue;
		at = cabling_turn_place(turn, &layout->shape, &shape, layout->place[h]);
		for (int a = 0; index >= 0 && a < shape.axes; a++) {
			int size = shape.axis[a].size;

			shifted.shift[a] =
				(torus_coordinate(&shape, number[h], a) - torus_coordinate(&shape, at, a) + size) %
				size;
			index = shifted.shift[a] && !shape.axis[a].ring && size > 1
					? -1
					: index + shifted.shift[a] * shape.stride[a];
		}
		if (index >= 0 && ++count[index] > best->agree) {
			best->agree = count[index];
			best->turn = shifted;
		}
	}
}

static bool find_ordering(const struct cabling_work *work, const struct cabling_layout *layout, const int *number,
			  struct ordering *best)
{
	int *count = malloc((size_t)layout->shape.places * sizeof *count), turns = 0;
	struct cabling_turn turn = cabling_no_turn(&layout->shape);
	unsigned masks = work->rule.named ? 1 : 1u << layout->shape.axes;

	if (!count)
		return false;
	do {
		for (unsigned mask = 0; mask < masks && turns < MOST_TURNS; mask++, turns++) {
			for (int a = 0; a < turn.axes; a++)
				turn.down[a] = mask >> a & 1;
			try_turn(layout, number, work->cabling->hosts, &turn, count, best);
		}
	} while (next_order(turn.from, turn.axes) && turns < MOST_TURNS);
	free(count);
	return true;
}

/* Named axes keep their order, whatever the host names suggest. */
static void apply_ordering(struct cabling_work *work, struct cabling_layout *layout, const struct ordering *best,
			   const int *number, int *expected)
{
	struct cabling_turn turn = best->turn;
	struct torus_shape counted = {.axes = turn.axes};

	for (int a = 0; a < turn.axes; a++)
		counted.axis[a] = layout->shape.axis[turn.from[a]];
	torus_shape_complete(&counted);
	if (work->rule.named) {
		turn = cabling_no_turn(&layout->shape);
		for (int a = 0; a < turn.axes; a++)
			turn.shift[best->turn.from[a]] = best->turn.shift[a];
	}
	cabling_turn_layout(work, layout, &turn);
	for (int h = 0; h < work->cabling->hosts; h++) {
		int at[TORUS_AXES];

		expected[h] = -1;
		if (number[h] < 0 || number[h] >= counted.places)
			continue;
		for (int a = 0; a < turn.axes; a++)
			at[work->rule.named ? best->turn.from[a] : a] = torus_coordinate(&counted, number[h], a);
		expected[h] = torus_place_at(&layout->shape, at);
	}
}

/* Moves the first host to place 0, as far as rings can be shifted. */
static void begin_with_first(struct cabling_work *work, struct cabling_layout *layout)
{
	struct cabling_turn turn = cabling_no_turn(&layout->shape);
	int h = 0;

	while (h < work->cabling->hosts && layout->place[h] < 0)
		h++;
	for (int a = 0; h < work->cabling->hosts && a < turn.axes; a++) {
		const struct torus_axis *axis = &layout->shape.axis[a];

		if (axis->ring)
			turn.shift[a] =
				(axis->size - torus_coordinate(&layout->shape, layout->place[h], a)) % axis->size;
	}
	cabling_turn_layout(work, layout, &turn);
}

/* Hosts without cables go where their names suggest, or to the only place left. */
static void place_others(const struct cabling_work *work, struct cabling_layout *layout, const int *expected)
{
	int left = 0, last = -1, free_place = -1;

	for (int h = 0; h < work->cabling->hosts; h++) {
		if (layout->place[h] >= 0)
			continue;
		if (expected[h] >= 0 && layout->host[expected[h]] < 0) {
			layout->place[h] = expected[h];
			layout->host[expected[h]] = h;
			continue;
		}
		left++;
		last = h;
	}
	if (left != 1)
		return;
	for (int p = 0; p < layout->shape.places; p++) {
		if (layout->host[p] >= 0)
			continue;
		if (free_place >= 0)
			return;
		free_place = p;
	}
	if (free_place < 0)
		return;
	layout->place[last] = free_place;
	layout->host[free_place] = last;
}

static int number_of(const int *numbers, int how, int least, int host)
{
	return how == 3 ? host : numbers[host] - (how == 0 ? least : how - 1);
}

bool cabling_put_in_order(struct cabling_work *work, struct cabling_layout *layout, int *expected, bool *ordered)
{
	int hosts = work->cabling->hosts, least, chosen = 3, placed = 0;
	int *numbers = calloc(2 * (size_t)hosts, sizeof *numbers), *number = numbers + hosts;
	struct ordering best = {.agree = 0};
	bool counted, good;

	cabling_drop_axes_of_one(work, layout);
	if (!numbers || !cabling_find_rings(work, layout)) {
		free(numbers);
		return false;
	}
	good = true;
	counted = read_numbers(work->cabling, numbers);
	least = counted ? numbers[0] : 0;
	for (int h = 0; h < hosts; h++) {
		least = counted && numbers[h] < least ? numbers[h] : least;
		placed += layout->place[h] >= 0;
		expected[h] = -1;
	}
	/* Names count from their minimum, from 0 or from 1; or the list is in order. */
	for (int how = counted ? 0 : 3; good && how < 4; how++) {
		int before = best.agree;

		for (int h = 0; h < hosts; h++)
			number[h] = number_of(numbers, how, least, h);
		good = find_ordering(work, layout, number, &best);
		chosen = best.agree > before ? how : chosen;
	}
	for (int h = 0; h < hosts; h++)
		number[h] = number_of(numbers, chosen, least, h);
	*ordered = good && best.agree >= 2 && 5 * best.agree >= 3 * placed;
	if (*ordered)
		apply_ordering(work, layout, &best, number, expected);
	else if (good)
		begin_with_first(work, layout);
	place_others(work, layout, expected);
	free(numbers);
	return good;
}
