/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labels of ports: the rule by which they were cabled, found by majority; or labels invented from
 * squares of cables.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define MOST_LABELS 256

int cabling_peer(const struct cabling *cabling, int port)
{
	int peer = cabling->port[port].peer;

	if (peer < 0 || cabling->port[port].shared || cabling->port[peer].shared)
		return -1;
	return cabling->port[peer].host != cabling->port[port].host && cabling->port[peer].peer == port ? peer : -1;
}

int cabling_step_of(const struct cabling_rule *rule, int label)
{
	for (int a = 0; label >= 0 && a < rule->axes; a++)
		if (label == rule->up[a] || label == rule->down[a])
			return 2 * a + (label != rule->up[a]);
	return -1;
}

bool cabling_labels_agree(const struct cabling_rule *rule, int label, int other)
{
	int step = cabling_step_of(rule, label);

	return step >= 0 && other == (step % 2 == 0 ? rule->down[step / 2] : rule->up[step / 2]);
}

/* In natural order: eth9 before eth10, x+ before x-. */
static int compare_labels(const char *left, const char *right)
{
	while (*left && *right) {
		if (isdigit((unsigned char)*left) && isdigit((unsigned char)*right)) {
			char *left_end, *right_end;
			unsigned long a = strtoul(left, &left_end, 10), b = strtoul(right, &right_end, 10);

			if (a != b)
				return a < b ? -1 : 1;
			left = left_end;
			right = right_end;
		} else if (*left != *right) {
			return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
		} else {
			left++;
			right++;
		}
	}
	return (*left != '\0') - (*right != '\0');
}

/* A number for each name of a port with a cable, in the order of names. */
static void number_labels(const struct cabling_work *work, struct cabling_rule *rule, const char *names[MOST_LABELS])
{
	const struct cabling *cabling = work->cabling;

	for (int p = 0; p < cabling->ports; p++) {
		const char *name = cabling->port[p].name;
		int at = 0;

		if (cabling_peer(cabling, p) < 0)
			continue;
		while (at < rule->labels && compare_labels(names[at], name) < 0)
			at++;
		if ((at < rule->labels && !compare_labels(names[at], name)) || rule->labels == MOST_LABELS)
			continue;
		memmove(names + at + 1, names + at, (size_t)(rule->labels - at) * sizeof *names);
		names[at] = name;
		rule->labels++;
	}
	for (int p = 0; p < cabling->ports; p++) {
		rule->label[p] = -1;
		for (int at = 0; at < rule->labels && rule->label[p] < 0; at++)
			if (!strcmp(names[at], cabling->port[p].name))
				rule->label[p] = at;
	}
}

/* The label at the other end of more than half of each label's cables; -1: none. */
static bool find_mates(const struct cabling_work *work, const struct cabling_rule *rule, int *mate)
{
	size_t labels = (size_t)rule->labels;
	int *count = calloc(labels * labels + 1, sizeof *count);

	if (!count)
		return false;
	for (int p = 0; p < work->cabling->ports; p++) {
		int peer = cabling_peer(work->cabling, p);

		if (peer >= 0 && rule->label[p] >= 0 && rule->label[peer] >= 0)
			count[(size_t)rule->label[p] * labels + (size_t)rule->label[peer]]++;
	}
	for (size_t a = 0; a < labels; a++) {
		int all = 0;

		mate[a] = -1;
		for (size_t b = 0; b < labels; b++)
			all += count[a * labels + b];
		for (size_t b = 0; b < labels; b++)
			if (2 * count[a * labels + b] > all)
				mate[a] = (int)b;
	}
	free(count);
	return true;
}

/* "x+" and so on name their axis. */
static int direction_of_name(const char *name)
{
	for (int d = 0; d < TORUS_DIRECTIONS; d++)
		if (!strcmp(name, torus_direction_name(d)))
			return d;
	return -1;
}

static void make_axes(struct cabling_rule *rule, const int *mate)
{
	rule->axes = 0;
	for (int a = 0; a < rule->labels; a++) {
		if (mate[a] < a || mate[mate[a]] != a)
			continue;
		if (rule->axes == TORUS_AXES) {
			rule->axes = 0;
			return;
		}
		rule->up[rule->axes] = a;
		rule->down[rule->axes++] = mate[a];
	}
}

static void swap_ints(int *one, int *other)
{
	int kept = *one;

	*one = *other;
	*other = kept;
}

/* Names such as x+ give the direction, and order the axes by their letters. */
static void sort_named_axes(struct cabling_rule *rule, const char *const *names)
{
	int letter[TORUS_AXES];

	rule->named = rule->axes > 0;
	for (int a = 0; a < rule->axes; a++) {
		int up = direction_of_name(names[rule->up[a]]), down = direction_of_name(names[rule->down[a]]);

		rule->named = rule->named && up >= 0 && down == (up ^ 1);
		letter[a] = up / 2;
		if (rule->named && up % 2)
			swap_ints(&rule->up[a], &rule->down[a]);
	}
	for (int a = 0; rule->named && a < rule->axes; a++)
		for (int b = a + 1; b < rule->axes; b++)
			if (letter[b] < letter[a]) {
				swap_ints(&letter[a], &letter[b]);
				swap_ints(&rule->up[a], &rule->up[b]);
				swap_ints(&rule->down[a], &rule->down[b]);
			}
}

static int links_by_rule(const struct cabling_work *work, const struct cabling_rule *rule)
{
	int links = 0;

	for (int p = 0; p < work->cabling->ports; p++) {
		int peer = cabling_peer(work->cabling, p);

		links += peer > p && cabling_labels_agree(rule, rule->label[p], rule->label[peer]);
	}
	return links;
}

