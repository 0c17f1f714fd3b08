/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detours of large messages between neighbours: each leads from its sender to its receiver over
 * cables that are there; no link carries two parts, nor a part and much else; each byte of a
 * message goes once; the parts end when the model says; and there are as many as there are ways, or
 * none where they do not pay.
 */
#include "comms/torus/detours.h"

#include <stdlib.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define MIB (1UL << 20)
#define FACE (4 * MIB)

static const struct torus_costs slow = {.forward = 1e-3, .handle = 10e-6, .rate = 2.5e6};
static char text[TORUS_TEXT];

static double *loads(const struct torus_shape *shape, const struct torus_detour_task *task)
{
	double *load = calloc((size_t)shape->places * TORUS_DIRECTIONS, sizeof *load);

	for (int i = 0; i < task->n; i++)
		for (int at = task->messages[i].from, direction;
		     (direction = torus_next(shape, at, task->messages[i].to)) >= 0;
		     at = torus_neighbour(shape, at, direction))
			load[at * TORUS_DIRECTIONS + direction] += (double)task->messages[i].bytes;
	return load;
}

/* From its sender to its receiver, on links of its own. */
static void check_way(const struct torus_shape *shape, const struct torus_detour_task *task,
		      const struct torus_detour *detour, double *load, double most)
{
	int at = task->messages[detour->message].from;

	for (int i = 0; i < detour->hops; i++) {
		double *here = &load[at * TORUS_DIRECTIONS + detour->direction[i]];

		EXPECT(torus_sites_share(task->sites, at, detour->direction[i]) == 1, "%s: hop %d over a dead cable",
		       text, i);
		EXPECT(*here <= most / 16, "%s: place %d, direction %d carries %g already", text, at,
		       detour->direction[i], *here);
		*here = 1e18;
		at = torus_neighbour(shape, at, detour->direction[i]);
		if (at < 0)
			break;
	}
	EXPECT(at == task->messages[detour->message].to, "%s: a detour leads to %d", text, at);
}

static void check_found(const struct torus_shape *shape, const struct torus_detour_task *task,
			const struct torus_detours *found)
{
	double *load = loads(shape, task), most = 0, *after = loads(shape, task);

	for (int l = 0; l < shape->places * TORUS_DIRECTIONS; l++)
		most = load[l] > most ? load[l] : most;
	for (int i = 0; i < found->count; i++) {
		const struct torus_detour *detour = &found->detour[i], *next = detour + 1;
		const struct torus_message *m = &task->messages[detour->message];
		bool last = i + 1 == found->count || next->message != detour->message;
		double segments = torus_detour_segments(detour), segment = (double)detour->segment;

		check_way(shape, task, detour, load, most);
		EXPECT(m->bytes >= task->least, "%s: a message of %zu bytes", text, m->bytes);
		EXPECT(detour->bytes > 0 && detour->at + detour->bytes == (last ? m->bytes : next->at),
		       "%s: part %zu + %zu of %zu", text, detour->at, detour->bytes, m->bytes);
		/*
		 * Each segment leaves a node when it has come there, and the one before it has
		 * left.
		 */
		EXPECT((segments + detour->hops - 1) * segment / task->costs->rate +
				       detour->hops * task->costs->forward <=
			       found->seconds + (detour->hops + 1) * segment / task->costs->rate,
		       "%s: the part of %d hops ends later than %g", text, detour->hops, found->seconds);
		after[m->from * TORUS_DIRECTIONS + torus_next(shape, m->from, m->to)] -= (double)detour->bytes;
	}
	for (int l = 0; l < shape->places * TORUS_DIRECTIONS && found->count > 0; l++)
		EXPECT(after[l] / task->costs->rate <= found->seconds, "%s: a link carries %g bytes in %g s", text,
		       after[l], found->seconds);
	free(load);
	free(after);
}

/* The number of detours, and the time without them as a multiple of that with them. */
static int try_messages(const char *name, const struct torus_message *messages, int n, bool forced, double *gain)
{
	struct torus_shape shape;
	struct torus_sites sites;
	struct torus_detours found;
	struct torus_detour_task task = {&sites, &slow, messages, n, MIB / 2, forced, true};
	int count;

	tori_read(&shape, name);
	torus_shape_text(&shape, text);
	EXPECT(torus_sites_all(&sites, &shape) && torus_detours_find(&found, &task), "%s: no memory", name);
	check_found(&shape, &task, &found);
	count = found.count;
	*gain = found.direct / found.seconds;
	torus_detours_free(&found);
	torus_sites_free(&sites);
	return count;
}

