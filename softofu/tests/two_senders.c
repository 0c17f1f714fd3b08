/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks put to the same words of rank 0, as senders of flags do: rank 1 puts 256 bytes across
 * lines of the processor, all of them the same again and again, and rank 0 puts growing numbers to
 * one of its own words. A number that is gone never comes back: a put writes what its sender has,
 * and nothing that was there before.
 */
#include "together.h"

enum { WORDS = 32, WORD = 17, PUTS = 20000 };
#define CONSTANT UINT64_MAX

static volatile uint64_t words[WORDS] __attribute__((aligned(256)));
static volatile uint64_t finished __attribute__((aligned(256)));
static uint64_t source[WORDS] __attribute__((aligned(256)));
static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t peer;
static utofu_stadd_t from, to, done;

static void watch(void)
{
	for (uint64_t i = 1; !finished; i++) {
		OK(utofu_put_piggyback8(vcq, peer, i, to + WORD * 8, 8, 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
		for (int polls = 0; polls < 20; polls++) {
			uint64_t value = words[WORD];

			CHECK(value == i || value == CONSTANT);
		}
	}
}

int main(void)
{
	together_start();
	CHECK(together.ranks == 2);
	peer = together_id(0, together.tni, TEST_CMP);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, 0, &vcq));
	OK(utofu_reg_mem(vcq, source, sizeof source, 0, &from));
	OK(utofu_reg_mem_with_stag(vcq, (void *)words, sizeof words, TEST_STAG, 0, &to));
	OK(utofu_reg_mem_with_stag(vcq, (void *)&finished, sizeof finished, TEST_STAG + 1, 0, &done));
	OK(utofu_query_stadd(peer, TEST_STAG, &to));
	OK(utofu_query_stadd(peer, TEST_STAG + 1, &done));
	for (int i = 0; i < WORDS; i++)
		source[i] = CONSTANT;
	together_barrier();
	if (together.rank == 0)
		watch();
	for (uint64_t i = 1; i <= PUTS && together.rank == 1; i++)
		OK(utofu_put(vcq, peer, from, to, sizeof source, 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
	if (together.rank == 1)
		OK(utofu_put_piggyback8(vcq, peer, 1, done, 8, 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
	together_end();
	return 0;
}
