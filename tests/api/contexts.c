/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 split=3 */
/*
 * Contexts: with all options, on teams of all shapes; what is done on one reaches the PE its team's
 * number means.
 */
#include "tests/lib/shapes.h"

#define BYTES 300

static shmem_ctx_t static_ctx = SHMEM_CTX_INVALID;
static _Thread_local shmem_ctx_t thread_ctx = SHMEM_CTX_DEFAULT;

/* One slot per sender on each PE. */
static struct written {
	long put, p, added, swapped;
	long strided[4], blocks[6];
	unsigned char bytes[BYTES];
	uint64_t signal, counter;
} written[MOST_PES], from_here;

static long read_only[MOST_PES];

static void send(shmem_ctx_t ctx, int pe, long seed)
{
	long values[6] = {seed, seed + 1, seed + 2, seed + 3, seed + 4, seed + 5};
	unsigned char bytes[BYTES];

	fill_noise(bytes, BYTES, (uint64_t)seed);
	shmem_ctx_long_put(ctx, &written[me].put, values, 1, pe);
	shmem_ctx_long_p(ctx, &written[me].p, seed + 9, pe);
	shmem_ctx_long_atomic_add(ctx, &written[me].added, seed, pe);
	CHECK_EQUAL(shmem_ctx_long_atomic_swap(ctx, &written[me].swapped, seed, pe), 0);
	CHECK_EQUAL(shmem_ctx_long_atomic_compare_swap(ctx, &written[me].swapped, seed, seed + 1, pe), seed);
	shmem_ctx_long_iput(ctx, written[me].strided, values, 2, 1, 2, pe);
	shmem_ctx_long_ibput(ctx, written[me].blocks, values, 3, 2, 2, 2, pe);
	shmem_ctx_putmem_signal(ctx, written[me].bytes, bytes, BYTES, &written[me].signal, (uint64_t)seed,
				SHMEM_SIGNAL_SET, pe);
	shmem_ctx_signal_add(ctx, &written[me].counter, 2, pe);
	shmem_ctx_signal_add(ctx, &written[me].counter, 3, pe);
}

static void check_written(const struct written *area, long seed)
{
	unsigned char bytes[BYTES];

	fill_noise(bytes, BYTES, (uint64_t)seed);
	CHECK_EQUAL(area->put, seed);
	CHECK_EQUAL(area->p, seed + 9);
	CHECK_EQUAL(area->added, seed);
	CHECK_EQUAL(area->swapped, seed + 1);
	CHECK_EQUAL(area->strided[0], seed);
	CHECK_EQUAL(area->strided[1], 0);
	CHECK_EQUAL(area->strided[2], seed + 1);
	for (long i = 0; i < 2; i++) {
		CHECK_EQUAL(area->blocks[3 * i], seed + 2 * i);
		CHECK_EQUAL(area->blocks[3 * i + 1], seed + 2 * i + 1);
		CHECK_EQUAL(area->blocks[3 * i + 2], 0);
	}
	CHECK_BYTES(area->bytes, bytes, BYTES);
	CHECK_EQUAL(area->signal, (uint64_t)seed);
	CHECK_EQUAL(area->counter, 5);
}

static long seed_of(int from, int to)
{
	return 1000 + from * 100 + to;
}

/* Reads what send() wrote, and each PE's own word. */
static void receive(shmem_ctx_t ctx, int pe, int world_pe)
{
	long two[2] = {0, 0}, fetched = 0;

	memset(&from_here, 0, sizeof from_here);
	shmem_ctx_getmem(ctx, &from_here, &written[me], sizeof from_here, pe);
	check_written(&from_here, seed_of(me, world_pe));
	CHECK_EQUAL(shmem_ctx_long_g(ctx, &read_only[world_pe], pe), world_pe);
	CHECK_EQUAL(shmem_ctx_long_atomic_fetch(ctx, &read_only[world_pe], pe), world_pe);
	shmem_ctx_long_iget(ctx, two, written[me].strided, 1, 2, 2, pe);
	CHECK_EQUAL(two[1], seed_of(me, world_pe) + 1);
	shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched, &read_only[world_pe], pe);
	shmem_ctx_getmem_nbi(ctx, &from_here, &written[me], sizeof from_here, pe);
	shmem_ctx_pe_quiet(ctx, &pe, 1);
	shmem_ctx_quiet(ctx);
	CHECK_EQUAL(fetched, world_pe);
	check_written(&from_here, seed_of(me, world_pe));
}

