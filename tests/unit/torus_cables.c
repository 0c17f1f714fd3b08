/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comms/torus/cable_routes.c: shortest routes over cables; and the rule of net/cables that relayed
 * frames never wait for each other in a circle. For the rule, all states of a ring of six hosts are
 * visited, in which each host sends two messages to the host opposite and every relay has one
 * buffer per class. Without classes the same ring must get stuck.
 */
#include "comms/torus/cable_routes.h"

#include <stdint.h>
#include <stdlib.h>

#include "comms/torus/shape.h"
#include "tests/lib/unit.h"

enum { MOST_NODES = 64, MOST_CABLES = 192 };

static struct torus_cables cables;
static struct torus_cable_between between[MOST_CABLES];
static int count, distance[MOST_NODES], queue[MOST_NODES];

static void add(int one, int other, int rank, int its_rank)
{
	between[count++] = (struct torus_cable_between){{one, other}, {rank, its_rank}};
}

static struct torus_shape make_torus(const char *text)
{
	struct torus_shape shape;
	char problem[TORUS_PROBLEM];

	count = 0;
	EXPECT(torus_shape_read(&shape, text, problem), "%s: %s", text, problem);
	for (int n = 0; n < shape.places; n++)
		for (int up = 0; up < 2 * shape.axes; up += 2)
			if (torus_neighbour(&shape, n, up) >= 0)
				add(n, torus_neighbour(&shape, n, up), up, up + 1);
	EXPECT(torus_cables_make(&cables, shape.places, between, count), "no memory");
	return shape;
}

/* --- Routes --- */

/* In a whole torus they are those of dimension order. */
static void check_torus(const char *text)
{
	struct torus_shape shape = make_torus(text);

	for (int to = 0; to < shape.places; to++) {
		torus_cables_distances(&cables, to, distance, queue);
		for (int at = 0; at < shape.places; at++) {
			const struct torus_cable_end *next = torus_cables_next(&cables, distance, at, 0);

			EXPECT(distance[at] == torus_hops(&shape, at, to), "%s: %d to %d: %d", text, at, to,
			       distance[at]);
			EXPECT((at == to) == !next, "%s: %d to %d", text, at, to);
			EXPECT(!next || next->other == torus_neighbour(&shape, at, torus_next(&shape, at, to)),
			       "%s: %d to %d leaves for %d", text, at, to, next ? next->other : -1);
		}
	}
	torus_cables_free(&cables);
}

static void check_parts(void)
{
	/* A chain of three, and a node without cables; two cables between the first two. */
	count = 0;
	add(0, 1, 0, 1);
	add(1, 2, 0, 1);
	add(1, 0, 9, 9);
	EXPECT(torus_cables_make(&cables, 4, between, count), "no memory");
	EXPECT(torus_cables_distances(&cables, 2, distance, queue) == 2, "longest");
	EXPECT(distance[0] == 2 && distance[1] == 1 && distance[3] == -1, "chain");
	EXPECT(torus_cables_next(&cables, distance, 0, 0)->cable == 0, "the first of two cables");
	EXPECT(torus_cables_next(&cables, distance, 0, 1)->cable == 2, "the second of two cables");
	EXPECT(!torus_cables_next(&cables, distance, 0, 2), "there is no third");
	EXPECT(!torus_cables_next(&cables, distance, 1, 1), "one cable only");
	EXPECT(!torus_cables_next(&cables, distance, 3, 0), "no cables");
	torus_cables_free(&cables);
}

/* --- Waiting in a circle --- */

enum { HOSTS = 6, EACH = 2, MESSAGES = HOSTS * EACH, FAR = 3 };

/* How many cables each message has passed, two bits each. */
static int passed(uint32_t state, int message)
{
	return (int)(state >> 2 * message & 3);
}

static int node_of(int message, int hops)
{
	int to = (message / EACH + FAR) % HOSTS, at = message / EACH;

	torus_cables_distances(&cables, to, distance, queue);
	while (hops-- > 0)
		at = torus_cables_next(&cables, distance, at, 0)->other;
	return at;
}

static int node_after[MESSAGES][FAR + 1];

/* May the message pass its next cable? It needs a buffer, unless it has arrived then. */
static bool may_pass(uint32_t state, int message, bool classes)
{
	int hops = passed(state, message) + 1;

	if (hops > FAR)
		return false;
	for (int other = 0; hops < FAR && other < MESSAGES; other++) {
		int its = passed(state, other);

		if (its > 0 && its < FAR && node_after[other][its] == node_after[message][hops] &&
		    (!classes || its == hops))
			return false;
	}
	return true;
}

/* Visits all states. Returns how many of them are stuck before all has arrived. */
static long stuck_states(bool classes)
{
	const uint32_t states = 1u << 2 * MESSAGES;
	uint8_t *seen = calloc(states / 8, 1);
	uint32_t *todo = malloc(states * sizeof *todo), left = 1;
	long stuck = 0;

	EXPECT(seen && todo, "no memory");
	todo[0] = 0;
	seen[0] = 1;
	while (left > 0) {
		uint32_t state = todo[--left];
		bool moves = false;

		for (int m = 0; m < MESSAGES; m++) {
			uint32_t next = state + (1u << 2 * m);

			if (!may_pass(state, m, classes))
				continue;
			moves = true;
			if (seen[next / 8] >> next % 8 & 1)
				continue;
			seen[next / 8] |= (uint8_t)(1 << next % 8);
			todo[left++] = next;
		}
		stuck += !moves && state != states - 1;
	}
	EXPECT(seen[states / 8 - 1] >> 7, "the end is never reached");
	free(seen);
	free(todo);
	return stuck;
}

static void check_circle(void)
{
	make_torus("6");
	for (int m = 0; m < MESSAGES; m++)
		for (int hops = 0; hops <= FAR; hops++)
			node_after[m][hops] = node_of(m, hops);
	EXPECT(stuck_states(true) == 0, "with classes");
	EXPECT(stuck_states(false) > 0, "without classes nothing gets stuck, so this shows nothing");
	torus_cables_free(&cables);
}

int main(void)
{
	check_torus("3");
	check_torus("4");
	check_torus("6");
	check_torus("2x3");
	check_torus("3x3x3");
	check_torus("4mx3");
	check_torus("2dx2");
	check_parts();
	check_circle();
	return unit_failures > 0;
}
