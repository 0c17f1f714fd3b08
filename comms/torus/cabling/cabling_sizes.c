/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidate sizes of the axes: from most rows of hosts, or all factorisations of their number. The
 * best layout decides.
 */
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define LIKELY_SIZES 4
/* Tries times hosts: on larger machines fewer first hosts are tried. */
#define MANY_TRIES (1L << 21)

static int host_along(const struct cabling_work *work, int host, int axis, bool upwards)
{
	const struct cabling_rule *rule = &work->rule;
	int label = upwards ? rule->up[axis] : rule->down[axis];

	for (int p = work->first[host]; p < work->first[host + 1]; p++) {
		int peer = cabling_peer(work->cabling, p);

		if (peer >= 0 && rule->label[p] == label && cabling_labels_agree(rule, label, rule->label[peer]))
			return work->cabling->port[peer].host;
	}
	return -1;
}

/* The length of the row of a host; marks its hosts. */
static int row_length(const struct cabling_work *work, int host, int axis, bool *seen)
{
	int length = 1, at = host;

	while ((at = host_along(work, at, axis, true)) >= 0 && at != host && !seen[at]) {
		seen[at] = true;
		length++;
	}
	if (at != host)
		for (at = host; (at = host_along(work, at, axis, false)) >= 0 && !seen[at] && at != host; length++)
			seen[at] = true;
	seen[host] = true;
	return length;
}

/*
 * The lengths of most hosts' rows along an axis, the most frequent first. Returns their number; -1:
 * no memory.
 */
static int likely_sizes(const struct cabling_work *work, int axis, int likely[LIKELY_SIZES])
{
	int hosts = work->cabling->hosts, found = 0;
	int *count = calloc((size_t)hosts + 1, sizeof *count);
	bool *seen = calloc((size_t)hosts, sizeof *seen);

	for (int h = 0; count && seen && h < hosts; h++)
		if (!seen[h]) {
			int length = row_length(work, h, axis, seen);

			count[length] += length;
		}
	while (count && seen && found < LIKELY_SIZES) {
		int best = 0;

		for (int n = 1; n <= hosts; n++)
			if (count[n] > count[best])
				best = n;
		if (!count[best])
			break;
		likely[found++] = best;
		count[best] = 0;
	}
	found = count && seen ? found : -1;
	free(count);
	free(seen);
	return found;
}

static bool make_shape(struct torus_shape *shape, const int *sizes, int axes)
{
	memset(shape, 0, sizeof *shape);
	shape->axes = axes;
	for (int a = 0; a < axes; a++)
		shape->axis[a] = (struct torus_axis){sizes[a], true};
	return torus_shape_complete(shape);
}

static bool try_sizes(const struct cabling_work *work, const int *sizes, struct cabling_layout *best)
{
	int hosts = work->cabling->hosts, axes = work->rule.axes;
	long each = (long)hosts * hosts, tries = each < MANY_TRIES ? MANY_TRIES / each + 1 : 1;
	int step = tries >= hosts ? 1 : (int)(hosts / tries);
	struct torus_shape shape;

	if (!make_shape(&shape, sizes, axes) || shape.places < hosts || shape.places > 4 * hosts)
		return true;
	for (int seed = 0; seed < hosts; seed += step) {
		if (best->place && best->explained == work->links && best->placed == hosts &&
		    best->shape.places <= shape.places)
			return true; /* no better one exists */
		if (!cabling_try_seed(work, &shape, seed, best))
			return false;
	}
	return cabling_try_list(work, &shape, best);
}

/* All ways to write a number of hosts as a product of this many sizes. */
static bool try_factors(const struct cabling_work *work, int *sizes, int axis, int rest, struct cabling_layout *best)
{
	if (axis == work->rule.axes - 1) {
		sizes[axis] = rest;
		return try_sizes(work, sizes, best);
	}
	for (int size = 2; size <= rest; size++) {
		sizes[axis] = size;
		if (rest % size == 0 && !try_factors(work, sizes, axis + 1, rest / size, best))
			return false;
	}
	return true;
}

static bool try_likely(const struct cabling_work *work, int likely[][LIKELY_SIZES], const int *counts,
		       struct cabling_layout *best)
{
	int axes = work->rule.axes, choice[TORUS_AXES] = {0}, sizes[TORUS_AXES], a = 0;

	while (a < axes) {
		for (int i = 0; i < axes; i++)
			sizes[i] = likely[i][choice[i]];
		if (!try_sizes(work, sizes, best))
			return false;
		for (a = 0; a < axes && ++choice[a] == counts[a]; a++)
			choice[a] = 0;
	}
	return true;
}

bool cabling_lay_out(const struct cabling_work *work, struct cabling_layout *best)
{
	int likely[TORUS_AXES][LIKELY_SIZES], counts[TORUS_AXES], sizes[TORUS_AXES];

	memset(best, 0, sizeof *best);
	if (work->rule.axes == 0)
		return true;
	for (int a = 0; a < work->rule.axes; a++) {
		counts[a] = likely_sizes(work, a, likely[a]);
		if (counts[a] < 0)
			return false;
	}
	if (!try_likely(work, likely, counts, best))
		return false;
	if (best->place && 10 * best->explained >= 9 * work->links && best->placed == work->cabling->hosts)
		return true;
	return try_factors(work, sizes, 0, work->cabling->hosts, best);
}
