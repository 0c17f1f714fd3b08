/* SPDX-License-Identifier: BSD-3-Clause */
/* mistake NAME: makes one mistake, on the last PE if it is a matter of one PE. For mistakes.bats. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word, words[4];
static const char *mistake;

static int is(const char *name)
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
	else if (is("segfault"))
		raise(SIGSEGV);
	else if (is("abort"))
		abort();
	else if (is("killed"))
		raise(SIGKILL);
	else if (is("exit"))
		exit(3);
	else if (is("_exit"))
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

	if (is("heap-exhausted")) {
		block = shmem_malloc((size_t)100 << 20);
		printf("PE %d got %s\n", shmem_my_pe(), block ? "a block" : "NULL");
	} else if (is("double-free")) {
		block = shmem_malloc(100);
		shmem_free(block);
		shmem_free(block);
	} else if (is("free-interior")) {
		block = shmem_malloc(100);
		shmem_free(block + 16);
	} else if (is("alignment")) {
		shmem_align(24, 100);
	}
}

int main(int argc, char *argv[])
{
	mistake = argc > 1 ? argv[1] : "none";
	if (is("before-init"))
		shmem_long_p(&word, 1, 0);
	if (is("before-init-barrier"))
		shmem_barrier_all();
	if (is("before-init-malloc"))
		shmem_malloc(8);
	shmem_init();
	of_all();
	if (shmem_my_pe() == shmem_n_pes() - 1)
		of_one(shmem_n_pes());
	shmem_barrier_all();
	if (is("no-finalize"))
		return 0;
	shmem_finalize();
	if (is("after-finalize"))
		shmem_long_p(&word, 1, 0);
	if (is("finalize-twice"))
		shmem_finalize();
	return 0;
}
