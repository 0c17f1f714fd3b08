/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts at places, for given sizes of the axes. */
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define REPAIRS 4

bool cabling_layout_make(struct cabling_layout *layout, const struct torus_shape *shape, int hosts)
{
	layout->shape = *shape;
	layout->placed = layout->explained = 0;
	layout->place = malloc((size_t)hosts * sizeof *layout->place);
	layout->host = malloc((size_t)shape->places * sizeof *layout->host);
	if (!layout->place || !layout->host) {
		cabling_layout_free(layout);
		return false;
	}
	for (int h = 0; h < hosts; h++)
		layout->place[h] = -1;
	for (int p = 0; p < shape->places; p++)
		layout->host[p] = -1;
	return true;
}

void cabling_layout_free(struct cabling_layout *layout)
{
	free(layout->place);
	free(layout->host);
	layout->place = layout->host = NULL;
}

int cabling_direction(const struct torus_shape *shape, int from, int to, int wanted)
{
	if (wanted >= 0 && wanted < 2 * shape->axes && torus_neighbour(shape, from, wanted) == to)
		return wanted;
	for (int d = 0; d < 2 * shape->axes; d++)
		if (shape->axis[d / 2].size > 1 && torus_neighbour(shape, from, d) == to)
			return d;
	return -1;
}

static int explained_of_host(const struct cabling_work *work, const struct cabling_layout *layout, int host)
{
	int links = 0;

	for (int p = work->first[host]; layout->place[host] >= 0 && p < work->first[host + 1]; p++) {
		int peer = cabling_peer(work->cabling, p), other = peer < 0 ? -1 : work->cabling->port[peer].host;

		links += other >= 0 && layout->place[other] >= 0 &&
			 cabling_direction(&layout->shape, layout->place[host], layout->place[other], -1) >= 0;
	}
	return links;
}

int cabling_explained(const struct cabling_work *work, const struct cabling_layout *layout)
{
	int links = 0;

	for (int h = 0; h < work->cabling->hosts; h++)
		links += explained_of_host(work, layout, h);
	return links / 2;
}

static void put_host(struct cabling_layout *layout, int host, int place)
{
	layout->place[host] = place;
	layout->host[place] = host;
	layout->placed++;
}

/* --- Votes: the place that the neighbours of a host imply --- */

struct votes {
	int places, place[CABLING_PORTS], votes[CABLING_PORTS];
};

static void vote_for(struct votes *votes, int place)
{
	int i = 0;

	while (i < votes->places && votes->place[i] != place)
		i++;
	if (i == votes->places) {
		if (i == CABLING_PORTS)
			return;
		votes->place[votes->places] = place;
		votes->votes[votes->places++] = 0;
	}
	votes->votes[i]++;
}

/*
 * A neighbour implies a place by its own port. For a pair with one label, down and up lead to the
 * same place.
 */
static void collect_votes(const struct cabling_work *work, const struct cabling_layout *layout, int host,
			  struct votes *votes)
{
	const struct cabling_rule *rule = &work->rule;

	votes->places = 0;
	for (int p = work->first[host]; p < work->first[host + 1]; p++) {
		int peer = cabling_peer(work->cabling, p), step, at;

		if (peer < 0)
			continue;
		at = layout->place[work->cabling->port[peer].host];
		step = cabling_step_of(rule, rule->label[peer]);
		if (at >= 0 && step >= 0)
			vote_for(votes, torus_neighbour(&layout->shape, at, step));
	}
}

/* The free place with the most votes, and its lead over all others; -1: none. */
static int elected_place(const struct cabling_layout *layout, const struct votes *votes, int *margin)
{
	int best = -1, all = 0;

	for (int i = 0; i < votes->places; i++) {
		all += votes->votes[i];
		if (layout->host[votes->place[i]] < 0 && (best < 0 || votes->votes[i] > votes->votes[best]))
			best = i;
	}
	*margin = best < 0 ? 0 : 2 * votes->votes[best] - all;
	return best < 0 ? -1 : votes->place[best];
}

struct candidate {
	int place, margin;
	bool placed;
};

static void judge(const struct cabling_work *work, const struct cabling_layout *layout, int host,
		  struct candidate *candidate)
{
	struct votes votes;

	if (candidate->placed)
		return;
	collect_votes(work, layout, host, &votes);
	candidate->place = elected_place(layout, &votes, &candidate->margin);
}

