/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour exchanges of large faces on hosts cabled as a torus: faces PATTERN SIZES [REPEATS],
 * with one (PE 0 sends to its upper neighbour along the first axis), pair (every PE to both
 * neighbours along that axis), shift (every PE upwards along that axis), all (every PE to all
 * neighbours) or mixed (any PE to any neighbour, or none, messages of any length, no barriers). All
 * data is checked. Prints the median time from the first PE that begins to the last that has its
 * messages. Run by tests/cluster/torus-bench and tests/cluster/faces.bats.
 */
#include <shmemx.h>

#include "torus_times.h"

#define AXES SHMEMX_AXES
#define EDGES (2 * AXES)

static int me, axes, sizes[AXES], rings[AXES];
static double *spread;

static double greatest(double mine)
{
	spread[0] = mine;
	shmem_double_max_reduce(SHMEM_TEAM_WORLD, &spread[1], &spread[0], 1);
	return spread[1];
}

static void fail(const char *what, int edge, long k, size_t i)
{
	fprintf(stderr, "faces: PE %d, edge %d, message %ld: %s at %zu\n", me, edge, k, what, i);
	shmem_global_exit(1);
}

/* --- Who sends what to whom --- */

/* The PE at these coordinates that is the i-th of its node. */
static int pe_at(const int *coordinates, int i)
{
	for (int pe = 0; pe < shmem_n_pes(); pe++) {
		int its[AXES];

		shmemx_torus_coordinates(pe, its);
		if (!memcmp(its, coordinates, (size_t)axes * sizeof *its) && i-- == 0)
			return pe;
	}
	return -1;
}

/* Which of the PEs of its node is this? */
static int local_number(int pe)
{
	int number = 0;

	for (int other = 0; other < pe; other++)
		number += shmemx_torus_hops(other, pe) == 0;
	return number;
}

static int neighbour(int pe, int edge)
{
	int at[AXES], axis = edge / 2;

	shmemx_torus_coordinates(pe, at);
	at[axis] += edge % 2 ? -1 : 1;
	if (sizes[axis] == 1 || (!rings[axis] && (at[axis] < 0 || at[axis] >= sizes[axis])))
		return -1;
	at[axis] = (at[axis] + sizes[axis]) % sizes[axis];
	return pe_at(at, local_number(pe));
}

static unsigned mixed(unsigned a, unsigned b, unsigned c)
{
	unsigned x = a * 2654435761u ^ b * 40503u ^ c * 2246822519u;

	x ^= x >> 15;
	x *= 2246822519u;
	return x ^ x >> 13;
}

static size_t sent_bytes(const char *pattern, int pe, int edge, size_t bytes)
{
	unsigned any = mixed((unsigned)pe, (unsigned)edge, 1);

	if (!strcmp(pattern, "one"))
		return pe == 0 && edge == 0 ? bytes : 0;
	if (!strcmp(pattern, "pair"))
		return edge < 2 ? bytes : 0;
	if (!strcmp(pattern, "shift"))
		return edge == 0 ? bytes : 0;
	if (!strcmp(pattern, "all"))
		return bytes;
	return any % 4 == 0 ? bytes : any % 4 == 1 ? bytes / 100 : 0;
}

static int make_edges(const char *pattern, shmemx_edge_t *edges, size_t bytes)
{
	for (int e = 0; e < 2 * axes; e++) {
		int pe = neighbour(me, e);

		edges[e] = pe < 0 ? (shmemx_edge_t){me, e, 0, 0, 0}
				  : (shmemx_edge_t){pe, e ^ 1, sent_bytes(pattern, me, e, bytes),
						    sent_bytes(pattern, pe, e ^ 1, bytes), 0};
	}
	return 2 * axes;
}

/* --- Iterations --- */

/* Most are of full length. */
static size_t length(const char *pattern, int pe, int edge, long k, size_t most)
{
	unsigned any = mixed((unsigned)pe, (unsigned)edge, (unsigned)k + 2);

	return strcmp(pattern, "mixed") || any % 3 ? most : any % (most + 1);
}

static int seed(int pe, int edge, long k)
{
	return pe * 13 + edge * 5 + (int)k;
}

static void fill_face(unsigned char *face, size_t bytes, int e, long k)
{
	for (size_t i = 0; i < bytes; i++)
		face[i] = byte_at(i, seed(me, e, k));
}

