/* SPDX-License-Identifier: BSD-3-Clause */
#include "detours.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64
#define IDLE 16		   /* a link that carries less than this fraction of the busiest is idle */
#define SEGMENTS 32	   /* of a part, approximately: enough to hide the time of the other hops */
#define SEGMENT_LEAST 4096 /* bytes */
#define SEGMENT_MOST 32768 /* one message of a network */
/* Part of the time without detours: a smaller gain is not worth the other nodes' work. */
#define GAIN 0.85
/* Bytes a second that a node exchanges with its network, over all links together. */
#define COPIES 2e9

struct face {
	int link, from, to;
	double load; /* bytes on its link, of all messages */
	int n;
	struct torus_detour detour[TORUS_DETOURS];
};

struct search {
	const struct torus_detour_task *task;
	const struct torus_shape *shape;
	int directions;
	double *load; /* by link: place times directions plus direction */
	bool *taken;  /* by a detour */
	int *face_of; /* by link, -1: none */
	double *busy; /* by place: time for handling segments */
	struct face *face;
	int faces;
	double idle; /* bytes */
	double rest; /* load of the busiest link without a face */
};

int torus_detour_place(const struct torus_shape *shape, const struct torus_detour *detour, int from, int hops)
{
	for (int i = 0; i < hops; i++)
		from = torus_neighbour(shape, from, detour->direction[i]);
	return from;
}

/* --- The exchange without detours --- */

static bool is_face(const struct search *s, const struct torus_message *m)
{
	int direction = torus_next(s->shape, m->from, m->to);

	return m->bytes >= s->task->least && direction >= 0 && torus_neighbour(s->shape, m->from, direction) == m->to &&
	       torus_sites_share(s->task->sites, m->from, direction) == 1;
}

static void load_route(struct search *s, const struct torus_message *m)
{
	int at = m->from, direction;

	while ((direction = torus_next(s->shape, at, m->to)) >= 0) {
		s->load[at * s->directions + direction] += (double)m->bytes;
		at = torus_neighbour(s->shape, at, direction);
	}
}

static int link_of(const struct search *s, const struct torus_message *m)
{
	return m->from * s->directions + torus_next(s->shape, m->from, m->to);
}

/* Returns false if there are too many. */
static bool note_face(struct search *s, const struct torus_message *m)
{
	int link = link_of(s, m);

	if (s->face_of[link] >= 0)
		return true;
	if (s->faces == TORUS_DETOUR_FACES)
		return false;
	s->face_of[link] = s->faces;
	s->face[s->faces++] = (struct face){.link = link, .from = m->from, .to = m->to};
	return true;
}

static bool load_links(struct search *s)
{
	const struct torus_detour_task *task = s->task;
	double most = 0;
	bool few = true;

	for (int i = 0; i < task->n; i++)
		if (task->messages[i].from != task->messages[i].to)
			load_route(s, &task->messages[i]);
	for (int i = 0; i < task->n && few; i++)
		if (is_face(s, &task->messages[i]))
			few = note_face(s, &task->messages[i]);
	for (int link = 0; link < s->shape->places * s->directions; link++) {
		most = s->load[link] > most ? s->load[link] : most;
		if (s->face_of[link] < 0 && s->load[link] > s->rest)
			s->rest = s->load[link];
	}
	s->idle = most / IDLE;
	for (int f = 0; f < s->faces; f++)
		s->face[f].load = s->load[s->face[f].link];
	return few && s->faces > 0;
}

/* --- Search --- */

static bool is_idle(const struct search *s, int place, int direction)
{
	int link = place * s->directions + direction;

	if (!s->task->cables && torus_is_second_cable(s->shape, direction))
		return false;
	return torus_sites_share(s->task->sites, place, direction) == 1 && !s->taken[link] && s->load[link] <= s->idle;
}

/*
 * Depth-first search of a path of this many more hops from a place to the goal. It never returns to
 * its start.
 */
static bool find_way(const struct search *s, struct torus_detour *way, int at, const struct face *face, int hops)
{
	for (int direction = 0; direction < s->directions; direction++) {
		int next;

		if (!is_idle(s, at, direction))
			continue;
		next = torus_neighbour(s->shape, at, direction);
		way->direction[way->hops - hops] = (signed char)direction;
		if (hops == 1 ? next == face->to
			      : next != face->from && next != face->to && find_way(s, way, next, face, hops - 1))
			return true;
	}
	return false;
}

