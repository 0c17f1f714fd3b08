/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mistake NAME [first]: makes one mistake, on the last PE (or the first) if it is a matter of one
 * PE. For mistakes.bats. Routines of the standard are here, and those of shmemx.h in
 * mistake_extensions.c.
 */
#include "mistake.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *mistake;
long words[4], from[16], to[48];
static long word, psync[SHMEM_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8];
static int int_from[4], int_to[4];

bool is(const char *name)
{
	return !strcmp(mistake, name);
}

/* The mistakes of one PE; the others are waiting at a barrier meanwhile. */
static void of_one(int n_pes)
{
	long private = 0, *from_malloc = malloc(sizeof *from_malloc);

	if (is("put-private"))
		shmem_long_put(&private, &word, 1, 0);
	else if (is("put-malloc"))
		shmem_long_put(from_malloc, &word, 1, 0);
	else if (is("put-null"))
		shmem_long_put(NULL, &word, 1, 0);
	else if (is("put-beyond"))
		shmem_long_put(words, words, (size_t)1 << 40, 0);
	else if (is("get-private"))
		shmem_long_get(&word, &private, 1, 0);
	else if (is("p-private"))
		shmem_long_p(&private, 1, 0);
	else if (is("iput-private"))
		shmem_long_iput(&private, words, 1, 1, 2, 0);
	else if (is("atomic-private"))
		shmem_long_atomic_add(&private, 1, 0);
	else if (is("fetch-private"))
		word = shmem_long_atomic_fetch_inc(&private, 0);
	else if (is("signal-private"))
		shmem_long_put_signal(&word, words, 1, (uint64_t *)from_malloc, 1, SHMEM_SIGNAL_SET, 0);
	else if (is("wait-private"))
		shmem_long_wait_until(&private, SHMEM_CMP_EQ, 1);
	else if (is("write-much"))
		for (FILE *file = tmpfile(); file && !fflush(file);)
			fprintf(file, "%s\n", mistake);
	else if (is("wait-private-over"))
		shmem_long_wait_until(&private, SHMEM_CMP_EQ, 0);
	else if (is("test-private-over"))
		shmem_long_test(&private, SHMEM_CMP_EQ, 0);
	else if (is("wait-signal-over"))
		shmem_signal_wait_until((uint64_t *)&private, SHMEM_CMP_EQ, 0);
	else if (is("misaligned"))
		shmem_long_atomic_add((long *)((char *)words + 4), 1, 0);
	else if (is("put-pe"))
		shmem_long_put(words, &word, 1, n_pes);
	else if (is("get-pe"))
		shmem_long_get(&word, words, 1, n_pes + 5);
	else if (is("negative-pe"))
		shmem_long_p(&word, 1, -1);
	else if (is("atomic-pe"))
		shmem_long_atomic_inc(&word, 1000000);
	else if (is("no-signal-op"))
		shmem_long_put_signal(&word, words, 1, (uint64_t *)words, 1, 0, 0);
	else if (is("segfault"))
		raise(SIGSEGV);
	else if (is("abort"))
		abort();
	else if (is("killed"))
		raise(SIGKILL);
	else if (is("exit")) {
		shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
		usleep(200000); /* by then PE 0 is in the barrier */
		exit(3);
	} else if (is("_exit"))
		_exit(0);
	else if (is("free-private"))
		shmem_free(from_malloc);
	else if (is("free-global"))
		shmem_free(words);
	free(from_malloc);
}

/* The mistakes that all PEs make together. */
static void of_all(void)
{
	char *block;
	int round = 0;

	if (is("heap-exhausted")) {
		block = shmem_malloc((size_t)100 << 20);
		printf("PE %d got %s\n", shmem_my_pe(), block ? "a block" : "NULL");
	} else if (is("heap-often")) {
		for (int i = 0; i < 1000; i++)
			block = shmem_malloc((size_t)(100 + i % 2) << 20);
	} else if (is("large-alignments")) {
		for (size_t alignment = (size_t)4 << 20; alignment <= (size_t)1 << 30;
		     alignment += round++ % 2 ? alignment : 0) {
			block = shmem_align(alignment, 100);
			printf("alignment %zu MiB: %s\n", alignment >> 20,
			       !block			      ? "NULL"
			       : (uintptr_t)block % alignment ? "not aligned"
							      : "aligned");
		}
	} else if (is("double-free")) {
		block = shmem_malloc(100);
		shmem_free(block);
		shmem_free(block);
	} else if (is("free-interior")) {
		block = shmem_malloc(100);
		shmem_free(block + 16);
	} else if (is("outside-set")) {
		static long sync[SHMEM_SYNC_SIZE];

		for (int i = 0; i < 5; i++) {
			shmem_barrier(0, 0, 1, sync);
			shmem_broadcast64(words, words, 1, 0, 0, 0, 1, sync);
			shmem_long_sum_to_all(words, words, 1, 0, 0, 1, words, sync);
		}
	} else if (is("alignment")) {
		shmem_align(24, 100);
	}
}

