/* SPDX-License-Identifier: BSD-3-Clause */
#include "cabling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

static bool index_ports(struct cabling_work *work)
{
	const struct cabling *cabling = work->cabling;

	work->first = calloc((size_t)cabling->hosts + 1, sizeof *work->first);
	if (!work->first)
		return false;
	for (int p = 0; p < cabling->ports; p++) {
		work->first[cabling->port[p].host + 1]++;
		work->links += cabling_peer(cabling, p) > p;
	}
	for (int h = 0; h < cabling->hosts; h++)
		work->first[h + 1] += work->first[h];
	return true;
}

/* --- Where there is no torus --- */

static void explain_no_cables(struct torus_found *found, const struct cabling *cabling)
{
	int shared = 0, silent = 0;

	for (int p = 0; p < cabling->ports; p++)
		shared += cabling->port[p].shared;
	for (int h = 0; h < cabling->hosts; h++)
		silent += cabling->silent[h];
	if (silent == cabling->hosts)
		torus_refuse(found->why, "no host answers");
	else if (shared)
		torus_refuse(found->why, "the hosts are at a switch: %d ports see more than one other", shared);
	else
		torus_refuse(found->why, "no port of these hosts is cabled to a port of another one of them");
}

static bool has_too_many_ports(struct torus_found *found, const struct cabling_work *work)
{
	for (int h = 0; h < work->cabling->hosts; h++)
		if (work->first[h + 1] - work->first[h] > CABLING_PORTS)
			return !torus_refuse(found->why, "%s has more than %d ports", work->cabling->name[h],
					     CABLING_PORTS);
	return false;
}

static bool speaks(const struct cabling *cabling, int host)
{
	return host >= 0 && !cabling->silent[host];
}

/* Cables of a host in the shape, to hosts that answered. */
static int cables_meant(const struct cabling *cabling, const struct cabling_layout *layout, int host)
{
	int cables = 0, place = layout->place[host];

	for (int d = 0; place >= 0 && speaks(cabling, host) && d < 2 * layout->shape.axes; d++) {
		int next = torus_neighbour(&layout->shape, place, d);

		cables += next >= 0 && next != place && speaks(cabling, layout->host[next]);
	}
	return cables;
}

static int ports_of(const struct cabling_work *work, int host)
{
	int ports = 0;

	for (int p = work->first[host]; p < work->first[host + 1]; p++)
		ports += !work->cabling->port[p].shared;
	return ports;
}

/*
 * A torus: most cables lead to neighbours, most of the shape's cables exist, and most hosts have
 * the ports for it.
 */
static bool is_torus(struct torus_found *found, const struct cabling_work *work, const struct cabling_layout *layout)
{
	const struct cabling *cabling = work->cabling;
	int placed = 0, speaking = 0, ends = 0, lacking = 0;
	char text[TORUS_TEXT];

	if (!layout->place)
		return torus_refuse(found->why, "the %d cables between the hosts follow no axes", work->links);
	for (int h = 0; h < cabling->hosts; h++) {
		int meant = cables_meant(cabling, layout, h);

		placed += layout->place[h] >= 0;
		speaking += !cabling->silent[h];
		ends += meant;
		lacking += meant > ports_of(work, h);
	}
	torus_shape_text(&layout->shape, text);
	if (4 * placed < 3 * speaking)
		return torus_refuse(found->why, "cables join no more than %d of the %d hosts", placed, speaking);
	if (4 * lacking > speaking)
		return torus_refuse(found->why, "the cables do not make one: for %s, %d of the %d hosts lack ports",
				    text, lacking, speaking);
	if (10 * layout->explained < 7 * work->links || 3 * layout->explained < ends)
		return torus_refuse(found->why,
				    "the cables do not make one: of %d cables, %d fit into %s, which has %d",
				    work->links, layout->explained, text, ends / 2);
	return true;
}

/*
 * By the ports' names; by squares of cables if these explain more, or as much with fewer axes: an
 * apparent rule may be chance.
 */
static bool lay_out(struct cabling_work *work, struct cabling_layout *layout)
{
	struct cabling_layout other = {.place = NULL};
	struct cabling_rule rule;

	if (!cabling_find_rule(work) || !cabling_lay_out(work, layout))
		return false;
	if (layout->place && layout->explained == work->links && work->rule.named)
		return true;
	rule = work->rule;
	work->rule.label = malloc(((size_t)work->cabling->ports + 1) * sizeof *rule.label);
	if (!work->rule.label || !cabling_make_up_rule(work) || !cabling_lay_out(work, &other)) {
		cabling_forget_rule(&rule);
		cabling_layout_free(&other);
		return false;
	}
	if (other.place && (!layout->place || other.explained > layout->explained ||
			    (other.explained == layout->explained && work->rule.axes < rule.axes))) {
		cabling_forget_rule(&rule);
		cabling_layout_free(layout);
		*layout = other;
	} else {
		cabling_forget_rule(&work->rule);
		work->rule = rule;
		cabling_layout_free(&other);
	}
	return true;
}

