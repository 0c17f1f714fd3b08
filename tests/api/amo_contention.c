/* SPDX-License-Identifier: BSD-3-Clause */
/* All PEs on the same words at once: nothing is lost, nothing is given out twice. */
#include "tests/lib/check.h"

static int counter_int, next_bit;
static long counter_long, by_compare_swap, token = -1;
static uint32_t bits_32;
static uint64_t bits_64, flips;
static long *tickets;

/* Tickets drawn by fetch_inc: together they are 0 .. n-1, each once. */
static void check_tickets(long each)
{
	long all = each * npes, *taken = symmetric((size_t)all * sizeof *taken);

	memset(taken, 0, (size_t)all * sizeof *taken);
	tickets = malloc((size_t)each * sizeof *tickets);
	shmem_barrier_all();
	for (long i = 0; i < each; i++)
		tickets[i] = i % 2 ? shmem_long_atomic_fetch_inc(&counter_long, 0)
				   : shmem_long_atomic_fetch_add(&counter_long, 1, 0);
	for (long i = 0; i < each; i++) {
		CHECK(tickets[i] >= 0 && tickets[i] < all);
		CHECK(i == 0 || tickets[i] > tickets[i - 1]);
		shmem_long_atomic_inc(&taken[tickets[i]], npes - 1);
	}
	shmem_barrier_all();
	for (long i = 0; me == npes - 1 && i < all; i++)
		CHECK_EQUAL(taken[i], 1);
	free(tickets);
	shmem_free(taken);
}

/* Without waiting for any answer. */
static void check_posted(long each)
{
	for (long i = 0; i < each; i++) {
		shmem_int_atomic_inc(&counter_int, (me + (int)i) % npes);
		shmem_uint64_atomic_xor(&flips, (uint64_t)1 << (me % 64), (me + (int)i) % npes);
	}
	shmem_barrier_all();
	for (int pe = 0; me == 0 && pe < npes; pe++) {
		static long sum;

		sum += shmem_int_g(&counter_int, pe);
		if (pe == npes - 1)
			CHECK_EQUAL(sum, each * npes);
	}
	shmem_barrier_all();
}

/* The classic loop: read, compute, compare and swap, again if somebody was faster. */
static void check_compare_swap(long each)
{
	for (long i = 0; i < each; i++) {
		long seen = shmem_long_atomic_fetch(&by_compare_swap, 0), found;

		while ((found = shmem_long_atomic_compare_swap(&by_compare_swap, seen, seen + 3, 0)) != seen)
			seen = found;
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&by_compare_swap, 0), 3 * each * npes);
}

/* A token is taken out by swap and put back: there is never a second one. */
static void check_token(long each)
{
	static long holder_count;

	if (me == 0)
		shmem_long_atomic_set(&token, 1, 0);
	shmem_barrier_all();
	for (long i = 0; i < each;) {
		if (shmem_long_atomic_swap(&token, 0, 0) != 1)
			continue;
		CHECK_EQUAL(shmem_long_atomic_fetch_inc(&holder_count, 0), 0);
		CHECK_EQUAL(shmem_long_atomic_fetch_add(&holder_count, -1, 0), 1);
		shmem_long_atomic_set(&token, 1, 0);
		i++;
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&token, 0), 1);
}

/*
 * Every bit is set by exactly one PE, which finds it clear; then cleared by one, which finds it
 * set.
 */
static void check_bits(void)
{
	shmem_barrier_all();
	for (int bit; (bit = shmem_int_atomic_fetch_inc(&next_bit, 0)) < 96;) {
		if (bit < 32)
			CHECK_EQUAL(shmem_uint32_atomic_fetch_or(&bits_32, 1u << bit, 0) >> bit & 1, 0);
		else
			CHECK_EQUAL(shmem_uint64_atomic_fetch_or(&bits_64, (uint64_t)1 << (bit - 32), 0) >> (bit - 32) &
					    1,
				    0);
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_uint32_g(&bits_32, 0), UINT32_MAX);
	CHECK_EQUAL(shmem_uint64_g(&bits_64, 0), UINT64_MAX);
	shmem_barrier_all();
	for (int bit = me; bit < 64; bit += npes)
		CHECK_EQUAL(shmem_uint64_atomic_fetch_and(&bits_64, ~((uint64_t)1 << bit), 0) >> bit & 1, 1);
	shmem_barrier_all();
	CHECK_EQUAL(shmem_uint64_g(&bits_64, 0), 0);
}

int main(void)
{
	begin();
	check_tickets(eased(3000));
	check_posted(eased(6000));
	check_compare_swap(eased(500));
	check_token(eased(200));
	check_bits();
	return end();
}
