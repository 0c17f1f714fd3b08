/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All cabled hosts in one row: for two hosts, and for cables that follow no axes where each cable
 * is a network of its own. The row is a ring if there is one through all hosts, as in a full mesh.
 */
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define MOST_HOSTS 64
#define MOST_STEPS 200000L /* of the search for a row */

struct row {
	bool joined[MOST_HOSTS][MOST_HOSTS]; /* by hosts: a cable is between them */
	bool member[MOST_HOSTS], used[MOST_HOSTS];
	int members, host[MOST_HOSTS], length;
	int best[MOST_HOSTS], best_length; /* the longest row so far */
	bool closed;			   /* a ring is wanted */
	long steps;
};

static void find_members(struct row *row, int hosts, int from)
{
	bool member[MOST_HOSTS] = {false};
	int queue[MOST_HOSTS], count = 1;

	queue[0] = from;
	member[from] = true;
	for (int i = 0; i < count; i++)
		for (int h = 0; h < hosts; h++)
			if (row->joined[queue[i]][h] && !member[h]) {
				member[h] = true;
				queue[count++] = h;
			}
	if (count <= row->members)
		return;
	row->members = count;
	memcpy(row->member, member, sizeof member);
}

/* Extends the row to all members, by depth first search. Keeps the longest row that it meets. */
static bool extend(struct row *row, int hosts)
{
	int last = row->host[row->length - 1];

	if (row->length > row->best_length) {
		memcpy(row->best, row->host, sizeof row->best);
		row->best_length = row->length;
	}
	if (row->length == row->members)
		return !row->closed || row->joined[last][row->host[0]];
	for (int h = 0; h < hosts && row->steps < MOST_STEPS; h++) {
		if (!row->joined[last][h] || row->used[h])
			continue;
		row->steps++;
		row->used[h] = true;
		row->host[row->length++] = h;
		if (extend(row, hosts))
			return true;
		row->length--;
		row->used[h] = false;
	}
	return false;
}

static bool search_from(struct row *row, int hosts, int first, bool closed)
{
	memset(row->used, 0, sizeof row->used);
	row->used[first] = true;
	row->host[0] = first;
	row->length = 1;
	row->closed = closed;
	row->steps = 0;
	return extend(row, hosts);
}

/* A ring, a row, or the longest row with the other members behind it. */
static void find_row(struct row *row, int hosts)
{
	int first = 0;

	while (!row->member[first])
		first++;
	if (row->members > 2 && search_from(row, hosts, first, true))
		return;
	row->best_length = 0;
	for (int h = first; h < hosts; h++)
		if (row->member[h] && search_from(row, hosts, h, false))
			return;
	memset(row->used, 0, sizeof row->used);
	for (int i = 0; i < row->best_length; i++)
		row->used[row->best[i]] = true;
	memcpy(row->host, row->best, sizeof row->host);
	row->length = row->best_length;
	for (int h = 0; h < hosts; h++)
		if (row->member[h] && !row->used[h])
			row->host[row->length++] = h;
}

/* Cables between neighbours in the row lead up and down; in a pair one of each. */
static void label_ports(struct cabling_work *work, const struct cabling_layout *layout)
{
	const struct cabling *cabling = work->cabling;
	int size = layout->shape.places, cables = 0;

	for (int p = 0; p < cabling->ports; p++)
		work->rule.label[p] = -1;
	for (int p = 0; p < cabling->ports; p++) {
		int peer = cabling_peer(cabling, p), from, to;

		from = layout->place[cabling->port[p].host];
		to = peer < 0 ? -1 : layout->place[cabling->port[peer].host];
		if (from < 0 || to < 0 || (from + 1) % size != to || (size == 2 && from == 1))
			continue;
		if (size == 2 && cables > 1)
			continue;
		work->rule.label[p] = size == 2 && cables > 0;
		work->rule.label[peer] = !work->rule.label[p];
		cables++;
	}
}

static bool make_layout(struct cabling_work *work, struct cabling_layout *layout, const struct row *row)
{
	struct torus_shape shape = {.axes = 1, .axis = {{row->length, true}}};

	torus_shape_complete(&shape);
	if (!cabling_layout_make(layout, &shape, work->cabling->hosts))
		return false;
	for (int i = 0; i < row->length; i++) {
		layout->place[row->host[i]] = i;
		layout->host[i] = row->host[i];
	}
	layout->placed = row->length;
	cabling_forget_rule(&work->rule);
	work->rule = (struct cabling_rule){.labels = 2, .axes = 1, .up = {0}, .down = {1}};
	work->rule.label = malloc(((size_t)work->cabling->ports + 1) * sizeof *work->rule.label);
	if (!work->rule.label)
		return false;
	label_ports(work, layout);
	layout->explained = cabling_explained(work, layout);
	return true;
}

bool cabling_lay_out_row(struct cabling_work *work, struct cabling_layout *layout)
{
	int hosts = work->cabling->hosts;
	struct row *row;
	bool good;

	layout->place = NULL;
	if (hosts > MOST_HOSTS)
		return true;
	row = calloc(1, sizeof *row);
	if (!row)
		return false;
	for (int p = 0; p < work->cabling->ports; p++) {
		int peer = cabling_peer(work->cabling, p);

		if (peer >= 0)
			row->joined[work->cabling->port[p].host][work->cabling->port[peer].host] = true;
	}
	for (int h = 0; h < hosts; h++)
		find_members(row, hosts, h);
	find_row(row, hosts);
	good = make_layout(work, layout, row);
	free(row);
	return good;
}
