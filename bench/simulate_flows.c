/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links that flows share. Each flow gets the most that does not take anything from one that has less (max-min fairness): the link with the least
 * for each of its flows decides what those get; they are taken off all their links; and so on with the links that are left. When flows end,
 * all is shared again. Of thousands of flows that end one after the other that would take long, so what they leave is given away at the latest
 * when GRAIN of the time so far has gone by: times are too long by less than that.
 */
#include "simulate_flows.h"

#include <stdlib.h>

#include "simulate.h"

#define GRAIN (1.0 / 256)
#define EQUAL (1 + 1e-9) /* times and shares that differ by less are the same */

struct share {
	double each; /* of a flow; at least, since it grows while others are taken off */
	int link;
};

struct sharing {
	const struct torus_shape *shape;
	struct flow *flow;
	int count, links;
	int *route, *route_begin; /* links of flow f: from route_begin[f] on, as many as it has hops */
	int *on, *on_begin;	  /* flows on link l: from on_begin[l] to on_begin[l + 1] */
	int *active, n_active;	  /* flows that have not ended */
	double *left, *speed;	  /* of each flow: bytes; bytes a second, below 0: not known yet */
	double *room, rate;	  /* of each link */
	int *users;		  /* of each link: flows whose speed is not known yet */
	struct share *heap;	  /* the least first */
	int heaped;
};

static int link_of(const struct sharing *s, int place, int direction)
{
	return place * 2 * s->shape->axes + direction;
}

static void find_routes(struct sharing *s)
{
	size_t all = 0;

	s->route_begin = schedule_allocate((size_t)s->count + 1, sizeof *s->route_begin);
	for (int f = 0; f < s->count; f++) {
		s->route_begin[f] = (int)all;
		s->flow[f].hops = torus_hops(s->shape, s->flow[f].from, s->flow[f].to);
		s->flow[f].seconds = 0;
		all += (size_t)s->flow[f].hops;
	}
	s->route = schedule_allocate(all, sizeof *s->route);
	s->on = schedule_allocate(all, sizeof *s->on);
	s->on_begin = schedule_allocate((size_t)s->links + 1, sizeof *s->on_begin);
	for (int f = 0; f < s->count; f++) {
		int at = s->flow[f].from;

		for (int h = 0; h < s->flow[f].hops; h++) {
			int direction = torus_next(s->shape, at, s->flow[f].to), link = link_of(s, at, direction);

			s->route[s->route_begin[f] + h] = link;
			s->on_begin[link + 1]++;
			at = torus_neighbour(s->shape, at, direction);
		}
	}
}

/* From the routes the other way round; users counts what is filled in. */
static void find_flows_on_links(struct sharing *s)
{
	for (int l = 0; l < s->links; l++)
		s->on_begin[l + 1] += s->on_begin[l];
	for (int f = 0; f < s->count; f++)
		for (int h = 0; h < s->flow[f].hops; h++) {
			int link = s->route[s->route_begin[f] + h];

			s->on[s->on_begin[link] + s->users[link]++] = f;
		}
}

static struct flow_loads find_loads(const struct sharing *s)
{
	struct flow_loads loads = {0};

	for (int l = 0; l < s->links; l++) {
		double bytes = 0;

		for (int i = s->on_begin[l]; i < s->on_begin[l + 1]; i++)
			bytes += s->flow[s->on[i]].bytes;
		loads.busiest = bytes > loads.busiest ? bytes : loads.busiest;
		loads.most = s->on_begin[l + 1] - s->on_begin[l] > loads.most ? s->on_begin[l + 1] - s->on_begin[l]
									      : loads.most;
	}
	return loads;
}