static void try(const struct shape *shape, shmem_ctx_t ctx)
{
	memset(written, 0, sizeof written);
	shmem_barrier_all();
	if (shape->me >= 0) {
		for (int i = 0; i < shape->n; i++)
			send(ctx, i, seed_of(me, shape->pes[i]));
		shmem_ctx_fence(ctx);
		shmem_ctx_quiet(ctx);
		CHECK_EQUAL(shmem_team_sync(shape->team), 0);
		for (int i = 0; i < shape->n; i++)
			check_written(&written[shape->pes[i]], seed_of(shape->pes[i], me));
		for (int i = 0; i < shape->n; i++)
			receive(ctx, i, shape->pes[i]);
	}
	shmem_barrier_all();
	/* Nobody outside of the team was written to. */
	for (int pe = 0; pe < npes; pe++) {
		bool sender = shape->me >= 0;

		if (sender) {
			sender = false;
			for (int i = 0; i < shape->n; i++)
				sender = sender || shape->pes[i] == pe;
		}
		if (!sender)
			CHECK_FILL(&written[pe], 0, sizeof written[pe]);
	}
}

static void check_handles(void)
{
	shmem_ctx_t one, two, copy;
	shmem_team_t team = SHMEM_TEAM_SHARED;

	NOTE("handles");
	CHECK(static_ctx == SHMEM_CTX_INVALID && thread_ctx == SHMEM_CTX_DEFAULT);
	CHECK_EQUAL(shmem_ctx_create(0, &one), 0);
	CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &two), 0);
	copy = one;
	CHECK(one != two && one == copy && one != SHMEM_CTX_DEFAULT && one != SHMEM_CTX_INVALID);
	CHECK_EQUAL(shmem_ctx_get_team(one, &team), 0);
	CHECK(team == SHMEM_TEAM_WORLD);
	shmem_ctx_destroy(copy);
	shmem_ctx_destroy(two);
	team = SHMEM_TEAM_SHARED;
	CHECK_EQUAL(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
	CHECK(team == SHMEM_TEAM_WORLD);
	CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
	CHECK(team == SHMEM_TEAM_INVALID);
	one = SHMEM_CTX_DEFAULT;
	CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &one) != 0);
	CHECK(one == SHMEM_CTX_INVALID);
	shmem_ctx_destroy(SHMEM_CTX_INVALID);
	shmem_ctx_quiet(SHMEM_CTX_INVALID);
	shmem_ctx_fence(SHMEM_CTX_INVALID);
	shmem_pe_quiet(NULL, 0);
	shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, NULL, 0);
	shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &me, 1);
}

static void check_get_team(const struct shape *shape)
{
	shmem_team_t team = SHMEM_TEAM_INVALID;
	shmem_ctx_t ctx = SHMEM_CTX_INVALID;

	if (shape->me < 0)
		return;
	NOTE("the team of a context of %s", shape->name);
	CHECK_EQUAL(shmem_team_create_ctx(shape->team, 0, &ctx), 0);
	CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
	CHECK(team == shape->team);
	shmem_ctx_destroy(ctx);
}

/*
 * Destroying a context completes what was started on it; a PE listed twice, and oneself, do no
 * harm.
 */
static void check_completion(void)
{
	enum { COUNT = 2000 };
	static long incoming[COUNT], values[COUNT];
	int right = (me + 1) % npes, left = (me + npes - 1) % npes, list[4] = {right, me, right, left};
	shmem_ctx_t ctx;

	NOTE("completion");
	for (long round = 1; round <= 3; round++) {
		CHECK_EQUAL(shmem_ctx_create(round == 2 ? SHMEM_CTX_SERIALIZED : 0, &ctx), 0);
		for (long i = 0; i < COUNT; i++) {
			values[i] = round * me + i;
			shmem_ctx_long_put_nbi(ctx, &incoming[i], &values[i], 1, right);
		}
		if (round == 1)
			shmem_ctx_pe_quiet(ctx, list, 4);
		else if (round == 2)
			shmem_ctx_quiet(ctx);
		shmem_ctx_destroy(ctx);
		shmem_sync_all();
		for (long i = 0; i < COUNT; i++)
			CHECK_EQUAL(incoming[i], round * left + i);
		shmem_barrier_all();
	}
}

