/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs on hosts whose cables are networks of their own, one on each: what distance costs. For each
 * number of cables between PE 0 and another PE of its row, the one way of 8 bytes with a signal
 * (half of a round trip, median), how many times that over one cable it takes, and the rate of
 * 1 MiB puts with a quiet behind each. Arguments: round trips (1001), puts (9), MB/s of a cable
 * (0: unknown), whose share the last column is then. Run by hand:
 *
 *     tests/cluster/cluster run --torus 6 --cables own --rate 200mbit -- \
 *         sh -c './oshrun --hostfile $CLUSTER_HOSTFILE -n 6 tests/cluster/hops 1001 9 25'
 */
#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LARGE (1UL << 20)
enum { MOST = 100001 };

static uint64_t signal_word, value;
static double times[MOST];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(int n)
{
	qsort(times, (size_t)n, sizeof *times, compare);
	return times[n / 2];
}

/* Microseconds of one way; both PEs call it. The signals count on from `sent`. */
static double one_way(int other, uint64_t sent, int trips)
{
	for (int i = 0; i < trips; i++) {
		double begin = now();

		sent++;
		if (shmem_my_pe() == 0)
			shmem_put64_signal(&value, &sent, 1, &signal_word, sent, SHMEM_SIGNAL_SET, other);
		shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, sent);
		if (shmem_my_pe() != 0)
			shmem_put64_signal(&value, &sent, 1, &signal_word, sent, SHMEM_SIGNAL_SET, 0);
		times[i] = (now() - begin) / 2;
	}
	return median(trips);
}

static double put_rate(void *dest, const void *source, int other, int puts)
{
	for (int i = 0; i < puts; i++) {
		double begin = now();

		shmem_putmem(dest, source, LARGE, other);
		shmem_quiet();
		times[i] = now() - begin;
	}
	return (double)LARGE / median(puts);
}

int main(int argc, char **argv)
{
	int trips = argc > 1 ? atoi(argv[1]) : 1001, batches = argc > 2 ? atoi(argv[2]) : 9;
	double cable = argc > 3 ? atof(argv[3]) : 0, first = 0;
	char *dest, *source;

	shmem_init();
	trips = trips < 1 || trips > MOST ? 1001 : trips;
	batches = batches < 1 || batches > MOST ? 9 : batches;
	dest = shmem_malloc(LARGE);
	source = shmem_malloc(LARGE);
	for (int other = 1, hops = 1; other < shmem_n_pes(); other++) {
		double way = 0, rate = 0;

		if (shmemx_torus_hops(0, other) != hops)
			continue;
		shmem_barrier_all();
		if (shmem_my_pe() == 0 || shmem_my_pe() == other) {
			one_way(other, (uint64_t)hops * 2 * MOST, 10);
			way = one_way(other, (uint64_t)hops * 2 * MOST + 10, trips);
		}
		shmem_barrier_all();
		if (shmem_my_pe() == 0)
			rate = put_rate(dest, source, other, batches);
		if (hops == 1)
			first = way;
		if (shmem_my_pe() == 0)
			printf("%d cable%s: %.1f us one way, %.2f times one cable; %.1f MB/s", hops,
			       hops == 1 ? "" : "s", way, way / first, rate);
		if (shmem_my_pe() == 0 && cable > 0)
			printf(", %.2f of a cable", rate / cable);
		if (shmem_my_pe() == 0)
			puts("");
		fflush(stdout);
		hops++;
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
