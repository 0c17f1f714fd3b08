/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans whose trees lead over a cable that has changed since they were made. When the members of a team have agreed on its cables
 * (shmem/torus_faults.c), they make these plans again, one after the other by number.
 *
 * All members are in a collective then. But starts have no order: one member may have started a run of the plan that another has not yet, or
 * one may be under way. So the members agree for each plan: it is made again if all have begun equally many runs and none is under way.
 * Otherwise it stays as it is, until the next check of the cables. A thread that starts the plan meanwhile waits until it has been made.
 */
#include "plans.h"

static bool plan_hold(struct shmemx_plan *plan)
{
	int state = PLAN_IDLE;

	return atomic_compare_exchange_strong_explicit(&plan->state, &state, PLAN_HELD, memory_order_acquire,
						       memory_order_relaxed);
}

static bool all_members_rest(const struct set *set, const struct shmemx_plan *plan, bool held)
{
	uint64_t words[3] = {!held, held ? plan->list.run : 0, held ? UINT64_MAX - plan->list.run : 0};

	set_reduce_words(set, words, 3, SET_MOST);
	return words[0] == 0 && words[1] == UINT64_MAX - words[2];
}

/* The user's routine made the first one, and reports name it. */
static bool make_again(struct shmemx_plan *plan)
{
	const struct plan_order order = plan->order;
	struct maker m = {.set = {&plan->team->group, plan->team, NULL, plan->list.routine},
			  .again = plan,
			  .near = order.near,
			  .executor = order.executor,
			  .bytes = order.bytes,
			  .known_pe = -1};
	shmemx_plan_t same;
	bool made = order.make(&m, &order);

	if (made)
		plan_end(&m, &same);
	return made;
}

static void follow_plan(const struct set *set, struct shmemx_plan *plan)
{
	bool held = plan_hold(plan);

	if (all_members_rest(set, plan, held)) {
		bool made = make_again(plan);

		plan->changes = set->team->topology->changes;
		if (set->group->me == 0)
			rte_debug("the plan of %s, number %llu of its team, %s", plan->list.routine,
				  (unsigned long long)plan->number,
				  made ? "was made again, by the cables as they are"
				       : "keeps its trees: some PE has no room to make it again");
	}
	if (held)
		atomic_store_explicit(&plan->state, PLAN_IDLE, memory_order_release);
}

void api_plans_follow(const struct set *set)
{
	struct shmemx_plan *plan = plan_after(set->team, 0);

	if (!plan)
		return;
	set->team->watch.plans = true;
	for (; plan; plan = plan_after(set->team, plan->number))
		follow_plan(set, plan);
	set->team->watch.plans = false;
	hang_note_group(set->routine, set->group);
}
