/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a step is that of its busiest part: a TNI, sending or receiving, a link, or the
 * memory of the node. Finding the best assignment is packing slots into TNIs. The search is
 * complete for small tiles, and for large ones stops after a while with the best found. It also
 * stops when no TNI is busier than the busiest link, because less gains nothing.
 */
#include "tni.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TRIES 60000
#define MOST_SLOTS 65536
#define TINY 1e-9

bool torus_step_complete(struct torus_step *step, char problem[TORUS_PROBLEM])
{
	long pes = 1;

	for (int i = 0; i < step->dims; i++) {
		pes *= step->tile[i];
		if (pes * 2 * step->dims > MOST_SLOTS)
			return torus_refuse(problem, "a tile of more than %d messages is no node", MOST_SLOTS);
	}
	step->pes = (int)pes;
	return true;
}

int torus_step_target(const struct torus_step *step, int pe, int direction, bool *leaves)
{
	int stride = 1, at, size = step->tile[direction / 2];

	for (int i = step->dims - 1; i > direction / 2; i--)
		stride *= step->tile[i];
	at = pe / stride % size;
	if (direction % 2 == 0) {
		*leaves = at == size - 1;
		return *leaves ? pe - (size - 1) * stride : pe + stride;
	}
	*leaves = at == 0;
	return *leaves ? pe + (size - 1) * stride : pe - stride;
}

/* A slot during packing. */
struct item {
	int slot;
	double out, in;
};

struct disjoint {
	struct item *items;
	int count, tnis;
	double *out, *in;
	int *trial, *best;
	double fullest; /* load of the busiest TNI in the best assignment */
	double enough;	/* a lower load gains nothing */
	long tries;
};

static int larger_first(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	double difference = (b->out + b->in) - (a->out + a->in);

	return difference < 0 ? -1 : difference > 0 ? 1 : a->slot - b->slot;
}

static double fuller(double a, double b)
{
	return a > b ? a : b;
}

/* The TNIs that differ in load, the emptiest first. */
static int list_tnis(const struct disjoint *p, int *list)
{
	int count = 0;

	for (int e = 0; e < p->tnis; e++) {
		int at = count;
		bool same = false;

		for (int i = 0; i < count && !same; i++)
			same = p->out[list[i]] == p->out[e] && p->in[list[i]] == p->in[e];
		if (same)
			continue;
		for (; at > 0 && fuller(p->out[list[at - 1]], p->in[list[at - 1]]) > fuller(p->out[e], p->in[e]); at--)
			list[at] = list[at - 1];
		list[at] = e;
		count++;
	}
	return count;
}

/* Packs item after item; lists has room for a list of TNIs for each. */
static void pack_from(struct disjoint *p, int at, double fullest, int *lists)
{
	const struct item *item = &p->items[at];
	int *list = lists + (size_t)at * (size_t)p->tnis, count;

	if (at == p->count) {
		p->fullest = fullest;
		memcpy(p->best, p->trial, (size_t)p->count * sizeof *p->best);
		return;
	}
	count = list_tnis(p, list);
	for (int i = 0; i < count && p->fullest > p->enough + TINY && p->tries > 0; i++) {
		int e = list[i];
		double out = p->out[e], in = p->in[e];
		double now = fuller(fullest, fuller(out + item->out, in + item->in));

		if (now >= p->fullest - TINY)
			continue;
		p->tries--;
		p->trial[at] = e;
		p->out[e] = out + item->out;
		p->in[e] = in + item->in;
		pack_from(p, at + 1, now, lists);
		p->out[e] = out;
		p->in[e] = in;
	}
}

/*
 * A lower bound for the busiest TNI: its share, the largest message, or the smallest messages of
 * its number of slots.
 */
static double least_possible(const struct disjoint *p)
{
	double out = 0, in = 0, most = 0, least_out = 1e300, least_in = 1e300;
	int rounds = (p->count + p->tnis - 1) / p->tnis;

	for (int i = 0; i < p->count; i++) {
		const struct item *item = &p->items[i];

		out += item->out;
		in += item->in;
		most = fuller(most, fuller(item->out, item->in));
		least_out = item->out < least_out ? item->out : least_out;
		least_in = item->in < least_in ? item->in : least_in;
	}
	if (rounds > 0)
		most = fuller(most, rounds * fuller(least_out, least_in));
	return fuller(fuller(out, in) / p->tnis, most);
}

