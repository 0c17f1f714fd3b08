/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sync as a plan: in each round a PE notifies the one twice as far as in the round before, and
 * waits for the one as far in the other direction. Words only grow, so a notification of the next
 * run may come early.
 */
#include "plans.h"

static void check_sync(struct maker *m, const struct plan_order *order)
{
	(void)order;
	set_check_agreement(&m->set, NULL, 0, NULL, 0, NULL);
}

static bool make_sync(struct maker *m, const struct plan_order *order)
{
	int n = m->set.group->size, me = m->set.group->me, queue;
	size_t round = 0;

	(void)order;
	if (!plan_begin(m, ROUNDS, 0, 0))
		return false;
	queue = plan_queue(m);
	for (long step = 1; step < n; step *= 2, round++) {
		int to = set_pe(&m->set, (int)((me + step) % n));

		plan_notify(m, queue, to, (struct when){&plan_port(m, to, round)->came[0], 1, 1});
		plan_await(m, queue, (struct when){&m->plan->ports[round].came[0], 1, 1});
	}
	return true;
}

const struct plan_kind plan_sync = {check_sync, make_sync, .again = false};
