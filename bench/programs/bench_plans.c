/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent plans beside the ordinary call, for each collective and by both executors, and by the
 * NIC with SHMEM_PLAN_EXECUTOR=nic:
 *
 *   call    the ordinary routine, from call to return
 *   init    making the plan; it is freed again, which does not count
 *   start   the start alone
 *   run     start and wait
 *
 * Parts of an iteration are timed by themselves, and what reading the clock takes is taken off.
 */
#include "bench.h"

#ifdef SHMEMX_PLAN_INVALID

#include <stdlib.h>
#include <string.h>

static const char *const executor_names[] = {"list", "thread", "nic"};
static const int executors[] = {SHMEMX_PLAN_LIST, SHMEMX_PLAN_THREAD, SHMEMX_PLAN_NIC};

enum kind { BROADCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, KINDS };
static const char *const kind_names[] = {"broadcast", "reduce", "allreduce", "allgather", "alltoall"};

struct plan {
	enum kind kind;
	int executor;
	size_t bytes;
	char *to, *from;
	shmemx_plan_t plan;
	double clock_ns;
};

static double clock_cost(void)
{
	double least = 1e9;

	for (int i = 0; i < 1000; i++) {
		double before = now_ns(), cost = now_ns() - before;

		least = cost < least ? cost : least;
	}
	return least;
}

static void make(struct plan *p)
{
	int failed = 0;
	size_t count = p->bytes / sizeof(long);

	switch (p->kind) {
	case BROADCAST:
		failed = shmemx_broadcast_init(SHMEM_TEAM_WORLD, p->to, p->from, p->bytes, 0, p->executor, &p->plan);
		break;
	case REDUCE:
		failed = shmemx_reduce_init(SHMEM_TEAM_WORLD, p->to, p->from, count, SHMEMX_LONG, SHMEMX_SUM, 0,
					    p->executor, &p->plan);
		break;
	case ALLREDUCE:
		failed = shmemx_allreduce_init(SHMEM_TEAM_WORLD, p->to, p->from, count, SHMEMX_LONG, SHMEMX_SUM,
					       p->executor, &p->plan);
		break;
	case ALLGATHER:
		failed = shmemx_allgather_init(SHMEM_TEAM_WORLD, p->to, p->from, p->bytes, p->executor, &p->plan);
		break;
	default: failed = shmemx_alltoall_init(SHMEM_TEAM_WORLD, p->to, p->from, p->bytes, p->executor, &p->plan);
	}
	if (failed)
		group_fail("no plan of %zu bytes", p->bytes);
}

/* There is no ordinary reduction to a root: all get it. */
static void call_ordinary(const struct plan *p)
{
	size_t count = p->bytes / sizeof(long);

	switch (p->kind) {
	case BROADCAST: shmem_broadcastmem(SHMEM_TEAM_WORLD, p->to, p->from, p->bytes, 0); break;
	case ALLGATHER: shmem_fcollectmem(SHMEM_TEAM_WORLD, p->to, p->from, p->bytes); break;
	case ALLTOALL: shmem_alltoallmem(SHMEM_TEAM_WORLD, p->to, p->from, p->bytes); break;
	default: shmem_long_sum_reduce(SHMEM_TEAM_WORLD, (long *)p->to, (const long *)p->from, count);
	}
}

/*
 * A root that only hands on would run ahead of the others in the ordinary broadcast: so both have a
 * barrier.
 */
static double call(void *context, long n)
{
	struct plan *p = context;
	double sum = 0;

	for (long i = 0; i < n; i++) {
		double before = now_ns();

		call_ordinary(p);
		sum += now_ns() - before - p->clock_ns;
		shmem_sync_all();
	}
	return sum;
}

static double init(void *context, long n)
{
	struct plan *p = context;
	double sum = 0;

	for (long i = 0; i < n; i++) {
		double before = now_ns();

		make(p);
		sum += now_ns() - before - p->clock_ns;
		shmemx_plan_free(p->plan);
	}
	return sum;
}

