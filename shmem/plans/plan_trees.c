/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that move data down trees between nodes in a plan (a binomial tree, a chain, or the
 * trees of a torus), and from the leader of a node to its other PEs.
 */
#include "plans.h"

/* --- Nodes --- */

struct nodes plan_nodes(const struct maker *m)
{
	const struct comms_group *group = m->set.group;
	struct nodes nodes = {.set = &m->set, .count = group->size, .mine = group->me, .size = 1};

	if (m->near && group->levels) {
		nodes.levels = group->levels;
		nodes.count = group->levels->leaders.size;
		nodes.mine = group->levels->my_node;
		nodes.size = group->levels->node.size;
		nodes.place = group->levels->node.me;
	} else if (m->near && group->on_node) {
		nodes.count = 1;
		nodes.mine = 0;
		nodes.size = group->size;
		nodes.place = group->me;
	}
	return nodes;
}

static bool all_on_one(const struct nodes *nodes)
{
	return nodes->count == 1 && !nodes->levels;
}

int plan_node_of(const struct nodes *nodes, int member)
{
	if (nodes->levels)
		return nodes->levels->node_of[member];
	return all_on_one(nodes) ? 0 : member;
}

int plan_node_pe(const struct nodes *nodes, int place)
{
	if (nodes->levels)
		return comms_group_pe(&nodes->levels->node, place);
	return set_pe(nodes->set, all_on_one(nodes) ? place : nodes->mine);
}

int plan_first(const struct nodes *nodes, int root)
{
	int place = 0;

	if (root < 0 || plan_node_of(nodes, root) != nodes->mine)
		return 0;
	while (plan_node_pe(nodes, place) != set_pe(nodes->set, root))
		place++;
	return place;
}

/* The leader of a node. */
static int pe_of_node(const struct tree_set *tree_set, int node)
{
	const struct nodes *nodes = tree_set->nodes;

	if (node == tree_set->root)
		return tree_set->root_pe;
	return nodes->levels ? comms_group_pe(&nodes->levels->leaders, node) : set_pe(nodes->set, node);
}

/* --- Trees --- */

static int node_below_root(const struct tree_set *tree_set, int below)
{
	return (tree_set->root + below) % tree_set->nodes->count;
}

static struct tree_edge tree_edge_to(const struct tree_set *tree_set, int below, int port)
{
	return (struct tree_edge){pe_of_node(tree_set, node_below_root(tree_set, below)), port};
}

static void grow_chain(const struct tree_set *tree_set, int me, struct tree_node *tree_node)
{
	if (me > 0)
		tree_node->parent = tree_edge_to(tree_set, me - 1, 0);
	if (me + 1 < tree_set->nodes->count)
		tree_node->child[tree_node->children++] = tree_edge_to(tree_set, me + 1, 0);
}

/*
 * In numbering from the root, a node's parent is its number without the highest bit; that bit gives
 * the port.
 */
static void grow_binomial(const struct tree_set *tree_set, int me, struct tree_node *tree_node)
{
	int bit = 0;

	while (me >> bit)
		bit++;
	if (me > 0)
		tree_node->parent = tree_edge_to(tree_set, me - (1 << (bit - 1)), bit - 1);
	for (; me + (1L << bit) < tree_set->nodes->count; bit++)
		tree_node->child[tree_node->children++] = tree_edge_to(tree_set, me + (1 << bit), bit);
}

static void grow_on_torus(const struct tree_set *tree_set, int tree, struct tree_node *tree_node)
{
	const struct torus_topology *topology = tree_set->topology;
	int root = tree_set->tree_set.root, places[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS], direction;
	int parent = torus_tree_set_parent(&tree_set->tree_set, tree, topology->me, &direction);

	if (parent >= 0)
		tree_node->parent =
			(struct tree_edge){parent == root ? tree_set->root_pe : topology->pe[parent], direction};
	tree_node->children = torus_tree_set_children(&tree_set->tree_set, tree, topology->me, places, directions);
	for (int i = 0; i < tree_node->children; i++)
		tree_node->child[i] =
			(struct tree_edge){places[i] == root ? tree_set->root_pe : topology->pe[places[i]],
					   directions[i]};
}

void plan_tree_set_on_torus(struct tree_set *tree_set, const struct set_trees *trees)
{
	const struct torus_topology *topology = tree_set->nodes->set->team->topology;

	tree_set->kind = TORUS;
	tree_set->trees = trees->tree_choice.trees;
	tree_set->segment = trees->tree_choice.segment;
	tree_set->topology = topology;
	tree_set->tree_set = (struct torus_tree_set){&topology->sites.shape, trees->tree_choice.kind,
						     topology->sites.place[tree_set->root], trees->disjoint};
}

struct tree_node plan_tree_node(const struct tree_set *tree_set, int tree)
{
	int count = tree_set->nodes->count, me = (tree_set->nodes->mine - tree_set->root + count) % count;
	struct tree_node tree_node = {.parent.pe = -1};