static double load_tnis(const struct disjoint *p, const int *tni)
{
	double fullest = 0;

	memset(p->out, 0, (size_t)p->tnis * sizeof *p->out);
	memset(p->in, 0, (size_t)p->tnis * sizeof *p->in);
	for (int i = 0; i < p->count; i++) {
		p->out[tni[i]] += p->items[i].out;
		p->in[tni[i]] += p->items[i].in;
	}
	for (int e = 0; e < p->tnis; e++)
		fullest = fuller(fullest, fuller(p->out[e], p->in[e]));
	return fullest;
}

/* Starts with the simple assignments, so that the search never ends with a worse one. */
static void pack_simply(struct disjoint *p, int directions)
{
	p->fullest = 1e300;
	for (int period = 1; period <= 2; period++) {
		double fullest;

		for (int i = 0; i < p->count; i++)
			p->trial[i] = (period == 1 ? p->items[i].slot : p->items[i].slot % directions) % p->tnis;
		fullest = load_tnis(p, p->trial);
		if (fullest < p->fullest) {
			p->fullest = fullest;
			memcpy(p->best, p->trial, (size_t)p->count * sizeof *p->best);
		}
	}
	memset(p->out, 0, (size_t)p->tnis * sizeof *p->out);
	memset(p->in, 0, (size_t)p->tnis * sizeof *p->in);
}

/* Moves item a from the busiest TNI to another one, and item b, unless it is -1, back. */
static bool try_exchange(struct disjoint *p, int a, int b, int to)
{
	static const struct item nothing;
	const struct item *give = &p->items[a], *take = b < 0 ? &nothing : &p->items[b];
	int from = p->best[a];
	double here = fuller(p->out[from] - give->out + take->out, p->in[from] - give->in + take->in);
	double there = fuller(p->out[to] + give->out - take->out, p->in[to] + give->in - take->in);

	if (fuller(here, there) >= p->fullest - TINY)
		return false;
	p->best[a] = to;
	if (b >= 0)
		p->best[b] = from;
	return true;
}

/* One exchange that relieves a busiest TNI. */
static bool improve_once(struct disjoint *p)
{
	for (int a = 0; a < p->count; a++) {
		int from = p->best[a];

		if (fuller(p->out[from], p->in[from]) < p->fullest - TINY)
			continue;
		for (int e = 0; e < p->tnis; e++)
			if (e != from && try_exchange(p, a, -1, e))
				return true;
		for (int b = 0; b < p->count; b++)
			if (p->best[b] != from && try_exchange(p, a, b, p->best[b]))
				return true;
	}
	return false;
}

static void improve_packing(struct disjoint *p)
{
	do
		p->fullest = load_tnis(p, p->best);
	while (p->fullest > p->enough + TINY && improve_once(p));
}

static bool pack_best(struct disjoint *p, struct torus_assignment *a, int directions, double enough)
{
	int *lists = malloc(((size_t)p->count + 1) * (size_t)p->tnis * sizeof *lists);

	p->out = calloc((size_t)p->tnis, sizeof *p->out);
	p->in = calloc((size_t)p->tnis, sizeof *p->in);
	p->trial = calloc((size_t)p->count + 1, sizeof *p->trial);
	p->best = calloc((size_t)p->count + 1, sizeof *p->best);
	if (!lists || !p->out || !p->in || !p->trial || !p->best) {
		free(lists);
		return false;
	}
	qsort(p->items, (size_t)p->count, sizeof *p->items, larger_first);
	p->enough = fuller(least_possible(p), enough);
	p->tries = MOST_TRIES + p->count;
	pack_simply(p, directions);
	pack_from(p, 0, 0, lists);
	a->proven = p->tries > 0;
	improve_packing(p);
	a->proven = a->proven || p->fullest <= p->enough + TINY;
	for (int i = 0; i < p->count; i++)
		a->tni[p->items[i].slot] = p->best[i];
	free(lists);
	return true;
}

