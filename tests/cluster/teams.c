/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams ROUNDS [SLOW]: disjoint teams work at once on hosts, without a word between them:
 * broadcasts, sums, collects, all-to-all and plans, of other sizes in each team, all values
 * checked. First the teams are PEs side by side, then a large one beside a small one, then every so
 * many-th PE. The PE SLOW computes before each of its calls. Run by tests/cluster/trees.bats.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define LARGEST 300000UL

static unsigned char *dest, *source, *expected, *planned, *held;
static int *sums, *terms;
static long rounds;
static int slow = -1;

struct crew {
	shmem_team_t team;
	int size, me, number;
	shmemx_plan_t plan; /* the sum of held, in planned */
};

static void dawdle(uint64_t seed)
{
	double until = (double)(noise(seed) % 8000) * 1e-6, begun, now;
	struct timespec time;

	if (me != slow)
		return;
	clock_gettime(CLOCK_MONOTONIC, &time);
	begun = now = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
	while (now - begun < until) {
		clock_gettime(CLOCK_MONOTONIC, &time);
		now = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
	}
}

static void get_ready(const struct crew *crew, uint64_t seed)
{
	shmem_team_sync(crew->team);
	dawdle(seed + (uint64_t)crew->me);
}

static void spread(const struct crew *crew, size_t bytes, uint64_t seed)
{
	int root = (int)(seed % (uint64_t)crew->size);

	NOTE("team %d, broadcast of %zu bytes from %d", crew->number, bytes, root);
	fill_noise(expected, bytes, seed);
	if (crew->me == root)
		memcpy(source, expected, bytes);
	get_ready(crew, seed);
	CHECK_EQUAL(shmem_broadcastmem(crew->team, dest, source, bytes, root), 0);
	CHECK_BYTES(dest, expected, bytes);
}

static void add_up(const struct crew *crew, size_t bytes, uint64_t seed)
{
	size_t count = bytes / sizeof *sums;

	NOTE("team %d, sum of %zu", crew->number, count);
	for (size_t i = 0; i < count; i++)
		terms[i] = (int)((seed + i) % 1000) * (crew->me + 1);
	get_ready(crew, seed);
	CHECK_EQUAL(shmem_int_sum_reduce(crew->team, sums, terms, count), 0);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(sums[i], (int)((seed + i) % 1000) * crew->size * (crew->size + 1) / 2);
}

/* Everybody's block is of its number and the seed; of an all-to-all, of whom it is for as well. */
static void collect(const struct crew *crew, size_t bytes, uint64_t seed, bool all_to_all)
{
	NOTE("team %d, %s of %zu bytes each", crew->number, all_to_all ? "alltoall" : "fcollect", bytes);
	for (int to = 0; to < (all_to_all ? crew->size : 1); to++)
		fill_noise(source + (size_t)to * bytes, bytes, seed * 10000 + (uint64_t)(to * 100 + crew->me));
	get_ready(crew, seed);
	if (all_to_all)
		CHECK_EQUAL(shmem_alltoallmem(crew->team, dest, source, bytes), 0);
	else
		CHECK_EQUAL(shmem_fcollectmem(crew->team, dest, source, bytes), 0);
	for (int from = 0; from < crew->size; from++) {
		fill_noise(expected, bytes, seed * 10000 + (uint64_t)((all_to_all ? crew->me * 100 : 0) + from));
		CHECK_BYTES(dest + (size_t)from * bytes, expected, bytes);
	}
}

static void plan_is_over(const struct crew *crew, uint64_t seed)
{
	shmemx_plan_wait(crew->plan);
	NOTE("team %d, planned sum", crew->number);
	for (size_t i = 0; i < LARGEST / 8 / sizeof(int); i++)
		CHECK_EQUAL(((int *)(void *)planned)[i], (int)((seed + i) % 500) * crew->size);
}

static void work(struct crew *crew)
{
	for (long round = 0; round < rounds; round++) {
		uint64_t seed = (uint64_t)(crew->number * 7919 + round * 31);
		size_t bytes = noise(seed) % LARGEST + 1;

		for (size_t i = 0; i < LARGEST / 8 / sizeof(int); i++)
			((int *)(void *)held)[i] = (int)((seed + i) % 500);
		shmemx_plan_start(crew->plan);
		spread(crew, bytes, seed);
		add_up(crew, bytes, seed + 1);
		collect(crew, bytes / (size_t)npes, seed + 2, false);
		plan_is_over(crew, seed);
		collect(crew, bytes / (size_t)npes, seed + 3, true);
		add_up(crew, 64, seed + 4);
	}
}

/*
 * Called by all: a team of n members from first on, so far apart. This PE is in one of those that
 * are made for a phase.
 */
static void split(struct crew *mine, int number, int first, int stride, int n)
{
	shmem_team_t team;

	shmem_team_split_strided(SHMEM_TEAM_WORLD, first, stride, n, NULL, 0, &team);
	if (team != SHMEM_TEAM_INVALID)
		*mine = (struct crew){.team = team, .size = n, .me = shmem_team_my_pe(team), .number = number};
}

static void work_in(struct crew *crew)
{
	CHECK_EQUAL(shmemx_allreduce_init(crew->team, planned, held, LARGEST / 8 / sizeof(int), SHMEMX_INT, SHMEMX_SUM,
					  SHMEMX_PLAN_AUTO, &crew->plan),
		    0);
	work(crew);
	shmemx_plan_free(crew->plan);
	shmem_team_destroy(crew->team);
}

int main(int argc, char **argv)
{
	struct crew crew;
	int rows = 2, length;

	rounds = argc > 1 ? atol(argv[1]) : 1;
	slow = argc > 2 ? atoi(argv[2]) : -1;
	shmem_init();
	me = shmem_my_pe();
	npes = shmem_n_pes();
	while (npes % rows)
		rows++;
	length = npes / rows;
	dest = shmem_malloc(LARGEST);
	source = shmem_malloc(LARGEST);
	planned = shmem_malloc(LARGEST / 8);
	held = shmem_malloc(LARGEST / 8);
	sums = shmem_malloc(LARGEST);
	terms = shmem_malloc(LARGEST);
	expected = malloc(LARGEST);
	CHECK(dest && source && planned && held && sums && terms && expected);
	for (int row = 0; row < rows; row++)
		split(&crew, row, row * length, 1, length);
	work_in(&crew);
	split(&crew, 10, 0, 1, npes - length);
	split(&crew, 11, npes - length, 1, length);
	work_in(&crew);
	for (int column = 0; column < length; column++)
		split(&crew, 20 + column, column, length, rows);
	work_in(&crew);
	shmem_barrier_all();
	if (me == 0)
		printf("PASS\n");
	free(expected);
	shmem_finalize();
	return 0;
}
