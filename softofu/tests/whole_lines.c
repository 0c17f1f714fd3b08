/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a runtime that polls a marker in the message itself: the receiver sees the marker and
 * reads the rest at once. A message is a line of 256 bytes, put with strong order, cache injection
 * and padding; its marker is in the header, in the middle, or at the end. Then the message is a
 * packet of several lines. With the argument "torn" (SOFTOFU_TEAR=yes), some of the lines must be
 * torn.
 *
 * On a machine with a hypervisor, the writer can lose its processor between two stores, so one
 * message in LOST_ONE_IN may be torn.
 */
#include "together.h"

enum { LINE = 256, PACKET = 1920, ROUNDS = 3000, LOST_ONE_IN = 300, WORDS = PACKET / 8 };

static volatile uint64_t message[WORDS] __attribute__((aligned(256)));
static uint64_t source[WORDS] __attribute__((aligned(256)));
static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t peer;
static utofu_stadd_t from, to;

static void receive(uint64_t round, size_t bytes, size_t marker, uint64_t *torn)
{
	uint64_t seen[WORDS];
	bool whole = true;

	for (int polls = 0; message[marker] != round; polls++)
		if (polls % 4096 == 4095)
			usleep(1);
	atomic_thread_fence(memory_order_acquire);
	for (size_t i = 0; i < bytes / 8; i++)
		seen[i] = message[i];
	for (size_t i = 0; i < bytes / 8; i++)
		whole = whole && seen[i] == round;
	*torn += !whole;
}

/* A word shows the sender that the receiver is done: the last one of the sender's own message. */
static void acknowledge(uint64_t round)
{
	OK(utofu_put_piggyback8(vcq, peer, round, to, 8, 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
}

static uint64_t exchange(size_t bytes, size_t marker, uint64_t *round)
{
	const unsigned long flags =
		UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_CACHE_INJECTION | UTOFU_ONESIDED_FLAG_PADDING;
	uint64_t torn = 0;

	for (int i = 0; i < ROUNDS; i++) {
		++*round;
		if (together.rank) {
			receive(*round, bytes, marker, &torn);
			acknowledge(*round);
			continue;
		}
		for (size_t word = 0; word < bytes / 8; word++)
			source[word] = *round;
		OK(utofu_put(vcq, peer, from, to, bytes, 0, flags, NULL));
		for (int polls = 0; message[0] != *round; polls++)
			if (polls % 4096 == 4095)
				usleep(1);
	}
	return torn;
}

int main(int argc, char **argv)
{
	static const struct {
		size_t bytes, marker;
	} kinds[] = {{LINE, 2}, {LINE, 0}, {LINE, 16}, {LINE, 31}, {PACKET, 2}, {PACKET, WORDS - 1}};
	bool tear = argc > 1 && !strcmp(argv[1], "torn");
	uint64_t round = 0, torn;

	together_start();
	CHECK(together.ranks == 2);
	peer = together_id(1 - together.rank, together.tni, TEST_CMP);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, 0, &vcq));
	OK(utofu_reg_mem(vcq, source, sizeof source, 0, &from));
	OK(utofu_reg_mem_with_stag(vcq, (void *)message, sizeof message, TEST_STAG, 0, &to));
	OK(utofu_query_stadd(peer, TEST_STAG, &to));
	together_barrier();
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		bool first_words = kinds[i].marker < kinds[i].bytes / 8 - 1;

		torn = exchange(kinds[i].bytes, kinds[i].marker, &round);
		if (together.rank)
			printf("%zu bytes, marker in word %zu: %llu of %d torn\n", kinds[i].bytes, kinds[i].marker,
			       (unsigned long long)torn, ROUNDS);
		/* What is torn lacks its last word. */
		if (together.rank && tear && first_words)
			CHECK(torn > 0);
		else
			CHECK(torn <= ROUNDS / LOST_ONE_IN);
	}
	together_end();
	return 0;
}
