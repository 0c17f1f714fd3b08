/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 mixed3=7 split=3 tofu-few=3 ofi=3 */
/*
 * Gather, scatter, allgatherv and alltoallv: all types, few and many elements, in place and not,
 * blocking, nonblocking and as plans, one after the other without a pause, on the world and on a
 * part of it.
 */
#include "tests/lib/vectors.h"

#define MANY 20000

static void check_case(shmem_team_t team, const struct vector_type *type, size_t count, int kind, uint64_t seed)
{
	int root = (int)(seed / 5) % shmem_team_n_pes(team);

	check_gather(team, type, count, root, seed + 1);
	check_scatter(team, type, count, root, seed + 2);
	check_allgatherv(team, type, count, kind, seed + 3);
	check_alltoallv(team, type, count, kind, seed + 4);
}

static void check_team(shmem_team_t team)
{
	static const size_t counts[] = {0, 1, 5, 300};
	uint64_t seed = 0;

	for (size_t t = 0; t < VECTOR_TYPES; t++) {
		const struct vector_type *type = &vector_types[t];

		for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
			if (!is_selected(t + i))
				continue;
			way = BLOCKING;
			check_case(team, type, counts[i], (int)(t + i) % 3, seed += 5);
			way = t / 4 % 2 ? NONBLOCKING : PLAN;
			if (i == t % 4) /* the others take long, and bytes are bytes */
				check_case(team, type, counts[i], (int)(t / 2 + i) % 3, seed += 5);
		}
	}
}

static void check_many(void)
{
	const struct vector_type *type = &vector_types[6];

	for (int kind = 0; kind < 3; kind++)
		for (way = BLOCKING; way < WAYS; way++)
			check_case(SHMEM_TEAM_WORLD, type, MANY, kind, 1000 + 5 * (uint64_t)(npes - 1 + kind));
	way = BLOCKING;
}

/*
 * Nonblocking ones, more than a team has under way at a time, each with counts of its own, waited
 * for from the last to the first, with PEs that come late.
 */
#define AT_ONCE 12
static void check_many_under_way(void)
{
	long *to = (long *)(void *)dest, *from = (long *)(void *)source;
	size_t counts[AT_ONCE][MOST_PES];
	shmemx_req_h requests[AT_ONCE];
	size_t room_for_one = (size_t)npes * 50;

	for (long round = 0; round < eased(20); round++) {
		NOTE("under way, round %ld", round);
		for (size_t i = 0; i < AT_ONCE * room_for_one; i++)
			from[i] = me * 1000000 + (long)i + round;
		shmem_sync_all();
		if (round % npes == me)
			usleep(300);
		for (size_t b = 0; b < AT_ONCE; b++) {
			for (int pe = 0; pe < npes; pe++)
				counts[b][pe] = noise((uint64_t)round * 100 + b * 10 + (uint64_t)pe) % 50;
			CHECK_EQUAL(shmemx_allgatherv_nb(SHMEM_TEAM_WORLD, to + b * room_for_one,
							 from + b * room_for_one, counts[b], NULL, SHMEMX_LONG,
							 &requests[b]),
				    0);
		}
		for (size_t b = AT_ONCE; b-- > 0;) {
			const long *at = to + b * room_for_one;

			complete(&requests[b], (uint64_t)round + b);
			for (int pe = 0; pe < npes; pe++)
				for (size_t i = 0; i < counts[b][pe]; i++)
					CHECK_EQUAL(*at++, pe * 1000000 + (long)(b * room_for_one + i) + round);
		}
		shmem_sync_all();
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
	check_many_under_way();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 1, 1, npes > 1 ? npes - 1 : 1, NULL, 0, &odd);
	if (odd != SHMEM_TEAM_INVALID) {
		check_team(odd);
		shmem_team_destroy(odd);
	}
	free(expected);
	return end();
}
