/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatch CALL MISTAKE: all PEs but PE 1 call a routine as they should; PE 1 does not call it
 * (missing), ends instead (exited, killed), calls another one before it (order), or calls it with
 * another size or root. mismatch --list: every CALL MISTAKE that makes sense, with the routine. For
 * mismatches.bats.
 */
#include <shmemx.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD SHMEM_TEAM_WORLD

/* How a call is made by PE 1. */
struct how {
	int more; /* elements or bytes */
	int root;
};

static long source[64], dest[512], lock, flag, about_to_call, psync[SHMEM_SYNC_SIZE],
	work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8];
static uint64_t signal_word;
static int n;
static void *block;
static shmem_team_t team;
static shmemx_plan_t plan;
static shmemx_req_h request;
static shmemx_exchange_t exchange;

#define CALL(name, ...)                  \
	static void name(struct how how) \
	{                                \
		(void)how;               \
		__VA_ARGS__;             \
	}

static const size_t *counts_of(int more)
{
	static size_t counts[2][64];

	for (int i = 0; i < 64; i++)
		counts[more != 0][i] = 2 + (size_t)more;
	return counts[more != 0];
}

CALL(nothing, )
CALL(barrier_all, shmem_barrier_all())
CALL(sync_all, shmem_sync_all())
CALL(team_sync, shmem_team_sync(WORLD))
CALL(old_barrier, shmem_barrier(0, 0, n, psync))
CALL(old_sync, shmem_sync(0, 0, n, psync))
CALL(broadcast, shmem_long_broadcast(WORLD, dest, source, 2 + how.more, how.root))
CALL(collect, shmem_long_collect(WORLD, dest, source, 2))
CALL(fcollect, shmem_long_fcollect(WORLD, dest, source, 2 + how.more))
CALL(alltoall, shmem_long_alltoall(WORLD, dest, source, 2 + how.more))
CALL(alltoalls, shmem_long_alltoalls(WORLD, dest, source, 1, 1, 2 + how.more))
CALL(reduce, shmem_long_sum_reduce(WORLD, dest, source, 2 + how.more))
CALL(half, shmemx_half_sum_reduce(WORLD, (shmemx_half_t *)dest, (shmemx_half_t *)source, 2 + how.more))
CALL(average, shmemx_double_avg_reduce(WORLD, (double *)dest, (double *)source, 2 + how.more))
CALL(reduce_scatter, shmemx_reduce_scatter(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, SHMEMX_SUM))
CALL(gather, shmemx_gather(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, how.root))
CALL(scatter, shmemx_scatter(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, how.root))
CALL(allgatherv, shmemx_allgatherv(WORLD, dest, source, counts_of(how.more), NULL, SHMEMX_LONG))
CALL(alltoallv, shmemx_alltoallv(WORLD, dest, source, counts_of(how.more), NULL, counts_of(0), NULL, SHMEMX_LONG))
CALL(request_sum, shmemx_long_sum_reduce_nb(WORLD, dest, source, 2 + how.more, &request); shmemx_req_wait(&request))
CALL(request_broadcast, shmemx_long_broadcast_nb(WORLD, dest, source, 2 + how.more, how.root, &request);
     shmemx_req_wait(&request))
CALL(request_sync, shmemx_sync_nb(WORLD, &request); shmemx_req_wait(&request))
CALL(request_gather, shmemx_gather_nb(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, how.root, &request);
     shmemx_req_wait(&request))
