/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns other TNIs to the messages of a recorded run. An edge is the traffic from one VCQ to
 * another. It arrives at the TNI by which the target sends back, so that traffic to and from a
 * neighbour shares a queue. Small edges keep their TNI, because they are no part of the exchange.
 */
#include <stdlib.h>
#include <string.h>

#include "softofu/nic/carrier.h"
#include "softofu/replay/replay.h"

enum { LITTLE = 100 }; /* an edge is small if it carries less than this part of the largest */

struct tni_edge {
	uint64_t from, to, bytes;
	size_t order; /* of first use */
	/* Who sends, and who receives; a process has a CQ of its own. */
	int node, cq, there, cq_there;
	int tni, arrives;
	bool small;
};

static struct {
	struct tni_edge *edges;
	size_t count, room;
	size_t *slots; /* open addressing: an edge's number plus 1 */
	size_t slot_count;
} tnis;

static size_t edge_slot(uint64_t from, uint64_t to)
{
	size_t at = (size_t)((from * UINT64_C(0x9e3779b97f4a7c15) ^ to) * UINT64_C(0xff51afd7ed558ccd) >> 20);

	for (at %= tnis.slot_count; tnis.slots[at]; at = (at + 1) % tnis.slot_count) {
		const struct tni_edge *edge = &tnis.edges[tnis.slots[at] - 1];

		if (edge->from == from && edge->to == to)
			break;
	}
	return at;
}

static void grow_slots(void)
{
	free(tnis.slots);
	tnis.slot_count = 4 * tnis.count + 1021;
	tnis.slots = replay_memory(calloc(tnis.slot_count, sizeof *tnis.slots));
	for (size_t i = 0; i < tnis.count; i++)
		tnis.slots[edge_slot(tnis.edges[i].from, tnis.edges[i].to)] = i + 1;
}

size_t tnis_add(uint64_t from, uint64_t to, uint64_t bytes, const struct net_address ends[2])
{
	size_t slot;

	if (2 * tnis.count + 2 > tnis.slot_count)
		grow_slots();
	slot = edge_slot(from, to);
	if (!tnis.slots[slot]) {
		if (tnis.count == tnis.room) {
			tnis.room = 2 * tnis.room + 64;
			tnis.edges = replay_memory(realloc(tnis.edges, tnis.room * sizeof *tnis.edges));
		}
		tnis.edges[tnis.count] = (struct tni_edge){.from = from,
							   .to = to,
							   .order = tnis.count,
							   .node = ends[0].node,
							   .cq = ends[0].cq,
							   .there = ends[1].node,
							   .cq_there = ends[1].cq,
							   .tni = ends[0].tni,
							   .arrives = ends[1].tni};
		tnis.slots[slot] = ++tnis.count;
	}
	tnis.edges[tnis.slots[slot] - 1].bytes += bytes;
	return tnis.slots[slot] - 1;
}

void tnis_of(size_t edge, int *sends, int *arrives)
{
	*sends = tnis.edges[edge].tni;
	*arrives = tnis.edges[edge].arrives;
}

/* By node, process and first use; small edges are last. */
static int by_sender(const void *left, const void *right)
{
	const struct tni_edge *a = *(struct tni_edge *const *)left, *b = *(struct tni_edge *const *)right;

	if (a->small != b->small)
		return a->small - b->small;
	if (a->node != b->node)
		return a->node - b->node;
	if (a->cq != b->cq)
		return a->cq - b->cq;
	return (a->order > b->order) - (a->order < b->order);
}

static int by_volume(const void *left, const void *right)
{
	const struct tni_edge *a = *(struct tni_edge *const *)left, *b = *(struct tni_edge *const *)right;

	return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : by_sender(left, right);
}

