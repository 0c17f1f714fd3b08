/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=2,3,4 */
/*
 * A PE that sleeps outside the library stops nobody: puts, gets, atomics and signals to it complete
 * meanwhile.
 */
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SLEEP 3.0    /* at most */
#define PATIENCE 1.5 /* far more than all of it takes, far less than the sleep */
#define LARGE 300000

/* Both are longer where tests/run knows that everything is slow. */
static double slowness(void)
{
	const char *patience = getenv("TEST_PATIENCE");

	return patience ? 1 + atoi(patience) / 4 : 1;
}

static long words[64], counter, constant = 123, job;
static uint64_t signal_word;
static unsigned char *area;

/*
 * Those that are done add a byte to a file of the sleeper, without the library: it need not sleep
 * on. Where PEs are on hosts without that file it sleeps to the end.
 */
static char done_path[4096];

static void name_done_file(void)
{
	const char *folder = getenv("TMPDIR");

	if (me == 0)
		job = (long)getpid();
	shmem_barrier_all();
	snprintf(done_path, sizeof done_path, "%s/sleeping.%ld", folder ? folder : "/tmp", shmem_long_g(&job, 0));
	if (me == npes - 1) {
		int file = open(done_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (file >= 0)
			close(file);
	}
	shmem_barrier_all();
}

static void add_done(void)
{
	int file = open(done_path, O_WRONLY | O_APPEND);

	if (file < 0)
		return;
	if (write(file, "", 1) != 1)
		fprintf(stderr, "cannot write to %s\n", done_path);
	close(file);
}

static bool all_are_done(void)
{
	struct stat status;

	return stat(done_path, &status) == 0 && status.st_size >= npes - 1;
}

static void sleep_outside(void)
{
	double start = seconds();

	while (seconds() - start < SLEEP * slowness() && !all_are_done())
		usleep(50000);
	unlink(done_path);
}

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

	begin();
	sleeper = npes - 1;
	area = symmetric(LARGE);
	name_done_file();
	if (me == sleeper) {
		sleep_outside();
	} else {
		disturb(sleeper);
		add_done();
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
