/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast.
 *
 * Small: pushed down a tree, straight into each member's dest, then a word: first between the
 * nodes, where the root acts for its node and the leader for any other; then on each node. A member
 * waits only for its own data. So the root, and with it a member's parent, may change in the next
 * broadcast while a word of this one is still under way. Each broadcast therefore has its own word,
 * chosen by its number, and all members run a barrier often enough that every outstanding broadcast
 * has one.
 *
 * Large: if the nodes are on a torus, down several trees at once that share no link
 * (comms/collectives/tree_collective.c), in which a parent waits until its child is ready. On other
 * networks a chain of the nodes, each forwarding segment after segment as it arrives. On a node all
 * members copy it directly from the one that has it.
 */
#include "collectives.h"

#include <string.h>

#include "comms/core/copy.h"
#include "comms/nodes/job_torus.h"
#include "comms/nodes/costs.h"

#define SEGMENT_LEAST (16UL << 10)
#define SEGMENT_MOST (128UL << 10)
#define SEGMENTS 4
#define FLAT_AT_MOST 4 /* members of a node that one notifies by itself */

/* The kinds of trees in the order of enum torus_trees. */
static enum { AUTO, TREE, PULL, TORUS, TORUS_KIND } broadcast_algorithm;

void api_broadcasts_start(void)
{
	broadcast_algorithm = setting_choice(SETTING_BROADCAST_ALGORITHM);
}

struct broadcast {
	const struct set *set;
	char *dest;
	const char *source; /* of my own data: the user's source on the root, else dest */
	size_t bytes;
	int root;
	_Atomic uint64_t *word;
	uint64_t number;
	struct set_trees trees; /* between nodes */
	uint64_t first_number;
};

/* The value of the word when so many segments have come. */
static uint64_t segment_flag(const struct broadcast *b, size_t count)
{
	return b->number << 24 | count;
}

static void hand_to(const struct broadcast *b, int pe, size_t at, size_t bytes, size_t segment)
{
	comms_put_notify(b->dest + at, b->source + at, bytes, (struct comms_flag){b->word, segment_flag(b, segment)},
			 pe, b->set->routine);
}

/*
 * PEs between which data goes down. The one at the top may not be the group's own member there: the
 * root for its leader.
 */
struct tree {
	const struct comms_group *group;
	int me, top, top_pe;
};

static int tree_pe(const struct tree *tree, int from_top)
{
	int n = tree->group->size, i = from_top < n - tree->top ? tree->top + from_top : from_top - (n - tree->top);

	return i == tree->top ? tree->top_pe : comms_group_pe(tree->group, i);
}

static int from_top(const struct tree *tree)
{
	return tree->me >= tree->top ? tree->me - tree->top : tree->me + tree->group->size - tree->top;
}

/*
 * Waits for the data. Where PEs share processors, who led the broadcast before is ahead of all
 * others and lets them run, but the others keep their processors while the one that has it runs
 * elsewhere: so processors switch at the same time, not in turn.
 */
static void await_first(const struct broadcast *b, const struct tree *tree, bool flat)
{
	if (flat && tree->group->oversubscribed && !b->set->team->led_broadcast)
		wait_for_one_elsewhere(b->word, segment_flag(b, 1), tree->top_pe);
	await_flag(b->word, segment_flag(b, 1));
}

/* Numbered from the top, a member's parent is its number without the highest bit. */
static void push_down(const struct broadcast *b, const struct tree *tree, bool flat)
{
	int n = tree->group->size, me = from_top(tree), step = 1;

	if (me != 0)
		await_first(b, tree, flat);
	b->set->team->led_broadcast = flat && me == 0;
	if (flat) {
		for (int i = 1; me == 0 && i < n; i++)
			hand_to(b, tree_pe(tree, i), 0, b->bytes, 1);
		return;
	}
	while (step <= me)
		step *= 2;
	for (; step < n - me; step *= 2)
		hand_to(b, tree_pe(tree, me + step), 0, b->bytes, 1);
}

/* The place on my node of who has the data first: the root or the leader. */
static int place_of_first(const struct comms_levels *levels, int root)
{
	int i = 0;

	if (levels->node_of[root] != levels->my_node)
		return 0;
	while (levels->places[levels->first[levels->my_node] + i] != root)
		i++;
	return i;
}

static struct tree tree_of_nodes(const struct set *set, int root)
{
	const struct comms_levels *levels = set->group->levels;

