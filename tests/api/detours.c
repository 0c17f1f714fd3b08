/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=4,6,9 ucx-shm=4 mixed=8 mixed3=9 paths=ucx-tcp,ucx-shm,mixed,mixed3,hosts time=120 */
/*
 * Neighbour exchanges whose large messages take detours wherever there is one: all shapes of as
 * many nodes as there are, some neighbours absent, messages of full length and shorter ones between
 * them, either routine, one send buffer or two, PEs that dawdle and PEs that run ahead, several
 * exchanges at once, and messages that nobody has waited for at the end.
 */
#include <shmemx.h>

#include "tests/lib/boxes.h"

#define MOST 200000
#define EDGES (2 * SHMEMX_AXES)
#define ROUNDS 8

static int axes, sizes[SHMEMX_AXES], rings[SHMEMX_AXES];
static unsigned char *own;

static int neighbour(int pe, int edge)
{
	int at[SHMEMX_AXES], its[SHMEMX_AXES], number = 0, axis = edge / 2;

	shmemx_torus_coordinates(pe, at);
	for (int other = 0; other < pe; other++)
		number += shmemx_torus_hops(other, pe) == 0;
	at[axis] += edge % 2 ? -1 : 1;
	if (sizes[axis] == 1 || (!rings[axis] && (at[axis] < 0 || at[axis] >= sizes[axis])))
		return -1;
	at[axis] = (at[axis] + sizes[axis]) % sizes[axis];
	for (int other = 0; other < npes; other++) {
		shmemx_torus_coordinates(other, its);
		if (!memcmp(its, at, (size_t)axes * sizeof *its) && number-- == 0)
			return other;
	}
	return -1;
}

static uint64_t seed(uint64_t a, uint64_t b, uint64_t c)
{
	return a * 1000003 + b * 1009 + c;
}

/* Large messages on few edges, for detours need links that are idle. */
static size_t most_bytes(int pe, int edge, uint64_t life)
{
	uint64_t any = noise(seed((uint64_t)pe, (uint64_t)edge, life));

	return any % 4 == 0 ? MOST - any % 1000 : any % 4 == 1 ? any % 3000 : 0;
}

static size_t length(int pe, int edge, uint64_t k, size_t most)
{
	uint64_t any = noise(seed((uint64_t)pe, (uint64_t)edge, k) + 77);

	return any % 3 ? most : any % (most + 1);
}

static int make_edges(shmemx_edge_t *edges, uint64_t life)
{
	for (int e = 0; e < 2 * axes; e++) {
		int pe = neighbour(me, e);

		edges[e] = pe < 0 ? (shmemx_edge_t){me, e, 0, 0, 0}
				  : (shmemx_edge_t){pe, e ^ 1, most_bytes(me, e, life), most_bytes(pe, e ^ 1, life),
						    life % 3 ? 0 : SHMEMX_EDGE_ONE_SEND_BUFFER};
	}
	return 2 * axes;
}

static void send_all(shmemx_exchange_t x, const shmemx_edge_t *edges, int n, uint64_t k)
{
	for (int e = 0; e < n; e++) {
		size_t bytes = length(me, e, k, edges[e].send_bytes);

		if (edges[e].send_bytes == 0)
			continue;
		if (noise(k + (uint64_t)me) % 4) {
			fill_noise(shmemx_exchange_buffer(x, e), bytes, seed((uint64_t)me, (uint64_t)e, k));
			shmemx_exchange_start(x, e, bytes);
			continue;
		}
		fill_noise(own, bytes, seed((uint64_t)me, (uint64_t)e, k));
		shmemx_exchange_send(x, e, own, bytes);
		shmemx_exchange_sent(x, e);
	}
}

static void receive_all(shmemx_exchange_t x, const shmemx_edge_t *edges, int n, uint64_t k)
{
	static unsigned char expected[MOST + 8];

	for (int e = 0; e < n; e++) {
		size_t bytes = 0;
		const void *came;

		if (edges[e].receive_bytes == 0)
			continue;
		if (noise(k) % 2)
			while (!shmemx_exchange_test(x, e))
				;
		came = shmemx_exchange_wait(x, e, &bytes);
		NOTE("%s, message %d of edge %d of PE %d", getenv("SHMEM_TORUS"), (int)k, e ^ 1, edges[e].pe);
		CHECK_EQUAL(bytes, length(edges[e].pe, e ^ 1, k, edges[e].receive_bytes));
		fill_noise(expected, bytes, seed((uint64_t)edges[e].pe, (uint64_t)(e ^ 1), k));
		CHECK_BYTES(came, expected, bytes);
		shmemx_exchange_release(x, e);
	}
}

static void exchange(uint64_t life)
{
	shmemx_edge_t edges[2][EDGES];
	shmemx_exchange_t x[2];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		n = make_edges(edges[i], life + (uint64_t)i);
		CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges[i], n, &x[i]), 0);
	}
	for (uint64_t k = 1; k <= ROUNDS; k++) {
		if (noise(seed((uint64_t)me, life, k)) % 8 == 0)
			usleep(3000);
		for (int i = 0; i < 2; i++)
			send_all(x[i], edges[i], n, k);
		for (int i = 0; i < 2; i++)
			receive_all(x[i], edges[i], n, k);
	}
	if (life % 2)
		send_all(x[1], edges[1], n, ROUNDS + 1);
	for (int i = 1; i >= 0; i--)
		shmemx_exchange_destroy(x[i]);
}

static int live(const char *shape, uint64_t life)
{
	int nodes;

	if (shape)
		setenv("SHMEM_TORUS", shape, 1);
	begin();
	nodes = count_nodes();
	axes = shmemx_torus_shape(sizes, rings);
	for (uint64_t i = 0; shape && i < 3; i++)
		exchange(life * 3 + i);
	shmem_finalize();
	return nodes;
}

int main(void)
{
	char shape[64];
	int nodes;

	setenv("SHMEM_SYMMETRIC_SIZE", "64m", 1);
	setenv("SHMEM_EXCHANGE_DETOURS", "yes", 1);
	own = malloc(MOST);
	nodes = live(NULL, 0);
	for (int life = 0; write_shape(shape, nodes, life); life++)
		live(shape, (uint64_t)life);
	free(own);
	return 0;
}
