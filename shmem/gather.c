/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collect and fcollect.
 *
 * On a node each member puts its block straight to all others. Between nodes, a node's blocks are
 * first collected in its leader's dest. The leaders exchange what they have. Little data goes in
 * rounds, each time with a leader twice as far, on a torus along one axis after another
 * (gather_lines.c). Much data goes along a ring, so that every link between neighbours is busy and
 * carries everything once; on a torus along the rings of all axes at once
 * (comms/collectives/torus_allgather.h) or, if a cable or a node is missing, down trees
 * (gather_trees.c). Then the members copy their leader's dest. Blocks are in their final position
 * from the beginning, so nothing is rearranged.
 */
#include "gather.h"

#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_allgather.h"
#include "comms/nodes/job_torus.h"
#include "comms/nodes/costs.h"

/* TREES is for a torus with a flaw, and no value of the setting. */
static enum gather_algorithm { AUTO, IN_ROUNDS, RING, TORUS, LINES, TREES } gather_algorithm;

void api_gathers_start(void)
{
	gather_algorithm = setting_choice(SETTING_COLLECT_ALGORITHM);
}

struct torus_gathering_run gather_next_run(const struct comms_levels *levels, const struct layout *layout, int *i,
					   int end)
{
	int next = levels ? levels->places[*i] : *i;
	struct torus_gathering_run run = {block_at(layout, next < layout->first ? layout->first : next), 0};

	for (; *i < end && (levels ? levels->places[*i] : *i) == next; ++*i, next++) {
		size_t bytes = block_bytes(layout, next);

		if (bytes > 0 && run.bytes == 0)
			run.at = block_at(layout, next);
		if (bytes > 0 && run.at + run.bytes != block_at(layout, next))
			break;
		run.bytes += bytes;
	}
	return run;
}

/* Before a round, the leader has the blocks of `have` consecutive nodes, its own first. */
static void exchange_in_rounds(const struct set *set, const struct set *leaders, const struct layout *layout,
			       char *dest)
{
	_Atomic uint64_t *word = team_scratch(set->team)->gathered;
	int n = leaders->group->size, me = leaders->group->me;

	for (int have = 1; have < n; have = have < n - have ? 2 * have : n, word++) {
		int count = have < n - have ? have : n - have;
		struct parcel parcel = {set, layout, dest, set_pe(leaders, (me + n - have) % n), 0, 0, false};

		for (int i = 0; i < count; i++)
			parcel_add_node(&parcel, (me + i) % n);
		parcel_send_with(&parcel, (struct comms_flag){word, set->team->gathers});
		await_flag(word, set->team->gathers);
	}
}

static void exchange_along_ring(const struct set *set, const struct set *leaders, const struct layout *layout,
				char *dest)
{
	_Atomic uint64_t *word = &team_scratch(set->team)->gathered[ROUNDS];
	int n = leaders->group->size, me = leaders->group->me;
	struct parcel parcel = {set, layout, dest, set_pe(leaders, (me + n - 1) % n), 0, 0, false};

	for (int step = 1; step < n; step++) {
		uint64_t count = set->team->gathers << 24 | (uint64_t)step;

		parcel_add_node(&parcel, (me + step - 1) % n);
		parcel_send_with(&parcel, (struct comms_flag){word, count});
		await_flag(word, count);
	}
}

struct exchange {
	const struct set *set;
	const struct layout *layout;
	char *dest;
	enum gather_algorithm algorithm;
	uint64_t number; /* of the collective on the torus */
};

static bool takes_all(const struct set *set, const struct layout *layout)
{
	return layout->first == 0 && layout->last == set->group->size;
}

static bool gathers_on_torus(const struct set *set, const struct layout *layout)
{
	return takes_all(set, layout) && torus_can_gather(set->team->topology);
}

/* The fastest by the model. */
static enum gather_algorithm choose_on_torus(const struct set *set, const struct layout *layout)
{
	const struct torus_topology *topology = set->team->topology;
	const struct torus_shape *shape = &topology->sites.shape;
	size_t bytes = layout_bytes(layout);
	struct torus_costs by_routes = torus_topology_route_costs(topology);
	double ring = torus_ring_seconds(topology->sites.nodes, bytes, &by_routes), lines = ring, torus = ring;

	if (gather_lines_fit(topology))
		lines = torus_lines_gather_seconds(shape, bytes, &topology->costs);
	if (gathers_on_torus(set, layout))
		torus = torus_gather_seconds(shape, bytes, &topology->costs);
	if (torus < lines && torus < ring)
		return TORUS;
	return lines < ring ? LINES : RING;
}

/* Of a torus that is not whole: do trees do it? */
static bool takes_trees(const struct set *set, const struct layout *layout, int *broadcasts)
{
	bool forced = gather_algorithm == TORUS;

	if (!takes_all(set, layout))
		return false;
	*broadcasts = gather_trees_pay(set, layout, set->team->topology, forced);
	return *broadcasts > 0;
}