static void lone_faces(void)
{
	static const struct {
		const char *shape;
		int to, detours;
		double gain;
	} of[] = {
		{"3x3", 3, 3, 3.5},   /* x- x-, y+ x+ y-, y- x+ y+ */
		{"3x3x3", 9, 5, 5.2}, /* and two by z */
		{"4x4", 4, 3, 3.5},   /* x- x- x- */
		{"5x5", 5, 2, 2.7},   /* x the other way round has four hops */
		{"2x2x2", 4, 2, 2.7}, {"2x3x4", 12, 4, 4.3}, {"8", 1, 0, 1},	  {"2d", 1, 1, 1.9},
		{"2dx2d", 2, 3, 3.5}, {"2mx2m", 1, 1, 1.8},  {"3mx3", 3, 2, 2.7},
	};

	for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
		struct torus_message face = {0, of[i].to, FACE};
		double gain;
		int detours = try_messages(of[i].shape, &face, 1, false, &gain);

		EXPECT(detours == of[i].detours, "%s: %d detours, not %d", of[i].shape, detours, of[i].detours);
		EXPECT(gain >= of[i].gain && gain <= of[i].detours + 1.001, "%s: a gain of %.2f", of[i].shape, gain);
	}
}

/* Both neighbours along a pair with two cables are one node, and each message gets a cable. */
static void both_faces_of_a_pair(void)
{
	struct torus_message faces[4] = {{0, 1, FACE}, {0, 1, FACE}, {1, 0, FACE}, {1, 0, FACE}};
	double gain;

	EXPECT(try_messages("2d", faces, 4, false, &gain) == 2, "2d: not one of two messages has the second cable");
	EXPECT(gain > 1.9, "2d: a gain of %.2f", gain);
	EXPECT(try_messages("2m", faces, 4, true, &gain) == 0, "2m: a detour over the only cable");
}

/* Everybody sends in so many directions. */
static int everybody(const char *name, int directions, bool forced)
{
	struct torus_message *messages;
	struct torus_shape shape;
	int n = 0, detours;
	double gain;

	tori_read(&shape, name);
	messages = calloc((size_t)(shape.places * directions), sizeof *messages);
	for (int p = 0; p < shape.places; p++)
		for (int d = 0; d < directions; d++)
			messages[n++] = (struct torus_message){p, torus_neighbour(&shape, p, d), FACE};
	detours = try_messages(name, messages, n, forced, &gain);
	EXPECT(forced || detours == 0 || gain > 1.17, "%s, %d directions: a gain of %.2f", name, directions, gain);
	free(messages);
	return detours;
}

/* Short messages have none, nor have any where nodes are no faster than a link. */
static void small_and_fast(void)
{
	struct torus_message small = {0, 3, MIB / 4}, face = {0, 3, FACE};
	const struct torus_costs fast = {.forward = 20e-6, .handle = 10e-6, .rate = 5e9};
	struct torus_shape shape;
	struct torus_sites sites;
	struct torus_detours found;
	struct torus_detour_task task = {&sites, &fast, &face, 1, MIB / 2, false, true};
	double gain;

	EXPECT(try_messages("3x3", &small, 1, true, &gain) == 0, "3x3: a detour of a small message");
	tori_read(&shape, "3x3");
	EXPECT(torus_sites_all(&sites, &shape) && torus_detours_find(&found, &task), "no memory");
	EXPECT(found.count == 0, "links as fast as the node: %d detours", found.count);
	torus_detours_free(&found);
	torus_sites_free(&sites);
}

static void any_shape(void)
{
	for (int round = 0; round < 3000; round++) {
		struct torus_shape shape;
		struct torus_sites sites;
		struct torus_detours found;
		struct torus_message messages[24];
		int n = 1 + tori_random(24);
		struct torus_detour_task task = {&sites, &slow, messages, n, MIB / 2, tori_random(2), true};

		tori_shape(&shape, 200);
		torus_shape_text(&shape, text);
		for (int i = 0; i < n; i++) {
			int from = tori_random(shape.places), to = tori_random(shape.places);
			int next = torus_neighbour(&shape, from, tori_random(2 * shape.axes));

			messages[i] = (struct torus_message){from, next >= 0 && tori_random(8) ? next : to,
							     (size_t)tori_random(8 << 20) >> tori_random(8)};
		}
		EXPECT(torus_sites_all(&sites, &shape) && torus_detours_find(&found, &task), "%s: no memory", text);
		check_found(&shape, &task, &found);
		torus_detours_free(&found);
		torus_sites_free(&sites);
	}
}

int main(void)
{
	lone_faces();
	both_faces_of_a_pair();
	EXPECT(everybody("3x3", 4, false) == 0, "3x3: a detour where all links are full");
	EXPECT(everybody("4x4", 2, false) == 0, "4x4: a detour where both directions are full");
	EXPECT(everybody("4x4", 1, false) == 0, "4x4: detours of some, and the others take as long as before");
	EXPECT(everybody("4x4", 4, true) == 0, "4x4, forced: a detour where all links are full");
	small_and_fast();
	any_shape();
	return unit_failures > 0;
}
