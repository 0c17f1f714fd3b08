/* SPDX-License-Identifier: BSD-3-Clause */
/* The mistakes of mistake.c with the routines of shmemx.h. */
#include "mistake.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What one PE passes to routines that make plans differs. */
static void differ_in_plans(bool odd)
{
	shmemx_plan_t plan, other;
	int root = odd, bytes = odd ? 24 : 16;

	if (is("plans-root"))
		shmemx_broadcast_init(WORLD, to, from, 16, root, SHMEMX_PLAN_AUTO, &plan);
	else if (is("plans-bytes"))
		shmemx_broadcast_init(WORLD, to, from, bytes, 0, SHMEMX_PLAN_AUTO, &plan);
	else if (is("plans-reduce-root"))
		shmemx_reduce_init(WORLD, to, from, 2, SHMEMX_LONG, SHMEMX_SUM, root, SHMEMX_PLAN_AUTO, &plan);
	else if (is("plans-count"))
		shmemx_allreduce_init(WORLD, to, from, odd ? 3 : 2, SHMEMX_LONG, SHMEMX_SUM, SHMEMX_PLAN_AUTO, &plan);
	else if (is("plans-op"))
		shmemx_allreduce_init(WORLD, to, from, 2, SHMEMX_LONG, odd ? SHMEMX_MAX : SHMEMX_SUM, SHMEMX_PLAN_AUTO,
				      &plan);
	else if (is("plans-type"))
		shmemx_allreduce_init(WORLD, to, from, 2, odd ? SHMEMX_DOUBLE : SHMEMX_LONG, SHMEMX_SUM,
				      SHMEMX_PLAN_AUTO, &plan);
	else if (is("plans-executor"))
		shmemx_allgather_init(WORLD, to, from, 16, odd ? SHMEMX_PLAN_LIST : SHMEMX_PLAN_NIC, &plan);
	else if (is("plans-alltoall"))
		shmemx_alltoall_init(WORLD, to, from, bytes, SHMEMX_PLAN_AUTO, &plan);
	if (is("plans-free")) {
		shmemx_broadcast_init(WORLD, to, from, 16, 0, SHMEMX_PLAN_AUTO, &plan);
		shmemx_broadcast_init(WORLD, to, from, 16, 0, SHMEMX_PLAN_AUTO, &other);
		shmemx_plan_free(odd ? other : plan);
	}
}

static void make_bad_list(bool odd)
{
	static long psync[SHMEM_SYNC_SIZE];
	static const int twice[] = {0, 0}, both[] = {0, 1}, strange[] = {0, 7};
	shmem_team_t team;

	if (!odd && is("list-twice"))
		shmemx_team_of_pes(twice, 2, psync, &team);
	else if (odd && is("list-outside"))
		shmemx_team_of_pes(both, 1, psync, &team);
	else if (!odd && is("list-number"))
		shmemx_team_of_pes(strange, 2, psync, &team);
	else if (!odd && is("list-psync"))
		shmemx_team_of_pes(both, 2, (long[SHMEM_SYNC_SIZE]){0}, &team);
}

/* After it was destroyed, by the last PE. */
static void use_destroyed_exchange(bool odd)
{
	shmemx_edge_t edge = {shmem_my_pe(), 0, 64, 64, 0};
	shmemx_exchange_t old, next;

	if (strncmp(mistake, "destroyed-", 10))
		return;
	shmemx_exchange_create(WORLD, &edge, 1, &old);
	shmemx_exchange_destroy(old);
	shmemx_exchange_create(WORLD, &edge, 1, &next);
	if (odd && is("destroyed-start"))
		shmemx_exchange_start(old, 0, 8);
	if (odd && is("destroyed-all"))
		shmemx_exchange_start(old, SHMEMX_ALL_EDGES, 8);
	if (odd && is("destroyed-wait"))
		shmemx_exchange_wait(old, 0, NULL);
	if (odd && is("destroyed-test"))
		shmemx_exchange_test(old, SHMEMX_ALL_EDGES);
	if (odd && is("destroyed-buffer"))
		shmemx_exchange_buffer(old, 0);
	if (is("destroyed-twice"))
		shmemx_exchange_destroy(old);
	shmemx_exchange_destroy(next);
}

