/* SPDX-License-Identifier: BSD-3-Clause */
/* run: tofu-few=8 pes=8 paths=tofu-few,tofu,tofu-errors env=SOFTOFU_SHAPE=2x2x2 env=SHMEM_BROADCAST_ALGORITHM=torus-both time=60 */
/*
 * Plans by the NIC: between start and wait every PE that is to get something is in a computation of
 * its own, which calls nothing, and polls its memory now and then; all of the data comes meanwhile,
 * run after run: of a broadcast, down three trees, from any root, with several plans at once; of an
 * all-gather, an all-to-all, and of neighbours with edges of all sizes, in one and in both
 * directions.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define LARGEST 300001UL
#define PLANS 3

static unsigned char *dest[PLANS], *source, *expected;

/* A computation, until the data is there or patience is at an end. */
static void compute_until(const unsigned char *at, const unsigned char *right, size_t bytes)
{
	double end = seconds() + 30, x = 1;

	while (memcmp(at, right, bytes)) {
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
		if (seconds() > end)
			check_failed(__FILE__, __LINE__, "the data did not come while this PE computed (%g)", x);
		usleep(200);
	}
}

static void run_one(shmemx_plan_t plan, int which, size_t bytes, int root, uint64_t run)
{
	NOTE("%zu bytes from PE %d, run %llu", bytes, root, (unsigned long long)run);
	fill_noise(expected, bytes, run);
	if (me == root)
		memcpy(source, expected, bytes);
	memset(dest[which], 0, bytes);
	if (noise(run) % (uint64_t)npes == (uint64_t)me)
		usleep(2000);
	shmemx_plan_start(plan);
	if (me != root)
		compute_until(dest[which], expected, bytes);
	shmemx_plan_wait(plan);
	CHECK_BYTES(dest[which], expected, bytes);
}

static void broadcast(size_t bytes, int root)
{
	shmemx_plan_t plan;

	CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest[0], source, bytes, root, SHMEMX_PLAN_NIC, &plan), 0);
	for (uint64_t run = 1; run <= 4; run++)
		run_one(plan, 0, bytes, root, bytes + (uint64_t)root * 10 + run);
	shmemx_plan_free(plan);
}

/* Each from another root; all are started before any is waited for. */
static void several(void)
{
	shmemx_plan_t plans[PLANS];
	unsigned char *sources[PLANS];

	for (int i = 0; i < PLANS; i++) {
		sources[i] = symmetric(LARGEST);
		CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest[i], sources[i], LARGEST, i, SHMEMX_PLAN_NIC,
						  &plans[i]),
			    0);
	}
	for (uint64_t run = 1; run <= 3; run++) {
		for (int i = 0; i < PLANS; i++) {
			fill_noise(sources[i], LARGEST, run * 100 + (uint64_t)i);
			memset(dest[i], 0, LARGEST);
		}
		for (int i = 0; i < PLANS; i++)
			shmemx_plan_start(plans[(i + me) % PLANS]);
		for (int i = 0; i < PLANS; i++)
			if (me != i)
				compute_until(dest[i], sources[i], LARGEST);
		for (int i = 0; i < PLANS; i++)
			shmemx_plan_wait(plans[i]);
	}
	for (int i = 0; i < PLANS; i++) {
		shmemx_plan_free(plans[i]);
		shmem_free(sources[i]);
	}
}

/* More plans than there are queues for them: the rest do without. */
static void many(void)
{
	enum { MANY = 12 };
	shmemx_plan_t plans[MANY];

	for (int i = 0; i < MANY; i++)
		CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest[0], source, 5000, 0, SHMEMX_PLAN_NIC,
						  &plans[i]),
			    0);
	for (int i = 0; i < MANY; i++) {
		fill_noise(expected, 5000, (uint64_t)i);
		if (me == 0)
			memcpy(source, expected, 5000);
		shmemx_plan_start(plans[i]);
		shmemx_plan_wait(plans[i]);
		CHECK_BYTES(dest[0], expected, 5000);
		shmem_barrier_all();
	}
	for (int i = 0; i < MANY; i++)
		shmemx_plan_free(plans[i]);
}

/* What PE `from` has for PE `to` in a run. */
static uint64_t mark(int from, int to, uint64_t run)
{
	return run * 1000000 + (uint64_t)(from * 1000 + to);
}

