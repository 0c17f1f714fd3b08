/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions are hints: whatever is said in them, results, order and completion are the same. */
#include "tests/lib/shapes.h"

static long incoming[MOST_PES], flag, counter;

static void exchange(shmem_ctx_t ctx, int n, long round)
{
	int first = n == npes ? me : me % n;

	for (int i = 0; i < n; i++)
		shmem_ctx_long_p(ctx, &incoming[me], round * 100 + me, (first + i) % n);
	for (int i = 0; i < n; i++)
		shmem_ctx_long_atomic_inc(ctx, &counter, i);
	shmem_ctx_quiet(ctx);
}

static void try(shmem_ctx_t ctx, const struct shape *shape, long round)
{
	for (int i = 0; i < npes; i++)
		incoming[i] = -1;
	counter = 0;
	shmem_barrier_all();
	if (shape->me >= 0)
		exchange(ctx, shape->n, round);
	shmem_barrier_all();
	if (shape->me >= 0) {
		for (int i = 0; i < shape->n; i++)
			CHECK_EQUAL(incoming[shape->pes[i]], round * 100 + shape->pes[i]);
		CHECK_EQUAL(counter, shape->n);
	} else {
		CHECK_EQUAL(counter, 0);
	}
	shmem_barrier_all();
}

/* Data, fence, flag inside a session: who sees the flag sees the data. */
static void check_order(long rounds)
{
	static long data;
	int right = (me + 1) % npes;

	NOTE("order within a session");
	shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
	for (long round = 1; round <= rounds; round++) {
		shmem_long_p(&data, round * 3, right);
		shmem_fence();
		shmem_long_atomic_set(&flag, round, right);
		shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
		CHECK(data >= round * 3);
		shmem_sync_all();
	}
	shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
	shmem_barrier_all();
}

int main(void)
{
	static const size_t totals[] = {0, 1, 1000, SIZE_MAX};

	begin();
	make_shapes();
	shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
	shmem_ctx_session_stop(SHMEM_CTX_INVALID);
	FOR_SHAPES(shape)
	{
		shmem_ctx_t ctx = SHMEM_CTX_INVALID;

		if (shape->me >= 0)
			CHECK_EQUAL(shmem_team_create_ctx(shape->team, shape->n % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx), 0);
		for (long i = 0; i < 8; i++) {
			shmem_ctx_session_config_t config = {totals[i % 4]};

			NOTE("session %ld on %s", i, shape->name);
			shmem_ctx_session_start(ctx, i % 2 ? SHMEM_CTX_SESSION_BATCH : 0, i % 4 == 3 ? NULL : &config,
						i % 4 == 3 ? 0 : SHMEM_CTX_SESSION_TOTAL_OPS);
			if (i > 4) /* options add up */
				shmem_ctx_session_start(ctx, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
			try(ctx, shape, i);
			shmem_ctx_session_stop(ctx);
			if (i % 3 == 0)
				shmem_ctx_session_stop(ctx);
			try(ctx, shape, i + 50);
		}
		shmem_ctx_destroy(ctx);
	}
	check_order(eased(300));
	destroy_shapes();
	return end();
}
