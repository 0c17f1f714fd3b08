/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,5 ucx-tcp=3 ucx-shm=2 mixed=6 split=3 tofu-few=2 ofi=3 time=120 */
/*
 * Persistent plans: every kind, from no byte up, all roots, by both executors, in place and not, on
 * teams, with PEs that come late; several of them under way at once, waited for in an order of each
 * PE's own; some freed and made anew meanwhile; and as many as there may be.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define LARGEST (300000UL)
#define BLOCKS 8 /* of the largest size; of more PEs, blocks are smaller */
#define AT_ONCE 6

enum kind { BROADCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, NEIGHBOURS, KINDS };
static const char *const names[] = {"broadcast", "reduce", "allreduce", "allgather", "alltoall", "neighbours"};

/* What a plan does, in which memory; bytes: of a block. */
struct job {
	enum kind kind;
	shmem_team_t team;
	size_t bytes;
	int root, executor;
	bool in_place;
	unsigned char *dest, *source;
	shmemx_plan_t plan;
	uint64_t seed;
};

static unsigned char *memory[AT_ONCE][2], expected[LARGEST * BLOCKS];
static uint64_t lots = 1;
static size_t largest = LARGEST;

static size_t random_below(size_t below)
{
	lots++;
	return (size_t)(noise(lots) % below);
}

/* All draw the same lots. */
static void come_late(void)
{
	bool somebody = random_below(4) == 0;
	size_t who = random_below((size_t)npes), how_late = random_below(2000);

	if (somebody && who == (size_t)me)
		usleep((unsigned)how_late / 2);
}

/* --- What goes in and what comes out --- */

static int n_of(const struct job *job)
{
	return shmem_team_n_pes(job->team);
}

static int me_of(const struct job *job)
{
	return shmem_team_my_pe(job->team);
}

/* The block that a member has for another. */
static void fill(const struct job *job, void *block, int from, int to)
{
	fill_noise(block, job->bytes, job->seed * 4096 + (uint64_t)from * 64 + (uint64_t)to);
}

/* Sums of long; a rest that is no long is not part of a reduction. */
static long element(const struct job *job, int from, size_t i)
{
	return (long)(noise(job->seed * 64 + (uint64_t)from + i * 977) % 1000000);
}

static bool reduces(const struct job *job)
{
	return job->kind == REDUCE || job->kind == ALLREDUCE;
}

/* Members in a ring: what goes up comes from below. A ring of one is its own neighbour. */
static int neighbour(const struct job *job, int step)
{
	return (me_of(job) + step + n_of(job)) % n_of(job);
}

static unsigned char *source_of(const struct job *job)
{
	return job->in_place ? job->dest : job->source;
}

static void write_source(const struct job *job)
{
	unsigned char *source = source_of(job);
	int n = n_of(job);

	if (reduces(job))
		for (size_t i = 0; i < job->bytes / sizeof(long); i++)
			((long *)source)[i] = element(job, me_of(job), i);
	else if (job->kind == BROADCAST && me_of(job) == job->root)
		fill(job, source, job->root, 0);
	else if (job->kind == ALLGATHER)
		fill(job, source, me_of(job), 0);
	else if (job->kind == ALLTOALL)
		for (int to = 0; to < n; to++)
			fill(job, source + (size_t)to * job->bytes, me_of(job), to);
	else if (job->kind == NEIGHBOURS)
		for (int side = 0; side < 2; side++)
			fill(job, source + (size_t)side * job->bytes, me_of(job), side);
}

static size_t write_expected(const struct job *job)
{
	int n = n_of(job), blocks = job->kind == NEIGHBOURS ? 2 : job->kind >= ALLGATHER ? n : 1;

	if (reduces(job)) {
		for (size_t i = 0; i < job->bytes / sizeof(long); i++) {
			((long *)expected)[i] = 0;
			for (int from = 0; from < n; from++)
				((long *)expected)[i] += element(job, from, i);
		}
		return job->kind == REDUCE && me_of(job) != job->root ? 0 : job->bytes / sizeof(long) * sizeof(long);
	}
	for (int i = 0; i < blocks; i++) {
		int from = job->kind == BROADCAST    ? job->root
			   : job->kind == NEIGHBOURS ? neighbour(job, i ? 1 : -1)
						     : i;
		int to = job->kind == ALLTOALL ? me_of(job) : job->kind == NEIGHBOURS ? i : 0;

		fill(job, expected + (size_t)i * job->bytes, from, to);
	}
	return (size_t)blocks * job->bytes;
}

