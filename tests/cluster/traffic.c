/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of PEs that exchange checked data: traffic ROUNDS FROM-TO... or traffic ROUNDS all. In each
 * round, the first PE of a pair puts a long and a short block with a signal, adds to a counter,
 * and gets the long block back; the second one checks the blocks and the counter, and answers. PEs
 * that are in no pair go straight to shmem_finalize and only relay. Prints "under way" once each
 * pair has had a round, and "right" at the end. Run by own_failures.bats and kill-rounds.
 */
#include <shmem.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 200000, SHORT = 40, MOST_PAIRS = 512 };

static struct {
	int from, to;
} pairs[MOST_PAIRS];
static int n_pairs;

/* At the second PE of a pair, by pair; taken is at the first one. */
static unsigned char *blocks;
static uint64_t *ready, *taken;
static long *counter;
static unsigned char source[LONG], back[LONG];

static unsigned char byte_of(long round, int pair, size_t i)
{
	return (unsigned char)((size_t)round * 31 + (size_t)pair * 7 + i + (i >> 8));
}

static void check(bool good, const char *what, int pair, long round)
{
	if (good)
		return;
	fprintf(stderr, "traffic: PE %d: wrong %s of PE %d in round %ld\n", shmem_my_pe(), what, pairs[pair].from,
		round);
	shmem_global_exit(3);
}

static void add_pair(int from, int to)
{
	if (n_pairs == MOST_PAIRS || from == to)
		return;
	pairs[n_pairs].from = from;
	pairs[n_pairs++].to = to;
}

static void read_pairs(int argc, char **argv)
{
	int from, to, n = shmem_n_pes();

	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], "all"))
			for (from = 0; from < n; from++)
				for (to = 0; to < n; to++)
					add_pair(from, to);
		else if (sscanf(argv[i], "%d-%d", &from, &to) == 2 && from < n && to < n)
			add_pair(from, to);
}

static void send(int pair, long round)
{
	unsigned char *block = blocks + (size_t)pair * LONG;
	const int to = pairs[pair].to;

	for (size_t i = 0; i < LONG; i++)
		source[i] = byte_of(round, pair, i);
	shmem_putmem(block + SHORT, source + SHORT, LONG - SHORT, to);
	shmem_long_atomic_inc(&counter[pair], to);
	shmem_fence();
	shmem_putmem_signal(block, source, SHORT, &ready[pair], (uint64_t)round, SHMEM_SIGNAL_SET, to);
	shmem_getmem(back, block, LONG, to);
	check(!memcmp(back, source, LONG), "block read back", pair, round);
	shmem_signal_wait_until(&taken[pair], SHMEM_CMP_GE, (uint64_t)round);
}

static void receive(int pair, long round)
{
	const unsigned char *block = blocks + (size_t)pair * LONG;

	shmem_signal_wait_until(&ready[pair], SHMEM_CMP_GE, (uint64_t)round);
	for (size_t i = 0; i < LONG; i++)
		check(block[i] == byte_of(round, pair, i), "byte", pair, round);
	check(shmem_long_atomic_fetch(&counter[pair], shmem_my_pe()) == round, "counter", pair, round);
	shmem_putmem_signal(&taken[pair], NULL, 0, &taken[pair], (uint64_t)round, SHMEM_SIGNAL_SET, pairs[pair].from);
}

static void play(long round)
{
	for (int pair = 0; pair < n_pairs; pair++) {
		if (pairs[pair].from == shmem_my_pe())
			send(pair, round);
		if (pairs[pair].to == shmem_my_pe())
			receive(pair, round);
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10;

	shmem_init();
	read_pairs(argc, argv);
	blocks = shmem_malloc((size_t)n_pairs * LONG);
	ready = shmem_calloc((size_t)n_pairs, sizeof *ready);
	taken = shmem_calloc((size_t)n_pairs, sizeof *taken);
	counter = shmem_calloc((size_t)n_pairs, sizeof *counter);
	if (n_pairs == 0 || !blocks || !ready || !taken || !counter)
		shmem_global_exit(2);
	for (long round = 1; round <= rounds; round++) {
		play(round);
		if (round == 1 && pairs[n_pairs - 1].from == shmem_my_pe()) {
			printf("under way\n");
			fflush(stdout);
		}
	}
	if (pairs[n_pairs - 1].from == shmem_my_pe())
		printf("right\n");
	shmem_finalize();
	return 0;
}
