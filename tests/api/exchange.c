/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,7 ucx-tcp=2,4 ucx-shm=2,3 mixed=4,6 tofu-few=2 */
/*
 * Neighbour exchange: in both directions round a ring, in one direction, with messages of any size,
 * with PEs that dawdle, with sides that run ahead. Every message says whose it is and which; none
 * is lost, doubled, torn or overtaken.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define MOST 40000

static long rounds;

static uint64_t seed(int from, int edge, long number)
{
	return (uint64_t)number * 64 + (uint64_t)(from * 4 + edge);
}

static size_t length(uint64_t seed, size_t most)
{
	return noise(seed) % 8 ? noise(seed) % (most < 300 ? most + 1 : 300) : noise(seed) % (most + 1);
}

static void send(shmemx_exchange_t x, int edge, long number, size_t most)
{
	size_t bytes = length(seed(me, edge, number), most);

	fill_noise(shmemx_exchange_buffer(x, edge), bytes, seed(me, edge, number));
	shmemx_exchange_start(x, edge, bytes);
}

static void check_message(const void *came, size_t bytes, int from, int their_edge, long number, size_t most)
{
	static unsigned char expected[MOST + 8];

	NOTE("message %ld of edge %d of PE %d", number, their_edge, from);
	CHECK_EQUAL(bytes, length(seed(from, their_edge, number), most));
	fill_noise(expected, bytes, seed(from, their_edge, number));
	CHECK_BYTES(came, expected, bytes);
}

static void receive(shmemx_exchange_t x, int edge, int from, int their_edge, long number, size_t most)
{
	size_t bytes = 0;
	const void *came = shmemx_exchange_wait(x, edge, &bytes);

	check_message(came, bytes, from, their_edge, number, most);
	CHECK(shmemx_exchange_received(x, edge, NULL) == came);
	shmemx_exchange_release(x, edge);
}

static void dawdle(uint64_t n)
{
	if (noise(n) % 64 == 0)
		usleep((useconds_t)(noise(n + 1) % 300));
}

/* In both directions to the next and the previous, which on one or two PEs are the same. */
static shmemx_exchange_t make_ring(size_t most, int options)
{
	shmemx_edge_t edges[2] = {{(me + 1) % npes, 1, most, most, options},
				  {(me + npes - 1) % npes, 0, most, most, options}};
	shmemx_exchange_t x = SHMEMX_EXCHANGE_INVALID;

	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &x), 0);
	CHECK(x != SHMEMX_EXCHANGE_INVALID);
	return x;
}

static void ring(size_t most, int options, bool dawdles)
{
	shmemx_exchange_t x = make_ring(most, options);
	int next = (me + 1) % npes, previous = (me + npes - 1) % npes;

	for (long k = 1; k <= rounds; k++) {
		if (dawdles)
			dawdle((uint64_t)(k * npes + me));
		send(x, 0, k, most);
		send(x, 1, k, most);
		if (dawdles)
			dawdle((uint64_t)(k * npes + me) + 77);
		receive(x, 0, next, 1, k, most);
		receive(x, 1, previous, 0, k, most);
	}
	shmemx_exchange_destroy(x);
}

/* The same from memory of this PE, on the heap and elsewhere, which changes as soon as it may. */
static void from_memory(void)
{
	shmemx_exchange_t x = make_ring(MOST, SHMEMX_EDGE_EACH_ITERATION);
	int next = (me + 1) % npes, previous = (me + npes - 1) % npes;
	char *source[2] = {symmetric(MOST), malloc(MOST)};

	for (long k = 1; k <= rounds; k++) {
		for (int edge = 0; edge < 2; edge++) {
			size_t bytes = length(seed(me, edge, k), MOST);

			fill_noise(source[edge], bytes, seed(me, edge, k));
			shmemx_exchange_send(x, edge, source[edge], bytes);
		}
		dawdle((uint64_t)(k * npes + me));
		receive(x, 0, next, 1, k, MOST);
		receive(x, 1, previous, 0, k, MOST);
		shmemx_exchange_sent(x, k % 2 ? SHMEMX_ALL_EDGES : 0);
		if (k % 2 == 0)
			shmemx_exchange_sent(x, 1);
	}
	shmemx_exchange_destroy(x);
	shmem_free(source[0]);
	free(source[1]);
}

/* Starts one ahead of what it waits for. */
static void ahead(void)
{
	shmemx_exchange_t x = make_ring(1000, 0);
	int next = (me + 1) % npes, previous = (me + npes - 1) % npes;

	for (long k = 1; k <= rounds; k++) {
		send(x, 0, k, 1000);
		send(x, 1, k, 1000);
		if (k == 1)
			continue;
		receive(x, 0, next, 1, k - 1, 1000);
		receive(x, 1, previous, 0, k - 1, 1000);
	}
	receive(x, 0, next, 1, rounds, 1000);
	receive(x, 1, previous, 0, rounds, 1000);
	shmemx_exchange_destroy(x);
}

/*
 * Edge 0 sends to the next, edge 1 receives from the previous. PE 0 begins each round; so nothing
 * flows back.
 */
static void shift(bool dawdles)
{
	shmemx_edge_t edges[2] = {{(me + 1) % npes, 1, 500, 0, 0}, {(me + npes - 1) % npes, 0, 0, 500, 0}};
	shmemx_exchange_t x;

	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &x), 0);
	for (long k = 1; k <= rounds; k++) {
		if (dawdles && me == npes - 1)
			dawdle((uint64_t)k);
		send(x, 0, k, 500);
		receive(x, 1, (me + npes - 1) % npes, 0, k, 500);
	}
	shmemx_exchange_destroy(x);
}