	if (!levels)
		return (struct tree){set->group, set->group->me, root, set_pe(set, root)};
	return (struct tree){&levels->leaders, levels->my_node, levels->node_of[root], set_pe(set, root)};
}

/* Where processors are shared, each member that hands on has to get one first. */
static bool notifies_all(const struct comms_group *node)
{
	return node->oversubscribed || node->size <= FLAT_AT_MOST;
}

/*
 * On a node, from the member at place top. First to the memory groups, where the node has several.
 */
static void push_on_node(const struct broadcast *b, const struct comms_group *node, int top)
{
	const struct comms_levels *parts = node->parts;
	struct tree all = {node, node->me, top, comms_group_pe(node, top)}, among, mine;

	if (!parts) {
		push_down(b, &all, notifies_all(node));
		return;
	}
	among = (struct tree){&parts->leaders, parts->my_node, parts->node_of[top], all.top_pe};
	mine = (struct tree){&parts->node, parts->node.me, place_of_first(parts, top), 0};
	mine.top_pe = comms_group_pe(&parts->node, mine.top);
	if (mine.me == mine.top)
		push_down(b, &among, notifies_all(&parts->leaders));
	push_down(b, &mine, notifies_all(&parts->node));
}

static void push_to_all(const struct broadcast *b)
{
	const struct comms_group *group = b->set->group;
	const struct comms_levels *levels = group->levels;
	struct tree nodes = tree_of_nodes(b->set, b->root);
	int first;

	if (!levels && group->on_node) {
		push_on_node(b, group, b->root);
		return;
	}
	first = levels ? place_of_first(levels, b->root) : group->me;
	if (!levels || levels->node.me == first)
		push_down(b, &nodes, false);
	if (levels)
		push_on_node(b, &levels->node, first);
}

/*
 * Short enough that the last nodes of a chain begin early, long enough that messages do not cost
 * more than bytes.
 */
static size_t segment_for(size_t bytes)
{
	size_t segment = (bytes / SEGMENTS + SEGMENT_LEAST - 1) / SEGMENT_LEAST * SEGMENT_LEAST;

	segment = segment > SEGMENT_LEAST ? segment : SEGMENT_LEAST;
	return segment < SEGMENT_MOST ? segment : SEGMENT_MOST;
}

static void send_along_chain(const struct broadcast *b, const struct tree *nodes)
{
	size_t segment = segment_for(b->bytes), count = 0;
	int me = from_top(nodes);

	for (size_t at = 0; at < b->bytes; at += segment) {
		size_t bytes = b->bytes - at < segment ? b->bytes - at : segment;

		count++;
		if (me != 0)
			await_flag(b->word, segment_flag(b, count));
		if (me + 1 < nodes->group->size)
			hand_to(b, tree_pe(nodes, me + 1), at, bytes, count);
	}
}

static void along_trees(const struct broadcast *b, const struct tree *nodes)
{
	const struct shmemx_team *team = b->set->team;
	struct torus_tree_collective collective = {
		.topology = team->topology,
		.kind = b->trees.tree_choice.kind,
		.disjoint = b->trees.disjoint,
		.root = team->topology->sites.place[nodes->top],
		.root_pe = nodes->top_pe,
		.number = b->first_number,
		.area = team_torus(team),
		.dest = b->dest,
		.source = b->source,
		.bytes = b->bytes,
		.segment = b->trees.tree_choice.segment,
		.routine = b->set->routine,
	};

	torus_tree_collective_run(&collective);
}

static void between_nodes(const struct broadcast *b, const struct tree *nodes)
{
	if (b->trees.tree_choice.trees > 0)
		along_trees(b, nodes);
	else
		send_along_chain(b, nodes);
}

/* On the root's node all can begin at once; on another, when the chain has come through. */
static void chain_and_pull(const struct broadcast *b)
{
	struct comms_group *group = b->set->group;
	struct comms_levels *levels = group->levels;
	struct tree nodes = tree_of_nodes(b->set, b->root);
	int first;

	if (!levels) {
		between_nodes(b, &nodes);
		return;
	}
	first = place_of_first(levels, b->root);
	if (nodes.me == nodes.top) {
		comms_node_barrier(group);
		if (levels->node.me == first)
			between_nodes(b, &nodes);
		else
			comms_get(b->dest, b->source, b->bytes, set_pe(b->set, b->root), b->set->routine);
	} else {
		if (levels->node.me == first)
			between_nodes(b, &nodes);
		comms_node_barrier(group);
		if (levels->node.me != first)
			comms_get(b->dest, b->dest, b->bytes, comms_group_pe(&levels->node, first), b->set->routine);
	}
	comms_node_barrier(group);
}