static double start(void *context, long n)
{
	const struct plan *p = context;
	double sum = 0;

	for (long i = 0; i < n; i++) {
		double before = now_ns();

		shmemx_plan_start(p->plan);
		sum += now_ns() - before - p->clock_ns;
		shmemx_plan_wait(p->plan);
		shmem_sync_all();
	}
	return sum > 0 ? sum : 1;
}

static double run(void *context, long n)
{
	struct plan *p = context;
	double sum = 0;

	for (long i = 0; i < n; i++) {
		double before = now_ns();

		shmemx_plan_start(p->plan);
		shmemx_plan_wait(p->plan);
		sum += now_ns() - before - p->clock_ns;
		shmem_sync_all();
	}
	return sum;
}

static bool is_right(void *context)
{
	const struct plan *p = context;
	int n = p->kind == ALLGATHER || p->kind == ALLTOALL ? group.size : 1;

	if (p->kind == REDUCE || p->kind == ALLREDUCE) {
		for (size_t i = 0; i < p->bytes / sizeof(long); i++)
			if (((long *)p->to)[i] !=
			    (p->kind == ALLREDUCE || group.me == 0 ? (long)group.size * 3 : ((long *)p->to)[i]))
				return false;
		return true;
	}
	for (int from = 0; from < n; from++)
		if (!pattern_is(p->to + (size_t)from * p->bytes, p->bytes,
				p->kind == ALLTOALL ? from * group.size + group.me : from, (unsigned)p->bytes))
			return false;
	return true;
}

static void fill(const struct plan *p)
{
	if (p->kind == REDUCE || p->kind == ALLREDUCE)
		for (size_t i = 0; i < p->bytes / sizeof(long); i++)
			((long *)p->from)[i] = 3;
	else if (p->kind == ALLTOALL)
		for (int to = 0; to < group.size; to++)
			pattern_write(p->from + (size_t)to * p->bytes, p->bytes, group.me * group.size + to,
				      (unsigned)p->bytes);
	else
		pattern_write(p->from, p->bytes, group.me, (unsigned)p->bytes);
}

static void measure(struct plan *p, const char *what, const char *executor, sampler *sample, long most)
{
	char variant[60];

	snprintf(variant, sizeof variant, "%s:%s%s%s", kind_names[p->kind], what, executor ? "-" : "",
		 executor ? executor : "");
	harness_measure(&(struct spot){.measure = "plans",
				       .variant = variant,
				       .bytes = p->bytes,
				       .sample = sample,
				       .context = p,
				       .check = is_right,
				       .most = most});
}

static int executors_wanted(void)
{
	const char *wanted = getenv("SHMEM_PLAN_EXECUTOR");

	return wanted && !strcmp(wanted, "nic") ? 3 : 2;
}

static void measure_size(enum kind kind, size_t bytes, char *to, char *from)
{
	struct plan p = {.kind = kind, .bytes = bytes, .to = to, .from = from, .clock_ns = clock_cost()};

	fill(&p);
	group_barrier();
	measure(&p, "call", NULL, call, 0);
	for (int e = 0; e < executors_wanted(); e++) {
		p.executor = executors[e];
		measure(&p, "init", executor_names[e], init, 200);
		make(&p);
		measure(&p, "start", executor_names[e], start, 20000);
		measure(&p, "run", executor_names[e], run, 0);
		shmemx_plan_free(p.plan);
	}
}

/* Sizes end at 16 MiB, and less where that is too much for all blocks. */
void collective_plans(void)
{
	size_t most = largest_size() < 16 * MIB ? largest_size() : 16 * MIB;
	char *to = heap_take(most * (size_t)group.size), *from = heap_take(most * (size_t)group.size);

	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; options.sizes[i] && options.sizes[i] <= most; i++)
			if (options.sizes[i] % sizeof(long) == 0)
				measure_size((enum kind)kind, options.sizes[i], to, from);
	heap_give(from);
	heap_give(to);
}

#else
/* Another library has none. */
void collective_plans(void)
{
}
#endif
