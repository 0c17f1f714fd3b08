/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: which members share a node, and how the members synchronise.
 *
 * counter  for a node: a counter and an epoch in the first member's memory. The last member to
 *          arrive opens the next epoch; in a led counter barrier the first member does so when all
 *          have arrived. The member that opens the epoch may run an action for all first
 * rounds   dissemination: each member notifies the one 1, 2, 4, ... further on. The words carry
 *          epochs that only grow, so nothing is ever reset. On a node with enough processors for
 *          its PEs, this is faster than the counter
 * levels   the PEs of each node synchronise in a led counter barrier, inside which the leaders
 *          synchronise in rounds
 * torus    the rounds between nodes go along one axis after the other (torus/barrier_rounds.h)
 * parts    on a node with several memory groups, counter and rounds have two levels (numa.h)
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "comms/core/group.h"
#include "groups.h"
#include "comms/core/comms.h"
#include "comms/nodes/levels.h"
#include "comms/nodes/nodes.h"
#include "torus_barrier.h"
#include "numa.h"
#include "rte/rte.h"
#include "comms/core/network.h"
#include "comms/wait/wait.h"
#include "comms/ops/notify.h"

static void prepare_node(struct comms_group *node)
{
	node->oversubscribed = comms_system_of(comms_group_pe(node, 0))->oversubscribed;
	numa_divide(node);
}

void comms_group_prepare(struct comms_group *group)
{
	struct level_member *sorted;
	int n_nodes;

	if (group->prepared || group->me < 0)
		return;
	group->prepared = true;
	if (group->on_node) {
		prepare_node(group);
		return;
	}
	sorted = levels_sort(group, nodes_key, &n_nodes);
	if (n_nodes > 1 && n_nodes < group->size) {
		group->levels = levels_make(group, sorted, n_nodes);
		prepare_node(&group->levels->node);
	}
	if (n_nodes > 1)
		comms_group_follow_torus(group->levels ? &group->levels->leaders : group);
	free(sorted);
}

void comms_group_forget(struct comms_group *group)
{
	struct comms_levels *levels = group->levels;

	numa_forget(levels ? &levels->node : group);
	comms_group_leave_torus(levels ? &levels->leaders : group);
	if (comms.network && comms.network->collectives && group->prepared)
		comms.network->collectives->part(group);
	if (!levels)
		return;
	levels_free(levels);
	group->levels = NULL;
	group->prepared = false;
}

/* Without division by memory groups, whose lists belong to one slot. */
static void make_flat(struct comms_group *node, int slot)
{
	node->slot = slot;
	node->epoch = 0;
	if (!node->on_node)
		return;
	node->parts = NULL;
	node->divided_barrier = false;
	node->round = NULL;
}

void comms_group_twin(struct comms_group *twin, struct comms_group *group, int slot)
{
	if (group->size > 1)
		comms_group_prepare(group);
	*twin = *group;
	make_flat(twin, slot);
	if (!group->levels)
		return;
	twin->levels = malloc(sizeof *twin->levels);
	if (!twin->levels)
		rte_die(NULL, "no memory for the lists of a team's nodes");
	*twin->levels = *group->levels;
	make_flat(&twin->levels->node, slot);
	make_flat(&twin->levels->leaders, slot);
}

void comms_twin_forget(struct comms_group *twin)
{
	free(twin->levels);
	twin->levels = NULL;
}

bool comms_all_on_node(const struct comms_group *group)
{
	for (int i = 0; i < group->size; i++) {
		int pe = comms_group_pe(group, i);

		if (!bsearch(&pe, comms.node_pes, (size_t)comms.n_node, sizeof pe, comms_compare_ints))
			return false;
	}
	return true;
}

/*
 * What a member adds to the counter: one, and, if members share processors, also one in a byte of
 * the upper half. The byte is the processor's number modulo the number of bytes.
 */