static bool assign_best(struct torus_assignment *a, const struct torus_step *step)
{
	struct disjoint disjoint = {.tnis = step->tnis};
	double enough = fuller(a->link / step->link_rate, step->memory_rate > 0 ? a->memory / step->memory_rate : 0);
	bool good;

	disjoint.items = malloc((size_t)a->slots * sizeof *disjoint.items);
	if (!disjoint.items)
		return false;
	for (int s = 0; s < a->slots; s++) {
		int direction = s % (2 * step->dims);

		if (a->tni[s] >= 0)
			disjoint.items[disjoint.count++] =
				(struct item){s, step->volume[direction], step->volume[direction ^ 1]};
	}
	good = pack_best(&disjoint, a, 2 * step->dims, enough * step->tni_rate);
	free(disjoint.items);
	free(disjoint.out);
	free(disjoint.in);
	free(disjoint.trial);
	free(disjoint.best);
	return good;
}

/* Computes what does not depend on the TNIs. Slots that bypass them get TNI -1. */
static void count_volumes(struct torus_assignment *a, const struct torus_step *step)
{
	double link[TORUS_DIRECTIONS] = {0};

	for (int s = 0; s < a->slots; s++) {
		int direction = s % (2 * step->dims);
		bool leaves;

		torus_step_target(step, s / (2 * step->dims), direction, &leaves);
		a->sum += step->volume[direction];
		a->tni[s] = leaves || step->memory_rate <= 0 ? 0 : -1;
		if (leaves) {
			a->leaving += step->volume[direction];
			link[direction] += step->volume[direction];
		} else if (a->tni[s] < 0) {
			a->memory += step->volume[direction];
		}
	}
	for (int direction = 0; direction < 2 * step->dims; direction++)
		a->link = fuller(a->link, link[direction]);
}

static void count_loads(struct torus_assignment *a, const struct torus_step *step)
{
	double tni = 0, link, memory;

	for (int s = 0; s < a->slots; s++) {
		int direction = s % (2 * step->dims);

		if (a->tni[s] < 0)
			continue;
		a->out[a->tni[s]] += step->volume[direction];
		a->in[a->tni[s]] += step->volume[direction ^ 1];
	}
	for (int e = 0; e < step->tnis; e++)
		tni = fuller(tni, fuller(a->out[e], a->in[e]));
	/* MB at GB/s are milliseconds. */
	tni = tni / step->tni_rate * 1000;
	link = a->link / step->link_rate * 1000;
	memory = step->memory_rate > 0 ? a->memory / step->memory_rate * 1000 : 0;
	a->microseconds = fuller(tni, fuller(link, memory));
	a->bound = link >= a->microseconds ? "links" : tni >= a->microseconds ? "TNIs" : "memory";
}

bool torus_assign(struct torus_assignment *a, const struct torus_step *step, enum torus_assign how)
{
	bool good;

	memset(a, 0, sizeof *a);
	a->slots = step->pes * 2 * step->dims;
	a->tni = malloc((size_t)a->slots * sizeof *a->tni);
	a->out = calloc((size_t)step->tnis, sizeof *a->out);
	a->in = calloc((size_t)step->tnis, sizeof *a->in);
	good = a->tni && a->out && a->in;
	if (good)
		count_volumes(a, step);
	if (good && how == TORUS_BEST)
		good = assign_best(a, step);
	for (int s = 0; good && how != TORUS_BEST && s < a->slots; s++)
		if (a->tni[s] >= 0)
			a->tni[s] = (how == TORUS_ROUND_ROBIN ? s : s % (2 * step->dims)) % step->tnis;
	if (good)
		count_loads(a, step);
	else
		torus_assignment_free(a);
	return good;
}

void torus_assignment_free(struct torus_assignment *assignment)
{
	free(assignment->tni);
	free(assignment->out);
	free(assignment->in);
	assignment->tni = NULL;
	assignment->out = assignment->in = NULL;
}

double torus_step_rate(const struct torus_assignment *assignment, double volume)
{
	return assignment->microseconds > 0 ? volume / assignment->microseconds * 1000 : 0;
}
