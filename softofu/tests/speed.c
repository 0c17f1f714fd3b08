/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast it is between two ranks: an 8-byte put with its notice, there and back; a megabyte; an
 * atomic addition.
 */
#include "together.h"

#include <time.h>

enum { PINGS = 20000, STREAMS = 500, MEGABYTE = 1 << 20, ROUNDS = 3 };

static _Alignas(256) char memory[MEGABYTE];
static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t peer;
static utofu_stadd_t at;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void ping(unsigned long flags)
{
	OK(utofu_put(vcq, peer, at, at + 64, 8, 0, flags | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL));
}

/* Microseconds in one direction. */
static double latency(unsigned long flags)
{
	struct utofu_mrq_notice notice;
	double start = seconds();

	for (int i = 0; i < PINGS; i++) {
		if (!together.rank)
			ping(flags);
		OK(next_notice(vcq, &notice));
		if (together.rank)
			ping(flags);
	}
	return (seconds() - start) / PINGS / 2 * 1e6;
}

/* GB/s. */
static double bandwidth(void)
{
	double start = seconds();
	void *cbdata;

	for (int i = 0; i < STREAMS && !together.rank; i++) {
		OK(utofu_put(vcq, peer, at, at, MEGABYTE, 0, UTOFU_ONESIDED_FLAG_TCQ_NOTICE, NULL));
		OK(next_sent(vcq, &cbdata));
	}
	return STREAMS * (double)MEGABYTE / (seconds() - start) * 1e-9;
}

static double atomics(void)
{
	struct utofu_mrq_notice notice;
	double start = seconds();

	for (int i = 0; i < PINGS && !together.rank; i++) {
		OK(utofu_armw8(vcq, peer, UTOFU_ARMW_OP_ADD, 1, at, 0, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL));
		OK(next_notice(vcq, &notice));
	}
	return (seconds() - start) / PINGS * 1e6;
}

int main(void)
{
	together_start();
	CHECK(together.ranks == 2);
	peer = together_id(1 - together.rank, together.tni, TEST_CMP);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, 0, &vcq));
	OK(utofu_reg_mem_with_stag(vcq, memory, sizeof memory, TEST_STAG, 0, &at));
	for (int round = 0; round < ROUNDS; round++) {
		double plain, strong, stream, add;

		together_barrier();
		plain = latency(0);
		strong = latency(UTOFU_ONESIDED_FLAG_STRONG_ORDER);
		together_barrier();
		stream = bandwidth();
		together_barrier();
		add = atomics();
		together_barrier();
		if (!together.rank)
			printf("8 bytes and notice %.2f us, with strong order %.2f us; 1 MiB %.1f GB/s; addition %.2f "
			       "us\n",
			       plain, strong, stream, add);
	}
	together_end();
	return 0;
}
