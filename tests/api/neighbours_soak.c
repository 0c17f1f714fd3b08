/* SPDX-License-Identifier: BSD-3-Clause */
/* run: long time=20000 local=4 ucx-tcp=2,3 ucx-shm=3 mixed=4 mixed3=6 */
/*
 * Neighbour exchanges for a long time: TEST_ROUNDS iterations of every pattern, or of TEST_PATTERN.
 * Every message says whose it is and which, and ends in a sum of all its words; none is lost,
 * doubled, torn or overtaken.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define WORDS 600 /* above 4 KiB; most messages are short */
#define STRAGGLER 2

static long rounds;
static uint64_t draws;

static uint64_t draw(void)
{
	return noise(draws++ * 64 + (uint64_t)me);
}

static uint64_t mark(int pe, int edge, long number)
{
	return noise((uint64_t)number * 1024 + (uint64_t)(pe * 8 + edge));
}

static size_t words_of(uint64_t mark, bool same)
{
	return same ? 8 : mark % 16 ? 2 + mark % 30 : 2 + mark % (WORDS - 2);
}

/* The mark, then words that follow from it, then their sum. */
static size_t fill(uint64_t *words, uint64_t mark, size_t n)
{
	uint64_t sum = words[0] = mark;

	for (size_t i = 1; i < n - 1; i++)
		sum += words[i] = mark + i * 0x9e3779b97f4a7c15u;
	words[n - 1] = sum;
	return n * sizeof *words;
}

static void check(const uint64_t *words, size_t bytes, uint64_t expected, size_t n)
{
	uint64_t sum = words[0];

	CHECK_EQUAL(bytes, n * sizeof *words);
	CHECK_EQUAL(words[0], expected);
	for (size_t i = 1; i < n - 1; i++) {
		CHECK_EQUAL(words[i], expected + i * 0x9e3779b97f4a7c15u);
		sum += words[i];
	}
	CHECK_EQUAL(words[n - 1], sum);
}

static void send(shmemx_exchange_t x, int edge, long k, bool same)
{
	static uint64_t source[WORDS];
	uint64_t to_fill = mark(me, edge, k);
	size_t n = words_of(to_fill, same);

	if (same || to_fill % 3) {
		shmemx_exchange_start(x, edge, fill(shmemx_exchange_buffer(x, edge), to_fill, n));
		return;
	}
	shmemx_exchange_send(x, edge, source, fill(source, to_fill, n));
	shmemx_exchange_sent(x, edge);
}

static void receive(shmemx_exchange_t x, int edge, int from, int their_edge, long k, bool same)
{
	size_t bytes;
	const uint64_t *words = shmemx_exchange_wait(x, edge, &bytes);
	uint64_t expected = mark(from, their_edge, k);

	check(words, bytes, expected, words_of(expected, same));
	shmemx_exchange_release(x, edge);
}

static shmemx_exchange_t make(bool back, int options)
{
	size_t most = WORDS * sizeof(uint64_t);
	shmemx_edge_t edges[2] = {{(me + 1) % npes, 1, most, back ? most : 0, options},
				  {(me + npes - 1) % npes, 0, back ? most : 0, most, options}};
	shmemx_exchange_t x;

	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &x), 0);
	return x;
}

static void dawdle(unsigned one_in)
{
	if (draw() % one_in == 0)
		usleep((useconds_t)(draw() % 200));
}

/*
 * Both directions in every iteration; skewed: a PE is late again and again; random: any size, and
 * all are late once in a while.
 */
static void both_directions(bool skewed, bool random, int options)
{
	shmemx_exchange_t x = make(true, options);
	int next = (me + 1) % npes, previous = (me + npes - 1) % npes;

	for (long k = 1; k <= rounds; k++) {
		NOTE("both directions%s%s, iteration %ld", skewed ? ", skewed" : "", random ? ", random" : "", k);
		if (skewed && me == STRAGGLER % npes)
			dawdle(50);
		send(x, 0, k, !random);
		if (random)
			dawdle(500);
		send(x, 1, k, !random);
		if (random)
			dawdle(500);
		receive(x, 1, previous, 0, k, !random);
		receive(x, 0, next, 1, k, !random);
	}
	shmemx_exchange_destroy(x);
}