/*
 * A collective: the first call measures the links of the torus, and later ones may check its
 * cables.
 */
static enum gather_algorithm agree_on_gather(const struct set *set, const struct layout *layout, int *broadcasts)
{
	const struct torus_topology *topology = NULL;
	int nodes;

	if (gather_algorithm == IN_ROUNDS || gather_algorithm == RING)
		return gather_algorithm;
	if (gather_algorithm != AUTO || !torus_job_logical(comms_ensure_torus())) {
		set_prepare_topology(set);
		topology = set->team->topology;
	}
	if (topology)
		set_check_cables_before(set, layout_bytes(layout));
	if (topology && gather_algorithm == LINES && gather_lines_fit(topology))
		return LINES;
	if (topology && !topology->whole && gather_algorithm != LINES && takes_trees(set, layout, broadcasts))
		return TREES;
	if (topology && topology->whole && gather_algorithm == AUTO)
		return choose_on_torus(set, layout);
	if (topology && gather_algorithm == TORUS && gathers_on_torus(set, layout))
		return TORUS;
	nodes = set->group->levels ? set->group->levels->leaders.size : set->group->size;
	return torus_rounds_beat_ring(nodes, layout_bytes(layout), comms_costs_between_nodes()) ? IN_ROUNDS : RING;
}

bool gather_agrees_on_torus(const struct set *set, const struct layout *layout)
{
	int broadcasts = 1;

	if (!set->team || set->group->on_node || set->group->levels)
		return false;
	return agree_on_gather(set, layout, &broadcasts) == TORUS;
}

/* Returns how many runs there are with those of one more node. */
static int add_runs_of(const struct set *set, const struct layout *layout, int node, struct torus_gathering_run *run,
		       int runs)
{
	const struct comms_levels *levels = set->group->levels;
	int i = levels ? levels->first[node] : node, end = levels ? levels->first[node + 1] : node + 1;

	while (i < end)
		run[runs++] = gather_next_run(levels, layout, &i, end);
	return runs;
}

struct torus_gathering gather_along_runs(const struct set *set, const struct layout *layout, char *dest)
{
	const struct torus_topology *topology = set->team->topology;
	int places = topology->sites.shape.places, runs = 0;
	struct torus_gathering_run *run = malloc((size_t)set->group->size * sizeof *run);
	int *first = malloc(((size_t)places + 1) * sizeof *first);

	if (!run || !first)
		rte_die(set->routine, "no memory for the sizes of %d PEs", set->group->size);
	for (int p = 0; p < places; p++) {
		first[p] = runs;
		runs = add_runs_of(set, layout, topology->sites.node[p], run, runs);
	}
	first[places] = runs;
	return (struct torus_gathering){.topology = topology,
					.dest = dest,
					.first = first,
					.run = run,
					.routine = set->routine};
}

void gather_free_runs(struct torus_gathering *gathering)
{
	free((void *)(uintptr_t)gathering->first);
	free((void *)(uintptr_t)gathering->run);
}

static void gather_on_torus(const struct exchange *x)
{
	struct torus_gathering gathering = gather_along_runs(x->set, x->layout, x->dest);

	gathering.number = x->number;
	gathering.words = &team_torus(x->set->team)->up;
	torus_gather(&gathering);
	gather_free_runs(&gathering);
}

static void exchange_between_leaders(const struct exchange *x)
{
	struct set leaders = set_of_leaders(x->set);

	if (x->algorithm == TORUS)
		gather_on_torus(x);
	else if (x->algorithm == TREES)
		gather_by_trees(x->set, x->layout, x->dest, x->number);
	else if (x->algorithm == LINES)
		gather_by_lines(x->set, x->layout, x->dest);
	else if (x->algorithm == RING)
		exchange_along_ring(x->set, &leaders, x->layout, x->dest);
	else
		exchange_in_rounds(x->set, &leaders, x->layout, x->dest);
}

/* Not the gaps between blocks. */
static void copy_from_leader(const struct set *set, const struct layout *layout, char *dest, int leader)
{
	for (int i = layout->first; i < layout->last;) {
		struct torus_gathering_run run = gather_next_run(NULL, layout, &i, layout->last);

		if (run.bytes > 0)
			comms_get(dest + run.at, dest + run.at, run.bytes, leader, set->routine);
	}
}