/* --- One job --- */

static int init_neighbours(struct job *job)
{
	shmemx_neighbour_t edges[2] = {
		{neighbour(job, 1), 1, job->source, job->bytes, job->dest + job->bytes, job->bytes},
		{neighbour(job, -1), 0, job->source + job->bytes, job->bytes, job->dest, job->bytes},
	};

	return shmemx_neighbours_init(job->team, edges, 2, job->executor, &job->plan);
}

static int init(struct job *job)
{
	unsigned char *source = source_of(job);

	switch (job->kind) {
	case BROADCAST:
		return shmemx_broadcast_init(job->team, job->dest, source, job->bytes, job->root, job->executor,
					     &job->plan);
	case REDUCE:
		return shmemx_reduce_init(job->team, job->dest, source, job->bytes / sizeof(long), SHMEMX_LONG,
					  SHMEMX_SUM, job->root, job->executor, &job->plan);
	case ALLREDUCE:
		return shmemx_allreduce_init(job->team, job->dest, source, job->bytes / sizeof(long), SHMEMX_LONG,
					     SHMEMX_SUM, job->executor, &job->plan);
	case ALLGATHER:
		return shmemx_allgather_init(job->team, job->dest, source, job->bytes, job->executor, &job->plan);
	case ALLTOALL: return shmemx_alltoall_init(job->team, job->dest, source, job->bytes, job->executor, &job->plan);
	default: return init_neighbours(job);
	}
}

static void begin_run(struct job *job)
{
	job->seed++;
	if (!job->in_place)
		memset(job->dest, 0x5a, job->bytes);
	write_source(job);
	shmemx_plan_start(job->plan);
}

static void end_run(struct job *job)
{
	if (random_below(2))
		while (!shmemx_plan_test(job->plan))
			;
	shmemx_plan_wait(job->plan);
	NOTE("%s of %zu bytes, root %d of %d PEs, executor %d%s", names[job->kind], job->bytes, job->root, n_of(job),
	     job->executor, job->in_place ? ", in place" : "");
	CHECK_BYTES(job->dest, expected, write_expected(job));
}

static void try_alone(enum kind kind, shmem_team_t team, size_t bytes, int root, int executor, bool in_place)
{
	struct job job = {kind,		team,	      bytes, root,     executor, in_place && kind < ALLGATHER,
			  memory[0][0], memory[0][1], NULL,  lots * 50};

	CHECK_EQUAL(init(&job), 0);
	for (int run = 0; run < 2; run++) {
		come_late();
		begin_run(&job);
		come_late();
		end_run(&job);
	}
	shmemx_plan_free(job.plan);
}