/*
 * What one PE, the last or the first, passes to memory routines and splits differs from what others
 * pass.
 */
static void differ_in_making(bool odd)
{
	shmem_team_t team, team2;
	char *block;

	if (is("malloc-size")) {
		shmem_malloc(odd ? 200 : 100);
	} else if (is("calloc-count")) {
		shmem_calloc(odd ? 3 : 4, 100);
	} else if (is("align-size")) {
		shmem_align(64, odd ? 200 : 100);
	} else if (is("align-alignment")) {
		shmem_align(odd ? 128 : 64, 100);
	} else if (is("malloc-nothing")) {
		shmem_malloc(odd ? 0 : 100);
	} else if (is("calloc-nothing")) {
		shmem_calloc(odd ? 0 : 2, 50);
	} else if (is("hints-other")) {
		shmem_malloc_with_hints(100, odd ? SHMEM_MALLOC_SIGNAL_REMOTE : SHMEM_MALLOC_ATOMICS_REMOTE);
	} else if (is("hints-size")) {
		shmem_malloc_with_hints(odd ? 200 : 100, 0);
	} else if (is("realloc-size")) {
		block = shmem_malloc(64);
		shmem_realloc(block, odd ? 200 : 100);
	} else if (is("free-other")) {
		block = shmem_malloc(64);
		shmem_free(odd ? block : (char *)shmem_malloc(64));
	} else if (is("split-start")) {
		shmem_team_split_strided(WORLD, odd ? 1 : 0, 1, 1, NULL, 0, &team);
	} else if (is("split-stride")) {
		shmem_team_split_strided(WORLD, 0, odd ? 2 : 1, 1, NULL, 0, &team);
	} else if (is("split-size")) {
		shmem_team_split_strided(WORLD, 0, 1, odd ? 2 : 1, NULL, 0, &team);
	} else if (is("split-xrange")) {
		shmem_team_split_2d(WORLD, odd ? 2 : 1, NULL, 0, &team, NULL, 0, &team2);
	}
}

/* The same for collectives on teams. */
static void differ_on_team(bool odd)
{
	if (is("broadcast-root"))
		shmem_long_broadcast(WORLD, to, from, 2, odd ? 1 : 0);
	else if (is("broadcast-size"))
		shmem_long_broadcast(WORLD, to, from, odd ? 3 : 2, 0);
	else if (is("broadcast-dest"))
		shmem_long_broadcast(WORLD, odd ? &to[1] : to, from, 2, 0);
	else if (is("broadcast-type"))
		odd ? shmem_int_broadcast(WORLD, int_to, int_from, 4, 0) : shmem_long_broadcast(WORLD, to, from, 2, 0);
	else if (is("collect-dest"))
		shmem_long_collect(WORLD, odd ? &to[1] : to, from, 2);
	else if (is("fcollect-size"))
		shmem_long_fcollect(WORLD, to, from, odd ? 3 : 2);
	else if (is("fcollect-dest"))
		shmem_long_fcollect(WORLD, odd ? from : to, from, 2);
	else if (is("alltoall-size"))
		shmem_long_alltoall(WORLD, to, from, odd ? 3 : 2);
	else if (is("alltoall-dest"))
		shmem_long_alltoall(WORLD, odd ? &to[1] : to, from, 2);
	else if (is("alltoalls-size"))
		shmem_long_alltoalls(WORLD, to, from, 1, 1, odd ? 3 : 2);
	else if (is("alltoalls-dst"))
		shmem_long_alltoalls(WORLD, to, from, odd ? 2 : 1, 1, 2);
	else if (is("all-but-first"))
		shmem_long_fcollect(WORLD, to, from, shmem_my_pe() == 0 ? 3 : 2);
	else if (is("alltoalls-sst"))
		shmem_long_alltoalls(WORLD, to, from, 1, odd ? 2 : 1, 2);
	else if (is("alltoalls-dest"))
		shmem_long_alltoalls(WORLD, odd ? &to[1] : to, from, 1, 1, 2);
	else if (is("collective"))
		odd ? shmem_long_collect(WORLD, to, from, 2) : shmem_long_fcollect(WORLD, to, from, 2);
	else if (is("sync"))
		odd ? shmem_long_fcollect(WORLD, to, from, 2) : shmem_team_sync(WORLD);
	else if (is("sync-malloc"))
		odd ? (void)shmem_malloc(8) : shmem_barrier_all();
	else if (is("sync-first"))
		odd ? shmem_sync_all() : shmem_barrier_all();
}