CALL(request_collect, shmemx_long_collect_nb(WORLD, dest, source, 2, &request); shmemx_req_wait(&request))
CALL(request_scan, shmemx_long_sum_inscan_nb(WORLD, dest, source, 2 + how.more, &request); shmemx_req_wait(&request))
CALL(inscan, shmem_long_sum_inscan(WORLD, dest, source, 2 + how.more))
CALL(exscan, shmem_long_sum_exscan(WORLD, dest, source, 2 + how.more))
CALL(old_broadcast, shmem_broadcast64(dest, source, 2 + how.more, how.root, 0, 0, n, psync))
CALL(old_collect, shmem_collect64(dest, source, 2, 0, 0, n, psync))
CALL(old_fcollect, shmem_fcollect64(dest, source, 2 + how.more, 0, 0, n, psync))
CALL(old_alltoall, shmem_alltoall64(dest, source, 2 + how.more, 0, 0, n, psync))
CALL(old_alltoalls, shmem_alltoalls64(dest, source, 1, 1, 2 + how.more, 0, 0, n, psync))
CALL(old_reduce, shmem_long_sum_to_all(dest, source, 2 + how.more, 0, 0, n, work, psync))
CALL(memory, block = shmem_malloc(64 + how.more))
CALL(zeros, shmem_calloc(8 + how.more, 8))
CALL(aligned, shmem_align(64, 64 + how.more))
CALL(hinted, shmem_malloc_with_hints(64 + how.more, 0))
CALL(resize, shmem_realloc(block, 128 + how.more))
CALL(release, shmem_free(block))
CALL(split, shmem_team_split_strided(WORLD, 0, 1, n - how.more, NULL, 0, &team))
CALL(split_2d, shmem_team_t other; shmem_team_split_2d(WORLD, 2 + how.more, NULL, 0, &team, NULL, 0, &other))
CALL(team_destroy, shmem_team_destroy(team))
CALL(grid, int sizes[2] = {how.more ? n : 1, how.more ? 1 : n}; shmemx_grid_create(WORLD, 2, sizes, NULL, 0, &team))
CALL(plan_broadcast, shmemx_broadcast_init(WORLD, dest, source, 16 + how.more, how.root, SHMEMX_PLAN_AUTO, &plan))
CALL(plan_reduce,
     shmemx_reduce_init(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, SHMEMX_SUM, how.root, SHMEMX_PLAN_AUTO, &plan))
CALL(plan_allreduce,
     shmemx_allreduce_init(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, SHMEMX_SUM, SHMEMX_PLAN_AUTO, &plan))
CALL(plan_allgather, shmemx_allgather_init(WORLD, dest, source, 16 + how.more, SHMEMX_PLAN_AUTO, &plan))
CALL(plan_alltoall, shmemx_alltoall_init(WORLD, dest, source, 16 + how.more, SHMEMX_PLAN_AUTO, &plan))
CALL(plan_gather, shmemx_gather_init(WORLD, dest, source, 2 + how.more, SHMEMX_LONG, how.root, SHMEMX_PLAN_AUTO, &plan))
CALL(plan_run, shmemx_plan_start(plan); shmemx_plan_wait(plan))
CALL(plan_free, shmemx_plan_free(plan))
CALL(exchange_destroy, shmemx_exchange_destroy(exchange))
CALL(wait_until, shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7))
CALL(wait_all, shmem_long_wait_until_all(dest, 2, NULL, SHMEM_CMP_EQ, 7))
CALL(wait_signal, shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 7))
CALL(take_lock, shmem_set_lock(&lock))

/* A ring of edges: 0 to the next PE, 1 to the one before. */
static void plan_neighbours(struct how how)
{
	int next = (shmem_my_pe() + 1) % n, before = (shmem_my_pe() + n - 1) % n;
	shmemx_neighbour_t edges[2] = {{next, 1, source, 16 + (size_t)how.more, dest, 16},
				       {before, 0, source, 16, dest + 8, 16}};

	shmemx_neighbours_init(WORLD, edges, 2, SHMEMX_PLAN_AUTO, &plan);
}

static void exchange_create(struct how how)
{
	int next = (shmem_my_pe() + 1) % n, before = (shmem_my_pe() + n - 1) % n;
	shmemx_edge_t edges[2] = {{next, 1, 64 + (size_t)how.more, 64, 0}, {before, 0, 64, 64, 0}};

	shmemx_exchange_create(WORLD, edges, 2, &exchange);
}

static void exchange_run(struct how how)
{
	(void)how;
	shmemx_exchange_start(exchange, SHMEMX_ALL_EDGES, 64);
	shmemx_exchange_wait(exchange, SHMEMX_ALL_EDGES, NULL);
}

/* PE 1 has the lock, and does not give it back. */
static void hold_lock(struct how how)
{
	(void)how;
	if (shmem_my_pe() == 1)
		shmem_set_lock(&lock);
}

enum { SIZE = 1, ROOT = 2, ORDER = 4 };