static uint64_t arrival_of(const struct comms_group *group)
{
	enum { BYTES = 4 };

	if (!group->oversubscribed || group->size > UINT8_MAX)
		return 1;
	return 1 | UINT64_C(1) << (32 + 8 * ((unsigned)sched_getcpu() % BYTES));
}

/*
 * Have as many members arrived on this processor as in the barrier before? Then all members still
 * awaited run elsewhere, and giving up the processor would cost two switches for nothing. PEs move,
 * so this is a guess.
 */
static bool are_others_elsewhere(uint64_t arrived, uint64_t arrival, uint32_t on_processors)
{
	uint64_t byte = (arrival >> 32) * UINT8_MAX;

	return byte && (arrived >> 32 & byte) >= (on_processors & byte);
}

static struct comms_counter_barrier *counter_barrier_of(const struct comms_group *group)
{
	struct comms_peer *first = comms_connect(comms_group_pe(group, 0));
	struct comms_system *system = (struct comms_system *)first->reach[COMMS_HEAP].base;

	return &system->slot[group->slot].node_barrier[group->barrier];
}

/*
 * Returns true on the acting member, after all have entered; false on the others, after that member
 * has opened the barrier.
 */
static bool counter_barrier_arrive(struct comms_group *group, bool led)
{
	struct comms_counter_barrier *barrier = counter_barrier_of(group);
	uint32_t old = atomic_load_explicit(&barrier->epoch, memory_order_relaxed),
		 on_processors = atomic_load_explicit(&barrier->on_processors, memory_order_relaxed);
	uint64_t others = (uint64_t)group->size - 1, arrival, arrived;

	if (led && group->me == 0) {
		COMMS_WAIT(&barrier->arrived, atomic_load_explicit(&barrier->arrived, memory_order_acquire) == others);
		return true;
	}
	arrival = led ? 1 : arrival_of(group);
	arrived = arrival + atomic_fetch_add_explicit(&barrier->arrived, arrival, memory_order_acquire);
	if (led && arrived == others)
		comms_wake_at(comms_connect(comms_group_pe(group, 0)),
			      &comms.system->slot[group->slot].node_barrier[group->barrier].arrived,
			      sizeof barrier->arrived);
	if (led || (uint32_t)arrived <= others) {
		wait_while(&barrier->epoch, old, &barrier->sleepers,
			   are_others_elsewhere(arrived, arrival, on_processors));
		return false;
	}
	if (arrived >> 32 != on_processors)
		atomic_store_explicit(&barrier->on_processors, (uint32_t)(arrived >> 32), memory_order_relaxed);
	return true;
}

static void counter_barrier_open(const struct comms_group *group)
{
	struct comms_counter_barrier *barrier = counter_barrier_of(group);
	uint32_t old = atomic_load_explicit(&barrier->epoch, memory_order_relaxed);

	atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
	atomic_store_explicit(&barrier->epoch, old + 1, memory_order_seq_cst);
	if (atomic_load_explicit(&barrier->sleepers, memory_order_seq_cst))
		wait_wake(&barrier->epoch);
}

static void barrier_by_list(struct comms_group *group, uint64_t epoch, _Atomic uint64_t *received)
{
	for (int r = 0; r < group->rounds; r++) {
		const struct comms_round *round = &group->round[r];
		_Atomic uint64_t *word = &received[round->word];

		for (int i = 0; i < round->count; i++)
			comms_notify(word, epoch, group->notified[round->first + i], __func__);
		COMMS_WAIT(word, atomic_load_explicit(word, memory_order_acquire) >= epoch);
	}
}

static void barrier_in_rounds(struct comms_group *group)
{
	_Atomic uint64_t *received = comms.system->slot[group->slot].received[group->tier];
	uint64_t epoch;
	int n = group->size;

	if (comms.barrier == COMMS_AUTO && comms.network && comms.network->collectives &&
	    comms.network->collectives->barrier(group))
		return;
	epoch = ++group->epoch;
	if (group->round) {
		barrier_by_list(group, epoch, received);
		return;
	}

	for (int step = 1; step < n; step = step < n - step ? 2 * step : n, received++) {
		int to = group->me < n - step ? group->me + step : group->me - (n - step);

		comms_notify(received, epoch, comms_group_pe(group, to), __func__);
		COMMS_WAIT(received, atomic_load_explicit(received, memory_order_acquire) >= epoch);
	}
}