static void differ_in_arithmetic(bool odd)
{
	if (is("reduce-size"))
		shmem_long_sum_reduce(WORLD, to, from, odd ? 3 : 2);
	else if (is("reduce-dest"))
		shmem_long_sum_reduce(WORLD, odd ? &to[1] : to, from, 2);
	else if (is("reduce-type"))
		odd ? shmem_int_sum_reduce(WORLD, int_to, int_from, 2) : shmem_long_sum_reduce(WORLD, to, from, 2);
	else if (is("reduce-op"))
		odd ? shmem_long_max_reduce(WORLD, to, from, 2) : shmem_long_sum_reduce(WORLD, to, from, 2);
	else if (is("inscan-size"))
		shmem_long_sum_inscan(WORLD, to, from, odd ? 3 : 2);
	else if (is("exscan-dest"))
		shmem_long_sum_exscan(WORLD, odd ? &to[1] : to, from, 2);
	else if (is("scan-kind"))
		odd ? shmem_long_sum_inscan(WORLD, to, from, 2) : shmem_long_sum_exscan(WORLD, to, from, 2);
}

/* The deprecated routines; the size of the set is that of the job. */
static void differ_on_set(bool odd, int n)
{
	if (is("old-broadcast-root"))
		shmem_broadcast64(to, from, 2, odd ? 1 : 0, 0, 0, n, psync);
	else if (is("old-broadcast-size"))
		shmem_broadcast64(to, from, odd ? 3 : 2, 0, 0, 0, n, psync);
	else if (is("old-broadcast-dest"))
		shmem_broadcast64(odd ? &to[1] : to, from, 2, 0, 0, 0, n, psync);
	else if (is("old-collect-dest"))
		shmem_collect32(odd ? &to[1] : to, from, 2, 0, 0, n, psync);
	else if (is("old-fcollect-size"))
		shmem_fcollect32(to, from, odd ? 3 : 2, 0, 0, n, psync);
	else if (is("old-alltoall-size"))
		shmem_alltoall64(to, from, odd ? 3 : 2, 0, 0, n, psync);
	else if (is("old-alltoalls-dst"))
		shmem_alltoalls64(to, from, odd ? 2 : 1, 1, 2, 0, 0, n, psync);
	else if (is("old-alltoalls-sst"))
		shmem_alltoalls64(to, from, 1, odd ? 2 : 1, 2, 0, 0, n, psync);
	else if (is("old-reduce-size"))
		shmem_long_sum_to_all(to, from, odd ? 3 : 2, 0, 0, n, work, psync);
	else if (is("old-reduce-op"))
		odd ? shmem_long_max_to_all(to, from, 2, 0, 0, n, work, psync)
		    : shmem_long_sum_to_all(to, from, 2, 0, 0, n, work, psync);
}

/* Source and dest that overlap, by all PEs. */
static void overlap(int n)
{
	shmemx_plan_t plan;

	if (is("overlap-reduce"))
		shmem_long_sum_reduce(WORLD, to + 1, to, 2);
	else if (is("overlap-scan"))
		shmem_long_sum_inscan(WORLD, to, to + 1, 2);
	else if (is("overlap-broadcast"))
		shmem_long_broadcast(WORLD, to + 1, to, 2, 0);
	else if (is("overlap-fcollect"))
		shmem_long_fcollect(WORLD, to, to, 2);
	else if (is("overlap-collect"))
		shmem_long_collect(WORLD, to, to + 3, 2);
	else if (is("overlap-alltoall"))
		shmem_long_alltoall(WORLD, to, to + 1, 2);
	else if (is("overlap-alltoalls"))
		shmem_long_alltoalls(WORLD, to, to + 1, 1, 1, 2);
	else if (is("overlap-old"))
		shmem_long_sum_to_all(to + 1, to, 2, 0, 0, n, work, psync);
	else if (is("overlap-plan"))
		shmemx_allreduce_init(WORLD, to + 1, to, 2, SHMEMX_LONG, SHMEMX_SUM, SHMEMX_PLAN_AUTO, &plan);
	else if (is("overlap-right"))
		shmem_long_sum_reduce(WORLD, to, to, 2), shmem_long_broadcast(WORLD, to, to, 2, 0),
			shmem_long_alltoalls(WORLD, to, to + 1, 2, 2, 2);
}