bool cabling_find_rule(struct cabling_work *work)
{
	struct cabling_rule *rule = &work->rule;
	const char *names[MOST_LABELS + 1];
	int mate[MOST_LABELS];

	memset(rule, 0, sizeof *rule);
	rule->label = malloc(((size_t)work->cabling->ports + 1) * sizeof *rule->label);
	if (!rule->label)
		return false;
	number_labels(work, rule, names);
	if (!find_mates(work, rule, mate))
		return false;
	make_axes(rule, mate);
	sort_named_axes(rule, names);
	if (2 * links_by_rule(work, rule) <= work->links)
		rule->axes = 0;
	return true;
}

void cabling_forget_rule(struct cabling_rule *rule)
{
	free(rule->label);
	rule->label = NULL;
}

/*
 * --- Invented labels: each port of one host gets one, and squares of cables pass them on to its
 * neighbours ---
 */

static int label_at(const struct cabling_work *work, int host, int label)
{
	for (int p = work->first[host]; p < work->first[host + 1]; p++)
		if (work->rule.label[p] == label)
			return p;
	return -1;
}

static int host_behind(const struct cabling_work *work, int port)
{
	int peer = port < 0 ? -1 : cabling_peer(work->cabling, port);

	return peer < 0 ? -1 : work->cabling->port[peer].host;
}

/*
 * The unlabelled port of a host that leads to a neighbour of the other host, except the one
 * excluded.
 */
static int port_of_square(const struct cabling_work *work, int host, int other, int left_out)
{
	for (int p = work->first[host]; p < work->first[host + 1]; p++) {
		int corner = host_behind(work, p);

		if (corner < 0 || corner == left_out || corner == other)
			continue;
		for (int q = work->first[other]; q < work->first[other + 1]; q++)
			if (host_behind(work, q) == corner)
				return p;
	}
	return -1;
}

static bool adjacent(const struct cabling_work *work, int host, int other)
{
	for (int p = work->first[host]; p < work->first[host + 1]; p++)
		if (host_behind(work, p) == other)
			return true;
	return false;
}

/*
 * Ports are opposite at the first host if their neighbours are neighbours in a ring of three, or
 * form no square.
 */
static void find_opposites(const struct cabling_work *work, int host, int *opposite)
{
	for (int a = 0; a < work->rule.labels; a++) {
		int found = -1, count = 0, there = host_behind(work, label_at(work, host, a));

		for (int b = 0; b < work->rule.labels; b++) {
			int other = host_behind(work, label_at(work, host, b));

			if (b == a)
				continue;
			if (there == other || adjacent(work, there, other) ||
			    port_of_square(work, there, other, host) < 0) {
				found = b;
				count++;
			}
		}
		opposite[a] = count == 1 ? found : a;
	}
	for (int a = 0; a < work->rule.labels; a++)
		if (opposite[opposite[a]] != a)
			opposite[a] = a;
}

static bool give_label(const struct cabling_work *work, int port, int label)
{
	int host;

	if (port < 0 || work->rule.label[port] >= 0)
		return false;
	host = work->cabling->port[port].host;
	if (label_at(work, host, label) >= 0)
		return false;
	work->rule.label[port] = label;
	return true;
}

/* The only port with a cable and no label; -1: none, or several. */
static int only_unlabelled(const struct cabling_work *work, int host)
{
	int found = -1;

	for (int p = work->first[host]; p < work->first[host + 1]; p++)
		if (work->rule.label[p] < 0 && cabling_peer(work->cabling, p) >= 0) {
			if (found >= 0)
				return -1;
			found = p;
		}
	return found;
}

/* Passes labels on over the cable of this port. Returns whether a port at the other end got one. */
static bool carry_labels(const struct cabling_work *work, int port, const int *opposite)
{
	const struct cabling *cabling = work->cabling;
	int label = work->rule.label[port], peer = cabling_peer(cabling, port), host = cabling->port[port].host, there;
	bool news;

	if (label < 0 || peer < 0)
		return false;
	there = cabling->port[peer].host;
	news = give_label(work, peer, opposite[label]);
	for (int p = work->first[host]; p < work->first[host + 1]; p++) {
		int other = work->rule.label[p], side = host_behind(work, p);

		if (other < 0 || other == label || other == opposite[label] || side < 0)
			continue;
		if (label_at(work, there, other) < 0)
			news = give_label(work, port_of_square(work, there, side, host), other) || news;
	}
	if (opposite[label] != label)
		news = give_label(work, only_unlabelled(work, there), label) || news;
	return news;
}

bool cabling_make_up_rule(struct cabling_work *work)
{
	const struct cabling *cabling = work->cabling;
	struct cabling_rule *rule = &work->rule;
	int opposite[CABLING_PORTS], seed = 0, most = 0;
	bool news = true;

	for (int h = 0; h < cabling->hosts; h++) {
		int degree = 0;

		for (int p = work->first[h]; p < work->first[h + 1]; p++)
			degree += cabling_peer(cabling, p) >= 0;
		if (degree > most) {
			most = degree;
			seed = h;
		}
	}
	rule->labels = 0;
	rule->named = false;
	rule->made_up = true;
	for (int p = 0; p < cabling->ports; p++)
		rule->label[p] = cabling->port[p].host == seed && cabling_peer(cabling, p) >= 0 ? rule->labels++ : -1;
	rule->axes = 0;
	if (rule->labels > 2 * TORUS_AXES)
		return true;
	find_opposites(work, seed, opposite);
	while (news) {
		news = false;
		for (int p = 0; p < cabling->ports; p++)
			news = carry_labels(work, p, opposite) || news;
	}
	make_axes(rule, opposite);
	return true;
}