static const struct call {
	const char *name, *routine;
	int mistakes;
	void (*call)(struct how);
	void (*before)(struct how); /* by all PEs, to have something to call it with */
} calls[] = {
	{"barrier_all", "shmem_barrier_all", ORDER, barrier_all, nothing},
	{"sync_all", "shmem_sync_all", ORDER, sync_all, nothing},
	{"team_sync", "shmem_team_sync", ORDER, team_sync, nothing},
	{"old_barrier", "shmem_barrier", ORDER, old_barrier, nothing},
	{"old_sync", "shmem_sync", ORDER, old_sync, nothing},
	{"broadcast", "shmem_long_broadcast", SIZE | ROOT | ORDER, broadcast, nothing},
	{"collect", "shmem_long_collect", ORDER, collect, nothing},
	{"fcollect", "shmem_long_fcollect", SIZE | ORDER, fcollect, nothing},
	{"alltoall", "shmem_long_alltoall", SIZE | ORDER, alltoall, nothing},
	{"alltoalls", "shmem_long_alltoalls", SIZE | ORDER, alltoalls, nothing},
	{"reduce", "shmem_long_sum_reduce", SIZE | ORDER, reduce, nothing},
	{"half", "shmemx_half_sum_reduce", SIZE | ORDER, half, nothing},
	{"average", "shmemx_double_avg_reduce", SIZE | ORDER, average, nothing},
	{"reduce_scatter", "shmemx_reduce_scatter", SIZE | ORDER, reduce_scatter, nothing},
	{"gather", "shmemx_gather", SIZE | ROOT | ORDER, gather, nothing},
	{"scatter", "shmemx_scatter", SIZE | ROOT | ORDER, scatter, nothing},
	{"allgatherv", "shmemx_allgatherv", SIZE | ORDER, allgatherv, nothing},
	{"alltoallv", "shmemx_alltoallv", SIZE | ORDER, alltoallv, nothing},
	{"request_sum", "shmemx_long_sum_reduce_nb", SIZE | ORDER, request_sum, nothing},
	{"request_broadcast", "shmemx_long_broadcast_nb", SIZE | ROOT | ORDER, request_broadcast, nothing},
	{"request_sync", "shmemx_sync_nb", ORDER, request_sync, nothing},
	{"request_gather", "shmemx_gather_nb", SIZE | ROOT | ORDER, request_gather, nothing},
	{"request_collect", "shmemx_long_collect_nb", ORDER, request_collect, nothing},
	{"request_scan", "shmemx_long_sum_inscan_nb", SIZE | ORDER, request_scan, nothing},
	{"inscan", "shmem_long_sum_inscan", SIZE | ORDER, inscan, nothing},
	{"exscan", "shmem_long_sum_exscan", SIZE | ORDER, exscan, nothing},
	{"old_broadcast", "shmem_broadcast64", SIZE | ROOT | ORDER, old_broadcast, nothing},
	{"old_collect", "shmem_collect64", ORDER, old_collect, nothing},
	{"old_fcollect", "shmem_fcollect64", SIZE | ORDER, old_fcollect, nothing},
	{"old_alltoall", "shmem_alltoall64", SIZE | ORDER, old_alltoall, nothing},
	{"old_alltoalls", "shmem_alltoalls64", SIZE | ORDER, old_alltoalls, nothing},
	{"old_reduce", "shmem_long_sum_to_all", SIZE | ORDER, old_reduce, nothing},
	{"malloc", "shmem_malloc", SIZE | ORDER, memory, nothing},
	{"calloc", "shmem_calloc", SIZE | ORDER, zeros, nothing},
	{"align", "shmem_align", SIZE | ORDER, aligned, nothing},
	{"malloc_with_hints", "shmem_malloc_with_hints", SIZE | ORDER, hinted, nothing},
	{"realloc", "shmem_realloc", SIZE | ORDER, resize, memory},
	{"free", "shmem_free", ORDER, release, memory},
	{"split_strided", "shmem_team_split_strided", SIZE | ORDER, split, nothing},
	{"split_2d", "shmem_team_split_2d", SIZE | ORDER, split_2d, nothing},
	{"team_destroy", "shmem_team_destroy", ORDER, team_destroy, split},
	{"grid", "shmemx_grid_create", SIZE | ORDER, grid, nothing},
	{"plan_broadcast", "shmemx_broadcast_init", SIZE | ROOT | ORDER, plan_broadcast, nothing},
	{"plan_reduce", "shmemx_reduce_init", SIZE | ROOT | ORDER, plan_reduce, nothing},
	{"plan_allreduce", "shmemx_allreduce_init", SIZE | ORDER, plan_allreduce, nothing},
	{"plan_allgather", "shmemx_allgather_init", SIZE | ORDER, plan_allgather, nothing},
	{"plan_alltoall", "shmemx_alltoall_init", SIZE | ORDER, plan_alltoall, nothing},
	{"plan_neighbours", "shmemx_neighbours_init", SIZE | ORDER, plan_neighbours, nothing},
	{"plan_gather", "shmemx_gather_init", SIZE | ROOT | ORDER, plan_gather, nothing},
	{"plan_run", "shmemx_allreduce_init", 0, plan_run, plan_allreduce},
	{"plan_free", "shmemx_plan_free", ORDER, plan_free, plan_allreduce},
	{"exchange_create", "shmemx_exchange_create", SIZE | ORDER, exchange_create, nothing},
	{"exchange_run", "shmemx_exchange_wait", 0, exchange_run, exchange_create},
	{"exchange_destroy", "shmemx_exchange_destroy", ORDER, exchange_destroy, exchange_create},
	{"wait_until", "shmem_long_wait_until", 0, wait_until, nothing},
	{"wait_all", "shmem_long_wait_until_all", 0, wait_all, nothing},
	{"wait_signal", "shmem_signal_wait_until", 0, wait_signal, nothing},
	{"lock", "shmem_set_lock", 0, take_lock, hold_lock},
};
#define CALLS (sizeof calls / sizeof calls[0])