/* A pSync that is not initialised, or used again at once. */
static void misuse_psync(int n)
{
	if (is("psync-new") || is("psync-changed")) {
		if (is("psync-changed"))
			shmem_broadcast64(to, from, 2, 0, 0, 0, n, psync);
		for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
			psync[i] = -1;
		shmem_barrier_all();
		shmem_fcollect64(to, from, 2, 0, 0, n, psync);
	}
	for (int i = 0; i < 10 && !strncmp(mistake, "psync-again", 11); i++) {
		shmem_broadcast64(to, from, 2, 0, 0, 0, n, psync);
		if (is("psync-again-right"))
			shmem_sync_all();
	}
	for (int i = 0; i < 10 && is("psync-sync-right"); i++) {
		shmem_barrier(0, 0, n, psync);
		shmem_sync(0, 0, n, psync);
	}
}

/*
 * Memory of the heap that is in no block, by the last PE. Between the two blocks of 100 and 200
 * bytes lies padding.
 */
static void use_no_block(bool odd)
{
	long *block = shmem_malloc(100), *next = shmem_malloc(200), value = 0;
	uint64_t *word = (uint64_t *)block;

	if (strncmp(mistake, "past-", 5))
		shmem_free(block);
	if (odd && is("freed-put"))
		shmem_long_put(&block[1], from, 2, 0);
	else if (odd && is("freed-generic"))
		shmem_put(&block[1], from, 2, 0);
	else if (odd && is("freed-generic-wait"))
		shmem_wait_until(block, SHMEM_CMP_NE, *block - 1);
	else if (odd && is("freed-get"))
		shmem_long_get(&value, block, 1, 0);
	else if (odd && is("freed-p"))
		shmem_long_p(block, 1, 0);
	else if (odd && is("freed-iput"))
		shmem_long_iput(block, from, 2, 1, 2, 0);
	else if (odd && is("freed-source"))
		shmem_long_put(to, block, 1, 0);
	else if (odd && is("freed-dest"))
		shmem_long_get_nbi(block, from, 1, 0);
	else if (odd && is("freed-atomic"))
		shmem_long_atomic_inc(block, 0);
	else if (odd && is("freed-signal"))
		shmem_long_put_signal(to, from, 1, word, 1, SHMEM_SIGNAL_SET, 0);
	else if (odd && is("freed-wait"))
		shmem_long_wait_until(block, SHMEM_CMP_NE, *block - 1);
	else if (odd && is("freed-lock"))
		shmem_set_lock(block);
	else if (is("freed-reduce"))
		shmem_long_sum_reduce(WORLD, block, from, 1);
	else if (is("freed-generic-reduce"))
		shmem_sum_reduce(WORLD, block, from, 1);
	else if (is("freed-broadcast"))
		shmem_long_broadcast(WORLD, to, block, 1, 0);
	else if (odd && is("past-count"))
		shmem_long_put(&block[1], from, 12, 0);
	else if (odd && is("past-index"))
		shmem_long_p(&block[13], 1, 0);
	else if (odd && is("past-next"))
		shmem_long_p(&next[26], 1, 0);
	shmem_barrier_all();
	shmem_free(next);
}

/*
 * Where a block moves or shrinks: the rest, or the old place, is no memory of the program's any
 * more.
 */
static void use_resized(bool odd)
{
	char *block = shmem_malloc(1000), *wall = shmem_malloc(64), *moved = shmem_realloc(block, 5000);

	moved = shmem_realloc(moved, 300);
	shmem_putmem(moved, from, 0, 0);
	shmem_putmem(moved + 300, from, 0, 0);
	shmem_putmem(moved + 299, from, 1, 0);
	shmem_putmem(wall, from, 64, 0);
	if (odd && is("freed-moved"))
		shmem_putmem(block + 10, from, 1, 0);
	if (odd && is("past-shrunk"))
		shmem_putmem(moved + 290, from, 11, 0);
	shmem_barrier_all();
	shmem_free(wall);
	shmem_free(moved);
}

