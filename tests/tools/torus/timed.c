/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed puts COUNT PE: so many puts of 8 bytes to it, one after the other. timed broadcast BYTES:
 * one, as a plan. timed exchange COUNT BYTES: so many messages in both directions round a ring, and
 * one more without a wait. timed reductions COUNT: so many reductions and barriers of a team of all
 * but the last. timed plan KIND COUNT BYTES: so many runs of a plan that the NIC carries out. For
 * tofu.bats, which replays the first two and counts what the others put.
 */
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

static void puts_of_eight(long count, int pe)
{
	static long word;

	for (long i = 0; shmem_my_pe() == 0 && i < count; i++) {
		shmem_long_p(&word, i, pe);
		shmem_quiet();
	}
}

static int broadcast(size_t bytes)
{
	char *dest = shmem_calloc(bytes, 1), *source = shmem_malloc(bytes);
	shmemx_plan_t plan;

	memset(source, 7, bytes);
	shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest, source, bytes, 0, SHMEMX_PLAN_NIC, &plan);
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
	return dest[0] == 7 && dest[bytes - 1] == 7 ? 0 : 1;
}

static int exchange(long count, size_t bytes)
{
	int me = shmem_my_pe(), n = shmem_n_pes();
	shmemx_edge_t edges[] = {{(me + 1) % n, 1, bytes, bytes, 0}, {(me + n - 1) % n, 0, bytes, bytes, 0}};
	shmemx_exchange_t x;
	int wrong = 0;

	shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &x);
	for (long i = 0; i < count; i++) {
		for (int e = 0; e < 2; e++)
			memset(shmemx_exchange_buffer(x, e), (int)i, bytes);
		shmemx_exchange_start(x, SHMEMX_ALL_EDGES, bytes);
		shmemx_exchange_wait(x, SHMEMX_ALL_EDGES, NULL);
		for (int e = 0; e < 2; e++) {
			const char *came = shmemx_exchange_received(x, e, NULL);

			wrong |= came[0] != (char)i || came[bytes - 1] != (char)i;
		}
		shmemx_exchange_release(x, SHMEMX_ALL_EDGES);
	}
	shmemx_exchange_start(x, SHMEMX_ALL_EDGES, bytes);
	shmemx_exchange_destroy(x);
	return wrong;
}

static shmemx_plan_t make_plan(const char *kind, char *dest, const char *source, size_t bytes)
{
	int me = shmem_my_pe(), n = shmem_n_pes();
	shmemx_neighbour_t edges[] = {{(me + 1) % n, 1, source, bytes, dest, bytes},
				      {(me + n - 1) % n, 0, source + bytes, bytes, dest + bytes, bytes}};
	shmemx_plan_t plan;

	if (!strcmp(kind, "allgather"))
		shmemx_allgather_init(SHMEM_TEAM_WORLD, dest, source, bytes, SHMEMX_PLAN_NIC, &plan);
	else if (!strcmp(kind, "alltoall"))
		shmemx_alltoall_init(SHMEM_TEAM_WORLD, dest, source, bytes, SHMEMX_PLAN_NIC, &plan);
	else
		shmemx_neighbours_init(SHMEM_TEAM_WORLD, edges, 2, SHMEMX_PLAN_NIC, &plan);
	return plan;
}

static int plan(const char *kind, long count, size_t bytes)
{
	size_t all = (size_t)shmem_n_pes() * bytes;
	char *dest = shmem_calloc(all, 1), *source = shmem_calloc(all, 1);
	shmemx_plan_t plan = make_plan(kind, dest, source, bytes);
	int wrong = 0;

	for (long i = 1; i <= count; i++) {
		memset(source, (int)i, all);
		shmemx_plan_start(plan);
		shmemx_plan_wait(plan);
		wrong |= dest[0] != (char)i || dest[2 * bytes - 1] != (char)i;
	}
	shmem_barrier_all(); /* queues of a plan that is freed are not in the NIC's count */
	return wrong;
}

static int reductions(long count)
{
	static long longs[6], least[6];
	static double doubles[3];
	shmem_team_t team;
	int wrong = 0, n = shmem_n_pes() - 1;

	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team);
	for (long i = 0; i < count && team != SHMEM_TEAM_INVALID; i++) {
		longs[5] = doubles[2] = i + shmem_my_pe();
		shmem_long_min_reduce(team, least, longs, 6);
		shmem_double_sum_reduce(team, doubles, doubles, 3);
		shmem_team_sync(team);
		wrong |= least[5] != i || doubles[2] != (double)(n * i) + n * (n - 1) / 2;
	}
	shmem_team_destroy(team);
	return wrong;
}

int main(int argc, char **argv)
{
	int wrong = argc < 3;

	shmem_init();
	if (argc == 5)
		wrong = plan(argv[2], atol(argv[3]), strtoul(argv[4], NULL, 10));
	else if (argc == 4 && !strcmp(argv[1], "exchange"))
		wrong = exchange(atol(argv[2]), strtoul(argv[3], NULL, 10));
	else if (argc == 4)
		puts_of_eight(atol(argv[2]), atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "reductions"))
		wrong = reductions(atol(argv[2]));
	else if (argc == 3)
		wrong = broadcast(strtoul(argv[2], NULL, 10));
	shmem_finalize();
	return wrong;
}
