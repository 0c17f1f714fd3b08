/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "fjmpi_topology.h"
#include "plan.h"

struct member {
	int rank, at[FJMPI_AXES];
	uint64_t key; /* position of its node on the path */
	int place;
};

/* An axis of the box is a ring if it is a whole ring of the machine. */
static void shape_box(struct plan_members *members, struct member *member, int me)
{
	int low[FJMPI_AXES], high[FJMPI_AXES], size[FJMPI_AXES] = {0}, ring[FJMPI_AXES] = {0};
	bool known = fjmpi_topology_system(me, size, ring) == 0;

	memcpy(low, member[0].at, sizeof low);
	memcpy(high, member[0].at, sizeof high);
	for (int i = 1; i < members->ranks; i++)
		for (int axis = 0; axis < FJMPI_AXES; axis++) {
			low[axis] = member[i].at[axis] < low[axis] ? member[i].at[axis] : low[axis];
			high[axis] = member[i].at[axis] > high[axis] ? member[i].at[axis] : high[axis];
		}
	members->box = (struct net_shape){.axes = FJMPI_AXES};
	for (int axis = 0; axis < FJMPI_AXES; axis++) {
		int length = high[axis] - low[axis] + 1;

		members->box.axis[axis] =
			(struct net_axis){length, known && ring[axis] && length > 2 && length == size[axis]};
		for (int i = 0; i < members->ranks; i++)
			member[i].at[axis] -= low[axis];
	}
}

/* The path goes back and forth along each axis, so that its next node is a neighbour. */
static void find_on_path(const struct net_shape *box, struct member *member)
{
	member->key = 0;
	for (int axis = 0; axis < FJMPI_AXES; axis++) {
		uint64_t size = (uint64_t)box->axis[axis].size, at = (uint64_t)member->at[axis];

		member->key = member->key * size + (member->key % 2 ? size - 1 - at : at);
	}
}

static int compare_members(const void *a, const void *b)
{
	const struct member *first = a, *second = b;

	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	return first->rank - second->rank;
}

/* Numbers nodes in the order. */
static void number_nodes(struct plan_members *members, const struct member *member)
{
	members->nodes = 0;
	for (int i = 0; i < members->ranks; i++) {
		if (i == 0 || member[i].key != member[i - 1].key) {
			members->leader[members->nodes] = member[i].rank;
			members->place[members->nodes++] = member[i].place;
		}
		members->order[i] = member[i].rank;
		members->position[member[i].rank] = i;
		members->node[member[i].rank] = members->nodes - 1;
	}
	members->leader[members->node[members->root]] = members->root;
}

static int find_places(struct plan_members *members, struct member *member, const struct plan_ids *ids, int me)
{
	for (int rank = 0; rank < members->ranks; rank++) {
		uint8_t at[FJMPI_AXES];
		utofu_tni_id_t tni;
		utofu_cq_id_t cq;
		uint16_t extra;

		if (utofu_query_vcq_info(ids[rank].vcq[0], at, &tni, &cq, &extra) != UTOFU_SUCCESS)
			return -1;
		member[rank].rank = rank;
		for (int axis = 0; axis < FJMPI_AXES; axis++)
			member[rank].at[axis] = at[axis];
	}
	shape_box(members, member, me);
	members->whole = net_shape_complete(&members->box);
	for (int rank = 0; rank < members->ranks; rank++) {
		find_on_path(&members->box, &member[rank]);
		member[rank].place = members->whole ? net_place_at(&members->box, member[rank].at) : 0;
	}
	return 0;
}

int plan_members_find(struct plan_members *members, const struct plan_ids *ids, const struct fjmpi_plan_call *call)
{
	size_t ranks = (size_t)call->ranks;
	struct member *member = calloc(ranks, sizeof *member);
	int *words = calloc(ranks * 6, sizeof *words), code;

	*members = (struct plan_members){.ranks = call->ranks, .root = call->root};
	members->order = words;
	code = member && words ? find_places(members, member, ids, call->me) : -1;
	if (code == 0) {
		members->position = words + ranks;
		members->node = words + 2 * ranks;
		members->leader = words + 3 * ranks;
		members->place = words + 4 * ranks;
		members->node_at = words + 5 * ranks;
		qsort(member, ranks, sizeof *member, compare_members);
		number_nodes(members, member);
		members->whole = members->whole && members->nodes == members->box.places;
		for (int node = 0; node < members->nodes && members->whole; node++)
			members->node_at[members->place[node]] = node;
	}
	free(member);
	return code;
}

