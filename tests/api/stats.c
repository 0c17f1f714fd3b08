/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=1,2,3,4 mixed3=7 split=3 env=SHMEM_STATS=yes */
/*
 * What is counted is what was done: each part of the program does a known number of things, and
 * reads the counters before and after. The path of an operation is known from whether its target
 * has an address here.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define REPEAT 7

static long word;
static uint64_t signal_word;
static int next;

static shmemx_stats_t row(const char *name)
{
	shmemx_stats_t stats;

	CHECK(shmemx_stats_read(name, &stats) == 0);
	return stats;
}

/* The rows that a part is about, as they were. */
static struct {
	const char *name;
	shmemx_stats_t category, local, ucx;
} before;

/* Which network the path is tried on. */
static const char *network(void)
{
	const char *path = getenv("TEST_PATH");

	if (path && !strncmp(path, "tofu", 4))
		return "path tofu";
	if (over_network("cables"))
		return "path cables";
	return over_network("ofi") ? "path ofi" : "path ucx";
}

static void count_from(const char *category)
{
	NOTE("category %s", category);
	before.name = category;
	before.category = row(category);
	before.local = row("path local");
	before.ucx = row(network());
}

/* Of REPEAT calls: operations that are none atomic, and the bytes they move; and atomic ones. */
struct done {
	uint64_t operations, moved, atomics, changed;
};

/*
 * Where a job needs Tofu or libfabric at all, the network does the atomics, those of a node, too.
 */
static bool network_does_atomics(void)
{
	bool all_here = true;

	for (int pe = 0; pe < npes; pe++)
		all_here = all_here && shmem_ptr(&word, pe);
	return !all_here && (!strcmp(network(), "path ofi") || !strcmp(network(), "path tofu"));
}

static void expect(const void *target, uint64_t calls, uint64_t bytes, struct done done)
{
	shmemx_stats_t category = row(before.name), local = row("path local"), ucx = row(network());
	bool here = shmem_ptr(target, next) != NULL;
	struct done stored = {0};

	if (here)
		stored = (struct done){.operations = done.operations, .moved = done.moved};
	if (here && !network_does_atomics())
		stored = done;
	CHECK_EQUAL(category.calls - before.category.calls, calls);
	CHECK_EQUAL(category.bytes - before.category.bytes, bytes);
	CHECK_EQUAL(local.calls - before.local.calls, stored.operations + stored.atomics);
	CHECK_EQUAL(local.bytes - before.local.bytes, stored.moved + stored.changed);
	CHECK_EQUAL(ucx.calls - before.ucx.calls, done.operations + done.atomics - stored.operations - stored.atomics);
	CHECK_EQUAL(ucx.bytes - before.ucx.bytes, done.moved + done.changed - stored.moved - stored.changed);
}

#define COUNTED_BOTH(category, target, bytes, one, what)                                                   \
	do {                                                                                               \
		struct done one_ = one;                                                                    \
		count_from(category);                                                                      \
		for (int i = 0; i < REPEAT; i++)                                                           \
			what;                                                                              \
		expect(target, REPEAT, REPEAT *(bytes),                                                    \
		       (struct done){REPEAT * one_.operations, REPEAT * one_.moved, REPEAT * one_.atomics, \
				     REPEAT * one_.changed});                                              \
		shmem_quiet();                                                                             \
	} while (0)
#define COUNTED(category, target, bytes, operations, moved, what) \
	COUNTED_BOTH(category, target, bytes, ((struct done){operations, moved, 0, 0}), what)
#define ATOMIC(category, target, bytes, what) \
	COUNTED_BOTH(category, target, bytes, ((struct done){0, 0, 1, bytes}), what)

