/* SPDX-License-Identifier: BSD-3-Clause */
#include "cable_routes.h"

#include <stdlib.h>
#include <string.h>

static int compare_ranks(const void *left, const void *right)
{
	const struct torus_cable_end *one = left, *other = right;

	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return (one->cable > other->cable) - (one->cable < other->cable);
}

static void list_ends(struct torus_cables *cables, const struct torus_cable_between *between, int count)
{
	for (int i = 0; i < count; i++)
		for (int side = 0; side < 2; side++)
			cables->first[between[i].node[side] + 1]++;
	for (int n = 0; n < cables->nodes; n++)
		cables->first[n + 1] += cables->first[n];
	/* From the back, so that each `first` ends where it belongs. */
	for (int i = count - 1; i >= 0; i--)
		for (int side = 0; side < 2; side++) {
			int node = between[i].node[side];

			cables->end[--cables->first[node + 1]] =
				(struct torus_cable_end){i, between[i].node[!side], between[i].rank[side]};
		}
	memmove(cables->first, cables->first + 1, (size_t)cables->nodes * sizeof *cables->first);
	cables->first[cables->nodes] = 2 * count;
	for (int n = 0; n < cables->nodes; n++)
		qsort(cables->end + cables->first[n], (size_t)(cables->first[n + 1] - cables->first[n]),
		      sizeof *cables->end, compare_ranks);
}

bool torus_cables_make(struct torus_cables *cables, int nodes, const struct torus_cable_between *between, int count)
{
	cables->nodes = nodes;
	cables->first = calloc((size_t)nodes + 1, sizeof *cables->first);
	cables->end = calloc((size_t)(2 * count) + 1, sizeof *cables->end);
	if (!cables->first || !cables->end) {
		torus_cables_free(cables);
		return false;
	}
	list_ends(cables, between, count);
	return true;
}

void torus_cables_free(struct torus_cables *cables)
{
	free(cables->first);
	free(cables->end);
	memset(cables, 0, sizeof *cables);
}

int torus_cables_distances(const struct torus_cables *cables, int to, int *distance, int *queue)
{
	int longest = 0, begin = 0, end = 0;

	for (int n = 0; n < cables->nodes; n++)
		distance[n] = -1;
	distance[to] = 0;
	queue[end++] = to;
	while (begin < end) {
		int at = queue[begin++];

		longest = distance[at];
		for (int i = cables->first[at]; i < cables->first[at + 1]; i++) {
			int other = cables->end[i].other;

			if (distance[other] >= 0)
				continue;
			distance[other] = distance[at] + 1;
			queue[end++] = other;
		}
	}
	return longest;
}

const struct torus_cable_end *torus_cables_next(const struct torus_cables *cables, const int *distance, int node, int n)
{
	const struct torus_cable_end *found = NULL;

	for (int i = cables->first[node]; i < cables->first[node + 1]; i++) {
		const struct torus_cable_end *end = &cables->end[i];

		if (distance[node] <= 0 || distance[end->other] != distance[node] - 1)
			continue;
		if (!found)
			found = end;
		if (end->other == found->other && n-- == 0)
			return end;
	}
	return NULL;
}
