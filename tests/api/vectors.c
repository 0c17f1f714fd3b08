/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 mixed3=7 split=3 tofu-few=3 */
/*
 * Gather, scatter, allgatherv and alltoallv: all types, few and many elements, in place and not,
 * one after the other without a pause, on the world and on a part of it.
 */
#include "tests/lib/vectors.h"

#define MANY 20000

static void check_team(shmem_team_t team)
{
	static const size_t counts[] = {0, 1, 5, 300};
	int n = shmem_team_n_pes(team);
	uint64_t seed = 0;

	for (size_t t = 0; t < VECTOR_TYPES; t++) {
		const struct vector_type *type = &vector_types[t];

		for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
			if (!is_selected(t + i))
				continue;
			check_gather(team, type, counts[i], (int)t % n, ++seed);
			check_scatter(team, type, counts[i], (int)t % n, ++seed);
			check_allgatherv(team, type, counts[i], (int)(t + i) % 3, ++seed);
			check_alltoallv(team, type, counts[i], (int)(t + i) % 3, ++seed);
		}
	}
}

static void check_many(void)
{
	const struct vector_type *type = &vector_types[6];

	for (int kind = 0; kind < 3; kind++) {
		check_gather(SHMEM_TEAM_WORLD, type, MANY, npes - 1, 1000 + (uint64_t)kind);
		check_scatter(SHMEM_TEAM_WORLD, type, MANY, npes - 1, 1000 + (uint64_t)kind);
		check_allgatherv(SHMEM_TEAM_WORLD, type, MANY, kind, 1000 + (uint64_t)kind);
		check_alltoallv(SHMEM_TEAM_WORLD, type, MANY, kind, 1000 + (uint64_t)kind);
	}
}

/* Calls without anything between them, and data that is not symmetric where it need not be. */
static void check_in_a_row(void)
{
	static long all[MOST_PES];
	size_t ones[MOST_PES];

	NOTE("in a row");
	for (int i = 0; i < npes; i++)
		ones[i] = 1;
	for (long i = 0; i < eased(100); i++) {
		long mine = me + i, next = -1;
		int root = (int)(i % npes);

		shmemx_gather(SHMEM_TEAM_WORLD, all, &mine, 1, SHMEMX_LONG, root);
		for (int pe = 0; pe < npes && me == root; pe++)
			CHECK_EQUAL(all[pe], pe + i);
		shmemx_scatter(SHMEM_TEAM_WORLD, &next, all, 1, SHMEMX_LONG, root);
		CHECK_EQUAL(next, me + i);
		shmemx_allgatherv(SHMEM_TEAM_WORLD, all, &mine, ones, NULL, SHMEMX_LONG);
		for (int pe = 0; pe < npes; pe++)
			CHECK_EQUAL(all[pe], pe + i);
		shmem_sync_all();
	}
}

int main(void)
{
	shmem_team_t odd;

	setenv("SHMEM_SYMMETRIC_SIZE", "64m", 1);
	begin();
	make_room((size_t)npes * (MANY + 4) * sizeof(int));
	check_team(SHMEM_TEAM_WORLD);
	check_many();
	check_in_a_row();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 1, 1, npes > 1 ? npes - 1 : 1, NULL, 0, &odd);
	if (odd != SHMEM_TEAM_INVALID) {
		check_team(odd);
		shmem_team_destroy(odd);
	}
	free(expected);
	return end();
}
