/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How data goes between nodes in a plan: one tree down which it goes at once, a chain, or the trees of a torus; and from the PE that
 * stands for a node to the others there.
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

/* Who stands for a node. */
static int pe_of_node(const struct wood *wood, int node)
{
	const struct nodes *nodes = wood->nodes;

	if (node == wood->root)
		return wood->root_pe;
	return nodes->levels ? comms_group_pe(&nodes->levels->leaders, node) : set_pe(nodes->set, node);
}

/* --- Trees --- */

static int node_below_root(const struct wood *wood, int below)
{
	return (wood->root + below) % wood->nodes->count;
}

static struct limb limb_to(const struct wood *wood, int below, int port)
{
	return (struct limb){pe_of_node(wood, node_below_root(wood, below)), port};
}

static void grow_chain(const struct wood *wood, int me, struct bough *bough)
{
	if (me > 0)
		bough->parent = limb_to(wood, me - 1, 0);
	if (me + 1 < wood->nodes->count)
		bough->child[bough->children++] = limb_to(wood, me + 1, 0);
}

/* Numbered from the root, a node's parent is its number without the highest bit; the port is that bit's. */
static void grow_binomial(const struct wood *wood, int me, struct bough *bough)
{
	int bit = 0;

	while (me >> bit)
		bit++;
	if (me > 0)
		bough->parent = limb_to(wood, me - (1 << (bit - 1)), bit - 1);
	for (; me + (1L << bit) < wood->nodes->count; bit++)
		bough->child[bough->children++] = limb_to(wood, me + (1 << bit), bit);
}

static void grow_on_torus(const struct wood *wood, int tree, struct bough *bough)
{
	const struct torus_ground *ground = wood->ground;
	int root = wood->grove.root, places[TORUS_WAYS], ways[TORUS_WAYS], way;
	int parent = torus_grove_parent(&wood->grove, tree, ground->me, &way);

	if (parent >= 0)
		bough->parent = (struct limb){parent == root ? wood->root_pe : ground->pe[parent], way};
	bough->children = torus_grove_children(&wood->grove, tree, ground->me, places, ways);
	for (int i = 0; i < bough->children; i++)
		bough->child[i] = (struct limb){places[i] == root ? wood->root_pe : ground->pe[places[i]], ways[i]};
}

void plan_wood_on_torus(struct wood *wood, const struct set_trees *trees)
{
	const struct torus_ground *ground = wood->nodes->set->team->ground;

	wood->kind = TORUS;
	wood->trees = trees->forest.trees;
	wood->segment = trees->forest.segment;
	wood->ground = ground;
	wood->grove = (struct torus_grove){&ground->sites.shape, trees->forest.kind, ground->sites.place[wood->root], trees->packing};
}

struct bough plan_bough(const struct wood *wood, int tree)
{
	int count = wood->nodes->count, me = (wood->nodes->mine - wood->root + count) % count;
	struct bough bough = {.parent.pe = -1};

	bough.at = torus_part_begin(wood->bytes, wood->trees, tree);
	bough.bytes = torus_part_begin(wood->bytes, wood->trees, tree + 1) - bough.at;
	bough.segments = (bough.bytes + wood->segment - 1) / wood->segment;
	if (bough.bytes == 0)
		return bough;
	if (wood->kind == TORUS)
		grow_on_torus(wood, tree, &bough);
	else if (wood->kind == CHAIN)
		grow_chain(wood, me, &bough);
	else
		grow_binomial(wood, me, &bough);
	return bough;
}

size_t plan_wood_ways(const struct wood *wood)
{
	size_t ways = 0;

	if (wood->kind == TORUS)
		return 2 * (size_t)wood->ground->sites.shape.axes;
	if (wood->kind == CHAIN)
		return 1;
	while (1L << ways < wood->nodes->count)
		ways++;
	return ways;
}

/* --- Down --- */

/* Segment i of n has come from the parent, or is there to be sent. */
static struct when segment(const struct maker *m, const struct bough *bough, int tree, size_t i, bool counted)
{
	int64_t n = (int64_t)bough->segments, nth = (int64_t)i + 1;

	if (bough->parent.pe >= 0)
		return (struct when){&m->plan->ports[PORTS_DOWN + bough->parent.port].came[i % CAME], n, nth};
	return counted ? (struct when){&m->plan->ports[tree].own, n, nth} : AT_ONCE;
}

static void feed(struct maker *m, const struct wood *wood, int tree, const struct bough *bough, struct limb child, char *dest,
		 const char *from, bool ask, bool counted)
{
	size_t port = PORTS_DOWN + (size_t)child.port;
	struct port *theirs = plan_port(m, child.pe, port);
	int queue = plan_queue(m);

	if (ask)
		plan_await(m, queue, (struct when){&m->plan->ports[port].answer, 1, 1});
	for (size_t i = 0; i < bough->segments; i++) {
		size_t at = bough->at + i * wood->segment;

		plan_put(m, queue, segment(m, bough, tree, i, counted), child.pe, dest + at, from + at, bough_bytes(wood, bough, i),
			 (struct when){&theirs->came[i % CAME], (int64_t)bough->segments, (int64_t)i + 1});
	}
}

void plan_down(struct maker *m, const struct wood *wood, char *dest, const char *source, bool ask, bool counted)
{
	for (int t = 0; t < wood->trees; t++) {
		struct bough bough = plan_bough(wood, t);

		if (ask && bough.parent.pe >= 0)
			plan_notify(m, plan_queue(m), bough.parent.pe,
				  (struct when){&plan_port(m, bough.parent.pe, PORTS_DOWN + (size_t)bough.parent.port)->answer, 1, 1});
		for (int c = 0; c < bough.children; c++)
			feed(m, wood, t, &bough, bough.child[c], dest, bough.parent.pe < 0 ? source : dest, ask, counted);
	}
}

/* Of each word the last time that it counts. */
void plan_await_down(struct maker *m, int queue, const struct wood *wood, bool counted)
{
	for (int t = 0; t < wood->trees; t++) {
		struct bough bough = plan_bough(wood, t);

		for (size_t i = bough.segments > CAME ? bough.segments - CAME : 0; i < bough.segments; i++)
			if (segment(m, &bough, t, i, counted).word)
				plan_await(m, queue, segment(m, &bough, t, i, counted));
	}
}

/* --- On a node --- */

void plan_share(struct maker *m, const struct nodes *nodes, int first, int queue, char *dest, const char *source, size_t bytes)
{
	int first_pe = plan_node_pe(nodes, first);
	struct port *mine = &m->plan->ports[PORTS_NODE];

	if (nodes->place != first) {
		queue = plan_queue(m);
		plan_copy(m, queue, (struct when){&mine[first].came[2], 1, 1}, dest, plan_here(m, source, first_pe), bytes);
		plan_notify(m, queue, first_pe,
			  (struct when){&plan_port(m, first_pe, PORTS_NODE + (size_t)nodes->place)->answer, 1, 1});
		return;
	}
	for (int i = 0; i < nodes->size; i++)
		if (i != first)
			plan_notify(m, queue, plan_node_pe(nodes, i),
				  (struct when){&plan_port(m, plan_node_pe(nodes, i), PORTS_NODE + (size_t)first)->came[2], 1, 1});
	for (int i = 0; i < nodes->size; i++)
		if (i != first)
			plan_await(m, queue, (struct when){&mine[i].answer, 1, 1});
}
