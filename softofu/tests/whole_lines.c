/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a runtime that polls a marker in the message itself: the receiver sees the marker by
 * loads of 8 bytes, and reads the rest of its line at once. A put with strong order has one line of
 * 256 bytes or many; each line has a marker of its own, in the first or in the last word. Even
 * ranks send, and odd ones receive: as many puts as have room in 64 KiB, and then an answer.
 *
 *     whole_lines WHICH [LINES [LOAD]]
 *
 * WHICH says what must hold: last or first (no line is torn if that word is the marker, which
 * SOFTOFU_MARKER must name), packets (the same as last, but some of the packets of the network end
 * within lines) or torn (some are, for SOFTOFU_TEAR=yes). LINES are read for each size and marker,
 * beside LOAD processes that compute.
 */
#include "together.h"

#include <signal.h>
#include <sys/prctl.h>

enum { LINE = 256, WORDS = LINE / 8, WINDOW = 65536, MOST = WINDOW + 512, NEITHER = 0, OLD, NEW };

static volatile uint64_t message[MOST / 8] __attribute__((aligned(256)));
static uint64_t source[MOST / 8] __attribute__((aligned(256)));
static volatile uint64_t acknowledged;
static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t peer;
static utofu_stadd_t from, to, answer;

/* All bytes of it change with the round. */
static uint64_t value_of(uint64_t round)
{
	return round * UINT64_C(0x9e3779b97f4a7c15);
}

static int age_of(uint64_t value, uint64_t round)
{
	if (value == value_of(round))
		return NEW;
	return value == value_of(round - 1) ? OLD : NEITHER;
}

static void await(const volatile uint64_t *word, uint64_t round)
{
	int age;

	for (int polls = 0; (age = age_of(*word, round)) != NEW; polls++) {
		CHECK(age == OLD);
		if (polls % 4096 == 4095)
			usleep(1);
	}
	atomic_thread_fence(memory_order_acquire);
}

/* Word by word, or the whole line by memcmp. */
static bool is_whole(size_t line, uint64_t round)
{
	const volatile uint64_t *words = &message[line * WORDS];
	uint64_t wanted[WORDS];
	bool whole = true;

	if (round % 2) {
		for (int i = 0; i < WORDS; i++)
			wanted[i] = value_of(round);
		return !memcmp((const void *)words, wanted, sizeof wanted);
	}
	for (int i = 0; i < WORDS; i++) {
		int age = age_of(words[i], round);

		CHECK(age != NEITHER);
		whole = whole && age == NEW;
	}
	return whole;
}

/*
 * Receives puts, whose lines may come a while after each other. Returns how many of them were torn.
 */
static uint64_t receive(size_t lines, size_t marker, uint64_t round)
{
	uint64_t torn = 0;

	for (size_t line = 0; line < lines; line++) {
		await(&message[line * WORDS + marker], round);
		torn += !is_whole(line, round);
	}
	await(&message[lines * WORDS - 1], round);
	return torn;
}

static uint64_t exchange(size_t bytes, size_t lines, size_t marker, uint64_t rounds, uint64_t *round)
{
	const unsigned long flags =
		UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_CACHE_INJECTION | UTOFU_ONESIDED_FLAG_PADDING;
	uint64_t torn = 0;

	for (size_t word = 0; word < lines * WORDS; word++)
		message[word] = value_of(*round);
	together_barrier();
	for (uint64_t i = 0; i < rounds; i++) {
		++*round;
		if (together.rank % 2) {
			torn += receive(lines, marker, *round);
			OK(utofu_put_piggyback8(vcq, peer, value_of(*round), answer, 8, 0,
						UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
			continue;
		}
		for (size_t word = 0; word < lines * WORDS; word++)
			source[word] = value_of(*round);
		for (size_t at = 0; at < lines * LINE; at += bytes)
			OK(utofu_put(vcq, peer, from + at, to + at, bytes, 0, flags, NULL));
		await(&acknowledged, *round);
	}
	together_barrier();
	acknowledged = value_of(*round);
	return torn;
}

/*
 * Every byte of a put arrives, and none beside it, wherever in lines and words it begins and ends.
 */
static void edges(void)
{
	static const size_t lengths[] = {1, 7, 8, 9, 31, 248, 249, 256, 257, 511, 65535, 65536, 65537, 65600, 65791};
	char *bytes = (char *)(uintptr_t)message, *out = (char *)source;

	for (size_t i = 0; i < 3 * sizeof lengths / sizeof *lengths; i++) {
		size_t length = lengths[i / 3], begin = (const size_t[]){0, 3, 250}[i % 3];

		memset(bytes, 0, sizeof message);
		memset(out, 7, sizeof source);
		together_barrier();
		if (together.rank % 2 == 0)
			OK(utofu_put(vcq, peer, from + 5, to + begin, length, 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER,
				     NULL));
		together_barrier();
		for (size_t at = 0; at < sizeof message && together.rank % 2; at++)
			CHECK(bytes[at] == (at >= begin && at < begin + length ? 7 : 0));
	}
}

static void register_all(void)
{
	peer = together_id(together.rank ^ 1, together.tni, TEST_CMP);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, 0, &vcq));
	OK(utofu_reg_mem(vcq, source, sizeof source, 0, &from));
	OK(utofu_reg_mem_with_stag(vcq, (void *)message, sizeof message, TEST_STAG, 0, &to));
	OK(utofu_reg_mem(vcq, (void *)&acknowledged, sizeof acknowledged, 0, &answer));
	OK(utofu_query_stadd(peer, TEST_STAG, &to));
	together_share((uint64_t[]){answer}, 1);
	answer = together_seen.board[together.rank ^ 1][0];
}

/* Ends with this process. */
static void load_machine(int processes)
{
	for (int i = 0; i < processes; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (volatile unsigned count = 0;; count++)
				;
		}
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {256, 1792, 4096, 32768, 65536};
	const char *which = argc > 1 ? argv[1] : "last";
	uint64_t lines = argc > 2 ? strtoull(argv[2], NULL, 10) : 1500, round = 0, all_torn = 0;

	together_start();
	CHECK(together.ranks % 2 == 0);
	if (together.rank == 0)
		load_machine(argc > 3 ? atoi(argv[3]) : 0);
	register_all();
	edges();
	for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
		size_t size = sizes[i / 2], count = WINDOW / size * size / LINE, marker = i % 2 ? WORDS - 1 : 0;
		bool promised = !strcmp(which, marker ? "last" : "first") || (marker && !strcmp(which, "packets"));
		uint64_t rounds = (lines + count - 1) / count, torn = exchange(size, count, marker, rounds, &round);

		if (together.rank % 2)
			printf("rank %d: %zu bytes, marker in the %s word of each line: %llu of %llu torn\n",
			       together.rank, size, marker ? "last" : "first", (unsigned long long)torn,
			       (unsigned long long)(rounds * count));
		fflush(stdout);
		CHECK(!promised || !torn);
		all_torn += torn;
	}
	CHECK(strcmp(which, "torn") || together.rank % 2 == 0 || all_torn > 0);
	together_end();
	return 0;
}
