/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order with and without reorder injection. "adversarial": puts without strong order overtake each
 * other, their source is read late, and the last word of a buffer may come before the others.
 * "posted": nothing of this happens. With strong order it never happens.
 */
#include "together.h"

enum { ROUNDS = 2000, BURST = 8, LARGE = 1 << 18 };

static struct window {
	volatile uint64_t slots[BURST];
	char large[LARGE];
	volatile uint64_t taken;
} window __attribute__((aligned(256)));
static _Alignas(256) uint64_t source[BURST];
static _Alignas(256) char large[LARGE];

static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t peer;
static utofu_stadd_t base, from, from_large;
#define AT(field) (base + offsetof(struct window, field))

/* How many notices of bursts came before one that was posted earlier. */
static int overtaken(unsigned long flags)
{
	struct utofu_mrq_notice notice;
	int count = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t next = 0;

		for (uint64_t i = 0; i < BURST && !together.rank; i++)
			OK(utofu_put(vcq, peer, from + 8 * i, AT(slots) + 8 * i, 8, i,
				     flags | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL));
		for (int i = 0; i < BURST; i++) {
			OK(together.rank ? next_notice(vcq, &notice) : UTOFU_SUCCESS);
			count += together.rank && notice.edata < next;
			next = notice.edata;
		}
		if (together.rank)
			OK(utofu_put_piggyback8(vcq, peer, 0, AT(taken), 8, 0,
						UTOFU_ONESIDED_FLAG_STRONG_ORDER |
							UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE,
						NULL));
		else
			OK(next_notice(vcq, &notice));
	}
	return count;
}

/* How many puts sent what was written to the source after they were posted. */
static int read_late(unsigned long flags)
{
	struct utofu_mrq_notice notice;
	void *cbdata;
	int count = 0;

	for (int round = 0; round < ROUNDS && !together.rank; round++) {
		source[0] = 1;
		OK(utofu_put(vcq, peer, from, AT(slots), 8, 0,
			     flags | UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL));
		*(volatile uint64_t *)source = 2;
		OK(next_sent(vcq, &cbdata));
		OK(next_notice(vcq, &notice));
		OK(utofu_get(vcq, peer, from + 8, AT(slots), 8, 0,
			     UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL));
		OK(next_notice(vcq, &notice));
		count += source[1] == 2;
	}
	together_barrier();
	return count;
}

/*
 * How many buffers were not whole when their last word was there. Ends with the first unless none
 * may be.
 */
static int torn(unsigned long flags, bool until_one)
{
	int count = 0;

	for (int round = 1; round <= ROUNDS / 4; round++) {
		together_barrier();
		memset(large, round, LARGE);
		if (!together.rank)
			OK(utofu_put(vcq, peer, from_large, AT(large), LARGE, 0, flags, NULL));
		while (together.rank && *(volatile char *)&window.large[LARGE - 1] != (char)round)
			;
		atomic_thread_fence(memory_order_acquire);
		for (int i = 0; i < LARGE && together.rank; i += 256)
			if (*(volatile char *)&window.large[i] != (char)round) {
				count++;
				break;
			}
		together_share((uint64_t[]){(uint64_t)count}, 1);
		if (until_one && together_seen.board[1][0])
			break;
	}
	return count;
}

int main(int argc, char **argv)
{
	bool reordered = argc < 2 || strcmp(argv[1], "posted") != 0;
	int strong, weak;

	together_start();
	CHECK(together.ranks == 2);
	peer = together_id(1 - together.rank, together.tni, TEST_CMP);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, 0, &vcq));
	OK(utofu_reg_mem_with_stag(vcq, &window, sizeof window, TEST_STAG, 0, &base));
	OK(utofu_reg_mem(vcq, source, sizeof source, 0, &from));
	OK(utofu_reg_mem(vcq, large, sizeof large, 0, &from_large));
	together_barrier();
	strong = overtaken(UTOFU_ONESIDED_FLAG_STRONG_ORDER);
	weak = overtaken(0);
	CHECK(!strong);
	if (together.rank)
		CHECK(reordered ? weak > 0 : !weak);
	strong = read_late(UTOFU_ONESIDED_FLAG_STRONG_ORDER);
	weak = read_late(0);
	CHECK(!strong);
	if (!together.rank)
		CHECK(reordered ? weak > ROUNDS / 10 && weak < ROUNDS / 2 : !weak);
	CHECK(!torn(UTOFU_ONESIDED_FLAG_STRONG_ORDER, false));
	weak = torn(0, reordered);
	if (together.rank)
		CHECK(reordered ? weak > 0 : !weak);
	together_end();
	return 0;
}