/*
 * Completed means that a third PE, notified by an operation of its own, finds the data at the
 * second: much of it, so that it would be found missing if nobody had waited for it.
 */
static void check_seen_by_others(void)
{
	enum { MUCH = 3 << 20, METHODS = 4, ALL = 2 * METHODS };
	unsigned char *incoming = symmetric(MUCH), *from = symmetric(MUCH), last;
	static long announced;
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;

	NOTE("seen by others");
	for (long each = 0; each < ALL; each++) {
		shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
		long method = each % METHODS;

		memset(from, (int)(me * ALL + each + 1), MUCH);
		shmem_barrier_all();
		if (method > 0)
			CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
		if (each < METHODS)
			shmem_ctx_putmem_nbi(ctx, incoming, from, MUCH, right);
		else
			shmem_ctx_putmem(ctx, incoming, from, MUCH, right);
		if (method < 2)
			shmem_ctx_quiet(ctx);
		else if (method == 2)
			shmem_ctx_pe_quiet(ctx, &right, 1);
		if (method > 0)
			shmem_ctx_destroy(ctx);
		shmem_long_atomic_set(&announced, each + 1, (me + 2) % npes);
		shmem_long_wait_until(&announced, SHMEM_CMP_EQ, each + 1);
		shmem_getmem(&last, &incoming[MUCH - 1], 1, left);
		CHECK_EQUAL(last, (unsigned char)((me + npes - 2) % npes * ALL + each + 1));
	}
	shmem_free(from);
	shmem_free(incoming);
}

/*
 * Thousands one after the other, and hundreds at once, of which some are left for the team or the
 * end to free.
 */
static void check_many(long count)
{
	static shmem_ctx_t many[300];
	shmem_team_t team;
	long value = 0;

	NOTE("many contexts");
	for (long i = 0; i < count; i++) {
		CHECK_EQUAL(shmem_ctx_create(i % 8, &many[0]), 0);
		shmem_ctx_long_get(many[0], &value, &read_only[i % npes], 1, (int)(i % npes));
		CHECK_EQUAL(value, i % npes);
		shmem_ctx_destroy(many[0]);
	}
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &team), 0);
	for (int i = 0; i < 300; i++) {
		CHECK_EQUAL(shmem_team_create_ctx(i % 2 ? team : SHMEM_TEAM_WORLD, 0, &many[i]), 0);
		CHECK_EQUAL(shmem_ctx_long_g(many[i], &read_only[0], i % 2 ? npes - 1 : 0), 0);
	}
	for (int i = 0; i < 300; i += 3)
		shmem_ctx_destroy(many[i]);
	shmem_team_destroy(team);
	for (int i = 2; i < 300; i += 6)
		CHECK_EQUAL(shmem_ctx_long_g(many[i], &read_only[0], 0), 0);
}

int main(void)
{
	begin();
	read_only[me] = me;
	make_shapes();
	check_handles();
	FOR_SHAPES(shape)
	{
		check_get_team(shape);
		for (long options = 0; options < 8; options++) {
			shmem_ctx_t ctx = SHMEM_CTX_INVALID;

			NOTE("%s, options %ld", shape->name, options);
			if (shape->me >= 0)
				CHECK_EQUAL(shmem_team_create_ctx(shape->team, options, &ctx), 0);
			try(shape, ctx);
			shmem_ctx_destroy(ctx);
		}
	}
	NOTE("the default context");
	try(&shapes[0], SHMEM_CTX_DEFAULT);
	check_completion();
	if (npes > 2)
		check_seen_by_others();
	check_many(eased(5000));
	destroy_shapes();
	return end();
}