static void transfers(char *heap, shmem_ctx_t ctx)
{
	char mine[1024] = {0};

	COUNTED("put", heap, 100, 1, 100, shmem_putmem(heap, mine, 100, next));
	COUNTED("put", heap, 80, 1, 80, shmem_ctx_long_put(ctx, (long *)heap, (long *)mine, 10, next));
	COUNTED("put", heap, 0, 0, 0, shmem_putmem(heap, mine, 0, next));
	COUNTED("put", &word, 8, 1, 8, shmem_put64(&word, mine, 1, next));
	COUNTED("put_nbi", heap, 1000, 1, 1000, shmem_putmem_nbi(heap, mine, 1000, next));
	COUNTED("p", heap, 2, 1, 2, shmem_short_p((short *)heap, 1, next));
	COUNTED("get", heap, 96, 1, 96, shmem_get32(mine, heap, 24, next));
	COUNTED("get_nbi", heap, 96, 1, 96, shmem_ctx_getmem_nbi(ctx, mine, heap, 96, next));
	shmem_ctx_quiet(ctx);
	COUNTED("g", &word, 8, 1, 8, (void)shmem_long_g(&word, next));
	COUNTED("iput", heap, 5 * 8, 5, 5 * 8, shmem_long_iput((long *)heap, (long *)mine, 2, 3, 5, next));
	COUNTED("iput", heap, 12 * 4, 4, 12 * 4, shmem_int_ibput((int *)heap, (int *)mine, 4, 5, 3, 4, next));
	COUNTED("iget", heap, 5 * 8, 5, 5 * 8, shmem_long_iget((long *)mine, (long *)heap, 2, 3, 5, next));
}

static void atomics(long *heap)
{
	long sum = 0;

	ATOMIC("atomic", heap, 8, shmem_long_atomic_add(heap, 1, next));
	ATOMIC("atomic", heap, 4, shmem_int_atomic_set((int *)heap, 1, next));
	ATOMIC("atomic_fetch", heap, 8, sum += shmem_long_atomic_fetch(heap, next));
	ATOMIC("atomic_fetch", heap, 8, sum += shmem_long_atomic_compare_swap(heap, 1, 2, next));
	ATOMIC("atomic_nbi", heap, 8, shmem_long_atomic_fetch_inc_nbi(&sum, heap, next));
	shmem_quiet();
}

static void signals(char *heap)
{
	char mine[64] = {0};

	COUNTED_BOTH("put_signal", heap, 64, ((struct done){1, 64, 1, 8}),
		     shmem_putmem_signal(heap, mine, 64, (uint64_t *)(heap + 512), 1, SHMEM_SIGNAL_ADD, next));
	ATOMIC("signal", heap, 8, shmem_signal_set((uint64_t *)(heap + 512), 3, next));
	COUNTED("signal", heap, 0, 0, 0, CHECK(shmem_signal_fetch(&signal_word) == 0));
}

static void waiting(void)
{
	long started = word;

	COUNTED("fence", &word, 0, 0, 0, shmem_fence());
	COUNTED("quiet", &word, 0, 0, 0, shmem_quiet());
	COUNTED("wait", &word, 0, 0, 0, shmem_long_wait_until(&word, SHMEM_CMP_EQ, started));
	COUNTED("test", &word, 0, 0, 0, CHECK(shmem_long_test(&word, SHMEM_CMP_EQ, started)));
	COUNTED("test", &word, 0, 0, 0, CHECK(shmem_long_test_all(&word, 1, NULL, SHMEM_CMP_EQ, started)));
}

static void collectives(long *heap)
{
	long *out = heap + 64 * npes;

	COUNTED("barrier", heap, 0, 0, 0, shmem_barrier_all());
	COUNTED("sync", heap, 0, 0, 0, shmem_team_sync(SHMEM_TEAM_WORLD));
	COUNTED("broadcast", heap, 80, 0, 0, shmem_long_broadcast(SHMEM_TEAM_WORLD, out, heap, 10, 0));
	COUNTED("fcollect", heap, 80, 0, 0, shmem_long_fcollect(SHMEM_TEAM_WORLD, out, heap, 10));
	COUNTED("collect", heap, 80, 0, 0, shmem_long_collect(SHMEM_TEAM_WORLD, out, heap, 10));
	COUNTED("alltoall", heap, 16, 0, 0, shmem_long_alltoall(SHMEM_TEAM_WORLD, out, heap, 2));
	COUNTED("reduce", heap, 80, 0, 0, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, out, heap, 10));
	COUNTED("scan", heap, 80, 0, 0, shmem_long_sum_inscan(SHMEM_TEAM_WORLD, out, heap, 10));
	COUNTED("memory", heap, 4096, 0, 0, CHECK(shmem_malloc(4096) != NULL));
}

static void locks(void)
{
	static long lock;

	count_from("lock");
	shmem_set_lock(&lock);
	shmem_clear_lock(&lock);
	expect(&lock, 2, 0, (struct done){0});
	shmem_barrier_all();
}

/*
 * A ring of PEs: each sends a message to either side. Started all at once, that is one call and the
 * bytes of both.
 */