/* Edges in both directions to the other PE of two; the last PE makes the mistake. */
static void exchange_wrongly(bool odd)
{
	shmemx_edge_t edges[2] = {{!shmem_my_pe(), 0, 64, 64, 0}, {!shmem_my_pe(), 1, 64, 0, 0}};
	shmemx_exchange_t x;

	if (strncmp(mistake, "edge-", 5))
		return;
	if (!odd)
		edges[1] = (shmemx_edge_t){!shmem_my_pe(), 1, 0, 64, 0};
	if (odd && is("edge-pe"))
		edges[1].pe = 2;
	if (odd && is("edge-elsewhere"))
		edges[1].edge = 0;
	if (odd && is("edge-none"))
		edges[1].edge = 7;
	if (odd && is("edge-small"))
		edges[0].send_bytes = 65;
	if (odd && is("edge-options"))
		edges[1].options = 64;
	if (is("edge-skipped") || is("edge-no-start"))
		edges[0].options = edges[1].options = SHMEMX_EDGE_EACH_ITERATION;
	shmemx_exchange_create(WORLD, edges, 2, &x);
	if (odd && is("edge-skipped")) {
		shmemx_exchange_start(x, 0, 1);
		shmemx_exchange_start(x, 1, 1);
		shmemx_exchange_start(x, 0, 1);
		shmemx_exchange_wait(x, 0, NULL);
		shmemx_exchange_release(x, 0);
		shmemx_exchange_start(x, 0, 1);
	}
	if (is("edge-skipped") && !odd) {
		shmemx_exchange_start(x, 0, 1);
		shmemx_exchange_start(x, 0, 1);
	}
	if (odd && is("edge-no-start"))
		shmemx_exchange_wait(x, 0, NULL);
	if (odd && is("edge-number"))
		shmemx_exchange_buffer(x, 2);
	if (odd && is("edge-long"))
		shmemx_exchange_start(x, 0, 65);
	if (odd && is("edge-one-way"))
		shmemx_exchange_wait(x, 1, NULL);
	if (odd && is("edge-release"))
		shmemx_exchange_release(x, 0);
	for (int i = 0; i < 3 && is("edge-unreleased"); i++) {
		shmemx_exchange_start(x, 0, 1);
		shmemx_exchange_wait(x, 0, NULL);
		if (!odd)
			shmemx_exchange_release(x, 0);
	}
}

static void plan_edges(bool odd)
{
	shmemx_neighbour_t edge = {!shmem_my_pe(), 0, from, 16, to, 16};
	shmemx_plan_t plan;

	if (odd && is("plan-edge-pe"))
		edge.pe = 9;
	if (odd && is("plan-edge-none"))
		edge.edge = 3;
	if (odd && is("plan-edge-bytes"))
		edge.send_bytes = 8;
	if (odd && is("plan-edge-private"))
		edge.source = &edge;
	shmemx_neighbours_init(WORLD, &edge, 1, SHMEMX_PLAN_LIST, &plan);
}

/* PE 0 is the root, and only the last PE makes the mistake, so that no run ends. */
static void plan_words(bool odd)
{
	static uint64_t words[4];
	uint64_t private;
	shmemx_plan_t plan, other;

	shmemx_broadcast_init(WORLD, to, from, 16, 0, SHMEMX_PLAN_AUTO, &plan);
	shmemx_allgather_init(WORLD, to, from, 8, SHMEMX_PLAN_AUTO, &other);
	if (odd && is("plan-word-private"))
		shmemx_plan_start_on(plan, &words[0], &private);
	if (odd && is("plan-word-one"))
		shmemx_plan_start_on(plan, &words[0], NULL);
	if (odd && is("plan-word-same"))
		shmemx_plan_start_on(plan, &words[0], &words[0]);
	if (odd && is("plan-word-odd"))
		shmemx_plan_start_on(plan, (uint64_t *)(void *)((char *)words + 4), &words[2]);
	shmemx_plan_start_on(plan, &words[0], &words[1]);
	if (odd && is("plan-word-shared"))
		shmemx_plan_start_on(other, &words[2], &words[0]);
	if (odd && is("plan-word-start"))
		shmemx_plan_start(plan);
	if (odd)
		__atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
	if (odd && is("plan-word-again"))
		shmemx_plan_start_on(plan, &words[2], &words[3]);
	if (odd && is("plan-word-free"))
		shmemx_plan_free(plan);
	if (odd && is("plan-word-left"))
		shmem_finalize();
	shmem_barrier_all();
}