static void pull_from_root(const struct set *set, void *dest, const void *source, size_t bytes, int root)
{
	set_sync(set);
	if (set->group->me != root)
		comms_get(dest, source, bytes, set_pe(set, root), set->routine);
	set_sync(set);
}

static bool pushes(const struct set *set, size_t bytes)
{
	int nodes = set->group->levels ? set->group->levels->leaders.size : set->group->size;

	if (broadcast_algorithm == TREE || broadcast_algorithm == PULL)
		return broadcast_algorithm == TREE;
	if (set->group->on_node)
		return bytes <= torus_balanced_bytes(comms_costs_on_node());
	return torus_tree_beats_chain(nodes, bytes, segment_for(bytes), comms_costs_between_nodes());
}

/* The node of a member, by number. */
static int node_of_member(const struct set *set, int i)
{
	return set->group->levels ? set->group->levels->node_of[i] : i;
}

struct set_trees set_agree_on_broadcast_trees(const struct set *set, size_t bytes, int root)
{
	struct torus_topology *topology;
	struct torus_task task = {.bytes = bytes, .most_segments = TORUS_SEGMENTS};
	struct set_trees trees = {0};
	struct torus_costs by_routes;

	if (broadcast_algorithm == TREE || broadcast_algorithm == PULL || set->group->on_node)
		return trees;
	if (broadcast_algorithm == AUTO && (!torus_several_trees_may_pay(bytes, comms_costs_between_nodes()) ||
					    torus_job_logical(comms_ensure_torus())))
		return trees;
	set_prepare_topology(set);
	topology = set->team->topology;
	if (!topology)
		return trees;
	set_check_cables_before(set, bytes);
	by_routes = torus_topology_route_costs(topology);
	task.root = topology->sites.place[node_of_member(set, root)];
	trees.tree_choice =
		torus_topology_trees(topology,
				     broadcast_algorithm >= TORUS_KIND ? (int)(broadcast_algorithm - TORUS_KIND)
								       : TORUS_TREES_ANY,
				     &task);
	trees.disjoint = task.disjoint;
	if (broadcast_algorithm == AUTO &&
	    torus_binomial_seconds(topology->sites.nodes, bytes, &by_routes) < trees.tree_choice.seconds)
		trees.tree_choice.trees = 0;
	return trees;
}

static void broadcast_in_team(const struct set *set, void *dest, const void *source, size_t bytes, int root)
{
	uint64_t number = ++set->team->broadcasts;
	struct broadcast b = {set,	   dest, set->group->me == root ? source : dest, bytes, root, NULL, number,
			      {{0}, NULL}, 0};

	b.word = &team_scratch(set->team)->broadcast[number % BROADCASTS];
	comms_group_prepare(set->group);
	if (number % (BROADCASTS / 2) == 0)
		set_sync(set);
	b.trees = set_agree_on_broadcast_trees(set, bytes, root);
	if (b.trees.tree_choice.trees > 0)
		b.first_number = ++set->team->torus_collectives;
	if (b.trees.tree_choice.trees == 0 && pushes(set, bytes)) {
		push_to_all(&b);
	} else if (b.trees.tree_choice.trees == 0 && set->group->on_node) {
		pull_from_root(set, dest, source, bytes, root);
	} else {
		b.source = set->group->levels && set->group->levels->node_of[root] == set->group->levels->my_node
				   ? source
				   : b.source;
		chain_and_pull(&b);
	}
}

void set_broadcast(const struct set *set, void *dest, const void *source, size_t bytes, int root, bool root_too)
{
	set_note(set, dest, bytes, source, bytes);
	set_check_agreement(set, "the number of bytes", (long)bytes, "PE_root", root, dest);
	if (root < 0 || root >= set->group->size)
		rte_misuse(set->routine, "PE_root=%d: there are PEs 0 to %d", root, set->group->size - 1);
	if (bytes == 0 || rte_is_broken())
		return;
	set_check_overlap(set, (struct set_span){dest, bytes}, (struct set_span){source, bytes}, true);
	if (rte_is_broken())
		return;
	if (set->team)
		broadcast_in_team(set, dest, source, bytes, root);
	else
		pull_from_root(set, dest, source, bytes, root);
	/* Last, so that a source in the way of dest is out of use. */
	if (root_too && set->group->me == root && dest != source && !rte_is_broken())
		comms_copy_large(dest, source, bytes);
}