static void mark_way(struct search *s, const struct torus_detour *way, int from, bool taken)
{
	for (int i = 0; i < way->hops; i++)
		s->taken[torus_detour_place(s->shape, way, from, i) * s->directions + way->direction[i]] = taken;
}

static bool add_detour(struct search *s, struct face *face)
{
	struct torus_detour *way = &face->detour[face->n];

	if (face->n == TORUS_DETOURS)
		return false;
	for (way->hops = 1; way->hops <= TORUS_DETOUR_HOPS; way->hops++)
		if (find_way(s, way, face->from, face, way->hops)) {
			mark_way(s, way, face->from, true);
			face->n++;
			return true;
		}
	return false;
}

/*
 * The slowest face gets the next detour, until none is left for it. Detours of other faces would
 * then gain nothing.
 */
static void add_detours(struct search *s)
{
	struct face *slowest;

	do {
		slowest = &s->face[0];
		for (int f = 1; f < s->faces; f++)
			if (s->face[f].load / (s->face[f].n + 1) > slowest->load / (slowest->n + 1))
				slowest = &s->face[f];
	} while (slowest->load / (slowest->n + 1) > s->rest && add_detour(s, slowest));
}

/* --- Parts --- */

static size_t choose_segment(double part)
{
	size_t segment = SEGMENT_LEAST;

	while (segment < SEGMENT_MOST && (double)(2 * segment * SEGMENTS) <= part)
		segment *= 2;
	return segment;
}

/* Bytes that a face's link carries while the first segment of a detour passes the other hops. */
static double head_start(const struct search *s, const struct torus_detour *way)
{
	const struct torus_costs *costs = s->task->costs;

	return (way->hops - 1) * ((double)way->segment + costs->forward * costs->rate);
}

/*
 * Returns the bytes that go directly so that all parts end at the same time. Drops detours that are
 * too long for their part.
 */
static double share_face(struct search *s, struct face *face)
{
	size_t segment = choose_segment(face->load / (face->n + 1));

	for (;;) {
		double direct = face->load;
		int longest = 0;

		for (int i = 0; i < face->n; i++) {
			face->detour[i].segment = segment;
			direct += head_start(s, &face->detour[i]);
			longest = face->detour[i].hops > face->detour[longest].hops ? i : longest;
		}
		direct /= face->n + 1;
		if (face->n == 0 || direct - head_start(s, &face->detour[longest]) >= (double)(2 * segment))
			return direct;
		mark_way(s, &face->detour[longest], face->from, false);
		memmove(&face->detour[longest], &face->detour[longest + 1],
			(size_t)(--face->n - longest) * sizeof face->detour[0]);
	}
}

/* The message of a face with the most bytes left to go directly. */
static int largest_message(const struct search *s, const struct face *face, const size_t *left)
{
	int largest = -1;

	for (int i = 0; i < s->task->n; i++)
		if (is_face(s, &s->task->messages[i]) && link_of(s, &s->task->messages[i]) == face->link &&
		    (largest < 0 || left[i] > left[largest]))
			largest = i;
	return largest;
}

static void handle_part(struct search *s, const struct face *face, const struct torus_detour *way)
{
	double each = torus_detour_segments(way) * s->task->costs->handle;

	for (int i = 0; i < way->hops; i++) {
		s->busy[torus_detour_place(s->shape, way, face->from, i)] += each;
		s->busy[torus_detour_place(s->shape, way, face->from, i + 1)] += each;
	}
}

/* Returns the bytes left on the face's link. */
static double give_parts(struct search *s, struct face *face, size_t *left, struct torus_detours *found)
{
	double direct = share_face(s, face), on_link = face->load;

	for (int i = 0; i < face->n; i++) {
		struct torus_detour *way = &face->detour[i];
		double part = direct - head_start(s, way);

		way->message = largest_message(s, face, left);
		way->bytes = (size_t)part / LINE * LINE;
		if (way->bytes > left[way->message])
			way->bytes = left[way->message];
		if (way->bytes == 0)
			continue;
		left[way->message] -= way->bytes;
		on_link -= (double)way->bytes;
		handle_part(s, face, way);
		found->detour[found->count++] = *way;
	}
	return on_link;
}