/* By either routine. */
static void send_any_face(shmemx_exchange_t x, const shmemx_edge_t *edge, int e, long k)
{
	size_t bytes = length("mixed", me, e, k, edge->send_bytes);
	unsigned char *own;

	if (k % 5) {
		fill_face(shmemx_exchange_buffer(x, e), bytes, e, k);
		shmemx_exchange_start(x, e, bytes);
		return;
	}
	own = malloc(bytes + 1);
	fill_face(own, bytes, e, k);
	shmemx_exchange_send(x, e, own, bytes);
	shmemx_exchange_sent(x, e);
	free(own);
}

static void check_face(shmemx_exchange_t x, const char *pattern, const shmemx_edge_t *edge, int e, long k)
{
	size_t bytes;
	const unsigned char *came = shmemx_exchange_received(x, e, &bytes);

	if (bytes != length(pattern, edge->pe, e ^ 1, k, edge->receive_bytes))
		fail("a wrong length", e, k, bytes);
	for (size_t i = 0; i < bytes; i++)
		if (came[i] != byte_at(i, seed(edge->pe, e ^ 1, k)))
			fail("a wrong byte", e, k, i);
}

/* In `mixed`, PEs may be an iteration apart; else the clock runs from a barrier on. */
static double iterate(shmemx_exchange_t x, const char *pattern, const shmemx_edge_t *edges, int n, long k)
{
	int timed = strcmp(pattern, "mixed") != 0;
	double begun, took;

	for (int e = 0; e < n && timed; e++)
		if (edges[e].send_bytes > 0)
			fill_face(shmemx_exchange_buffer(x, e), edges[e].send_bytes, e, k);
	if (timed)
		shmem_barrier_all();
	begun = seconds_now();
	for (int e = 0; e < n; e++) {
		if (edges[e].send_bytes > 0 && timed)
			shmemx_exchange_start(x, e, edges[e].send_bytes);
		else if (edges[e].send_bytes > 0)
			send_any_face(x, &edges[e], e, k);
	}
	for (int e = 0; e < n; e++)
		if (edges[e].receive_bytes > 0)
			shmemx_exchange_wait(x, e, NULL);
	took = timed ? greatest(seconds_now() - begun) : 0;
	for (int e = 0; e < n; e++)
		if (edges[e].receive_bytes > 0) {
			check_face(x, pattern, &edges[e], e, k);
			shmemx_exchange_release(x, e);
		}
	return took;
}

static void measure(const char *pattern, size_t bytes, long repeats)
{
	shmemx_edge_t edges[EDGES];
	int n = make_edges(pattern, edges, bytes);
	double *took = calloc((size_t)repeats, sizeof *took), again;
	char name[64];
	shmemx_exchange_t x;
	struct cables before;

	if (!took || shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, n, &x))
		shmem_global_exit(1);
	iterate(x, pattern, edges, n, 1); /* connections come up */
	shmem_barrier_all();
	read_cables(&before);
	again = sent_again();
	for (long k = 0; k < repeats; k++)
		took[k] = iterate(x, pattern, edges, n, k + 2);
	again = greatest(sent_again() - again);
	qsort(took, (size_t)repeats, sizeof *took, compare_seconds);
	snprintf(name, sizeof name, "exchange%s%s", strcmp(pattern, "one") ? "-" : "",
		 strcmp(pattern, "one") ? pattern : "");
	before.sent[0] = greatest(busiest_since(&before)) / (double)repeats;
	if (me == 0)
		print_time(name, bytes, took[repeats / 2], before.sent[0], again);
	shmemx_exchange_destroy(x);
	free(took);
}

int main(int argc, char **argv)
{
	const char *list = argc > 2 ? argv[2] : "";
	long repeats = argc > 3 ? atol(argv[3]) : 3;
	size_t bytes;

	shmem_init();
	me = shmem_my_pe();
	axes = shmemx_torus_shape(sizes, rings);
	spread = shmem_malloc(2 * sizeof *spread);
	while (argc > 1 && (bytes = next_size(&list)) > 0)
		measure(argv[1], bytes, repeats < 1 ? 1 : repeats);
	shmem_finalize();
	return 0;
}