static void gather_on_nodes(const struct set *set, const struct layout *layout, char *dest, const void *source)
{
	const struct comms_levels *levels = set->group->levels;
	int leader = levels ? comms_group_pe(&levels->node, 0) : comms.pe;
	struct exchange x = {.set = set, .layout = layout, .dest = dest};
	int broadcasts = 1;
	size_t bytes = block_bytes(layout, set->group->me);
	char *mine = dest + (bytes > 0 ? block_at(layout, set->group->me) : 0);

	x.algorithm = agree_on_gather(set, layout, &broadcasts);
	if (bytes > 0 && (leader != comms.pe || mine != source))
		comms_put(mine, source, bytes, leader, set->routine);
	if (levels && !comms_shared(comms_find_segment(dest)))
		comms_quiet();
	set->team->gathers++;
	if (x.algorithm == TORUS || x.algorithm == TREES) {
		x.number = set->team->torus_collectives + 1;
		set->team->torus_collectives += (uint64_t)broadcasts;
	}
	if (comms_node_barrier_arrive(set->group)) {
		exchange_between_leaders(&x);
		comms_node_barrier_open(set->group);
	}
	if (leader == comms.pe) {
		comms_node_barrier(set->group);
		return;
	}
	copy_from_leader(set, layout, dest, leader);
	comms_node_barrier(set->group);
}

void gather_blocks(const struct set *set, const struct layout *layout, void *dest, const void *source)
{
	if (set->team && !set->group->on_node) {
		comms_group_prepare(set->group);
		gather_on_nodes(set, layout, dest, source);
	} else {
		size_t bytes = block_bytes(layout, set->group->me);

		set_push_blocks(set, (char *)dest + (bytes > 0 ? block_at(layout, set->group->me) : 0), source, 0,
				bytes);
	}
}

/* Blocks of one size. */
static void gather_equal_blocks(const struct set *set, void *dest, const void *source, size_t bytes)
{
	struct layout layout = {bytes, NULL, 0, set->group->size, NULL};

	if (set->team && set->group->on_node)
		set_exchange_blocks(set, dest, source, 0, bytes);
	else
		gather_blocks(set, &layout, dest, source);
}

void set_fcollect(const struct set *set, void *dest, const void *source, size_t bytes)
{
	set_note(set, dest, (size_t)set->group->size * bytes, source, bytes);
	set_check_agreement(set, "the number of bytes", (long)bytes, NULL, 0, dest);
	set_check_overlap(set, (struct set_span){dest, (size_t)set->group->size * bytes},
			  (struct set_span){source, bytes}, false);
	if (bytes > 0 && !rte_is_broken())
		gather_equal_blocks(set, dest, source, bytes);
}

/* How much each member of a team brings, by way of the scratch, as many at a time as it holds. */
static void exchange_counts(const struct set *set, size_t *counts, uint64_t mine)
{
	uint64_t *shown = team_scratch(set->team)->counts;
	int n = set->group->size;

	if (n <= COUNTS) {
		gather_equal_blocks(set, shown, &mine, sizeof mine);
		memcpy(counts, shown, (size_t)n * sizeof *shown);
		return;
	}
	for (int first = 0; first < n; first += COUNTS) {
		struct layout layout = {sizeof mine, NULL, first, n - first < COUNTS ? n : first + COUNTS, NULL};

		if (first > 0)
			set_sync(set);
		gather_blocks(set, &layout, shown, &mine);
		for (int i = first; i < layout.last; i++)
			counts[i] = shown[i - first];
	}
}

/* The same without a slot: each shows its count in a word of pSync. */
static void read_counts(const struct set *set, size_t *counts, uint64_t mine)
{
	set->psync[ROUNDS] = (long)mine;
	set_sync(set);
	for (int i = 0; i < set->group->size; i++)
		comms_get(&counts[i], &set->psync[ROUNDS], sizeof counts[i], set_pe(set, i), set->routine);
	set_sync(set);
	set->psync[ROUNDS] = SHMEM_SYNC_VALUE;
}

void set_collect(const struct set *set, void *dest, const void *source, size_t bytes)
{
	int n = set->group->size;
	size_t *at = malloc(((size_t)n + 1) * sizeof *at), sum = 0;
	struct layout layout = {0, at, 0, n, NULL};
	bool equal = true;

	if (!at)
		rte_die(set->routine, "no memory for the sizes of %d PEs", n);
	/* Dest has room for more; for how much is not known yet. */
	set_note(set, dest, bytes, source, bytes);
	set_check_agreement(set, NULL, 0, NULL, 0, dest);
	if (set->team)
		exchange_counts(set, at, bytes);
	else
		read_counts(set, at, bytes);
	for (int i = 0; i <= n; i++) {
		size_t here = i < n ? at[i] : 0;

		equal = equal && (i == n || here == bytes);
		at[i] = sum;
		sum += here;
	}
	if (rte_is_broken()) { /* the sizes of other members may be missing */
		free(at);
		return;
	}
	set_check_overlap(set, (struct set_span){dest, sum}, (struct set_span){source, bytes}, false);
	if (sum > 0 && equal)
		gather_equal_blocks(set, dest, source, bytes);
	else if (sum > 0)
		gather_blocks(set, &layout, dest, source);
	else
		set_sync(set); /* the scratch is free again */
	free(at);
}