/* Places hosts one after another, always the one on which its neighbours agree most. */
static void grow(const struct cabling_work *work, struct cabling_layout *layout, struct candidate *candidate, int seed)
{
	int hosts = work->cabling->hosts, next = seed;

	for (int h = 0; h < hosts; h++)
		candidate[h] = (struct candidate){-1, 0, false};
	candidate[seed].place = 0;
	while (next >= 0) {
		if (layout->host[candidate[next].place] >= 0) {
			judge(work, layout, next, &candidate[next]);
		} else {
			put_host(layout, next, candidate[next].place);
			candidate[next].placed = true;
			for (int p = work->first[next]; p < work->first[next + 1]; p++) {
				int peer = cabling_peer(work->cabling, p);

				if (peer >= 0)
					judge(work, layout, work->cabling->port[peer].host,
					      &candidate[work->cabling->port[peer].host]);
			}
		}
		next = -1;
		for (int h = 0; h < hosts; h++)
			if (!candidate[h].placed && candidate[h].place >= 0 &&
			    (next < 0 || candidate[h].margin > candidate[next].margin))
				next = h;
	}
}

static void exchange(struct cabling_layout *layout, int host, int place)
{
	int other = layout->host[place], was = layout->place[host];

	layout->place[host] = place;
	layout->host[place] = host;
	layout->host[was] = other;
	if (other >= 0)
		layout->place[other] = was;
}

/* Moves a host, or swaps it with another one, if more cables then lead to neighbours. */
static bool repair_host(const struct cabling_work *work, struct cabling_layout *layout, int host)
{
	struct votes votes;

	collect_votes(work, layout, host, &votes);
	for (int i = 0; i < votes.places; i++) {
		int place = votes.place[i], other = layout->host[place], was = layout->place[host], before, after;

		if (place == was)
			continue;
		before = explained_of_host(work, layout, host) +
			 (other < 0 ? 0 : explained_of_host(work, layout, other));
		exchange(layout, host, place);
		after = explained_of_host(work, layout, host) +
			(other < 0 ? 0 : explained_of_host(work, layout, other));
		if (after > before)
			return true;
		exchange(layout, host, was);
	}
	return false;
}

static void repair(const struct cabling_work *work, struct cabling_layout *layout)
{
	bool moved = true;

	for (int i = 0; moved && i < REPAIRS; i++) {
		moved = false;
		for (int h = 0; h < work->cabling->hosts; h++)
			if (layout->place[h] >= 0)
				moved = repair_host(work, layout, h) || moved;
	}
}

/* --- The layouts tried --- */

static bool better(const struct cabling_layout *layout, const struct cabling_layout *best)
{
	if (!best->place)
		return true;
	if (layout->explained != best->explained)
		return layout->explained > best->explained;
	if (layout->placed != best->placed)
		return layout->placed > best->placed;
	return layout->shape.places < best->shape.places;
}

static void take_better(struct cabling_layout *best, struct cabling_layout *layout)
{
	if (!better(layout, best)) {
		cabling_layout_free(layout);
		return;
	}
	cabling_layout_free(best);
	*best = *layout;
}

bool cabling_try_seed(const struct cabling_work *work, const struct torus_shape *shape, int seed,
		      struct cabling_layout *best)
{
	int hosts = work->cabling->hosts;
	struct candidate *candidate = malloc((size_t)hosts * sizeof *candidate);
	struct cabling_layout layout;

	if (!candidate || !cabling_layout_make(&layout, shape, hosts)) {
		free(candidate);
		return false;
	}
	grow(work, &layout, candidate, seed);
	repair(work, &layout);
	layout.explained = cabling_explained(work, &layout);
	free(candidate);
	take_better(best, &layout);
	return true;
}

/*
 * Hosts at places in the order of their list: with wrong cables in a single row, there is no other
 * information.
 */
bool cabling_try_list(const struct cabling_work *work, const struct torus_shape *shape, struct cabling_layout *best)
{
	struct cabling_layout layout;

	if (!cabling_layout_make(&layout, shape, work->cabling->hosts))
		return false;
	for (int h = 0; h < work->cabling->hosts && h < shape->places; h++)
		put_host(&layout, h, h);
	layout.explained = cabling_explained(work, &layout);
	take_better(best, &layout);
	return true;
}
