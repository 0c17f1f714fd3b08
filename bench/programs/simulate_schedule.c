/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/model.h"

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "simulate: %s\n", why);
	exit(2);
}

void *schedule_allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		fail("no memory for so many transfers");
	return memory;
}

static int add(struct schedule *schedule, int from, int to, int brought_by, int behind, double bytes)
{
	if (schedule->count == schedule->room) {
		schedule->room = schedule->room ? 2 * schedule->room : 1 << 16;
		schedule->transfer = realloc(schedule->transfer, schedule->room * sizeof *schedule->transfer);
		if (!schedule->transfer || schedule->room > 1U << 30)
			fail("no memory for so many transfers");
	}
	schedule->transfer[schedule->count] = (struct transfer){from, to, {brought_by, behind}, (float)bytes};
	return (int)schedule->count++;
}

int schedule_add(struct schedule *schedule, int from, int to, int n_before, const int *before, int behind, double bytes)
{
	int transfer = add(schedule, from, to, n_before > 0 ? before[0] : -1, behind, bytes);

	for (int i = 1; i < n_before; i++) {
		if (schedule->n_more == schedule->room_for_more) {
			schedule->room_for_more = schedule->room_for_more ? 2 * schedule->room_for_more : 1 << 16;
			schedule->more = realloc(schedule->more, schedule->room_for_more * sizeof *schedule->more);
			if (!schedule->more)
				fail("no memory for so many transfers");
		}
		schedule->more[schedule->n_more++] = (struct pair){before[i], transfer};
	}
	return transfer;
}

bool schedule_one_node(struct schedule *schedule, int most)
{
	const struct torus_shape *shape = &schedule->shape;

	schedule->one_node |= shape->places > most;
	for (int a = 0; schedule->one_node && a < shape->axes; a++)
		if (shape->axis[a].size > 1 && !shape->axis[a].ring)
			fail("nodes of a mesh are not alike, and all links of so many are not replayed; give "
			     "rings along all axes");
	return schedule->one_node;
}

int schedule_seen_from(const struct torus_shape *shape, int place, int from)
{
	int at[TORUS_AXES];

	for (int a = 0; a < shape->axes; a++)
		at[a] = (torus_coordinate(shape, place, a) - torus_coordinate(shape, from, a) + shape->axis[a].size) %
			shape->axis[a].size;
	return torus_place_at(shape, at);
}

int schedule_compared(const struct torus_shape *shape, int i)
{
	return (int)((size_t)i * 7919 % (size_t)shape->places);
}

_Noreturn void schedule_differs(int place)
{
	fprintf(stderr, "simulate: place %d does not forward what place 0 does\n", place);
	exit(1);
}

static double part_of(double bytes, double segment, int i)
{
	double left = bytes - i * segment;

	return left < segment ? left : segment;
}

/* All segments over one link, as they come; returns the first of them. */
static int add_segments(struct schedule *schedule, int from, int to, int first_brought, double bytes, double segment)
{
	int first = (int)schedule->count;

	for (int i = 0; i * segment < bytes; i++)
		add(schedule, from, to, first_brought < 0 ? -1 : first_brought + i, i ? first + i - 1 : -1,
		    part_of(bytes, segment, i));
	return first;
}

static void add_tree(struct schedule *schedule, const struct torus_tree_set *tree_set, int tree, double bytes,
		     double segment)
{
	const struct torus_shape *shape = &schedule->shape;
	int *queue = schedule_allocate((size_t)shape->places, sizeof *queue),
	    *brought = schedule_allocate((size_t)shape->places, sizeof *brought);
	int last = 1;

	queue[0] = tree_set->root;
	brought[tree_set->root] = -1;
	for (int at = 0; at < last; at++) {
		int children[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS],
			count = torus_tree_set_children(tree_set, tree, queue[at], children, directions);

		for (int c = 0; c < count; c++) {
			brought[children[c]] =
				add_segments(schedule, queue[at], children[c], brought[queue[at]], bytes, segment);
			queue[last++] = children[c];
		}
	}
	free(queue);
	free(brought);
}

static void make_trees(struct schedule *schedule, enum torus_trees kind, double bytes, double segment)
{
	struct torus_tree_set tree_set = {.shape = &schedule->shape, .kind = kind};
	int trees = torus_tree_set_count(&tree_set);

	if (trees == 0)
		fail("the shape has no trees of this kind");
	for (int t = 0; t < trees; t++) {
		size_t begin = torus_part_begin((size_t)bytes, trees, t),
		       end = torus_part_begin((size_t)bytes, trees, t + 1);

		add_tree(schedule, &tree_set, t, (double)(end - begin), segment);
	}
}

/*
 * The i-th place of a line through all of them, from neighbour to neighbour: rows are walked to and
 * fro.
 */
static int on_line(const struct torus_shape *shape, int i)
{
	int place = 0;

	for (int a = 0, rest = i; a < shape->axes; a++) {
		int before = rest / shape->stride[a], size = shape->axis[a].size;

		rest %= shape->stride[a];
		place += ((i / shape->stride[a] / size) % 2 ? size - 1 - before : before) * shape->stride[a];
	}
	return place;
}

static void make_chain(struct schedule *schedule, double bytes, double segment)
{
	int brought = -1;

	for (int i = 0; i + 1 < schedule->shape.places; i++)
		brought = add_segments(schedule, on_line(&schedule->shape, i), on_line(&schedule->shape, i + 1),
				       brought, bytes, segment);
}

void schedule_make(struct schedule *schedule, const char *algorithm, double bytes, double segment)
{
	static const char *const kinds[] = {"both", "up", "twice"};

	for (int kind = 0; kind < 3; kind++)
		if (!strcmp(algorithm, kinds[kind])) {
			make_trees(schedule, (enum torus_trees)kind, bytes, segment);
			return;
		}
	if (!strcmp(algorithm, "chain"))
		make_chain(schedule, bytes, segment);
	else if (!strcmp(algorithm, "allgather"))
		schedule_allgather(schedule, bytes);
	else if (!strcmp(algorithm, "alltoall"))
		schedule_alltoall(schedule, bytes);
	else if (!strcmp(algorithm, "reduce-scatter"))
		schedule_reduce_scatter(schedule, bytes);
	else if (!strcmp(algorithm, "allreduce"))
		schedule_allreduce(schedule, bytes);
	else
		fail("no such algorithm; there are twice, up, both, chain, allgather, alltoall, "
		     "reduce-scatter and allreduce");
}