static void sift_down(struct sharing *s, int at)
{
	struct share moved = s->heap[at];

	for (;;) {
		int child = 2 * at + 1;

		if (child + 1 < s->heaped && s->heap[child + 1].each < s->heap[child].each)
			child++;
		if (child >= s->heaped || s->heap[child].each >= moved.each)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = moved;
}

static void heap_links(struct sharing *s)
{
	s->heaped = 0;
	for (int l = 0; l < s->links; l++) {
		s->room[l] = s->rate;
		s->users[l] = 0;
	}
	for (int i = 0; i < s->n_active; i++) {
		int f = s->active[i];

		s->speed[f] = -1;
		for (int h = 0; h < s->flow[f].hops; h++)
			s->users[s->route[s->route_begin[f] + h]]++;
	}
	for (int l = 0; l < s->links; l++)
		if (s->users[l] > 0)
			s->heap[s->heaped++] = (struct share){s->rate / s->users[l], l};
	for (int at = s->heaped / 2 - 1; at >= 0; at--)
		sift_down(s, at);
}

/* All flows on the link whose speed is not known yet get this one. */
static void settle_link(struct sharing *s, int link, double speed)
{
	for (int i = s->on_begin[link]; i < s->on_begin[link + 1]; i++) {
		int f = s->on[i];

		if (s->speed[f] >= 0)
			continue;
		s->speed[f] = speed;
		for (int h = 0; h < s->flow[f].hops; h++) {
			int other = s->route[s->route_begin[f] + h];

			s->room[other] -= speed;
			s->users[other]--;
		}
	}
}

static void find_speeds(struct sharing *s)
{
	heap_links(s);
	while (s->heaped > 0) {
		int link = s->heap[0].link;
		double each = s->users[link] ? s->room[link] / s->users[link] : 0;

		if (s->users[link] && each > s->heap[0].each * EQUAL) {
			s->heap[0].each = each;
		} else {
			if (s->users[link])
				settle_link(s, link, s->heap[0].each);
			s->heap[0] = s->heap[--s->heaped];
		}
		sift_down(s, 0);
	}
}

/* Until the first flow ends, and those that do not go on much longer. Returns the time then. */
static double go_on(struct sharing *s, double now)
{
	double step = -1;
	int still = 0;

	for (int i = 0; i < s->n_active; i++) {
		double ends = s->left[s->active[i]] / s->speed[s->active[i]];

		step = step < 0 || ends < step ? ends : step;
	}
	step = step < now * GRAIN ? now * GRAIN : step;
	for (int i = 0; i < s->n_active; i++) {
		int f = s->active[i];
		double ends = s->left[f] / s->speed[f];

		if (ends <= step * EQUAL) {
			s->flow[f].seconds = now + ends;
			s->speed[f] = 0; /* known, as far as its links go */
		} else {
			s->left[f] -= s->speed[f] * step;
			s->active[still++] = f;
		}
	}
	s->n_active = still;
	return now + step;
}

struct flow_loads flows_share(const struct torus_shape *shape, struct flow *flow, int count, double rate)
{
	struct sharing s = {.shape = shape,
			    .flow = flow,
			    .count = count,
			    .links = shape->places * 2 * shape->axes,
			    .rate = rate};
	struct flow_loads loads;

	find_routes(&s);
	s.active = schedule_allocate((size_t)count, sizeof *s.active);
	s.left = schedule_allocate((size_t)count, sizeof *s.left);
	s.speed = schedule_allocate((size_t)count, sizeof *s.speed);
	s.room = schedule_allocate((size_t)s.links, sizeof *s.room);
	s.users = schedule_allocate((size_t)s.links, sizeof *s.users);
	s.heap = schedule_allocate((size_t)s.links + 1, sizeof *s.heap);
	find_flows_on_links(&s);
	loads = find_loads(&s);
	for (int f = 0; f < count; f++) {
		s.left[f] = flow[f].bytes;
		if (flow[f].hops > 0)
			s.active[s.n_active++] = f;
	}
	for (double now = 0; s.n_active > 0;) {
		find_speeds(&s);
		now = go_on(&s, now);
	}
	free(s.route);
	free(s.route_begin);
	free(s.on);
	free(s.on_begin);
	free(s.active);
	free(s.left);
	free(s.speed);
	free(s.room);
	free(s.users);
	free(s.heap);
	return loads;
}