static int compare_detours(const void *one, const void *other)
{
	const struct torus_detour *a = one, *b = other;

	return a->message != b->message ? (a->message > b->message) - (a->message < b->message)
					: (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* Each part begins at the end of the one before. */
static void place_parts(struct torus_detours *found, const size_t *left)
{
	size_t at = 0;

	qsort(found->detour, (size_t)found->count, sizeof found->detour[0], compare_detours);
	for (int i = 0; i < found->count; i++) {
		if (i == 0 || found->detour[i].message != found->detour[i - 1].message)
			at = left[found->detour[i].message];
		found->detour[i].at = at;
		at += found->detour[i].bytes;
	}
}

/* --- The model --- */

/* The bottleneck is a link, a node's copies, or its handling of segments. */
static double exchange_seconds(const struct search *s, double on_link, double copied)
{
	double seconds = on_link / s->task->costs->rate, copying = copied / COPIES;

	for (int p = 0; p < s->shape->places; p++)
		seconds = s->busy[p] > seconds ? s->busy[p] : seconds;
	return s->task->costs->forward + (copying > seconds ? copying : seconds);
}

/* Most bytes that leave or reach a node, including forwarded ones. */
static double most_copied(const struct search *s, const struct torus_detours *found)
{
	double *copied = calloc((size_t)s->shape->places, sizeof *copied), most = -1;

	for (int i = 0; copied && i < s->task->n; i++) {
		const struct torus_message *m = &s->task->messages[i];

		copied[m->from] += m->from == m->to ? 0 : (double)m->bytes;
		copied[m->to] += m->from == m->to ? 0 : (double)m->bytes;
	}
	for (int i = 0; copied && i < found->count; i++)
		for (int hop = 1; hop < found->detour[i].hops; hop++)
			copied[torus_detour_place(s->shape, &found->detour[i],
						  s->task->messages[found->detour[i].message].from, hop)] +=
				2 * (double)found->detour[i].bytes;
	for (int p = 0; copied && p < s->shape->places; p++)
		most = copied[p] > most ? copied[p] : most;
	free(copied);
	return most;
}

static bool choose(struct search *s, struct torus_detours *found)
{
	double before = s->rest, after = s->rest, copied = most_copied(s, found);
	size_t *left = calloc((size_t)s->task->n, sizeof *left);

	found->detour = calloc((size_t)s->faces * TORUS_DETOURS, sizeof *found->detour);
	if (copied < 0 || !left || !found->detour) {
		free(left);
		return false;
	}
	for (int f = 0; f < s->faces; f++)
		before = s->face[f].load > before ? s->face[f].load : before;
	found->direct = exchange_seconds(s, before, copied);
	add_detours(s);
	for (int i = 0; i < s->task->n; i++)
		left[i] = s->task->messages[i].bytes;
	for (int f = 0; f < s->faces; f++) {
		double direct = give_parts(s, &s->face[f], left, found);

		after = direct > after ? direct : after;
	}
	place_parts(found, left);
	free(left);
	copied = most_copied(s, found);
	found->seconds = exchange_seconds(s, after, copied);
	if (!s->task->forced && found->seconds > GAIN * found->direct)
		found->count = 0;
	if (found->count == 0)
		found->seconds = found->direct;
	return copied >= 0;
}

bool torus_detours_find(struct torus_detours *found, const struct torus_detour_task *task)
{
	const struct torus_shape *shape = &task->sites->shape;
	size_t links = (size_t)shape->places * 2 * (size_t)shape->axes;
	struct search s = {
		.task = task,
		.shape = shape,
		.directions = 2 * shape->axes,
		.load = calloc(links, sizeof *s.load),
		.taken = calloc(links, sizeof *s.taken),
		.face_of = malloc(links * sizeof *s.face_of),
		.busy = calloc((size_t)shape->places, sizeof *s.busy),
		.face = calloc(TORUS_DETOUR_FACES, sizeof *s.face),
	};
	bool good = s.load && s.taken && s.face_of && s.busy && s.face;

	*found = (struct torus_detours){0};
	if (good) {
		for (size_t link = 0; link < links; link++)
			s.face_of[link] = -1;
		if (task->n <= TORUS_DETOUR_MESSAGES && load_links(&s))
			good = choose(&s, found);
	}
	free(s.load);
	free(s.taken);
	free(s.face_of);
	free(s.busy);
	free(s.face);
	if (!good)
		torus_detours_free(found);
	return good;
}

void torus_detours_free(struct torus_detours *found)
{
	free(found->detour);
	*found = (struct torus_detours){0};
}
