/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast between nodes by the NIC, if possible: its work at this PE, and what other PEs must
 * know. Either all members use it or none: they agree while they make the plan.
 */
#include "plans.h"

#include <string.h>

#include "comms/plans/offload.h"

/* Each PE publishes its queues in two of its ports, and has a word for each tree in others. */
enum { PORT_IDS = 16, PORT_IDS_END = 20 };
_Static_assert(COMMS_SESSION_TREES <= PORT_IDS && (int)PORT_IDS_END <= (int)PORTS_UP, "ports are not used twice");
_Static_assert((PORT_IDS_END - PORT_IDS) * sizeof(struct port) >= sizeof(struct comms_session_shown), "all have room");

/* Segments as long as a tree allows, the same on all PEs. */
static struct tree_set in_few_segments(const struct tree_set *tree_set)
{
	struct tree_set coarse = *tree_set;
	size_t part = (tree_set->bytes + (size_t)tree_set->trees - 1) / (size_t)tree_set->trees;
	size_t least = (part + 63) / COMMS_SESSION_SEGMENTS / 64 * 64 + 64;

	if (coarse.segment < least)
		coarse.segment = least;
	return coarse;
}

/* A small amount goes to the first of them. */
static int trees_with_data(const struct tree_set *tree_set)
{
	int trees = 0;

	while (trees < tree_set->trees && plan_tree_node(tree_set, trees).bytes > 0)
		trees++;
	return trees;
}

static bool trees_fit(const struct tree_set *tree_set, int trees)
{
	for (int t = 0; t < trees; t++) {
		struct tree_node tree_node = plan_tree_node(tree_set, t);

		if (tree_node.segments > COMMS_SESSION_SEGMENTS || tree_node.children > COMMS_SESSION_CHILDREN)
			return false;
	}
	return true;
}

static bool nic_is_wanted(const struct maker *m, const struct tree_set *tree_set)
{
	return plan_wants_nic(m) && tree_set->trees <= COMMS_SESSION_TREES;
}

static _Atomic uint64_t *tree_flag(struct maker *m, int pe, int tree)
{
	return &plan_port(m, pe, (size_t)tree)->came[0];
}

static struct comms_session_shown published_queues(struct maker *m, int pe)
{
	struct comms_session_shown shown = {0};

	comms_get(&shown, plan_port(m, pe, PORT_IDS), sizeof shown, pe, m->set.routine);
	return shown;
}

static struct comms_session_tree make_session_tree(struct maker *m, const struct tree_set *tree_set, int tree,
						   char *dest, const char *source)
{
	struct tree_node tree_node = plan_tree_node(tree_set, tree);
	struct comms_session_tree session_tree = {
		.is_root = tree_node.parent.pe < 0,
		.dest = dest + tree_node.at,
		.source = source + tree_node.at,
		.bytes = tree_node.bytes,
		.segment = tree_set->segment,
		.word = tree_flag(m, comms.pe, tree),
		.children = tree_node.children,
	};

	for (int c = 0; c < tree_node.children; c++) {
		int pe = tree_node.child[c].pe;
		struct comms_session_shown shown = published_queues(m, pe);

		session_tree.child[c] = (struct comms_session_child){
			.pe = pe,
			.queue = shown.queue[tree],
			.word = tree_flag(m, pe, tree),
			.lets_go = shown.lets_go[tree],
		};
	}
	return session_tree;
}

static void write_session(struct maker *m, const struct tree_set *tree_set, int trees, struct comms_session *session,
			  char *dest, const char *source)
{
	struct comms_session_tree session_trees[COMMS_SESSION_TREES];
	struct tree_node first = plan_tree_node(tree_set, 0);
	struct comms_readiness ready = {
		.children = first.children,
		.parent = first.parent.pe,
	};

	for (int t = 0; t < trees; t++)
		session_trees[t] = make_session_tree(m, tree_set, t, dest, source);
	if (ready.parent >= 0)
		ready.queue = published_queues(m, ready.parent).queue[trees];
	comms_session_write(session, session_trees, &ready);
}

static struct comms_session *open_session(struct maker *m, const struct tree_set *tree_set, int trees)
{
	struct comms_session_shown shown = {0};
	int children[COMMS_SESSION_TREES];
	struct comms_session *session;

	for (int t = 0; t < trees; t++)
		children[t] = plan_tree_node(tree_set, t).children;
	session = comms_session_open(trees, children, &shown);
	if (session)
		memcpy(&m->plan->ports[PORT_IDS], &shown, sizeof shown);
	return session;
}

bool plan_down_by_nic(struct maker *m, const struct tree_set *tree_set, bool stands, int queue, char *dest,
		      const char *source)
{
	struct tree_set coarse = in_few_segments(tree_set);
	int trees = trees_with_data(&coarse);
	struct comms_session *session = NULL;

	if (!nic_is_wanted(m, &coarse))
		return false;
	if (stands && trees_fit(&coarse, trees))
		session = open_session(m, &coarse, trees);
	/* After this all others have published theirs, too. */
	if (set_max(&m->set, stands && !session)) {
		if (session)
			comms_session_close(session);
		memset(m->plan->ports, 0, PORTS_UP * sizeof *m->plan->ports);
		return false;
	}
	if (!stands)
		return true;
	write_session(m, &coarse, trees, session, dest, source);
	plan_by_nic(m, queue, session);
	for (int t = 0; t < trees; t++)
		if (plan_tree_node(&coarse, t).parent.pe >= 0)
			plan_await(m, queue, (struct when){tree_flag(m, comms.pe, t), 1, 1});
	plan_nic_is_done(m, queue);
	return true;
}