/* From PE 0 to the last, with nothing at all in the other direction; others have no edge. */
static void one_direction(void)
{
	bool first = me == 0, last = me == npes - 1 && npes > 1;
	shmemx_edge_t edge = {first ? npes - 1 : 0, 0, first ? 300 : 0, last ? 300 : 0, 0};
	shmemx_exchange_t x;

	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, &edge, npes > 1 && (first || last), &x), 0);
	for (long k = 1; npes > 1 && k <= rounds; k++) {
		if (first)
			send(x, 0, k, 300);
		if (last) {
			dawdle((uint64_t)k);
			while (!shmemx_exchange_test(x, 0))
				;
			receive(x, 0, 0, 0, k, 300);
		}
	}
	shmemx_exchange_destroy(x);
}

/* In both directions, but in bursts of two, first one and then the other. */
static void bursts(void)
{
	bool here = me < npes / 2 * 2;
	shmemx_edge_t edge = {me ^ 1, 0, 300, 300, 0};
	shmemx_exchange_t x;

	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, &edge, here, &x), 0);
	for (long k = 1; here && k + 1 <= rounds; k += 2)
		for (int phase = 0; phase < 2; phase++)
			for (int i = 0; i < 2; i++) {
				if (phase == me % 2)
					send(x, 0, k + i, 300);
				else
					receive(x, 0, me ^ 1, 0, k + i, 300);
			}
	shmemx_exchange_destroy(x);
}

/* All edges of all PEs at once, on a team whose numbers are not the world's. */
static void all_at_once(void)
{
	shmem_team_t team = SHMEM_TEAM_INVALID;
	shmemx_edge_t edges[8];
	shmemx_exchange_t x;
	int n = npes < 8 ? npes : 8;
	long sum;

	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &team);
	for (int i = 0; i < n; i++)
		edges[i] = (shmemx_edge_t){(shmem_team_my_pe(team) + i) % npes, (npes - i) % npes, 8, 8, 0};
	CHECK_EQUAL(shmemx_exchange_create(team, edges, npes <= 8 ? n : 0, &x), 0);
	for (long k = 1; npes <= 8 && k <= rounds; k++) {
		for (int i = 0; i < n; i++)
			*(long *)shmemx_exchange_buffer(x, i) = k * 1000 + shmem_team_my_pe(team);
		shmemx_exchange_start(x, SHMEMX_ALL_EDGES, 8);
		shmemx_exchange_wait(x, SHMEMX_ALL_EDGES, NULL);
		sum = 0;
		for (int i = 0; i < n; i++)
			sum += *(const long *)shmemx_exchange_received(x, i, NULL);
		CHECK_EQUAL(sum, npes * k * 1000 + npes * (npes - 1) / 2);
		shmemx_exchange_release(x, SHMEMX_ALL_EDGES);
	}
	shmemx_exchange_destroy(x);
	shmem_team_destroy(team);
}

/*
 * Five edges to the next PE and five to the previous, which on one or two PEs are the same: some
 * messages leave together, others are too long for that, and sides run ahead.
 */
static uint64_t seed_together(int from, int edge, long number)
{
	return (uint64_t)number * 1024 + (uint64_t)(from * 16 + edge);
}

static void together(bool dawdles)
{
	enum { EACH = 5 };
	static const size_t most[EACH] = {8, 300, 2000, MOST, 70};
	int next = (me + 1) % npes, previous = (me + npes - 1) % npes;
	shmemx_edge_t edges[2 * EACH];
	shmemx_exchange_t x;

	for (int e = 0; e < EACH; e++) {
		edges[2 * e] = (shmemx_edge_t){next, 2 * e + 1, most[e], most[e], 0};
		edges[2 * e + 1] = (shmemx_edge_t){previous, 2 * e, most[e], most[e], 0};
	}
	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2 * EACH, &x), 0);
	for (long k = 1; k <= rounds; k++) {
		size_t bytes = noise((uint64_t)k) % 4 ? noise((uint64_t)k) % 3000 : MOST;

		for (int e = 0; e < 2 * EACH; e++)
			fill_noise(shmemx_exchange_buffer(x, e), most[e / 2] < bytes ? most[e / 2] : bytes,
				   seed_together(me, e, k));
		shmemx_exchange_start(x, SHMEMX_ALL_EDGES, bytes);
		if (dawdles)
			dawdle((uint64_t)(k * npes + me));
		for (int e = 0; e < 2 * EACH; e++) {
			static unsigned char expected[MOST + 8];
			size_t came_bytes, wanted = most[e / 2] < bytes ? most[e / 2] : bytes;
			const void *came = shmemx_exchange_wait(x, e, &came_bytes);

			NOTE("message %ld of edge %d", k, e);
			CHECK_EQUAL(came_bytes, wanted);
			fill_noise(expected, wanted, seed_together(e % 2 ? previous : next, e ^ 1, k));
			CHECK_BYTES(came, expected, wanted);
		}
		shmemx_exchange_release(x, SHMEMX_ALL_EDGES);
	}
	shmemx_exchange_destroy(x);
}

int main(void)
{
	shmemx_exchange_t left;

	begin();
	rounds = 4000 / ease() + 10;
	if (getenv("TEST_ROUNDS"))
		rounds = atol(getenv("TEST_ROUNDS"));
	ring(300, 0, false);
	ring(MOST, 0, true);
	ahead();
	shift(false);
	shift(true);
	one_direction();
	bursts();
	all_at_once();
	rounds = rounds / 4 + 10;
	together(false);
	together(true);
	ring(MOST, SHMEMX_EDGE_EACH_ITERATION | SHMEMX_EDGE_ONE_SEND_BUFFER, true);
	from_memory();
	left = make_ring(64, 0); /* not destroyed, and with messages nobody waited for */
	send(left, 0, 1, 64);
	return end();
}