/* All have something for all: the same, or not. */
static void run_pairs(shmemx_plan_t plan, size_t bytes, bool same, uint64_t run)
{
	NOTE("%zu bytes, %s, run %llu", bytes, same ? "all-gather" : "all-to-all", (unsigned long long)run);
	for (int i = 0; i < npes; i++) {
		fill_noise(expected + (size_t)i * bytes, bytes, mark(i, same ? 0 : me, run));
		if (i == 0 || !same)
			fill_noise(source + (size_t)i * bytes, bytes, mark(me, i, run));
	}
	memset(dest[0], 0, (size_t)npes * bytes);
	if (noise(run) % (uint64_t)npes == (uint64_t)me)
		usleep(2000);
	shmemx_plan_start(plan);
	for (int i = 0; i < npes; i++)
		if (i != me) /* its own it may copy in the wait */
			compute_until(dest[0] + (size_t)i * bytes, expected + (size_t)i * bytes, bytes);
	shmemx_plan_wait(plan);
	CHECK_BYTES(dest[0], expected, (size_t)npes * bytes);
	memset(source, 0, (same ? 1 : (size_t)npes) * bytes); /* nobody reads it any more */
}

static void pairs(size_t bytes)
{
	shmemx_plan_t gather, all;

	CHECK_EQUAL(shmemx_allgather_init(SHMEM_TEAM_WORLD, dest[0], source, bytes, SHMEMX_PLAN_NIC, &gather), 0);
	CHECK_EQUAL(shmemx_alltoall_init(SHMEM_TEAM_WORLD, dest[0], source, bytes, SHMEMX_PLAN_NIC, &all), 0);
	for (uint64_t run = 1; run <= 4; run++) {
		run_pairs(gather, bytes, true, run);
		shmem_barrier_all(); /* the other plan has the same dest */
		run_pairs(all, bytes, false, run);
		shmem_barrier_all();
	}
	shmemx_plan_free(gather);
	shmemx_plan_free(all);
}

#define EDGES 3
static const size_t edge_bytes[EDGES] = {1, 20000, 70001};

/*
 * Edge 0 goes to the next PE and edge 1 to the previous one; edge 2 goes from even PEs to the PE
 * after the next, and nothing comes back.
 */
static void lay_edges(shmemx_neighbour_t *edges, unsigned char *in, unsigned char *out)
{
	int to = (me + 2) % npes, from = (me + npes - 2) % npes;
	bool gives = me % 2 == 0;

	edges[0] = (shmemx_neighbour_t){.pe = (me + 1) % npes,
					.edge = 1,
					.send_bytes = edge_bytes[0],
					.receive_bytes = edge_bytes[1]};
	edges[1] = (shmemx_neighbour_t){.pe = (me + npes - 1) % npes,
					.edge = 0,
					.send_bytes = edge_bytes[1],
					.receive_bytes = edge_bytes[0]};
	edges[2] = (shmemx_neighbour_t){.pe = gives ? to : from, .edge = 3, .send_bytes = gives ? edge_bytes[2] : 0};
	edges[3] = (shmemx_neighbour_t){.pe = gives ? from : to, .edge = 2, .receive_bytes = gives ? edge_bytes[2] : 0};
	for (size_t i = 0, at = 0; i <= EDGES; i++, at += edge_bytes[2]) {
		edges[i].source = out + at;
		edges[i].dest = in + at;
	}
}

static void neighbours(void)
{
	unsigned char *in = symmetric((EDGES + 1) * edge_bytes[2]), *out = symmetric((EDGES + 1) * edge_bytes[2]);
	shmemx_neighbour_t edges[EDGES + 1] = {0};
	shmemx_plan_t plan;

	lay_edges(edges, in, out);
	CHECK_EQUAL(shmemx_neighbours_init(SHMEM_TEAM_WORLD, edges, EDGES + 1, SHMEMX_PLAN_NIC, &plan), 0);
	for (uint64_t run = 1; run <= 5; run++) {
		NOTE("neighbours, run %llu", (unsigned long long)run);
		for (int i = 0; i <= EDGES; i++) {
			fill_noise((unsigned char *)(uintptr_t)edges[i].source, edges[i].send_bytes, mark(me, i, run));
			memset(edges[i].dest, 0, edges[i].receive_bytes);
		}
		if (noise(run) % (uint64_t)npes == (uint64_t)me)
			usleep(2000);
		shmemx_plan_start(plan);
		for (int i = 0; i <= EDGES; i++) {
			fill_noise(expected, edges[i].receive_bytes, mark(edges[i].pe, edges[i].edge, run));
			compute_until(edges[i].dest, expected, edges[i].receive_bytes);
		}
		shmemx_plan_wait(plan);
	}
	shmemx_plan_free(plan);
	shmem_free(in);
	shmem_free(out);
}

int main(void)
{
	begin();
	source = symmetric(LARGEST);
	expected = malloc(LARGEST);
	CHECK(expected != NULL);
	for (int i = 0; i < PLANS; i++)
		dest[i] = symmetric(LARGEST);
	broadcast(LARGEST, 0);
	broadcast(6000, 5);
	broadcast(200, npes - 1);
	several();
	pairs(8);
	pairs(LARGEST / (size_t)npes);
	neighbours();
	many();
	free(expected);
	return end();
}
