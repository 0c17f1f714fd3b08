/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of nonblocking operations of mixed sizes under way, from everybody to everybody. */
#include "tests/lib/check.h"

#define MOST_BYTES 3000

static long count;
static unsigned char *incoming, *outgoing, *fetched;

static size_t bytes_of(long i)
{
	uint64_t dice = noise((uint64_t)i);

	return dice % 16 ? dice / 16 % 64 : dice / 16 % MOST_BYTES;
}

/* Where the i-th message of a PE lies: slots of one size, so that any of them can be found. */
static unsigned char *slot(unsigned char *base, int pe, long i)
{
	return base + ((size_t)pe * (size_t)count + (size_t)i) * MOST_BYTES;
}

static void finish(int how)
{
	static int all[64];

	for (int pe = 0; pe < npes; pe++)
		all[pe % 64] = pe;
	switch (how) {
	case 0: shmem_quiet(); break;
	case 1: shmem_ctx_quiet(SHMEM_CTX_DEFAULT); break;
	case 2: shmem_pe_quiet(all, (size_t)npes); break;
	case 3: shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, all, (size_t)npes); break;
	}
	shmem_barrier_all();
}

static void try_puts(int how)
{
	unsigned char expected[MOST_BYTES];

	memset(incoming, 0, (size_t)npes * (size_t)count * MOST_BYTES);
	shmem_barrier_all();
	for (long i = 0; i < count; i++) {
		fill_noise(slot(outgoing, 0, i), bytes_of(i), (uint64_t)(i * npes + me + how));
		for (int pe = 0; pe < npes; pe++)
			shmem_putmem_nbi(slot(incoming, me, i), slot(outgoing, 0, i), bytes_of(i), pe);
	}
	finish(how);
	for (int pe = 0; pe < npes; pe++) {
		for (long i = 0; i < count; i++) {
			fill_noise(expected, bytes_of(i), (uint64_t)(i * npes + pe + how));
			CHECK_BYTES(slot(incoming, pe, i), expected, bytes_of(i));
			CHECK_FILL(slot(incoming, pe, i) + bytes_of(i), 0, 8);
		}
	}
	shmem_barrier_all();
}

static void try_gets(int how)
{
	unsigned char expected[MOST_BYTES];

	memset(fetched, 0, (size_t)npes * (size_t)count * MOST_BYTES);
	for (int pe = 0; pe < npes; pe++)
		for (long i = 0; i < count; i++)
			fill_noise(slot(incoming, pe, i), bytes_of(i), (uint64_t)(i * 999 + pe * npes + me));
	shmem_barrier_all();
	for (long i = 0; i < count; i++)
		for (int pe = 0; pe < npes; pe++)
			shmem_getmem_nbi(slot(fetched, pe, i), slot(incoming, me, i), bytes_of(i), pe);
	finish(how);
	for (int pe = 0; pe < npes; pe++) {
		for (long i = 0; i < count; i++) {
			fill_noise(expected, bytes_of(i), (uint64_t)(i * 999 + me * npes + pe));
			CHECK_BYTES(slot(fetched, pe, i), expected, bytes_of(i));
		}
	}
	shmem_barrier_all();
}

/* Puts, gets and atomics in one stream, then one quiet. */
static void try_mixture(void)
{
	static long sums[64], words[64], results[64], read_back[64];

	for (long i = 0; i < 200; i++) {
		for (int pe = 0; pe < npes; pe++) {
			shmem_long_atomic_fetch_add_nbi(&results[pe], &sums[me], 2, pe);
			shmem_long_put_nbi(&words[me], &i, 1, pe);
			/*
			 * I changes in the next round; and the puts must not overtake one another.
			 */
			shmem_fence();
			shmem_quiet();
			shmem_long_get_nbi(&read_back[pe], &words[me], 1, pe);
		}
		shmem_quiet();
		for (int pe = 0; pe < npes; pe++) {
			CHECK_EQUAL(results[pe], 2 * i);
			CHECK_EQUAL(read_back[pe], i);
		}
	}
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++)
		CHECK_EQUAL(sums[pe], 400);
}

int main(void)
{
	size_t bytes;

	begin();
	count = eased(1500);
	bytes = (size_t)count * MOST_BYTES;
	incoming = symmetric((size_t)npes * bytes);
	outgoing = malloc(bytes);
	fetched = malloc((size_t)npes * bytes);
	for (int how = 0; how < 4; how++) {
		NOTE("completion %d", how);
		try_puts(how);
		try_gets(how);
	}
	check_note[0] = '\0';
	try_mixture();
	shmem_pe_quiet(NULL, 0);
	shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, NULL, 0);
	free(outgoing);
	free(fetched);
	return end();
}