static void use_heap_wrongly(bool odd)
{
	if (is("freed-moved") || is("past-shrunk") || is("blocks-right"))
		use_resized(odd);
	else if (!strncmp(mistake, "freed-", 6) || !strncmp(mistake, "past-", 5))
		use_no_block(odd);
}

/* After it was destroyed, by the last PE. */
static void use_destroyed_context(bool odd)
{
	shmem_ctx_t ctx, other;
	shmem_team_t team = WORLD;

	if (strncmp(mistake, "context-", 8))
		return;
	shmem_team_split_strided(WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
	shmem_team_create_ctx(team, is("context-private") ? SHMEM_CTX_PRIVATE : 0, &ctx);
	shmem_ctx_long_p(ctx, &to[0], 1, 0);
	if (is("context-team-put") || is("context-after-team"))
		shmem_team_destroy(team);
	else
		shmem_ctx_destroy(ctx);
	shmem_ctx_create(0, &other);
	if (odd && (is("context-put") || is("context-team-put") || is("context-private")))
		shmem_ctx_long_put(ctx, to, from, 1, 0);
	else if (odd && is("context-generic"))
		shmem_put(ctx, to, from, 1, 0);
	else if (odd && is("context-generic-atomic"))
		word = shmem_atomic_fetch_add(ctx, to, 1, 0);
	else if (odd && is("context-atomic"))
		shmem_ctx_long_atomic_inc(ctx, to, 0);
	else if (odd && is("context-get"))
		word = shmem_ctx_long_g(ctx, from, 0);
	else if (odd && is("context-fence"))
		shmem_ctx_fence(ctx);
	else if (odd && is("context-quiet"))
		shmem_ctx_quiet(ctx);
	else if (odd && is("context-team"))
		shmem_ctx_get_team(ctx, &team);
	else if (odd && is("context-twice"))
		shmem_ctx_destroy(ctx);
	else if (is("context-after-team"))
		shmem_ctx_destroy(ctx);
	shmem_ctx_destroy(other);
}

static void use_destroyed_team(bool odd)
{
	shmem_team_t team, other;
	shmem_ctx_t ctx;

	if (strncmp(mistake, "team-", 5))
		return;
	shmem_team_split_strided(WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
	shmem_team_sync(team);
	shmem_team_destroy(team);
	shmem_team_split_strided(WORLD, 0, 1, shmem_n_pes(), NULL, 0, &other);
	if (odd && is("team-pe"))
		shmem_team_my_pe(team);
	else if (odd && is("team-translate"))
		shmem_team_translate_pe(WORLD, 0, team);
	else if (odd && is("team-context"))
		shmem_team_create_ctx(team, 0, &ctx);
	else if (is("team-sync"))
		shmem_team_sync(team);
	else if (is("team-reduce"))
		shmem_long_sum_reduce(team, to, from, 1);
	else if (is("team-generic"))
		shmem_sum_reduce(team, to, from, 1);
	else if (is("team-split"))
		shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &other);
	else if (is("team-twice"))
		shmem_team_destroy(team);
}

int main(int argc, char *argv[])
{
	bool last, odd;

	mistake = argc > 1 ? argv[1] : "none";
	if (is("before-init"))
		shmem_long_p(&word, 1, 0);
	if (is("before-init-barrier"))
		shmem_barrier_all();
	if (is("before-init-malloc"))
		shmem_malloc(8);
	shmem_init();
	of_all();
	last = shmem_my_pe() == shmem_n_pes() - 1;
	odd = argc > 2 ? shmem_my_pe() == 0 : last;
	differ_in_making(odd);
	differ_on_team(odd);
	differ_in_arithmetic(odd);
	differ_on_set(odd, shmem_n_pes());
	overlap(shmem_n_pes());
	misuse_psync(shmem_n_pes());
	use_heap_wrongly(odd);
	use_destroyed_context(odd);
	use_destroyed_team(odd);
	make_extension_mistake(odd);
	if (last)
		of_one(shmem_n_pes());
	else if (is("exit"))
		shmem_long_p(&word, 1, shmem_n_pes() - 1);
	shmem_barrier_all();
	if (is("no-finalize") || (is("one-no-finalize") && last))
		return 0;
	shmem_finalize();
	if (is("after-finalize"))
		shmem_long_p(&word, 1, 0);
	if (is("finalize-twice"))
		shmem_finalize();
	return 0;
}