static void plan_wrongly(bool odd)
{
	shmemx_plan_t plan = SHMEMX_PLAN_INVALID;
	size_t ones[] = {1, 1}, more[] = {2, 1};
	shmem_team_t team = WORLD;

	if (strncmp(mistake, "plan-", 5))
		return;
	if (!strncmp(mistake, "plan-word-", 10)) {
		plan_words(odd);
		return;
	}
	if (!strncmp(mistake, "plan-edge-", 10)) {
		plan_edges(odd);
		return;
	}
	if (odd && is("plan-invalid"))
		shmemx_plan_start(plan);
	if (is("plan-team"))
		shmem_team_split_strided(WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
	if (is("plan-reduction"))
		shmemx_allreduce_init(WORLD, to, from, 2, SHMEMX_DOUBLE, SHMEMX_XOR, SHMEMX_PLAN_AUTO, &plan);
	if (is("plan-scan"))
		shmemx_sum_inscan_init(WORLD, to, from, 2, (shmemx_type_t)99, SHMEMX_PLAN_AUTO, &plan);
	if (is("plan-stride"))
		shmemx_alltoalls_init(WORLD, to, from, 1, -1, 1, SHMEMX_LONG, SHMEMX_PLAN_AUTO, &plan);
	if (odd && is("plan-scatter"))
		shmemx_scatter_init(WORLD, &plan, from, 1, SHMEMX_LONG, 0, SHMEMX_PLAN_AUTO, &plan);
	if (is("plan-lengths"))
		shmemx_alltoallv_init(WORLD, to, from, ones, NULL, odd ? more : ones, NULL, SHMEMX_LONG,
				      SHMEMX_PLAN_AUTO, &plan);
	shmemx_broadcast_init(team, to, odd && is("plan-private") ? (void *)&plan : from, 16, is("plan-root") ? 7 : 0,
			      is("plan-executor") ? 5 : SHMEMX_PLAN_LIST, &plan);
	if (is("plan-team"))
		shmem_team_destroy(team);
	if (odd && !is("plan-freed"))
		shmemx_plan_start(plan);
	if (odd && is("plan-started"))
		shmemx_plan_start(plan);
	if (odd && is("plan-free-started"))
		shmemx_plan_free(plan);
	if (odd && is("plan-left"))
		shmem_finalize();
	if (is("plan-freed")) {
		shmemx_plan_free(plan);
		if (odd)
			shmemx_plan_wait(plan);
	}
}

static void blocks_wrongly(bool odd)
{
	size_t ones[] = {1, 1}, more[] = {1, 2};
	long private;

	if (is("block-type"))
		shmemx_gather(WORLD, to, from, 1, (shmemx_type_t)99, 0);
	if (is("block-root"))
		shmemx_scatter(WORLD, to, from, 1, SHMEMX_LONG, 7);
	if (odd && is("block-private"))
		shmemx_gather(WORLD, &private, from, 1, SHMEMX_LONG, 0);
	if (is("block-counts"))
		shmemx_allgatherv(WORLD, to, from, NULL, NULL, SHMEMX_LONG);
	if (is("block-lengths"))
		shmemx_alltoallv(WORLD, to, from, ones, NULL, odd ? more : ones, NULL, SHMEMX_LONG);
}

/* Only the last PE starts what is under way. */
static void request_wrongly(bool odd)
{
	size_t ones[] = {1, 1}, more[] = {2, 1};
	shmem_team_t team = WORLD;
	shmemx_req_h request;

	if (strncmp(mistake, "request-", 8))
		return;
	if (is("request-null"))
		shmemx_sync_all_nb(NULL);
	if (is("request-root"))
		shmemx_long_broadcast_nb(WORLD, to, from, 2, 7, &request);
	if (is("request-type"))
		shmemx_gather_nb(WORLD, to, from, 1, (shmemx_type_t)99, 0, &request);
	if (is("request-no-root"))
		shmemx_scatter_nb(WORLD, to, from, 1, SHMEMX_LONG, -1, &request);
	if (odd && is("request-private"))
		shmemx_gather_nb(WORLD, &team, from, 1, SHMEMX_LONG, shmem_my_pe(), &request);
	if (is("request-lengths")) {
		shmemx_alltoallv_nb(WORLD, to, from, ones, NULL, odd ? more : ones, NULL, SHMEMX_LONG, &request);
		shmemx_req_wait(&request);
	}
	if (is("request-nelems")) {
		shmemx_gather_nb(WORLD, to, from, odd ? 2 : 1, SHMEMX_LONG, 0, &request);
		shmemx_req_wait(&request);
	}
	if (is("request-kind")) {
		if (odd)
			shmemx_scatter_nb(WORLD, to, from, 1, SHMEMX_LONG, 0, &request);
		else
			shmemx_collectmem_nb(WORLD, to, from, 8, &request);
		shmemx_req_wait(&request);
	}
	if (is("request-stride"))
		shmemx_alltoalls_nb(WORLD, to, from, 0, 2, 1, &request);
	if (is("request-reduction"))
		shmemx_reduce_scatter_nb(WORLD, to, from, 1, SHMEMX_DOUBLE, SHMEMX_XOR, &request);
	if (is("request-team"))
		shmem_team_split_strided(WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
	for (int i = 0; i < 8; i++) { /* the plans of syncs */
		shmemx_sync_nb(team, &request);
		shmemx_req_wait(&request);
	}
	if (odd)
		shmemx_sync_nb(team, &request);
	if (odd && is("request-team"))
		shmem_team_destroy(team);
	if (odd && is("request-left"))
		shmem_finalize();
	shmem_barrier_all();
}

static void rdma_wrongly(bool odd)
{
	shmemx_rdma_buffer_t mine, *all;
	shmemx_rdma_event_t event;
	long *private;

	if (strncmp(mistake, "rdma-", 5))
		return;
	all = shmem_malloc(2 * sizeof *all);
	private = calloc(16, sizeof *private);
	if (odd && is("rdma-nothing"))
		shmemx_rdma_register(private, 0, &mine);
	shmemx_rdma_register(private, 16 * sizeof *private, &mine);
	shmem_putmem(&all[shmem_my_pe()], &mine, sizeof mine, !shmem_my_pe());
	shmem_barrier_all();
	if (is("rdma-gone") && !odd)
		shmemx_rdma_unregister(&mine);
	shmem_barrier_all();
	if (odd && is("rdma-none"))
		memset(&all[0], 0, sizeof all[0]);
	if (odd && is("rdma-twice"))
		shmemx_rdma_unregister(&mine);
	if (odd && is("rdma-twice"))
		shmemx_rdma_unregister(&mine);
	if (odd && is("rdma-theirs"))
		shmemx_rdma_unregister(&all[0]);
	if (odd && is("rdma-send-theirs"))
		shmemx_rdma_send(0, &all[0], 0, 8, 0);
	if (odd && is("rdma-pe"))
		shmemx_rdma_send(2, &mine, 0, 8, 0);
	if (is("rdma-long") && odd)
		shmemx_rdma_send(0, &mine, 0, 16, 0);
	if (is("rdma-long") && !odd)
		shmemx_rdma_receive(&mine, 0, 8);
	if (is("rdma-long"))
		shmemx_rdma_wait(&event);
	for (int i = 0; odd && is("rdma-events") && i <= SHMEMX_RDMA_EVENTS; i++)
		shmemx_rdma_put(&all[0], 0, to, 8, 0, 0);
	if (odd)
		shmemx_rdma_put(&all[0], is("rdma-beyond") ? 121 : 0, to, 8, 1, 0);
}

static char *some_memory(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void exit_unless(int failed)
{
	if (!failed)
		exit(8);
}

/* All PEs call; the odd one gives something wrong, if it is a matter of one. */
static void heap_wrongly(bool odd)
{
	size_t bytes = 1 << 20;
	char *memory, *more, *symmetric;
	shmemx_heap_t heap;
	long *block;

	if (strncmp(mistake, "heap-", 5))
		return;
	memory = some_memory(2 * bytes);
	more = some_memory(bytes);
	symmetric = shmem_malloc(bytes);
	if (is("heap-null") || is("heap-empty"))
		shmemx_heap_create_in(is("heap-null") ? NULL : memory, is("heap-empty") ? 0 : bytes, &heap);
	if (is("heap-sizes"))
		shmemx_heap_create_in(memory, odd ? 2 * bytes : bytes, &heap);
	if (is("heap-overlaps"))
		shmemx_heap_create_in(odd ? symmetric : memory, bytes, &heap);
	munmap(more, is("heap-hole") ? bytes : 0);
	/* All PEs learn that it failed on one, and go on. */
	if (is("heap-odd") || is("heap-hole"))
		exit_unless(shmemx_heap_create_in(!odd ? memory : is("heap-odd") ? memory + 64 : more, bytes, &heap));
	if (is("heap-odd") || is("heap-hole"))
		return;
	if (is("heap-device"))
		shmemx_heap_create(memory, bytes, SHMEMX_EXTERNAL_HEAP_CUDA, 0);
	if (shmemx_heap_create_in(memory, bytes, &heap))
		exit(8);
	if (is("heap-twice"))
		shmemx_heap_create_in(odd ? memory + bytes / 2 : more, bytes, &heap);
	block = shmemx_heap_malloc(heap, 8 * sizeof *block);
	if (is("heap-full") && shmemx_heap_malloc(heap, bytes))
		exit(8);
	if (is("heap-alignment"))
		shmemx_heap_align(heap, (size_t)1 << 40, 8);
	if (is("heap-beyond") && odd)
		shmem_long_put((long *)(void *)(memory + bytes - 8), words, 2, 0);
	if (is("heap-block") && odd)
		shmem_long_put(block, words, 9, 0);
	if (is("heap-waits") && odd)
		shmem_long_wait_until(block + 1, SHMEM_CMP_EQ, 5);
	if (is("heap-free"))
		shmemx_heap_free(heap, block + 1);
	shmemx_heap_destroy(heap);
	if (is("heap-gone") && odd)
		shmem_long_put(block, words, 1, 0);
	if (is("heap-destroyed"))
		shmemx_heap_malloc(heap, 8);
}

static void grid_wrongly(bool odd)
{
	int sizes[2] = {1, 0}, coordinates[2];
	shmem_team_t grid;

	if (strncmp(mistake, "grid-", 5))
		return;
	if (is("grid-product"))
		sizes[0] = 3, sizes[1] = 1;
	if (is("grid-rest"))
		sizes[0] = 3;
	if (is("grid-size"))
		sizes[0] = -2;
	shmemx_grid_create(WORLD, is("grid-dims") ? 7 : 2, sizes, NULL, 1, &grid);
	if (odd && is("grid-none"))
		shmemx_grid_neighbour(WORLD, 0, 1);
	if (odd && is("grid-dim"))
		shmemx_grid_neighbour(grid, 2, 1);
	if (odd && is("grid-pe"))
		shmemx_grid_coordinates(grid, 2, coordinates);
	shmem_team_destroy(grid);
}

void make_extension_mistake(bool odd)
{
	differ_in_plans(odd);
	make_bad_list(odd);
	use_destroyed_exchange(odd);
	exchange_wrongly(odd);
	grid_wrongly(odd);
	plan_wrongly(odd);
	blocks_wrongly(odd);
	request_wrongly(odd);
	rdma_wrongly(odd);
	heap_wrongly(odd);
}
