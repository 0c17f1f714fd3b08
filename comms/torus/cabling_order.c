/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes are rings, where a mesh begins, and how the axes are counted so that the names of hosts follow the places. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define MOST_TURNS 4096 /* ways to count the axes that are tried */

/* --- Moving all hosts --- */

/* From a place of the layout to one of another shape: axis i of it is axis from[i] of the layout, counted down and shifted. */
struct turn {
	int axes, from[TORUS_AXES];
	bool down[TORUS_AXES];
	int shift[TORUS_AXES];
};

static int turn_place(const struct turn *turn, const struct torus_shape *old, const struct torus_shape *shape,
		      int place)
{
	int at[TORUS_AXES];

	for (int a = 0; a < turn->axes; a++) {
		int size = shape->axis[a].size, c = torus_coordinate(old, place, turn->from[a]);

		at[a] = ((turn->down[a] ? size - 1 - c : c) + turn->shift[a]) % size;
	}
	return torus_place_at(shape, at);
}

static void turn_layout(struct cabling_work *work, struct cabling_layout *layout, const struct turn *turn)
{
	struct torus_shape old = layout->shape;
	struct cabling_rule rule = work->rule;

	layout->shape.axes = work->rule.axes = turn->axes;
	for (int a = 0; a < turn->axes; a++) {
		int from = turn->from[a];

		layout->shape.axis[a] = old.axis[from];
		work->rule.up[a] = turn->down[a] ? rule.down[from] : rule.up[from];
		work->rule.down[a] = turn->down[a] ? rule.up[from] : rule.down[from];
	}
	torus_shape_complete(&layout->shape);
	for (int p = 0; p < layout->shape.places; p++)
		layout->host[p] = -1;
	for (int h = 0; h < work->cabling->hosts; h++)
		if (layout->place[h] >= 0) {
			layout->place[h] = turn_place(turn, &old, &layout->shape, layout->place[h]);
			layout->host[layout->place[h]] = h;
		}
}

static struct turn no_turn(const struct torus_shape *shape)
{
	struct turn turn = {.axes = shape->axes};

	for (int a = 0; a < shape->axes; a++)
		turn.from[a] = a;
	return turn;
}

static void drop_axes_of_one(struct cabling_work *work, struct cabling_layout *layout)
{
	struct turn turn = {0};

	for (int a = 0; a < layout->shape.axes; a++)
		if (layout->shape.axis[a].size > 1)
			turn.from[turn.axes++] = a;
	if (turn.axes)
		turn_layout(work, layout, &turn);
}

/* --- Rings and meshes --- */

/* Cables from coordinate c to the next one, round the ring; of a pair, all between the two. Returns false: no memory. */
static bool count_crossings(const struct cabling_work *work, const struct cabling_layout *layout, int axis, int **count)
{
	const struct torus_shape *shape = &layout->shape;

	*count = calloc((size_t)shape->axis[axis].size, sizeof **count);
	for (int p = 0; *count && p < work->cabling->ports; p++) {
		int peer = cabling_peer(work->cabling, p), from, to, direction;

		if (peer < 0)
			continue;
		from = layout->place[work->cabling->port[p].host];
		to = layout->place[work->cabling->port[peer].host];
		direction = from < 0 || to < 0 ? -1 : cabling_direction(shape, from, to, -1);
		if (direction == 2 * axis)
			(*count)[torus_coordinate(shape, from, axis)]++;
	}
	return *count != NULL;
}

static bool has_port(const struct cabling_work *work, int host, int label)
{
	for (int p = work->first[host]; host >= 0 && p < work->first[host + 1]; p++)
		if (work->rule.label[p] == label || (work->rule.made_up && work->rule.label[p] < 0))
			return true;
	return false;
}

/* In a row that is alone, whether its ends have ports for the cable that would close it. */
static bool ends_have_ports(const struct cabling_work *work, const struct cabling_layout *layout, int axis, int last)
{
	const struct torus_shape *shape = &layout->shape;
	int size = shape->axis[axis].size, first = (last + 1) % size;

	return layout->host[last] >= 0 && layout->host[first] >= 0 &&
	       has_port(work, layout->host[last], work->rule.up[axis]) &&
	       has_port(work, layout->host[first], work->rule.down[axis]);
}

/* Pairs of hosts at two neighbouring places along the axis. */
static int count_pairs(const struct cabling_layout *layout, int axis)
{
	int pairs = 0;

	for (int p = 0; p < layout->shape.places; p++) {
		int next =
			torus_coordinate(&layout->shape, p, axis) ? -1 : torus_neighbour(&layout->shape, p, 2 * axis);

		pairs += next >= 0 && layout->host[p] >= 0 && layout->host[next] >= 0;
	}
	return pairs;
}

