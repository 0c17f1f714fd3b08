/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a plan of a kind. Plans of requests, which can be made again later, make room for it. */
#include "plans.h"

static bool make_of_kind(struct maker *m, const struct plan_kind *kind, const struct plan_order *order)
{
	const struct maker fresh = *m;
	struct plans_kept kept;

	for (;;) {
		*m = fresh;
		m->quiet = plan_oldest(m->set.team, &kept) != NULL;
		if (kind->make(m, order))
			return true;
		if (!plan_discard_oldest(&m->set))
			return false;
	}
}

int plan_of_kind(struct maker *m, const struct plan_kind *kind, struct plan_order order, shmemx_plan_t *plan)
{
	*plan = SHMEMX_PLAN_INVALID;
	if (rte_is_broken())
		return 1;
	kind->check(m, &order);
	if (rte_is_broken())
		return 1;
	order.make = kind->again ? kind->make : NULL;
	order.bytes = m->bytes;
	order.executor = m->executor;
	order.near = m->near;
	if (!make_of_kind(m, kind, &order))
		return 1;
	m->plan->changes = m->set.team->topology ? m->set.team->topology->changes : 0;
	if (!plan_end(m, plan))
		return 1;
	m->plan->order = order;
	m->plan->divides = kind->divides && order.op == SHMEMX_AVG;
	if (order.make && m->set.team->watch.agree_each == 0 && set_watches(&m->set))
		m->set.team->watch.agree_each = 1;
	return 0;
}
