/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 ofi=3 */
/*
 * Teams: who is in them under which number, splits that cannot be, teams in two dimensions,
 * thousands one after the other.
 */
#include <shmemx.h>

#include <limits.h>

#include "tests/lib/shapes.h"

static shmem_team_t static_team = SHMEM_TEAM_WORLD;
static _Thread_local shmem_team_t thread_team = SHMEM_TEAM_INVALID;
static shmem_ctx_t static_ctx = SHMEM_CTX_DEFAULT;

/* Where a PE of the world is in a team, by looking. */
static int place(const struct shape *shape, int pe)
{
	for (int i = 0; i < shape->n; i++)
		if (shape->pes[i] == pe)
			return i;
	return -1;
}

static void check_numbers(const struct shape *shape)
{
	static long word;

	NOTE("numbers of %s", shape->name);
	CHECK_EQUAL(shmem_team_my_pe(shape->team), shape->me);
	CHECK_EQUAL(shmem_team_n_pes(shape->team), shape->me < 0 ? -1 : shape->n);
	FOR_SHAPES(other)
	{
		for (int i = -2; i < npes + 2; i++) {
			bool both = shape->me >= 0 && other->me >= 0 && i >= 0 && i < shape->n;

			CHECK_EQUAL(shmem_team_translate_pe(shape->team, i, other->team),
				    both ? place(other, shape->pes[i]) : -1);
		}
	}
	for (int i = 0; i < shape->n; i++)
		CHECK(shmem_team_ptr(shape->team, &word, i) ==
		      (shape->me < 0 ? NULL : shmem_ptr(&word, shape->pes[i])));
}

static void check_invalid(void)
{
	shmem_team_config_t config = {17};
	shmem_team_t team = SHMEM_TEAM_WORLD, team2 = SHMEM_TEAM_WORLD;
	long word = 0;

	NOTE("the invalid team");
	CHECK_EQUAL(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
	CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
	CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
	CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
	CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &word, 0) == NULL);
	CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
	CHECK_EQUAL(config.num_contexts, 17);
	shmem_team_destroy(SHMEM_TEAM_INVALID);
	CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
	CHECK(team == SHMEM_TEAM_INVALID);
	team = SHMEM_TEAM_WORLD;
	CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &team2) != 0);
	CHECK(team == SHMEM_TEAM_INVALID && team2 == SHMEM_TEAM_INVALID);
}

/* Triplets that leave the parent: the same answer everywhere, whatever the parent. */
static void check_bad_splits(const struct shape *parent)
{
	const int n = parent->n;
	const int bad[][3] = {
		{-1, 1, 1},	    {n, 1, 1},
		{0, 1, n + 1},	    {0, 1, 0},
		{0, 1, -1},	    {n - 1, 1, 2},
		{0, -1, 2},	    {0, 0, 2},
		{0, 2, n + 1},	    {n, -1, n},
		{n - 1, -1, n + 1}, {0, n, 2},
		{0, 1 << 30, 3},    {0, 2147483647, 2147483647},
	};

	if (parent->me < 0)
		return;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		shmem_team_t team = SHMEM_TEAM_WORLD;

		NOTE("%s split by %d, %d, %d", parent->name, bad[i][0], bad[i][1], bad[i][2]);
		CHECK(shmem_team_split_strided(parent->team, bad[i][0], bad[i][1], bad[i][2], NULL, 0, &team) != 0);
		CHECK(team == SHMEM_TEAM_INVALID);
	}
}

/* One PE is a team with any stride. */
static void check_one_pe(void)
{
	static const int strides[] = {0, 1, -1, 5, -1000};

	for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
		int who = (int)i % npes;
		shmem_team_t team;

		NOTE("PE %d alone, stride %d", who, strides[i]);
		CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, who, strides[i], 1, NULL, 0, &team), 0);
		CHECK_EQUAL(shmem_team_my_pe(team), me == who ? 0 : -1);
		CHECK_EQUAL(shmem_team_n_pes(team), me == who ? 1 : -1);
		CHECK_EQUAL(shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD), me == who ? who : -1);
		shmem_team_destroy(team);
	}
}

