/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=2,3,4 */
/* A PE that sleeps outside the library stops nobody: puts, gets, atomics and signals to it complete meanwhile. */
#include "tests/lib/check.h"

#define SLEEP 3.0
#define PATIENCE 1.5 /* far more than all of it takes, far less than the sleep */
#define LARGE 300000

/* Both are longer where tests/run knows that everything is slow. */
static double slowness(void)
{
	const char *patience = getenv("TEST_PATIENCE");

	return patience ? 1 + atoi(patience) / 4 : 1;
}

static long words[64], counter, constant = 123;
static uint64_t signal_word;
static unsigned char *area;

static void check_time(double start, const char *what)
{
	if (seconds() - start > PATIENCE * slowness())
		check_failed(__FILE__, __LINE__, "%s was complete after %.2f s only: it waited for the sleeper", what,
			     seconds() - start);
}

static void disturb(int sleeper)
{
	unsigned char *mine = malloc(LARGE), *back = malloc(LARGE);
	size_t share = LARGE / (size_t)npes, start_of_mine = (size_t)me * share;
	double start = seconds(); /* first contact is part of it */

	shmem_long_p(&words[me], 1 + me, sleeper);
	shmem_quiet();
	check_time(start, "put and quiet");
	CHECK_EQUAL(shmem_long_g(&constant, sleeper), 123);
	check_time(start, "get");
	shmem_long_atomic_fetch_add(&counter, 1, sleeper);
	check_time(start, "fetching atomic");
	shmem_long_atomic_inc(&counter, sleeper);
	shmem_quiet();
	check_time(start, "atomic and quiet");
	shmem_signal_add(&signal_word, 1, sleeper);
	shmem_long_put_signal(&words[me], &constant, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, sleeper);
	shmem_quiet();
	check_time(start, "signal and quiet");
	fill_noise(mine, share, (uint64_t)me);
	shmem_putmem_nbi(area + start_of_mine, mine, share, sleeper);
	shmem_quiet();
	shmem_getmem(back, area + start_of_mine, share, sleeper);
	check_time(start, "large put, quiet, large get");
	CHECK_BYTES(back, mine, share);
	for (int i = 0; i < 100; i++)
		shmem_long_atomic_fetch_inc(&counter, sleeper);
	check_time(start, "a hundred fetching atomics");
	free(mine);
	free(back);
}

int main(void)
{
	int sleeper;
	double start;

	begin();
	sleeper = npes - 1;
	area = symmetric(LARGE);
	shmem_barrier_all();
	if (me == sleeper) {
		start = seconds();
		while (seconds() - start < SLEEP * slowness())
			sleep(1);
	} else {
		disturb(sleeper);
	}
	shmem_barrier_all();
	if (me == sleeper) {
		CHECK_EQUAL(counter, 102L * (npes - 1));
		CHECK_EQUAL(signal_word, 2 * (uint64_t)(npes - 1));
		for (int pe = 0; pe < npes - 1; pe++)
			CHECK_EQUAL(words[pe], 123);
	}
	return end();
}