static bool describe(struct torus_found *found, struct cabling_work *work, struct cabling_layout *layout)
{
	int *expected = malloc((size_t)work->cabling->hosts * sizeof *expected);
	bool good = expected && cabling_put_in_order(work, layout, expected, &found->ordered);

	if (good && is_torus(found, work, layout)) {
		found->shape = layout->shape;
		memcpy(found->place, layout->place, (size_t)work->cabling->hosts * sizeof *found->place);
		good = cabling_find_faults(found, work, layout, expected);
	}
	free(expected);
	return good;
}

/* Every cabled host needs a place. A shape with many holes was found by chance. */
static bool is_sensible(const struct torus_found *found, const struct cabling *cabling)
{
	int placed = 0;

	for (int h = 0; h < cabling->hosts; h++)
		placed += found->place[h] >= 0;
	for (int p = 0; p < cabling->ports; p++)
		if (cabling_peer(cabling, p) >= 0 && found->place[cabling->port[p].host] < 0)
			return false;
	return found->shape.axes > 0 && 4 * placed >= 3 * found->shape.places;
}

static void forget_faults(struct torus_found *found)
{
	for (int i = 0; i < found->faults; i++)
		free(found->fault[i]);
	free(found->fault);
	free(found->flaw);
	found->fault = NULL;
	found->flaw = NULL;
	found->faults = found->flaws = 0;
}

/*
 * The row is not a rule by which somebody cabled the hosts, so no port and no host is in a wrong
 * place.
 */
static bool describe_row(struct torus_found *found, struct cabling_work *work, struct cabling_layout *layout)
{
	int hosts = work->cabling->hosts, *expected = malloc((size_t)hosts * sizeof *expected);
	bool good = expected && cabling_put_in_order(work, layout, expected, &found->ordered);

	if (good) {
		forget_faults(found);
		found->row = true;
		found->shape = layout->shape;
		memcpy(found->place, layout->place, (size_t)hosts * sizeof *found->place);
		for (int h = 0; h < hosts; h++)
			expected[h] = -1;
		/*
		 * Not before: a port without a label must not count as one that could close the
		 * ring.
		 */
		work->rule.made_up = true;
		good = cabling_find_faults(found, work, layout, expected);
	}
	free(expected);
	return good;
}

/* A torus; otherwise, or for two hosts, a row if each cable is a network of its own. */
static bool find_torus_or_row(struct torus_found *found, struct cabling_work *work)
{
	const struct cabling *cabling = work->cabling;
	struct cabling_layout layout = {.place = NULL};
	bool pair = cabling->own_networks && cabling->hosts == 2, good = pair || lay_out(work, &layout);

	if (good && layout.place)
		good = describe(found, work, &layout);
	else if (good && !pair)
		is_torus(found, work, &layout);
	if (good && cabling->own_networks && !is_sensible(found, cabling)) {
		cabling_layout_free(&layout);
		good = cabling_lay_out_row(work, &layout);
		if (good && layout.place)
			good = describe_row(found, work, &layout);
	}
	cabling_layout_free(&layout);
	return good;
}

bool torus_cabling_find(struct torus_found *found, const struct cabling *cabling)
{
	struct cabling_work work = {.cabling = cabling};
	bool good;

	memset(found, 0, sizeof *found);
	found->place = malloc((size_t)cabling->hosts * sizeof *found->place);
	found->direction = malloc((size_t)cabling->ports + 1);
	good = found->place && found->direction && index_ports(&work);
	for (int h = 0; good && h < cabling->hosts; h++)
		found->place[h] = -1;
	if (good)
		memset(found->direction, -1, (size_t)cabling->ports);
	if (good && work.links == 0)
		explain_no_cables(found, cabling);
	else if (good && !has_too_many_ports(found, &work))
		good = find_torus_or_row(found, &work);
	cabling_forget_rule(&work.rule);
	free(work.first);
	if (!good)
		torus_found_free(found);
	return good;
}

void torus_found_free(struct torus_found *found)
{
	forget_faults(found);
	free(found->place);
	free(found->direction);
	memset(found, 0, sizeof *found);
}