static void check_2d(const struct shape *parent)
{
	if (parent->me < 0)
		return;
	for (int xrange_tried = 1; xrange_tried <= parent->n + 3; xrange_tried++) {
		int xrange = xrange_tried <= parent->n + 2 ? xrange_tried : INT_MAX;
		int range = xrange < parent->n ? xrange : parent->n, x = parent->me % range, y = parent->me / range;
		int width = parent->n - y * range < range ? parent->n - y * range : range, height = 0;
		shmem_team_t row, column;

		NOTE("%s in two dimensions, xrange %d", parent->name, xrange);
		CHECK_EQUAL(shmem_team_split_2d(parent->team, xrange, NULL, 0, &row, NULL, 0, &column), 0);
		for (int i = x; i < parent->n; i += range) {
			CHECK_EQUAL(shmem_team_translate_pe(column, height, SHMEM_TEAM_WORLD), parent->pes[i]);
			height++;
		}
		for (int i = 0; i < width; i++)
			CHECK_EQUAL(shmem_team_translate_pe(row, i, SHMEM_TEAM_WORLD), parent->pes[y * range + i]);
		CHECK_EQUAL(shmem_team_my_pe(row), x);
		CHECK_EQUAL(shmem_team_my_pe(column), y);
		CHECK_EQUAL(shmem_team_n_pes(row), width);
		CHECK_EQUAL(shmem_team_n_pes(column), height);
		CHECK_EQUAL(shmem_team_sync(row), 0);
		CHECK_EQUAL(shmem_team_sync(column), 0);
		shmem_team_destroy(row);
		shmem_team_destroy(column);
	}
	for (int xrange = -1; xrange <= 0; xrange++) {
		shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;

		NOTE("%s, xrange %d", parent->name, xrange);
		CHECK(shmem_team_split_2d(parent->team, xrange, NULL, 0, &row, NULL, 0, &column) != 0);
		CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
	}
}

static void check_configs(void)
{
	shmem_team_config_t config = {3}, got = {-7}, other = {5};
	shmem_team_t team, row, column;

	NOTE("configs");
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
	CHECK_EQUAL(shmem_team_get_config(team, 0, NULL), 0);
	CHECK_EQUAL(shmem_team_get_config(team, 0, &got), 0);
	CHECK_EQUAL(got.num_contexts, -7);
	CHECK_EQUAL(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
	CHECK_EQUAL(got.num_contexts, 3);
	shmem_team_destroy(team);
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, 0, &team), 0);
	CHECK_EQUAL(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
	CHECK_EQUAL(got.num_contexts, 0);
	CHECK_EQUAL(shmem_team_split_2d(team, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &row, &other,
					SHMEM_TEAM_NUM_CONTEXTS, &column),
		    0);
	CHECK_EQUAL(shmem_team_get_config(row, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
	CHECK_EQUAL(got.num_contexts, 3);
	CHECK_EQUAL(shmem_team_get_config(column, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
	CHECK_EQUAL(got.num_contexts, 5);
	CHECK_EQUAL(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
	CHECK_EQUAL(shmem_team_get_config(SHMEM_TEAM_SHARED, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
	shmem_team_destroy(row);
	shmem_team_destroy(column);
	shmem_team_destroy(team);
}

/*
 * Every member of SHMEM_TEAM_SHARED can be reached by load and store, and all members see the same
 * team.
 */
static void check_shared(void)
{
	int n = shmem_team_n_pes(SHMEM_TEAM_SHARED), mine = shmem_team_my_pe(SHMEM_TEAM_SHARED);
	long *words = symmetric((MOST_PES + 1) * sizeof *words);
	shmem_team_t half;

	NOTE("the shared team");
	CHECK(n >= 1 && n <= npes && mine >= 0 && mine < n);
	CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_SHARED, mine, SHMEM_TEAM_WORLD), me);
	for (int i = 0; i <= npes; i++)
		words[i] = -1;
	shmem_barrier_all();
	for (int i = 0; i < n; i++) {
		int pe = shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD);
		long *there = shmem_team_ptr(SHMEM_TEAM_SHARED, words, i);

		CHECK(there && there == shmem_ptr(words, pe));
		there[me] = n;
		CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED), i);
	}
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++) {
		bool with_us = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;

		CHECK_EQUAL(words[pe], with_us ? n : -1);
	}
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_SHARED, n - 1, -1, (n + 1) / 2, NULL, 0, &half), 0);
	CHECK_EQUAL(shmem_team_my_pe(half), mine >= n / 2 ? n - 1 - mine : -1);
	if (half != SHMEM_TEAM_INVALID) {
		long one = 1;

		words[0] = 0;
		CHECK_EQUAL(shmem_long_sum_reduce(half, words, &one, 1), 0);
		CHECK_EQUAL(words[0], (n + 1) / 2);
	}
	shmem_team_destroy(half);
	shmem_free(words);
}

/* Parents and children at once, back to back, one team's collective right after another's. */
static void check_together(long rounds)
{
	static long mine, sum, most;

	for (long round = 0; round < rounds; round++)
		FOR_SHAPES(shape)
		{
			long expected = 0;

			if (shape->me < 0)
				continue;
			NOTE("round %ld on %s", round, shape->name);
			for (int i = 0; i < shape->n; i++)
				expected += shape->pes[i] + round;
			mine = me + round;
			CHECK_EQUAL(shmem_long_sum_reduce(shape->team, &sum, &mine, 1), 0);
			CHECK_EQUAL(sum, expected);
			CHECK_EQUAL(shmem_long_max_reduce(shape->team, &most, &mine, 1), 0);
			if (round % 2)
				CHECK_EQUAL(shmem_team_sync(shape->team), 0);
			CHECK(most >= mine && most < npes + round);
		}
}

