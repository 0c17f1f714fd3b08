/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=4,6 ucx-shm=4 mixed3=7 paths=ucx-tcp,ucx-shm,mixed3,hosts time=120 */
/*
 * Persistent plans over the trees and rings of a torus: shapes of as many nodes as there are, all
 * kinds of trees, several roots and sizes, in place and not, three plans under way at once, and
 * runs one after the other without a pause. Every second PE has a plan of another team before, so
 * blocks of plans lie elsewhere than at its neighbours.
 */
#include <shmemx.h>

#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#define WORDS 30000UL

static const char *const downwards[] = {"torus-both", "torus-up", "torus-twice", "torus"};
static const char *const upwards[] = {"torus-both", "torus-rings", "torus-up", "torus", "torus-rings"};
static long *data[3][2];

static long brought(int pe, size_t i, int run)
{
	return (long)(noise((uint64_t)run * 100 + (uint64_t)pe + i * 7919) % 1000);
}

static void check_sums(const long *dest, size_t words, int run)
{
	for (size_t i = 0; i < words; i++) {
		long sum = 0;

		for (int pe = 0; pe < npes; pe++)
			sum += brought(pe, i, run);
		if (dest[i] != sum)
			check_failed(__FILE__, __LINE__, "element %zu of %zu: got %ld, expected %ld", i, words, dest[i],
				     sum);
	}
}

static void run_them(shmemx_plan_t *plans, size_t words, int root, int run)
{
	for (size_t i = 0; i < words; i++) {
		data[0][1][i] = brought(root, i, run + 1000);
		data[1][0][i] = data[1][1][i] = data[2][1][i] = brought(me, i, run);
		data[0][0][i] = -1;
	}
	if (noise((uint64_t)run) % (uint64_t)npes == (uint64_t)me)
		usleep(1500);
	for (int i = 0; i < 3; i++)
		shmemx_plan_start(plans[(i + run) % 3]);
	for (int i = 0; i < 3; i++)
		shmemx_plan_wait(plans[(i + me) % 3]);
	for (size_t i = 0; i < words; i++)
		CHECK_EQUAL(data[0][0][i], brought(root, i, run + 1000));
	check_sums(data[1][0], words, run);
	if (me == root)
		check_sums(data[2][0], words, run);
}

static void plan_all(size_t words, int root, int executor)
{
	shmemx_plan_t plans[3];

	NOTE("%s, %zu words, root %d, executor %d, %s down, %s up", getenv("SHMEM_TORUS"), words, root, executor,
	     getenv("SHMEM_BROADCAST_ALGORITHM"), getenv("SHMEM_REDUCE_ALGORITHM"));
	CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, data[0][0], data[0][1], words * sizeof(long), root,
					  executor, &plans[0]),
		    0);
	CHECK_EQUAL(shmemx_allreduce_init(SHMEM_TEAM_WORLD, data[1][0], data[1][words % 2 == 0], words, SHMEMX_LONG,
					  SHMEMX_SUM, executor, &plans[1]),
		    0);
	CHECK_EQUAL(shmemx_reduce_init(SHMEM_TEAM_WORLD, data[2][0], data[2][1], words, SHMEMX_LONG, SHMEMX_SUM, root,
				       executor, &plans[2]),
		    0);
	for (int run = 0; run < 2; run++)
		run_them(plans, words, root, run);
	for (int i = 0; i < 3; i++)
		shmemx_plan_free(plans[i]);
}

static int live(const char *shape, int life)
{
	static const size_t sizes[] = {1, 700, 9001, WORDS};
	shmemx_plan_t other = SHMEMX_PLAN_INVALID;
	shmem_team_t evens;
	int nodes;

	if (shape)
		setenv("SHMEM_TORUS", shape, 1);
	setenv("SHMEM_BROADCAST_ALGORITHM", downwards[life % 4], 1);
	setenv("SHMEM_REDUCE_ALGORITHM", upwards[life % 5], 1);
	begin();
	for (int i = 0; i < 6; i++)
		data[i / 2][i % 2] = symmetric(WORDS * sizeof(long));
	nodes = count_nodes();
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &evens), 0);
	if (evens != SHMEM_TEAM_INVALID)
		CHECK_EQUAL(shmemx_broadcast_init(evens, data[0][0], data[0][1], 8, 0, SHMEMX_PLAN_LIST, &other), 0);
	for (int i = 0; shape && i < 4; i++)
		plan_all(sizes[i], (life + i) % npes, i % 2 ? SHMEMX_PLAN_LIST : SHMEMX_PLAN_THREAD);
	if (evens != SHMEM_TEAM_INVALID)
		shmemx_plan_free(other);
	shmem_finalize();
	return nodes;
}

int main(void)
{
	char shape[64];
	int nodes;

	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	nodes = live(NULL, 0);
	for (int life = 0; write_shape(shape, nodes, life); life++)
		live(shape, life);
	return 0;
}