static void try_each(shmem_team_t team)
{
	const size_t sizes[] = {0, 1, 1000, 20000, 70008, largest};
	int n = shmem_team_n_pes(team);

	for (int kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			for (int executor = SHMEMX_PLAN_LIST; executor <= SHMEMX_PLAN_THREAD; executor++) {
				if (!is_selected((size_t)kind + i + (size_t)executor))
					continue;
				lots = (uint64_t)kind * 1000 + i * 10 + (uint64_t)executor;
				try_alone(kind, team, sizes[i], (int)((i + (size_t)kind) % (size_t)n), executor,
					  (i + (size_t)executor) % 2);
			}
}

/* --- Several at once --- */

static void try_together(int rounds)
{
	struct job jobs[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++) {
		jobs[i] = (struct job){i % KINDS,
				       SHMEM_TEAM_WORLD,
				       random_below(2) ? random_below(3000) : random_below(largest),
				       (int)random_below((size_t)npes),
				       (int)random_below(3),
				       false,
				       memory[i][0],
				       memory[i][1],
				       NULL,
				       (uint64_t)i * 100000};
		CHECK_EQUAL(init(&jobs[i]), 0);
	}
	for (int round = 0; round < rounds; round++) {
		int first = (int)random_below(AT_ONCE), renewed = (int)random_below(AT_ONCE);

		come_late();
		for (int i = 0; i < AT_ONCE; i++)
			if (i != renewed)
				begin_run(&jobs[i]);
		if (round % 4 == 0) {
			shmemx_plan_free(jobs[renewed].plan);
			CHECK_EQUAL(init(&jobs[renewed]), 0);
		} else if (round % 4 == 1) {
			shmem_barrier_all();
		}
		for (int i = 0; i < AT_ONCE; i++) {
			/* In another order on every other PE. */
			int k = (first + (me % 2 ? i : AT_ONCE - i)) % AT_ONCE;

			if (k != renewed)
				end_run(&jobs[k]);
		}
	}
	for (int i = 0; i < AT_ONCE; i++)
		shmemx_plan_free(jobs[i].plan);
}

/* Those that have no room leave all others as they were. */
static void try_too_many(void)
{
	static shmemx_plan_t plans[SHMEMX_PLANS];
	struct job job = {BROADCAST, SHMEM_TEAM_WORLD, 5000,	     npes - 1, SHMEMX_PLAN_LIST,
			  false,     memory[0][0],     memory[0][1], NULL,     77};
	shmemx_plan_t none;

	for (int i = 0; i < SHMEMX_PLANS; i++)
		CHECK_EQUAL(shmemx_alltoall_init(SHMEM_TEAM_WORLD, memory[1][0], memory[1][1], 8, SHMEMX_PLAN_LIST,
						 &plans[i]),
			    0);
	CHECK(shmemx_broadcast_init(SHMEM_TEAM_WORLD, job.dest, job.source, 5000, 0, SHMEMX_PLAN_LIST, &none) != 0);
	CHECK(none == SHMEMX_PLAN_INVALID);
	shmemx_plan_start(plans[7]);
	shmemx_plan_wait(plans[7]);
	shmemx_plan_free(plans[100]);
	CHECK_EQUAL(init(&job), 0);
	begin_run(&job);
	end_run(&job);
	shmemx_plan_free(job.plan);
	for (int i = 0; i < SHMEMX_PLANS; i++)
		if (i != 100)
			shmemx_plan_free(plans[i]);
}

/*
 * Between start and test nobody calls the library: the thread moves the plan, and between nodes so
 * do arrivals.
 */
static void try_moving_alone(int executor)
{
	struct job job = {ALLREDUCE, SHMEM_TEAM_WORLD, 80000, 0, executor, false, memory[0][0], memory[0][1], NULL, 99};
	int tries = 0;

	CHECK_EQUAL(init(&job), 0);
	do {
		begin_run(&job);
		usleep(100000);
	} while (!shmemx_plan_test(job.plan) && (end_run(&job), ++tries < 5));
	NOTE("executor %d", executor);
	CHECK(tries < 5);
	CHECK_BYTES(job.dest, expected, write_expected(&job));
	shmemx_plan_free(job.plan);
}

int main(void)
{
	shmem_team_t odd;

	begin();
	if (npes > BLOCKS)
		largest = LARGEST * BLOCKS / (size_t)npes / sizeof(long) * sizeof(long);
	for (int i = 0; i < AT_ONCE; i++)
		for (int k = 0; k < 2; k++)
			memory[i][k] = symmetric(largest * (size_t)npes + 2 * largest);
	try_each(SHMEM_TEAM_WORLD);
	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 1, 2, npes / 2 + (npes == 1), NULL, 0, &odd);
	if (odd != SHMEM_TEAM_INVALID) {
		try_each(odd);
		shmem_team_destroy(odd);
	}
	lots = 5;
	try_together((int)eased(40));
	try_too_many();
	try_moving_alone(SHMEMX_PLAN_THREAD);
	if (on_path("ucx-tcp") || on_path("ucx-shm"))
		try_moving_alone(SHMEMX_PLAN_LIST);
	return end();
}