static void exchanges(void)
{
	shmemx_edge_t edges[2] = {{next, 1, 48, 48, 0}, {(me + npes - 1) % npes, 0, 48, 48, 0}};
	shmemx_exchange_t x;
	shmemx_stats_t paths, now;

	CHECK(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &x) == 0);
	count_from("exchange");
	paths = (shmemx_stats_t){before.local.calls + before.ucx.calls, before.local.bytes + before.ucx.bytes, 0};
	for (int i = 0; i < REPEAT; i++) {
		shmemx_exchange_start(x, SHMEMX_ALL_EDGES, 40);
		shmemx_exchange_wait(x, SHMEMX_ALL_EDGES, NULL);
		shmemx_exchange_release(x, SHMEMX_ALL_EDGES);
	}
	now = row("exchange");
	CHECK_EQUAL(now.calls - before.category.calls, 2 * REPEAT);
	CHECK_EQUAL(now.bytes - before.category.bytes, REPEAT * 2 * 40);
	CHECK_EQUAL(row("path local").calls + row(network()).calls - paths.calls, 2 * REPEAT);
	CHECK_EQUAL(row("path local").bytes + row(network()).bytes - paths.bytes, REPEAT * 2 * 40);
	shmemx_exchange_destroy(x);
}

/* A wait that lasts is time inside. */
static void time_inside(void)
{
	uint64_t nanoseconds;

	shmem_barrier_all();
	nanoseconds = row("wait").nanoseconds;
	if (me == 0) {
		sleep_for(0.05);
		for (int pe = 1; pe < npes; pe++)
			shmem_long_p(&word, 4711, pe);
	} else {
		shmem_long_wait_until(&word, SHMEM_CMP_EQ, 4711);
		nanoseconds = row("wait").nanoseconds - nanoseconds;
		CHECK(nanoseconds > 1000000 && nanoseconds < 60000000000);
	}
	shmem_barrier_all();
}

/* What this PE has sent over links, by axes, and link by link. */
static shmemx_stats_t links(const char *begin)
{
	shmemx_stats_t sum = {0, 0, 0}, one;

	for (int i = 0; i < shmemx_stats_count(); i++)
		if (!strncmp(shmemx_stats_name(i), begin, strlen(begin))) {
			one = row(shmemx_stats_name(i));
			sum.calls += one.calls;
			sum.bytes += one.bytes;
		}
	return sum;
}

/* A message takes as many links as there are hops to its target. */
static void on_the_torus(char *heap)
{
	shmemx_stats_t axes = links("torus "), each = links("link "), now;
	uint64_t hops = shmem_ptr(heap, next) ? 0 : (uint64_t)shmemx_torus_hops(me, next);
	char mine[100] = {0};

	for (int i = 0; i < REPEAT; i++)
		shmem_putmem(heap, mine, sizeof mine, next);
	now = links("torus ");
	CHECK_EQUAL(now.calls - axes.calls, REPEAT * hops);
	CHECK_EQUAL(now.bytes - axes.bytes, REPEAT * hops * sizeof mine);
	now = links("link ");
	CHECK_EQUAL(now.calls - each.calls, REPEAT * hops);
	CHECK_EQUAL(now.bytes - each.bytes, REPEAT * hops * sizeof mine);
}

static void rows(void)
{
	shmemx_stats_t stats;

	CHECK(shmemx_stats_enabled() == 1);
	CHECK(shmemx_stats_read("no such row", &stats) != 0);
	for (int i = 0; i < shmemx_stats_count(); i++)
		CHECK(shmemx_stats_read(shmemx_stats_name(i), &stats) == 0);
	CHECK(shmemx_stats_name(shmemx_stats_count()) == NULL);
	CHECK(row("peers").calls >= 1 && row("peers").calls <= (uint64_t)npes);
	CHECK(row("peers").bytes >= row("peers").calls * 64);
	CHECK(row("other").calls == 0);
	shmemx_stats_reset();
	CHECK(row("put").calls == 0 && row("path local").bytes == 0 && row(network()).bytes == 0);
}

int main(void)
{
	shmem_ctx_t ctx;
	char *heap;

	begin();
	next = (me + 1) % npes;
	heap = symmetric(1 << 16);
	CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
	transfers(heap, ctx);
	atomics((long *)heap);
	signals(heap);
	shmem_barrier_all();
	waiting();
	collectives((long *)heap);
	locks();
	exchanges();
	on_the_torus(heap);
	time_inside();
	rows();
	shmem_ctx_destroy(ctx);
	return end();
}
