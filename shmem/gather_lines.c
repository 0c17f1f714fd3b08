/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Little data along the lines of a torus, axis by axis, beginning with the last, whose nodes have
 * consecutive places. In each round of an axis a leader sends its data of the line both upwards and
 * downwards, so that all have three times as much; the next round goes three times as far. A leader
 * already has everything of the axes done before.
 */
#include "gather.h"

static void send_blocks(struct parcel *parcel)
{
	char *data = parcel->dest + parcel->at;

	if (parcel->bytes == 0)
		return;
	comms_put(data, data, parcel->bytes, parcel->pe, parcel->set->routine);
	parcel->bytes = 0;
	parcel->begun = true;
}

static void add_block(struct parcel *parcel, int place)
{
	size_t bytes = block_bytes(parcel->layout, place), at;

	if (bytes == 0)
		return;
	at = block_at(parcel->layout, place);
	if (at != parcel->at + parcel->bytes)
		send_blocks(parcel);
	if (parcel->bytes == 0)
		parcel->at = at;
	parcel->bytes += bytes;
}

void parcel_add_node(struct parcel *parcel, int node)
{
	const struct comms_levels *levels = parcel->set->group->levels;

	if (!levels)
		add_block(parcel, node);
	for (int i = levels ? levels->first[node] : 0; levels && i < levels->first[node + 1]; i++)
		add_block(parcel, levels->places[i]);
}

void parcel_send_with(struct parcel *parcel, struct comms_flag flag)
{
	char *data = parcel->dest + parcel->at;

	if (parcel->begun || parcel->bytes == 0) {
		send_blocks(parcel);
		comms_notify(flag.word, flag.value, parcel->pe, parcel->set->routine);
	} else {
		comms_put_notify(data, data, parcel->bytes, flag, parcel->pe, parcel->set->routine);
	}
	parcel->bytes = 0;
	parcel->begun = false;
}

static int least_of(int a, int b)
{
	return a < b ? a : b;
}

/*
 * In the round that begins with `have` coordinates of a line: the numbers that arrive from above
 * and from below.
 */
struct coming {
	int above, below;
};

static struct coming coming_in_round(int size, int have)
{
	int above = least_of(have, (size - have + 1) / 2);

	return (struct coming){above, least_of(have, size - have - above)};
}

bool gather_lines_fit(const struct torus_topology *topology)
{
	const struct torus_shape *shape = &topology->sites.shape;
	int words = 0;

	for (int a = 0; a < shape->axes; a++)
		for (int have = 1; have < shape->axis[a].size; have *= 3)
			words += 2;
	return topology->whole && words <= ROUNDS;
}

struct line {
	const struct set *set;
	const struct layout *layout;
	char *dest;
	const struct torus_topology *topology;
	int stride, size, me; /* of its places, and this one's coordinate */
};

/* The place in this line with a coordinate, which may be beyond the ends. */
static int place_in_line(const struct line *line, int coordinate)
{
	int here = line->topology->me, around = (coordinate % line->size + line->size) % line->size;

	return here + (around - line->me) * line->stride;
}

/*
 * This leader's data of some coordinates: everything of the axes done before, whose places are
 * consecutive.
 */
static void send_coordinates(const struct line *line, int first, int count, int to, _Atomic uint64_t *word)
{
	const struct torus_topology *topology = line->topology;
	struct parcel parcel = {line->set, line->layout, line->dest, topology->pe[place_in_line(line, to)], 0,
				0,	   false};

	for (int c = first; c < first + count; c++) {
		int begin = place_in_line(line, c) / line->stride * line->stride;

		for (int p = begin; p < begin + line->stride; p++)
			parcel_add_node(&parcel, topology->sites.node[p]);
	}
	parcel_send_with(&parcel, (struct comms_flag){word, line->set->team->gathers});
}

/* The upper neighbour sets the first word. */
static void exchange_round(const struct line *line, int have, _Atomic uint64_t *words)
{
	struct coming coming = coming_in_round(line->size, have);
	int reach = have / 2;

	if (coming.above > 0)
		send_coordinates(line, line->me - reach, coming.above, line->me - have, &words[0]);
	if (coming.below > 0)
		send_coordinates(line, line->me + reach - coming.below + 1, coming.below, line->me + have, &words[1]);
	if (coming.above > 0)
		await_flag(&words[0], line->set->team->gathers);
	if (coming.below > 0)
		await_flag(&words[1], line->set->team->gathers);
}

void gather_by_lines(const struct set *set, const struct layout *layout, char *dest)
{
	const struct torus_topology *topology = set->team->topology;
	const struct torus_shape *shape = &topology->sites.shape;
	_Atomic uint64_t *words = team_scratch(set->team)->gathered_by_lines;

	for (int a = shape->axes - 1; a >= 0; a--) {
		struct line line = {set,
				    layout,
				    dest,
				    topology,
				    shape->stride[a],
				    shape->axis[a].size,
				    torus_coordinate(shape, topology->me, a)};

		for (int have = 1; have < line.size; have *= 3, words += 2)
			exchange_round(&line, have, words);
	}
}