/* Edges of one node: the largest first, each to the TNI with the least to send. */
static void balance_node(struct tni_edge **edges, size_t count, int tni_count)
{
	uint64_t load[NET_TNIS] = {0};

	qsort(edges, count, sizeof *edges, by_volume);
	for (size_t i = 0; i < count; i++) {
		int least = 0;

		for (int tni = 1; tni < tni_count; tni++)
			least = load[tni] < load[least] ? tni : least;
		edges[i]->tni = least;
		load[least] += edges[i]->bytes;
	}
}

/* The edges of one node, sorted: by process and first use. */
static void assign_node(struct tni_edge **edges, size_t count, enum tni_choice how, int tni_count)
{
	int direction = 0;

	if (how == TNIS_BALANCED) {
		balance_node(edges, count, tni_count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		direction = i > 0 && edges[i]->cq == edges[i - 1]->cq ? direction + 1 : 0;
		edges[i]->tni = (how == TNIS_BY_DIRECTION ? direction : (int)i) % tni_count;
	}
}

/* By sender, receiver and first use. */
static int by_ends(const void *left, const void *right)
{
	const struct tni_edge *a = *(struct tni_edge *const *)left, *b = *(struct tni_edge *const *)right;
	const int keys[4][2] = {{a->node, b->node}, {a->cq, b->cq}, {a->there, b->there}, {a->cq_there, b->cq_there}};

	for (int i = 0; i < 4; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] - keys[i][1];
	return (a->order > b->order) - (a->order < b->order);
}

static bool same_ends(const struct tni_edge *a, const struct tni_edge *b)
{
	return a->node == b->node && a->cq == b->cq && a->there == b->there && a->cq_there == b->cq_there;
}

/* First of the edges, sorted by ends, that go the other way; count: 0 if there is none. */
static struct tni_edge **find_reverse(struct tni_edge **sorted, size_t count, const struct tni_edge *edge)
{
	const struct tni_edge wanted = {.node = edge->there,
					.cq = edge->cq_there,
					.there = edge->node,
					.cq_there = edge->cq,
					.order = 0};
	const struct tni_edge *key = &wanted;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_ends(&sorted[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && same_ends(sorted[low], &wanted) ? &sorted[low] : NULL;
}

/*
 * If two processes are neighbours twice, the traffic upwards on one edge is answered on the other
 * edge from below.
 */
static void pair_edges(struct tni_edge **sorted, size_t count)
{
	size_t end;

	qsort(sorted, count, sizeof *sorted, by_ends);
	for (size_t i = 0; i < count; i = end) {
		struct tni_edge **back = find_reverse(sorted, count, sorted[i]);

		for (end = i; end < count && same_ends(sorted[i], sorted[end]);)
			end++;
		for (size_t j = i; j < end; j++) {
			struct tni_edge **other = back ? back + (end - 1 - j) : NULL;
			bool there = other && other < sorted + count && same_ends(*back, *other);

			sorted[j]->arrives = there ? (*other)->tni : sorted[j]->tni;
		}
	}
}

void tnis_assign(enum tni_choice how, int tni_count)
{
	struct tni_edge **sorted = replay_memory(malloc((tnis.count + 1) * sizeof *sorted));
	uint64_t largest = 0;
	size_t count = 0, end;

	for (size_t i = 0; i < tnis.count; i++)
		largest = tnis.edges[i].bytes > largest ? tnis.edges[i].bytes : largest;
	for (size_t i = 0; i < tnis.count; i++) {
		tnis.edges[i].small = tnis.edges[i].bytes < largest / LITTLE;
		sorted[i] = &tnis.edges[i];
	}
	qsort(sorted, tnis.count, sizeof *sorted, by_sender);
	while (count < tnis.count && !sorted[count]->small)
		count++;
	for (size_t i = 0; i < count; i = end) {
		for (end = i; end < count && sorted[end]->node == sorted[i]->node;)
			end++;
		assign_node(sorted + i, end - i, how, tni_count);
	}
	pair_edges(sorted, count);
	free(sorted);
}