void plan_members_free(struct plan_members *members)
{
	free(members->order);
}

/* The axes longer than 1, in order; returns their number. */
static int long_axes(const struct net_shape *box, int axes[NET_AXES])
{
	int count = 0;

	for (int axis = 0; axis < box->axes; axis++)
		if (box->axis[axis].size > 1)
			axes[count++] = axis;
	return count;
}

int plan_members_trees(const struct plan_members *members)
{
	int axes[NET_AXES], trees = members->whole ? long_axes(&members->box, axes) : 1;

	return trees > 0 ? trees : 1;
}

/*
 * The parent of a place in a tree of the box, which is not its root. A place differs from the root
 * along some axes. Where it does along the tree's own axis, it receives from the neighbour nearer
 * to the root along the next such axis after that, cyclically, with the own one last. Elsewhere it
 * receives along the own axis, from above, or at the upper end of a mesh from below. So a place
 * receives each tree along a different axis.
 */
static int parent_in_box(const struct net_shape *box, int root, int tree, int place)
{
	int axes[NET_AXES] = {0}, count = long_axes(box, axes), chosen = axes[tree], above, steps;

	above = net_neighbour(box, place, 2 * chosen);
	if (net_coordinate(box, place, chosen) == net_coordinate(box, root, chosen))
		return above >= 0 ? above : net_neighbour(box, place, 2 * chosen + 1);
	for (int i = count - 1; i > 0; i--) {
		int axis = axes[(tree + i) % count];

		if (net_coordinate(box, place, axis) != net_coordinate(box, root, axis))
			chosen = axis;
	}
	steps = net_steps(&box->axis[chosen], net_coordinate(box, root, chosen), net_coordinate(box, place, chosen));
	return net_neighbour(box, place, 2 * chosen + (steps > 0));
}

/* In a binomial tree along the order, beginning at the root's node. */
static int parent_in_order(const struct plan_members *members, int node)
{
	int root = members->node[members->root], from_root = (node - root + members->nodes) % members->nodes;

	return ((from_root & (from_root - 1)) + root) % members->nodes;
}

int plan_members_parent(const struct plan_members *members, int tree, int rank)
{
	int node = members->node[rank], root = members->node[members->root];

	if (members->leader[node] != rank)
		return members->leader[node];
	if (node == root)
		return -1;
	if (members->whole)
		return members->leader[members->node_at[parent_in_box(&members->box, members->place[root], tree,
								      members->place[node])]];
	return members->leader[parent_in_order(members, node)];
}

int plan_members_children(const struct plan_members *members, int trees, int rank, int *list)
{
	int count = 0;

	for (int other = 0; other < members->ranks; other++)
		for (int tree = 0; tree < trees; tree++)
			if (plan_members_parent(members, tree, other) == rank) {
				list[count++] = other;
				break;
			}
	return count;
}

/*
 * The places that a place notifies, by round: along one axis after the other those 1, 2, 4 ...
 * further on. So no notification goes further than half a ring.
 */
static int notified_in_box(const struct net_shape *box, int place, int notified[PLAN_ROUNDS])
{
	int rounds = 0;

	for (int axis = 0; axis < box->axes; axis++) {
		int size = box->axis[axis].size, at = net_coordinate(box, place, axis);

		for (int step = 1; step < size && rounds < PLAN_ROUNDS; step *= 2)
			notified[rounds++] = place + ((at + step) % size - at) * box->stride[axis];
	}
	return rounds;
}

static int rounds_in_box(const struct plan_members *members, int node, int to[PLAN_ROUNDS], int from[PLAN_ROUNDS])
{
	int notified[PLAN_ROUNDS], rounds = notified_in_box(&members->box, members->place[node], notified);

	for (int round = 0; round < rounds; round++)
		to[round] = members->node_at[notified[round]];
	for (int place = 0; place < members->box.places; place++) {
		notified_in_box(&members->box, place, notified);
		for (int round = 0; round < rounds; round++)
			if (notified[round] == members->place[node])
				from[round] = members->node_at[place];
	}
	return rounds;
}

int plan_members_rounds(const struct plan_members *members, int node, int to[PLAN_ROUNDS], int from[PLAN_ROUNDS])
{
	int rounds = 0, nodes = members->nodes;

	if (members->whole)
		return rounds_in_box(members, node, to, from);
	for (int step = 1; step < nodes; step *= 2) {
		to[rounds] = (node + step) % nodes;
		from[rounds++] = (node + nodes - step) % nodes;
	}
	return rounds;
}