/* Round the ring in one direction; nothing comes back. */
static void one_direction(bool random)
{
	shmemx_exchange_t x = make(false, SHMEMX_EDGE_EACH_ITERATION);
	int previous = (me + npes - 1) % npes;

	for (long k = 1; k <= rounds; k++) {
		NOTE("one direction%s, iteration %ld", random ? ", random" : "", k);
		if (random)
			dawdle(300);
		send(x, 0, k, !random);
		receive(x, 1, previous, 0, k, !random);
	}
	shmemx_exchange_destroy(x);
}

/*
 * From PE 0 along the line: each hands on what it got, so the first may be far ahead of the last.
 */
static void down_a_line(void)
{
	shmemx_exchange_t x = make(false, 0);

	for (long k = 1; k <= rounds; k++) {
		NOTE("down a line, iteration %ld", k);
		if (me > 0)
			receive(x, 1, me - 1, 0, k, false);
		if (me == npes - 1)
			dawdle(200);
		if (me < npes - 1)
			send(x, 0, k, false);
	}
	shmemx_exchange_destroy(x);
}

/*
 * All edges start at once, so several messages may come as one, and mostly while the PE does
 * something else: who serves it meanwhile puts them in their places.
 */
static void together(void)
{
	shmemx_exchange_t x = make(true, 0);
	int next = (me + 1) % npes, previous = (me + npes - 1) % npes;

	for (long k = 1; k <= rounds; k++) {
		size_t bytes, n = 2 + noise((uint64_t)k) % 60;

		NOTE("together, iteration %ld", k);
		for (int edge = 0; edge < 2; edge++)
			fill(shmemx_exchange_buffer(x, edge), mark(me, edge, k), n);
		shmemx_exchange_start(x, SHMEMX_ALL_EDGES, n * sizeof(uint64_t));
		for (uint64_t i = draw() % 20000; i > 0; i--)
			__asm__ volatile("" : : : "memory");
		for (int edge = 0; edge < 2; edge++) {
			const uint64_t *words = shmemx_exchange_wait(x, edge, &bytes);

			check(words, bytes, mark(edge ? previous : next, !edge, k), n);
		}
		shmemx_exchange_release(x, SHMEMX_ALL_EDGES);
	}
	shmemx_exchange_destroy(x);
}

static void steady(void)
{
	both_directions(false, false, 0);
}

static void skewed(void)
{
	both_directions(true, false, SHMEMX_EDGE_EACH_ITERATION);
}

static void random_sizes(void)
{
	both_directions(false, true, SHMEMX_EDGE_ONE_SEND_BUFFER);
}

static void skewed_random(void)
{
	both_directions(true, true, 0);
}

static void round_the_ring(void)
{
	one_direction(false);
}

static void round_the_ring_random(void)
{
	one_direction(true);
}

static const struct {
	const char *name;
	void (*run)(void);
} patterns[] = {{"steady", steady},	  {"skewed", skewed},
		{"random", random_sizes}, {"skewed-random", skewed_random},
		{"ring", round_the_ring}, {"ring-random", round_the_ring_random},
		{"line", down_a_line},	  {"together", together}};

int main(void)
{
	const char *only = getenv("TEST_PATTERN");
	int run = 0;

	begin();
	rounds = getenv("TEST_ROUNDS") ? atol(getenv("TEST_ROUNDS")) : 20000 / ease() + 10;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		if (!only || !strcmp(only, patterns[i].name)) {
			patterns[i].run();
			run++;
		}
	CHECK(run > 0);
	return end();
}