/* NULL: no barrier is needed, because this is the only member. */
static struct comms_group *members_on_node(struct comms_group *group)
{
	if (group->levels && group->levels->node.size > 1)
		return &group->levels->node;
	return group->on_node && group->size > 1 ? group : NULL;
}

/*
 * The members of this PE's memory group, if a barrier of the node has two levels and this PE is not
 * alone in its group.
 */
static struct comms_group *members_of_part(struct comms_group *node)
{
	return node && node->divided_barrier && node->parts->node.size > 1 ? &node->parts->node : NULL;
}

bool comms_part_barrier_arrive(struct comms_group *group)
{
	struct comms_group *node, *part;

	comms_group_prepare(group);
	atomic_thread_fence(memory_order_release);
	node = members_on_node(group);
	part = members_of_part(node);
	return !part || counter_barrier_arrive(part, node != group);
}

bool comms_node_barrier_arrive_for_part(struct comms_group *group)
{
	struct comms_group *node = members_on_node(group), *part = members_of_part(node);

	if (!node)
		return true;
	if (!node->divided_barrier)
		return counter_barrier_arrive(node, node != group);
	/* Publishes the stores of the other members of the memory group. */
	atomic_thread_fence(memory_order_release);
	if (counter_barrier_arrive(&node->parts->leaders, node != group))
		return true;
	if (part)
		counter_barrier_open(part);
	return false;
}

bool comms_node_barrier_arrive(struct comms_group *group)
{
	return comms_part_barrier_arrive(group) && comms_node_barrier_arrive_for_part(group);
}

void comms_node_barrier_open(struct comms_group *group)
{
	struct comms_group *node = members_on_node(group), *part = members_of_part(node);

	if (node)
		counter_barrier_open(node->divided_barrier ? &node->parts->leaders : node);
	if (part)
		counter_barrier_open(part);
}

void comms_node_barrier(struct comms_group *group)
{
	if (comms_node_barrier_arrive(group))
		comms_node_barrier_open(group);
}

const struct comms_levels *comms_memory_parts(struct comms_group *group)
{
	const struct comms_group *node;

	comms_group_prepare(group);
	node = members_on_node(group);
	return node && node->divided_barrier ? node->parts : NULL;
}

void comms_sync(struct comms_group *group)
{
	if (group->size == 1)
		return;
	if (COMMS_UNLIKELY(!group->prepared))
		comms_group_prepare(group);
	if (comms.barrier == COMMS_ROUNDS) {
		atomic_thread_fence(memory_order_release);
		barrier_in_rounds(group);
	} else if (group->levels) {
		if (comms_node_barrier_arrive(group)) {
			barrier_in_rounds(&group->levels->leaders);
			comms_node_barrier_open(group);
		}
	} else if (group->on_node && (group->oversubscribed || comms.barrier == COMMS_COUNTER)) {
		comms_node_barrier(group);
	} else {
		atomic_thread_fence(memory_order_release);
		barrier_in_rounds(group);
	}
}

void comms_slot_clear(int slot)
{
	/*
	 * Leaves the counter barriers alone: between syncs they are at rest, whatever their epoch,
	 * and a late sleeper may still decrement sleepers.
	 */
	struct comms_slot *mine = &comms.system->slot[slot];

	memset(&mine->received, 0, sizeof mine->received);
	memset(&mine->network, 0, sizeof mine->network);
}

bool comms_can_reduce_in_network(void)
{
	return comms.network && comms.network->collectives;
}

bool comms_reduce_in_network(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count)
{
	return comms.network->collectives->reduce(group, op, words, count);
}