/* Of a pair with one cable, the lower host's port is the one called up. Is it the other way round for most pairs? */
static bool upper_is_lower(const struct cabling_work *work, const struct cabling_layout *layout, int axis)
{
	const struct cabling_rule *rule = &work->rule;
	int more = 0;

	if (rule->up[axis] == rule->down[axis])
		return false;
	for (int p = 0; p < work->cabling->ports; p++) {
		int place = layout->place[work->cabling->port[p].host];

		if (place >= 0 && cabling_peer(work->cabling, p) >= 0 && rule->label[p] == rule->up[axis])
			more += torus_coordinate(&layout->shape, place, axis) ? 1 : -1;
	}
	return more > 0;
}

static bool find_ring(const struct cabling_work *work, struct cabling_layout *layout, int axis, int *shift)
{
	struct torus_axis *of = &layout->shape.axis[axis];
	int *count, least = 0;

	*shift = 0;
	if (!count_crossings(work, layout, axis, &count))
		return false;
	for (int c = 1; c < of->size; c++)
		if (count[c] < count[least])
			least = c;
	if (of->size == 2) {
		/* Both ends of a cable count it. */
		of->ring = count[0] + count[1] >= 3 * count_pairs(layout, axis);
		*shift = !of->ring && upper_is_lower(work, layout, axis);
	} else if (count[least] == 0 &&
		   (layout->shape.places > of->size || !ends_have_ports(work, layout, axis, least))) {
		of->ring = false;
		*shift = of->size - 1 - least;
	}
	free(count);
	return true;
}

static bool find_rings(struct cabling_work *work, struct cabling_layout *layout)
{
	struct turn turn = no_turn(&layout->shape);

	/* All axes are rings until all are known: so a place beyond the end is a place. */
	struct cabling_layout rings = *layout;

	for (int a = 0; a < turn.axes; a++) {
		struct cabling_layout one = *layout;

		if (!find_ring(work, &one, a, &turn.shift[a]))
			return false;
		rings.shape.axis[a].ring = one.shape.axis[a].ring;
	}
	turn_layout(work, layout, &turn);
	for (int a = 0; a < turn.axes; a++)
		layout->shape.axis[a].ring = rings.shape.axis[a].ring;
	return true;
}

/* --- The order of names --- */

/* The number at the end of all names, if that is all they differ in; else false. */
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

/* The next order of numbers, as a word list has them; false after the last. */
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
	struct turn turn; /* axes in the order in which they are counted */
	int agree;
};

/* How many hosts are where their number counts them if the axes are counted so, after the best shift of the rings. */
static void try_turn(const struct cabling_layout *layout, const int *number, int hosts, const struct turn *turn,
		     int *count, struct ordering *best)
{
	struct torus_shape shape = {.axes = turn->axes};

	for (int a = 0; a < turn->axes; a++)
		shape.axis[a] = layout->shape.axis[turn->from[a]];
	torus_shape_complete(&shape);
	memset(count, 0, (size_t)shape.places * sizeof *count);
	for (int h = 0; h < hosts; h++) {
		struct turn shifted = *turn;
		int index = 0, at;

		if (layout->place[h] < 0 || number[h] < 0 || number[h] >= shape.places)
			continue;
		at = turn_place(turn, &layout->shape, &shape, layout->place[h]);
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
	struct turn turn = no_turn(&layout->shape);
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

/* Named axes stay where they are, whatever the order in which the names of hosts count them. */
static void apply_ordering(struct cabling_work *work, struct cabling_layout *layout, const struct ordering *best,
			   const int *number, int *expected)
{
	struct turn turn = best->turn;
	struct torus_shape counted = {.axes = turn.axes};

	for (int a = 0; a < turn.axes; a++)
		counted.axis[a] = layout->shape.axis[turn.from[a]];
	torus_shape_complete(&counted);
	if (work->rule.named) {
		turn = no_turn(&layout->shape);
		for (int a = 0; a < turn.axes; a++)
			turn.shift[best->turn.from[a]] = best->turn.shift[a];
	}
	turn_layout(work, layout, &turn);
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

/* The first host at place 0, as far as rings can be shifted. */
static void begin_with_first(struct cabling_work *work, struct cabling_layout *layout)
{
	struct turn turn = no_turn(&layout->shape);
	int h = 0;

	while (h < work->cabling->hosts && layout->place[h] < 0)
		h++;
	for (int a = 0; h < work->cabling->hosts && a < turn.axes; a++) {
		const struct torus_axis *axis = &layout->shape.axis[a];

		if (axis->ring)
			turn.shift[a] =
				(axis->size - torus_coordinate(&layout->shape, layout->place[h], a)) % axis->size;
	}
	turn_layout(work, layout, &turn);
}

/* Hosts that no cable leads to: where their names have them, or in the one place that is left. */
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
	int *numbers = malloc(2 * (size_t)hosts * sizeof *numbers), *number = numbers + hosts;
	struct ordering best = {.agree = 0};
	bool counted, good;

	drop_axes_of_one(work, layout);
	if (!numbers || !find_rings(work, layout)) {
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
	/* Names count from the least of them, from 0 or from 1; or the list is in order. */
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