static void list(void)
{
	static const struct {
		const char *name;
		int mistake;
	} mistakes[] = {{"missing", 0}, {"exited", 0}, {"killed", 0}, {"order", ORDER}, {"size", SIZE}, {"root", ROOT}};

	for (size_t i = 0; i < CALLS; i++)
		for (size_t m = 0; m < sizeof mistakes / sizeof mistakes[0]; m++)
			if ((calls[i].mistakes & mistakes[m].mistake) == mistakes[m].mistake)
				printf("%s %s %s\n", calls[i].name, mistakes[m].name, calls[i].routine);
}

static int ends(const char *mistake)
{
	return !strcmp(mistake, "exited") || !strcmp(mistake, "killed");
}

static void call_wrongly(const struct call *c, const char *mistake)
{
	struct how right = {0, 0};
	void (*other)(struct how) = c->call == barrier_all ? sync_all : barrier_all;

	if (ends(mistake)) {
		shmem_long_wait_until(&about_to_call, SHMEM_CMP_EQ, n - 1);
		usleep(200000); /* by then the others are in the routine */
	}
	if (!strcmp(mistake, "exited"))
		exit(3);
	else if (!strcmp(mistake, "killed"))
		raise(SIGKILL);
	else if (!strcmp(mistake, "size"))
		c->call((struct how){1, 0});
	else if (!strcmp(mistake, "root"))
		c->call((struct how){0, 1});
	else if (!strcmp(mistake, "order"))
		other(right), c->call(right);
	else if (!strcmp(mistake, "none") && strcmp(c->name, "lock"))
		c->call(right);
}

static void call_rightly(const struct call *c, const char *mistake)
{
	struct how right = {0, 0};

	if (ends(mistake))
		shmem_long_atomic_inc(&about_to_call, 1);
	c->call(right);
	if (!strcmp(mistake, "order"))
		(c->call == barrier_all ? sync_all : barrier_all)(right);
}

int main(int argc, char **argv)
{
	const struct call *c = NULL;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	for (size_t i = 0; argc == 3 && i < CALLS; i++)
		if (!strcmp(calls[i].name, argv[1]))
			c = &calls[i];
	if (!c)
		return 2;
	shmem_init();
	n = shmem_n_pes();
	c->before((struct how){0, 0});
	shmem_barrier_all();
	if (shmem_my_pe() == 1)
		call_wrongly(c, argv[2]);
	else
		call_rightly(c, argv[2]);
	shmem_finalize();
	return 0;
}