/*
 * Made and destroyed again and again, with one in use all the time; more than there could ever be
 * at once.
 */
static void check_many(long count)
{
	static long mine, sum;

	for (long i = 0; i < count; i++) {
		int size = 1 + (int)(i % npes), start = i % 2 ? size - 1 : 0;
		shmem_team_t team, child = SHMEM_TEAM_INVALID;

		NOTE("team %ld of many", i);
		CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, i % 2 ? -1 : 1, size, NULL, 0, &team), 0);
		CHECK_EQUAL(shmem_team_my_pe(team), me >= size ? -1 : i % 2 ? size - 1 - me : me);
		if (team == SHMEM_TEAM_INVALID)
			continue;
		CHECK_EQUAL(shmem_team_split_strided(team, size - 1, -1, size, NULL, 0, &child), 0);
		mine = i;
		CHECK_EQUAL(shmem_long_sum_reduce(i % 3 ? team : child, &sum, &mine, 1), 0);
		CHECK_EQUAL(sum, i * size);
		shmem_team_destroy(team); /* the child is a team of its own */
		CHECK_EQUAL(shmem_long_sum_reduce(child, &sum, &mine, 1), 0);
		CHECK_EQUAL(sum, i * size);
		shmem_team_destroy(child);
	}
}

/*
 * Of any PEs in any order, by those alone: two teams at once, of PEs that fall on one side or the
 * other, the one upwards, the other downwards. A psync array serves again.
 */
static void check_lists(long rounds)
{
	static long psync[2][SHMEM_SYNC_SIZE], sum, mine;
	int pes[64];

	for (long round = 0; round < rounds; round++) {
		int n = 0, side = (int)((round >> me % 8) & 1), place = -1;
		shmem_team_t team;

		NOTE("lists, round %ld", round);
		for (int i = 0; i < npes; i++) {
			int pe = side ? npes - 1 - i : i;

			if (((round >> pe % 8) & 1) != side)
				continue;
			place = pe == me ? n : place;
			pes[n++] = pe;
		}
		CHECK_EQUAL(shmemx_team_of_pes(pes, n, psync[side], &team), 0);
		CHECK_EQUAL(shmem_team_my_pe(team), place);
		CHECK_EQUAL(shmem_team_n_pes(team), n);
		for (int i = 0; i < n; i++)
			CHECK_EQUAL(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), pes[i]);
		mine = me + 1;
		CHECK_EQUAL(shmem_long_sum_reduce(team, &sum, &mine, 1), 0);
		for (int i = 0; i < n; i++)
			sum -= pes[i] + 1;
		CHECK_EQUAL(sum, 0);
		shmem_team_destroy(team);
		/* Who is on which side changes, and so who uses which array. */
		shmem_sync_all();
	}
}

/* More teams alive at once than any program has use for: each split works, or fails on all PEs. */
static void check_eighty(void)
{
	enum { MANY = 80 };
	static shmem_team_t teams[MANY];
	static long made, least, most;

	NOTE("many teams");
	for (int i = 0; i < MANY; i++) {
		made = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[i]) == 0;
		CHECK_EQUAL(made, teams[i] != SHMEM_TEAM_INVALID);
		CHECK_EQUAL(shmem_long_min_reduce(SHMEM_TEAM_WORLD, &least, &made, 1), 0);
		CHECK_EQUAL(shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &made, 1), 0);
		CHECK_EQUAL(least, most);
		CHECK(made || i >= 16);
	}
	for (int i = 0; i < MANY; i++)
		shmem_team_destroy(teams[i]);
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[0]), 0);
	shmem_team_destroy(teams[0]);
}

int main(void)
{
	begin();
	CHECK(static_team == SHMEM_TEAM_WORLD && thread_team == SHMEM_TEAM_INVALID && static_ctx == SHMEM_CTX_DEFAULT);
	CHECK(SHMEM_TEAM_WORLD != SHMEM_TEAM_SHARED && SHMEM_TEAM_WORLD != SHMEM_TEAM_INVALID);
	make_shapes();
	FOR_SHAPES(shape)
	check_numbers(shape);
	check_invalid();
	FOR_SHAPES(shape)
	check_bad_splits(shape);
	check_one_pe();
	FOR_SHAPES(shape)
	check_2d(shape);
	check_configs();
	check_shared();
	check_together(ease() > 1 ? 6 : 60);
	check_many(ease() > 1 ? 60 : 3000);
	check_lists(ease() > 1 ? 30 : 300);
	check_eighty();
	destroy_shapes();
	return end();
}
