/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronises all PEs, and teams of them, a few times: nobody leaves before all have come, and
 * data comes with it.
 */

#include "tests/lib/check.h"

enum { MOST = 64, WORDS = 40 };

static long arrived[MOST], words[MOST], data[WORDS], from[WORDS];

static int pe_of(shmem_team_t team, int member)
{
	return shmem_team_translate_pe(team, member, SHMEM_TEAM_WORLD);
}

static void check_barrier(shmem_team_t team, long round)
{
	int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team);

	for (int member = 0; member < size; member++)
		shmem_long_p(&arrived[mine], round, pe_of(team, member));
	shmem_quiet();
	shmem_team_sync(team);
	for (int member = 0; member < size; member++)
		CHECK_EQUAL(arrived[member], round);
	shmem_team_sync(team);
}

static void check_broadcast(shmem_team_t team, int root, long round)
{
	for (int i = 0; i < WORDS; i++)
		from[i] = 1000 * round + 10 * i + root;
	CHECK_EQUAL(shmem_long_broadcast(team, data, from, WORDS, root), 0);
	for (int i = 0; i < WORDS; i++)
		CHECK_EQUAL(data[i], from[i]);
}

static void check_sums(shmem_team_t team, long round)
{
	long mine = 7 * round + shmem_team_my_pe(team);

	long members = shmem_team_n_pes(team);

	for (int i = 0; i < WORDS; i++)
		from[i] = mine + i;
	CHECK_EQUAL(shmem_long_sum_reduce(team, data, from, WORDS), 0);
	for (int i = 0; i < WORDS; i++)
		CHECK_EQUAL(data[i], members * (7 * round + i) + members * (members - 1) / 2);
	CHECK_EQUAL(shmem_long_max_reduce(team, data, from, 1), 0);
	CHECK_EQUAL(data[0], 7 * round + members - 1);
	words[MOST - 1] = mine;
	CHECK_EQUAL(shmem_long_fcollect(team, words, &words[MOST - 1], 1), 0);
	for (int member = 0; member < shmem_team_n_pes(team); member++)
		CHECK_EQUAL(words[member], 7 * round + member);
	shmem_team_sync(team);
}

static void check_team(shmem_team_t team, long rounds)
{
	int size;

	if (team == SHMEM_TEAM_INVALID)
		return;
	size = shmem_team_n_pes(team);
	for (long round = 1; round <= rounds; round++) {
		check_barrier(team, round);
		check_broadcast(team, (int)(round * 5 % size), round);
		check_sums(team, round);
	}
	memset(arrived, 0, sizeof arrived);
	shmem_team_sync(team);
}

/*
 * All, every third one, and all but the first two: such teams have other numbers of members in each
 * memory group.
 */
int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 3;
	shmem_team_t thirds, others;

	shmem_init();
	me = shmem_my_pe();
	npes = shmem_n_pes();
	CHECK(npes > 3 && npes < MOST);
	check_team(SHMEM_TEAM_WORLD, rounds);
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 3, (npes + 2) / 3, NULL, 0, &thirds);
	check_team(thirds, rounds);
	shmem_barrier_all();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 2, 1, npes - 2, NULL, 0, &others);
	check_team(others, rounds);
	shmem_barrier_all();
	if (me == 0)
		puts("all shapes hold");
	shmem_finalize();
	return 0;
}
