/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans whose trees use a cable that has changed since they were made. After the members of a team
 * have agreed on its cables (shmem/torus_faults.c), they make these plans again, one after another
 * by number.
 *
 * All members are then in a collective, but starts have no order: one member may have started a run
 * that another has not, or a run may be in progress. So the members agree for each plan: they make
 * it again if all have begun the same number of runs and none is in progress. Otherwise it stays as
 * it is until the next check of the cables. A thread that starts the plan meanwhile waits until it
 * has been made.
 *
 * A program may do nothing but start plans. A start waits for no PE, and a wait only for the PEs
 * whose data it needs, so barriers and syncs of the team check, too. What plans have moved by then
 * differs between members, which may start before a barrier or after it: they agree on the maximum.
 * They do so less and less often: after a check that was not due, or with a plan in progress, the
 * interval doubles.
 */
#include "plans.h"

#define SELDOM 1024 /* barriers and syncs */

bool plan_hold(struct shmemx_plan *plan)
{
	int state = PLAN_IDLE;

	return atomic_compare_exchange_strong_explicit(&plan->state, &state, PLAN_HELD, memory_order_acquire,
						       memory_order_relaxed);
}

void plan_release(struct shmemx_plan *plan)
{
	atomic_store_explicit(&plan->state, PLAN_IDLE, memory_order_release);
}

static bool all_members_rest(const struct set *set, const struct shmemx_plan *plan, bool held)
{
	uint64_t words[3] = {!held, held ? plan->list.run : 0, held ? UINT64_MAX - plan->list.run : 0};

	set_reduce_words(set, words, 3, SET_MOST);
	return words[0] == 0 && words[1] == UINT64_MAX - words[2];
}

/* The user's routine made the first plan, so reports name it. */
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
				  made ? "was made again for the cables as they are now"
				       : "keeps its trees: some PE has no room to make it again");
	}
	if (held)
		plan_release(plan);
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

void api_plans_watch(struct shmemx_team *team, const char *routine)
{
	struct set set = {&team->group, team, NULL, routine};
	struct cable_watch *watch = &team->watch;
	bool under_way = false;
	uint64_t words[2];

	if (!set_watches(&set) || ++watch->syncs < watch->agree_each)
		return;
	watch->syncs = 0;
	words[1] = plans_moved(team, &under_way);
	words[0] = under_way;
	set_reduce_words(&set, words, 2, SET_MOST);
	if (set_check_cables_after(&set, words[1], words[0] == 0))
		watch->agree_each = (watch->agree_each + 1) / 2;
	else if (watch->agree_each < SELDOM)
		watch->agree_each *= 2;
}
