/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of all shapes, for tests of what runs on teams: the world, forwards and backwards, with
 * gaps, of one PE, and teams of teams. Who is in a team is worked out here in plain arithmetic.
 */
#ifndef TESTS_LIB_SHAPES_H
#define TESTS_LIB_SHAPES_H

#include "check.h"

#define MOST_PES 64

struct shape {
	const char *name;
	shmem_team_t team; /* SHMEM_TEAM_INVALID where this PE is no member */
	int n, me;	   /* me: this PE's number, -1 if it is no member */
	int pes[MOST_PES]; /* of the world */
	bool own;	   /* one of several of the name; other PEs are in another */
};

static struct shape shapes[20];
static int n_shapes;

/*
 * A strided team of one of those already there; NULL: a parent that this PE is no member of has
 * nothing to call.
 */
__attribute__((unused)) static struct shape *add_shape(const char *name, const struct shape *parent, int start,
						       int stride, int size)
{
	struct shape *shape = &shapes[n_shapes++];

	shape->name = name;
	shape->team = SHMEM_TEAM_INVALID;
	shape->n = size;
	shape->me = -1;
	shape->own = false;
	for (int i = 0; i < size; i++) {
		shape->pes[i] = parent->pes[start + i * stride];
		if (shape->pes[i] == me)
			shape->me = i;
	}
	NOTE("making team %s", name);
	if (parent->me >= 0)
		CHECK_EQUAL(shmem_team_split_strided(parent->team, start, stride, size, NULL, 0, &shape->team), 0);
	CHECK_EQUAL(shape->team != SHMEM_TEAM_INVALID, shape->me >= 0);
	return shape;
}

/* Columns of two, as many as there are; this PE knows its own. */
__attribute__((unused)) static void add_rows_and_columns(const struct shape *parent)
{
	struct shape *row = &shapes[n_shapes++], *column = &shapes[n_shapes++];
	int x = parent->n < 2 ? 1 : 2;

	NOTE("making rows and columns");
	row->name = "row";
	column->name = "column";
	CHECK_EQUAL(shmem_team_split_2d(parent->team, x, NULL, 0, &row->team, NULL, 0, &column->team), 0);
	row->n = column->n = 0;
	row->own = column->own = true;
	for (int i = 0; i < parent->n; i++) {
		if (i / x == parent->me / x)
			row->pes[row->n++] = parent->pes[i];
		if (i % x == parent->me % x)
			column->pes[column->n++] = parent->pes[i];
	}
	row->me = parent->me % x;
	column->me = parent->me / x;
}

__attribute__((unused)) static void make_shapes(void)
{
	struct shape *world = &shapes[0], *evens, *backwards;

	CHECK(npes <= MOST_PES);
	n_shapes = 1;
	*world = (struct shape){.name = "world", .team = SHMEM_TEAM_WORLD, .n = npes, .me = me};
	for (int i = 0; i < npes; i++)
		world->pes[i] = i;
	backwards = add_shape("backwards", world, npes - 1, -1, npes);
	evens = add_shape("evens", world, 0, 2, (npes + 1) / 2);
	add_shape("last", world, npes - 1, 0, 1);
	add_shape("evens backwards", evens, evens->n - 1, -1, evens->n);
	add_shape("thirds of backwards", backwards, 0, 3, (npes + 2) / 3);
	if (npes > 1) {
		add_shape("odds backwards", world, npes - 1 - npes % 2, -2, npes / 2);
		add_shape("all but the first", world, 1, 1, npes - 1);
	}
	add_rows_and_columns(backwards);
}

__attribute__((unused)) static void destroy_shapes(void)
{
	for (int i = n_shapes - 1; i > 0; i--)
		shmem_team_destroy(shapes[i].team);
}

#define FOR_SHAPES(s) for (const struct shape *s = shapes; s < shapes + n_shapes; s++)

#endif
