/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions. Members of a team exchange small ones as a whole (reduce_small.c) and share the work
 * of large ones.
 *
 * On a node, each member combines a part of everybody's source and writes it to everybody's dest.
 * This works in place, too: only its owner reads and writes a part. Between nodes, the leaders
 * (with their nodes' results in dest) or all members reduce a part each of everybody's dest in
 * their own, and then take the other parts from the others. Every part is computed once, so all
 * members have the same bits.
 *
 * On a torus of nodes, the model may prefer trees: each part goes up one of them, combined on the
 * way, and from the root down again, both at the same time (comms/collectives/tree_up.c). Or it may
 * prefer rings: each node reduces a part by the rings of all axes, and then all parts go round
 * (comms/collectives/torus_allreduce.c). set_agree_on_reduce_trees and set_agree_on_ring_allreduce
 * make the choice.
 */
#include "reduce.h"

#include <stdlib.h>

#include "comms/core/copy.h"
#include "comms/collectives/torus_allreduce.h"
#include "comms/collectives/torus_lines_allreduce.h"
#include "comms/nodes/job_torus.h"
#include "comms/nodes/costs.h"

/*
 * Doubling takes a byte through a slot, which costs so many times what parts cost, which read it
 * where it lies and need two barriers.
 */
#define SLOTTED 4
#define STRIP 8192 /* bytes combined at a time, while they are in the nearest cache */

/* The kinds of trees in the order of enum torus_trees. */
static enum { AUTO, DOUBLING, PARTS, LINES, RINGS, TORUS, TORUS_KIND } reduce_algorithm;

void api_reductions_start(void)
{
	reduce_algorithm = setting_choice(SETTING_REDUCE_ALGORITHM);
}

/* The elements are divided evenly among the members: where the part of member i begins. */
static size_t first_of_part(const struct set *set, size_t count, int i)
{
	size_t n = (size_t)set->group->size, each = count / n, left = count % n;

	return each * (size_t)i + ((size_t)i < left ? (size_t)i : left);
}

/*
 * For members whose memory this PE can load and store: combines elements first to first + count of
 * all members' sources, and writes the result to the dests of the takers.
 */
static void combine_strip(const struct reduction *r, size_t first, size_t count, const struct set *takers)
{
	_Alignas(64) char sum[STRIP];
	const struct comms_group *node = r->set->group;

	if (r->narrow) {
		narrow_combine_strip(r, first, count, takers);
		return;
	}
	comms_copy_large(sum, set_memory_of(r->source, set_pe(r->set, 0)) + first * r->size, count * r->size);
	for (int i = 1; i < node->size; i++)
		r->combine(sum, sum, set_memory_of(r->source, set_pe(r->set, i)) + first * r->size, count);
	for (int i = 0; i < takers->group->size; i++)
		comms_copy_large(set_memory_of(r->dest, set_pe(takers, i)) + first * r->size, sum, count * r->size);
}

/* Each PE of a node combines its part of the elements for all others: this PE's part. */
static void combine_my_part(const struct reduction *r, const struct set *takers)
{
	size_t at = first_of_part(r->set, r->count, r->set->group->me),
	       end = first_of_part(r->set, r->count, r->set->group->me + 1);

	for (size_t most = STRIP / r->size; at < end; at += most)
		combine_strip(r, at, end - at < most ? end - at : most, takers);
}

static void reduce_on_node(const struct reduction *r)
{
	set_sync(r->set);
	combine_my_part(r, r->set);
	set_sync(r->set);
}

/* The elements of acc from `done` on; acc holds floats if the elements are narrow. */
static void combine_into_part(const struct reduction *r, char *acc, size_t done, const void *with, size_t count)
{
	if (r->narrow)
		narrow_add(r, (float *)(void *)acc + done, with, count);
	else
		r->combine(acc + done * r->size, acc + done * r->size, with, count);
}

void reduce_member(const struct reduction *r, int i, char *acc, const char *source, size_t count, void *window)
{
	int pe = set_pe(r->set, i);
	struct comms_peer *peer;
	const void *here;

	if (count == 0)
		return;
	here = comms_reach_any(source, count * r->size, pe, &peer);
	if (here) {
		combine_into_part(r, acc, 0, here, count);
		return;
	}
	for (size_t done = 0, most = REDUCE_WINDOW / r->size; done < count; done += most) {
		size_t now = count - done < most ? count - done : most;

		comms_get(window, source + done * r->size, now * r->size, pe, r->set->routine);
		combine_into_part(r, acc, done, window, now);
	}
}

/* What each member brings is in its dest. */
static void reduce_by_parts(const struct reduction *r)
{
	const struct set *set = r->set;
	int n = set->group->size, me = set->group->me;
	size_t mine = first_of_part(set, r->count, me) * r->size,
	       many = first_of_part(set, r->count, me + 1) - first_of_part(set, r->count, me);
	void *window = malloc(REDUCE_WINDOW);
	float *sum = r->narrow ? narrow_sum_begin(r, r->dest + mine, many) : NULL;
	char *acc = sum ? (char *)sum : r->dest + mine;

	if (!window)
		rte_die(set->routine, "no memory for a buffer of %lu bytes", REDUCE_WINDOW);
	set_sync(set);
	for (int i = 1; i < n; i++)
		reduce_member(r, (me + i) % n, acc, r->dest + mine, many, window);
	if (sum)
		narrow_sum_end(r, r->dest + mine, sum, many);
	set_sync(set);
	for (int i = 1; i < n; i++) {
		int from = (me + i) % n;
		size_t at = first_of_part(set, r->count, from), end = first_of_part(set, r->count, from + 1);

		comms_get_nbi(r->dest + at * r->size, r->dest + at * r->size, (end - at) * r->size, set_pe(set, from),
			      set->routine);
	}
	set_finish(set);
	free(window);
}

/* A part of a message may have so many segments that it takes several messages. */
static size_t bytes_at_once(const struct torus_tree_choice *trees)
{
	return (size_t)TORUS_SEGMENTS * trees->segment * (size_t)trees->trees;
}

static void reduce_along_trees(const struct reduction *r)
{
	const struct torus_topology *topology = r->set->team->topology;
	int middle = torus_topology_middle(topology);
	size_t bytes = r->count * r->size, most = bytes_at_once(&r->trees.tree_choice);

	for (size_t at = 0; at < bytes; at += most) {
		struct torus_tree_collective collective = {
			.topology = topology,
			.kind = r->trees.tree_choice.kind,
			.disjoint = r->trees.disjoint,
			.root = middle,
			.root_pe = topology->pe[middle],
			.number = r->first_number + at / most,
			.area = team_torus(r->set->team),
			.dest = r->dest + at,
			.source = r->source + at,
			.bytes = bytes - at < most ? bytes - at : most,
			.segment = r->trees.tree_choice.segment,
			.combine = r->combine,
			.element = r->size,
			.routine = r->set->routine,
		};

		torus_tree_collective_run(&collective);
	}
}

static void reduce_along_rings(const struct reduction *r)
{
	struct torus_area *area = team_torus(r->set->team);

	torus_allreduce(&(struct torus_ring_allreduce){
		.topology = r->set->team->topology,
		.number = r->first_number,
		.room = {&area->up, &area->across, area->staging, NULL},
		.dest = r->dest,
		.source = r->source,
		.bytes = r->count * r->size,
		.combine = r->combine,
		.element = r->size,
		.routine = r->set->routine,
	});
}

static void reduce_along_lines(const struct reduction *r)
{
	torus_lines_allreduce(&(struct torus_lines_allreduce){
		.topology = r->set->team->topology,
		.number = r->first_number,
		.area = team_torus(r->set->team),
		.dest = r->dest,
		.source = r->source,
		.bytes = r->count * r->size,
		.combine = r->combine,
		.element = r->size,
		.routine = r->set->routine,
	});
}

static void reduce_in_place(struct reduction *r)
{
	if (r->by_lines) {
		reduce_along_lines(r);
		return;
	}
	if (r->narrow && (r->by_rings || r->trees.tree_choice.trees > 0))
		narrow_divide_first(r);
	if (r->by_rings) {
		reduce_along_rings(r);
		return;
	}
	if (r->trees.tree_choice.trees > 0) {
		reduce_along_trees(r);
		return;
	}
	if (r->dest != r->source)
		comms_copy_large(r->dest, r->source, r->count * r->size);
	reduce_by_parts(r);
}

/* First the nodes, each into its leader's dest; then the leaders; then all copy from theirs. */
static void reduce_by_levels(const struct reduction *r)
{
	struct comms_levels *levels = r->set->group->levels;
	struct set leaders = set_of_leaders(r->set), node = *r->set, leader = *r->set;
	struct comms_group private = {.size = 1, .members = levels->node.members, .on_node = true, .prepared = true};
	struct reduction on_node = *r, among = *r;
	struct reduce_narrow of_nodes;

	node.group = &levels->node;
	leader.group = &private;
	on_node.set = &node;
	among.set = &leaders;
	among.source = r->dest;
	if (r->narrow) {
		of_nodes = *r->narrow;
		of_nodes.divisor = 1; /* the nodes have divided */
		among.narrow = &of_nodes;
	}
	comms_node_barrier(r->set->group);
	combine_my_part(&on_node, &leader);
	comms_node_barrier(r->set->group);
	if (leaders.group->me >= 0)
		reduce_in_place(&among);
	comms_node_barrier(r->set->group);
	if (leaders.group->me < 0)
		comms_get(r->dest, r->dest, r->count * r->size, comms_group_pe(&private, 0), r->set->routine);
	comms_node_barrier(r->set->group);
}

static bool uses_doubling(const struct comms_group *group, size_t bytes)
{
	if (reduce_algorithm == DOUBLING || reduce_algorithm == PARTS)
		return reduce_algorithm == DOUBLING;
	if (group->on_node && !group->oversubscribed)
		return bytes <= torus_balanced_bytes(comms_costs_on_node()) / SLOTTED;
	return bytes <= ROW_BYTES;
}

static bool shared_here(const void *dest, const void *source)
{
	return comms_shared(comms_find_segment(dest)) && comms_shared(comms_find_segment(source));
}

/*
 * The torus between nodes, if it may be faster for this size. A collective: the first call measures
 * its links.
 */
static struct torus_topology *prepare_usable_topology(const struct set *set, size_t bytes, bool shared)
{
	if (!set->team || set->group->on_node || (reduce_algorithm != AUTO && reduce_algorithm <= LINES))
		return NULL;
	if (set->group->levels && !shared)
		return NULL;
	if (reduce_algorithm == AUTO && (bytes <= ROW_BYTES || torus_job_logical(comms_ensure_torus())))
		return NULL;
	set_prepare_topology(set);
	return set->team->topology;
}

struct set_trees set_agree_on_reduce_trees(const struct set *set, size_t bytes, bool shared, int root)
{
	struct torus_task task = {.bytes = bytes, .up_first = true};
	struct torus_topology *topology = prepare_usable_topology(set, bytes, shared);
	struct set_trees trees = {0};
	struct torus_costs by_routes;

	if (topology)
		set_check_cables_before(set, bytes);
	if (!topology || reduce_algorithm == RINGS)
		return trees;
	by_routes = torus_topology_route_costs(topology);
	task.root = root < 0 ? torus_topology_middle(topology) : topology->sites.place[root];
	task.longest = torus_longest_up(&topology->sites.shape);
	trees.tree_choice = torus_topology_trees(topology,
						 reduce_algorithm >= TORUS_KIND ? (int)(reduce_algorithm - TORUS_KIND)
										: TORUS_TREES_ANY,
						 &task);
	trees.disjoint = task.disjoint;
	if (reduce_algorithm == AUTO &&
	    torus_parts_seconds(&topology->sites.shape, bytes, &by_routes) < trees.tree_choice.seconds)
		trees.tree_choice.trees = 0;
	return trees;
}

bool set_agree_on_ring_allreduce(const struct set *set, size_t bytes, bool shared,
				 const struct torus_tree_choice *trees)
{
	struct torus_topology *topology = reduce_algorithm == RINGS || reduce_algorithm == AUTO
						  ? prepare_usable_topology(set, bytes, shared)
						  : NULL;
	double seconds;

	if (!topology || !torus_can_allreduce(topology))
		return false;
	if (reduce_algorithm == RINGS)
		return true;
	seconds = torus_ring_allreduce_seconds(&topology->sites.shape,
					       torus_allreduce_rounds(&topology->sites.shape, bytes), bytes,
					       &topology->costs);
	return seconds < torus_parts_seconds(&topology->sites.shape, bytes, &topology->costs) &&
	       (trees->trees == 0 || seconds < trees->seconds);
}

bool set_agree_on_ring_reduce_scatter(const struct set *set, size_t block)
{
	size_t bytes = block * (size_t)set->group->size;
	struct torus_topology *topology =
		set->group->levels || reduce_algorithm >= TORUS ? NULL : prepare_usable_topology(set, bytes, true);
	struct torus_costs by_routes;

	if (!topology)
		return false;
	set_check_cables_before(set, bytes);
	if (!torus_can_allreduce(topology))
		return false;
	if (reduce_algorithm == RINGS)
		return true;
	by_routes = torus_topology_route_costs(topology);
	return torus_gather_seconds(&topology->sites.shape, bytes, &topology->costs) <
	       torus_direct_seconds(&topology->sites.shape, block, 1, &by_routes);
}

/* What the fastest of the other algorithms takes, by the model. */
static double seconds_without_lines(const struct reduction *r)
{
	const struct torus_topology *topology = r->set->team->topology;
	const struct torus_shape *shape = &topology->sites.shape;
	struct torus_costs by_routes = torus_topology_route_costs(topology);
	size_t bytes = r->count * r->size;
	double least = bytes <= ROW_BYTES ? torus_doubling_seconds(shape, bytes, PIECE_BYTES, &by_routes)
					  : torus_parts_seconds(shape, bytes, &by_routes);
	double rings = r->by_rings ? torus_ring_allreduce_seconds(shape, torus_allreduce_rounds(shape, bytes), bytes,
								  &topology->costs)
				   : least;

	if (r->trees.tree_choice.trees > 0 && r->trees.tree_choice.seconds < least)
		least = r->trees.tree_choice.seconds;
	return rings < least ? rings : least;
}

/*
 * Little data of a node with several members is combined by reduce_small.c, and so are 16-bit
 * numbers, as floats; a few words by the network if it can.
 */
static bool agree_on_lines(const struct reduction *r, bool shared)
{
	const struct set *set = r->set;
	size_t bytes = r->count * r->size, most;

	if (!set->team || set->group->on_node || r->narrow || (reduce_algorithm != AUTO && reduce_algorithm != LINES) ||
	    (set->group->levels && (!shared || bytes <= ROW_BYTES)))
		return false;
	if (reduce_algorithm == AUTO && (torus_job_logical(comms_ensure_torus()) ||
					 (r->count <= COMMS_REDUCE_WORDS && comms_can_reduce_in_network())))
		return false;
	set_prepare_topology(set);
	most = set->team->topology ? torus_lines_allreduce_most(set->team->topology) : 0;
	if (most == 0 || reduce_algorithm == LINES)
		return most > 0;
	return torus_lines_allreduce_seconds(&set->team->topology->sites.shape, bytes, most,
					     &set->team->topology->costs) < seconds_without_lines(r);
}

static void take_lines(struct reduction *r)
{
	size_t bytes = r->count * r->size, most = torus_lines_allreduce_most(r->set->team->topology);

	r->by_rings = false;
	r->trees.tree_choice.trees = 0;
	r->first_number = r->set->team->exchanges + 1;
	r->set->team->exchanges += (bytes + most - 1) / most;
}

/*
 * All members come to the same choice, also those that do not lead a node. A collective, like what
 * it calls.
 */
static void agree_on_torus_method(struct reduction *r)
{
	size_t bytes = r->count * r->size, most;
	bool shared = shared_here(r->dest, r->source);

	r->trees = set_agree_on_reduce_trees(r->set, bytes, shared, -1);
	r->by_rings = set_agree_on_ring_allreduce(r->set, bytes, shared, &r->trees.tree_choice);
	r->by_lines = agree_on_lines(r, shared);
	if (r->by_lines) {
		take_lines(r);
		return;
	}
	if (r->by_rings)
		r->first_number = ++r->set->team->torus_collectives;
	if (r->by_rings || r->trees.tree_choice.trees == 0)
		return;
	most = bytes_at_once(&r->trees.tree_choice);
	r->first_number = r->set->team->torus_collectives + 1;
	r->set->team->torus_collectives += (bytes + most - 1) / most;
}

static void reduce_some(struct reduction *r)
{
	const struct set *set = r->set;
	size_t bytes = r->count * r->size;

	set_note(set, r->dest, bytes, r->source, bytes);
	set_check_agreement(set, "the number of elements", (long)r->count, NULL, 0, r->dest);
	if (r->count == 0 || rte_is_broken() || !comms_check_symmetric(r->dest, bytes, "dest", set->routine))
		return;
	set_check_overlap(set, (struct set_span){r->dest, bytes}, (struct set_span){r->source, bytes}, true);
	if (rte_is_broken())
		return;
	comms_group_prepare(set->group);
	agree_on_torus_method(r);
	if (!r->by_rings && !r->by_lines && r->trees.tree_choice.trees == 0 && set->team &&
	    uses_doubling(set->group, bytes)) {
		if (r->narrow)
			narrow_reduce_small(r);
		else
			reduce_small(r);
	} else if (set->team && set->group->on_node && shared_here(r->dest, r->source)) {
		reduce_on_node(r);
	} else if (set->team && set->group->levels && shared_here(r->dest, r->source)) {
		reduce_by_levels(r);
	} else {
		reduce_in_place(r);
	}
}

void set_reduce(const struct set *set, void *dest, const void *source, size_t count, size_t size, combine_t *combine)
{
	struct reduction r = {
		.set = set,
		.dest = dest,
		.source = source,
		.count = count,
		.size = size,
		.combine = combine,
		.by_network = reduce_algorithm == AUTO,
	};

	reduce_some(&r);
}

void set_reduce_narrow(const struct set *set, void *dest, const void *source, size_t count,
		       const struct reduce_narrow *narrow)
{
	struct reduction r = {
		.set = set,
		.dest = dest,
		.source = source,
		.count = count,
		.size = sizeof(uint16_t),
		.combine = narrow->combine,
		.narrow = narrow,
		.by_network = reduce_algorithm == AUTO,
	};

	reduce_some(&r);
}

static void reduce_words(const struct set *set, uint64_t *words, size_t count, shmemx_op_t operation)
{
	struct reduction r = {.set = set,
			      .dest = (char *)words,
			      .source = (const char *)words,
			      .count = count,
			      .by_network = reduce_algorithm == AUTO};

	r.combine = set_combine(operation, SHMEMX_UINT64, &r.size);
	comms_group_prepare(set->group);
	reduce_small(&r);
}

uint64_t set_reduce_and(const struct set *set, uint64_t mine)
{
	reduce_words(set, &mine, 1, SHMEMX_AND);
	return mine;
}

uint64_t set_max(const struct set *set, uint64_t mine)
{
	reduce_words(set, &mine, 1, SHMEMX_MAX);
	return mine;
}

void set_reduce_words(const struct set *set, uint64_t *words, size_t count, enum set_operation operation)
{
	static const shmemx_op_t operations[] =
		{[SET_SUM] = SHMEMX_SUM, [SET_LEAST] = SHMEMX_MIN, [SET_MOST] = SHMEMX_MAX};

	reduce_words(set, words, count, operations[operation]);
}