	tree_node.at = torus_part_begin(tree_set->bytes, tree_set->trees, tree);
	tree_node.bytes = torus_part_begin(tree_set->bytes, tree_set->trees, tree + 1) - tree_node.at;
	tree_node.segments = (tree_node.bytes + tree_set->segment - 1) / tree_set->segment;
	if (tree_node.bytes == 0)
		return tree_node;
	if (tree_set->kind == TORUS)
		grow_on_torus(tree_set, tree, &tree_node);
	else if (tree_set->kind == CHAIN)
		grow_chain(tree_set, me, &tree_node);
	else
		grow_binomial(tree_set, me, &tree_node);
	return tree_node;
}

size_t plan_tree_set_directions(const struct tree_set *tree_set)
{
	size_t directions = 0;

	if (tree_set->kind == TORUS)
		return 2 * (size_t)tree_set->topology->sites.shape.axes;
	if (tree_set->kind == CHAIN)
		return 1;
	while (1L << directions < tree_set->nodes->count)
		directions++;
	return directions;
}

/* --- Going down --- */

/* Segment i of n has arrived from the parent or, at the root, is ready to be sent. */
static struct when segment_is_ready(const struct maker *m, const struct tree_node *tree_node, int tree, size_t i,
				    bool counted)
{
	int64_t n = (int64_t)tree_node->segments, nth = (int64_t)i + 1;

	if (tree_node->parent.pe >= 0)
		return (struct when){&m->plan->ports[PORTS_DOWN + tree_node->parent.port].came[i % CAME], n, nth};
	return counted ? (struct when){&m->plan->ports[tree].own, n, nth} : AT_ONCE;
}

/* One tree of a plan_down, at this PE. */
struct tree_down {
	struct maker *m;
	const struct tree_set *tree_set;
	int tree;
	struct tree_node node;
	char *dest;
	const char *source; /* here: the user's at the root, otherwise dest */
	bool ask, counted;
};

static void feed_child(const struct tree_down *down, struct tree_edge child)
{
	size_t port = PORTS_DOWN + (size_t)child.port, segments = down->node.segments;
	struct port *theirs = plan_port(down->m, child.pe, port);
	int queue = plan_queue(down->m);

	if (down->ask)
		plan_await(down->m, queue, (struct when){&down->m->plan->ports[port].answer, 1, 1});
	for (size_t i = 0; i < segments; i++) {
		size_t at = down->node.at + i * down->tree_set->segment;

		plan_put(down->m, queue, segment_is_ready(down->m, &down->node, down->tree, i, down->counted), child.pe,
			 (struct comms_piece){down->dest + at, down->source + at,
					      tree_node_bytes(down->tree_set, &down->node, i)},
			 (struct when){&theirs->came[i % CAME], (int64_t)segments, (int64_t)i + 1});
	}
}

void plan_down(struct maker *m, const struct tree_set *tree_set, char *dest, const char *source, bool ask, bool counted)
{
	for (int t = 0; t < tree_set->trees; t++) {
		struct tree_down down = {m, tree_set, t, plan_tree_node(tree_set, t), dest, source, ask, counted};
		struct tree_edge parent = down.node.parent;

		if (parent.pe >= 0)
			down.source = dest;
		if (ask && parent.pe >= 0)
			plan_notify(m, plan_queue(m), parent.pe,
				    (struct when){&plan_port(m, parent.pe, PORTS_DOWN + (size_t)parent.port)->answer, 1,
						  1});
		for (int c = 0; c < down.node.children; c++)
			feed_child(&down, down.node.child[c]);
	}
}

/* Waits for the last change of each word. */
void plan_await_down(struct maker *m, int queue, const struct tree_set *tree_set, bool counted)
{
	for (int t = 0; t < tree_set->trees; t++) {
		struct tree_node tree_node = plan_tree_node(tree_set, t);

		for (size_t i = tree_node.segments > CAME ? tree_node.segments - CAME : 0; i < tree_node.segments; i++)
			if (segment_is_ready(m, &tree_node, t, i, counted).word)
				plan_await(m, queue, segment_is_ready(m, &tree_node, t, i, counted));
	}
}

/* --- On a node --- */

void plan_share(struct maker *m, const struct nodes *nodes, int first, int queue, struct comms_piece data)
{
	int first_pe = plan_node_pe(nodes, first);
	struct port *mine = &m->plan->ports[PORTS_NODE];

	if (nodes->place != first) {
		queue = plan_queue(m);
		plan_copy(m, queue, (struct when){&mine[first].came[2], 1, 1}, data.dest,
			  plan_here(m, data.source, first_pe), data.bytes);
		plan_notify(m, queue, first_pe,
			    (struct when){&plan_port(m, first_pe, PORTS_NODE + (size_t)nodes->place)->answer, 1, 1});
		return;
	}
	for (int i = 0; i < nodes->size; i++)
		if (i != first)
			plan_notify(m, queue, plan_node_pe(nodes, i),
				    (struct when){&plan_port(m, plan_node_pe(nodes, i), PORTS_NODE + (size_t)first)
							   ->came[2],
						  1, 1});
	for (int i = 0; i < nodes->size; i++)
		if (i != first)
			plan_await(m, queue, (struct when){&mine[i].answer, 1, 1});
}
