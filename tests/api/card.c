/* SPDX-License-Identifier: BSD-3-Clause */
/* run: tofu-few=8 pes=8 paths=tofu-few,tofu,tofu-errors env=SOFTOFU_SHAPE=2x2x2 env=SHMEM_BROADCAST_ALGORITHM=torus-both time=60 */
/*
 * Broadcasts by the card: between start and wait every PE but the root is in a computation of its own, which calls nothing, and looks at its
 * memory now and then; all of the data comes meanwhile, down three trees, run after run, from any root, with several plans at once.
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

	CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest[0], source, bytes, root, SHMEMX_PLAN_CARD, &plan), 0);
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
		CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest[i], sources[i], LARGEST, i, SHMEMX_PLAN_CARD, &plans[i]), 0);
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
		CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest[0], source, 5000, 0, SHMEMX_PLAN_CARD, &plans[i]), 0);
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
	many();
	free(expected);
	return end();
}
