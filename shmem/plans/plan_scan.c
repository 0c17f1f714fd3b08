/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans as plans. In each round a member sends the sum of its own data and of what has come to the
 * member 1, 2, 4, ... positions further on, which puts it before its own. What has come alone is
 * the exclusive scan; the first member gets nothing, and its zeros are never written.
 *
 * Long data goes segment by segment. What is sent in one round stays where it is until all who get
 * it have read it, so one wait for their answers, before the next segment, frees all buffers here
 * and there. Port and buffer of a round have its number on all members.
 */
#include "plans.h"

#include <string.h>

#define SEGMENT (32UL << 10)

struct scan_plan {
	struct maker *m;
	char *dest;
	const char *source;
	size_t size, segment, count; /* count: of segments */
	int rounds;
	combine_t *combine;
	bool inclusive;
};

/* Buffers of a PE: what has come, the sum after so many rounds, and what came in a round. */
static char *buffer_of(const struct scan_plan *s, int pe, int i)
{
	return plan_staging(s->m, pe) + (size_t)i * s->segment;
}

static char *brought_before(const struct scan_plan *s)
{
	return buffer_of(s, comms.pe, 0);
}

static char *sum_after(const struct scan_plan *s, int pe, int rounds)
{
	return buffer_of(s, pe, 1 + rounds);
}

static char *came_in(const struct scan_plan *s, int pe, int round)
{
	return buffer_of(s, pe, 2 + s->rounds + round);
}

/* The PE so many positions away; -1: there is none. */
static int pe_at(const struct scan_plan *s, long step)
{
	long member = s->m->set.group->me + step;

	return member < 0 || member >= s->m->set.group->size ? -1 : set_pe(&s->m->set, (int)member);
}

static struct when nth_segment(const struct scan_plan *s, _Atomic uint64_t *word, size_t i)
{
	return (struct when){word, (int64_t)s->count, (int64_t)i + 1};
}

/* After how many rounds something came to a member last: its sum stays the same from then on. */
static int rounds_before(const struct scan_plan *s, int pe, int round)
{
	int member = s->m->set.group->me, rounds = 0;

	if (pe != comms.pe)
		member -= 1 << round;
	while (rounds < round && 1 << rounds <= member)
		rounds++;
	return rounds;
}

static void send_sum(const struct scan_plan *s, int queue, int round, size_t i, size_t bytes)
{
	int to = pe_at(s, 1L << round);
	struct when notified = nth_segment(s, &plan_port(s->m, to, (size_t)round)->came[0], i);

	if (plan_is_near(s->m, to))
		plan_notify(s->m, queue, to, notified);
	else
		plan_put(s->m, queue, AT_ONCE, to,
			 (struct comms_piece){came_in(s, to, round),
					      sum_after(s, comms.pe, rounds_before(s, comms.pe, round)), bytes},
			 notified);
}

static void receive_sum(const struct scan_plan *s, int queue, int round, size_t i, size_t bytes)
{
	int from = pe_at(s, -(1L << round));
	struct when came = nth_segment(s, &s->m->plan->ports[round].came[0], i);
	char *before = brought_before(s), *sum = sum_after(s, comms.pe, round);
	const char *data = came_in(s, comms.pe, round);

	if (plan_is_near(s->m, from))
		data = plan_here(s->m, sum_after(s, from, rounds_before(s, from, round)), from);
	plan_combine(s->m, queue, came,
		     &(struct combination){sum_after(s, comms.pe, round + 1), data, sum, bytes / s->size, s->combine});
	if (round == 0)
		plan_copy(s->m, queue, AT_ONCE, before, data, bytes);
	else
		plan_combine(s->m, queue, AT_ONCE,
			     &(struct combination){before, data, before, bytes / s->size, s->combine});
	plan_notify(s->m, queue, from, nth_segment(s, &plan_port(s->m, from, (size_t)round)->answer, i));
}

static void write_segment(const struct scan_plan *s, int queue, size_t i)
{
	size_t at = i * s->segment, left = s->m->bytes - at, bytes = left < s->segment ? left : s->segment;

	for (int k = 0; k < s->rounds; k++)
		if (pe_at(s, 1L << k) >= 0)
			plan_await(s->m, queue,
				   (struct when){&s->m->plan->ports[k].answer, (int64_t)s->count, (int64_t)i});
	plan_copy(s->m, queue, AT_ONCE, sum_after(s, comms.pe, 0), s->source + at, bytes);
	for (int k = 0; k < s->rounds; k++) {
		if (pe_at(s, 1L << k) >= 0)
			send_sum(s, queue, k, i, bytes);
		if (pe_at(s, -(1L << k)) >= 0)
			receive_sum(s, queue, k, i, bytes);
	}
	plan_copy(s->m, queue, AT_ONCE, s->dest + at,
		  s->inclusive ? sum_after(s, comms.pe, rounds_before(s, comms.pe, s->rounds)) : brought_before(s),
		  bytes);
}

static bool make_scan(struct maker *m, const struct plan_order *order, bool inclusive)
{
	struct scan_plan s = {.m = m,
			      .dest = order->dest,
			      .source = order->source,
			      .segment = m->bytes < SEGMENT ? (m->bytes + 63) / 64 * 64 : SEGMENT,
			      .inclusive = inclusive};
	int queue;

	s.combine = plan_operation(order, &s.size, m->set.routine);
	while (1L << s.rounds < m->set.group->size)
		s.rounds++;
	if (!plan_begin(m, (size_t)s.rounds, (2 + 2 * (size_t)s.rounds) * s.segment, 0))
		return false;
	if (m->bytes == 0)
		return true;
	s.count = (m->bytes + s.segment - 1) / s.segment;
	memset(brought_before(&s), 0, s.segment);
	queue = plan_queue(m);
	for (size_t i = 0; i < s.count; i++)
		write_segment(&s, queue, i);
	return true;
}

static bool make_inscan(struct maker *m, const struct plan_order *order)
{
	return make_scan(m, order, true);
}

static bool make_exscan(struct maker *m, const struct plan_order *order)
{
	return make_scan(m, order, false);
}

static void check_scan(struct maker *m, const struct plan_order *order)
{
	struct set_span dest = {order->dest, m->bytes}, source = {order->source, m->bytes};

	set_check_agreement(&m->set, "nelems", (long)order->count, "type", order->type, order->dest);
	plan_check_data(m, order->dest, m->bytes, order->source, m->bytes);
	set_check_overlap(&m->set, dest, source, true);
}

const struct plan_kind plan_inscan = {check_scan, make_inscan, .again = false};
const struct plan_kind plan_exscan = {check_scan, make_exscan, .again = false};

static int init_scan(struct maker *m, const struct plan_kind *kind, struct plan_order order, shmemx_plan_t *plan)
{
	size_t size;

	plan_operation(&order, &size, m->set.routine);
	m->bytes = order.count * size;
	return plan_of_kind(m, kind, order, plan);
}

API int shmemx_sum_inscan_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			       int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nelems, COMMS_NOBODY);
	struct plan_order order = {.dest = dest,
				   .source = source,
				   .count = nelems,
				   .op = SHMEMX_SUM,
				   .type = (int)type};
	struct maker m = plan_maker(team, executor, 0, __func__);

	return init_scan(&m, &plan_inscan, order, plan);
}

API int shmemx_sum_exscan_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			       int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nelems, COMMS_NOBODY);
	struct plan_order order = {.dest = dest,
				   .source = source,
				   .count = nelems,
				   .op = SHMEMX_SUM,
				   .type = (int)type};
	struct maker m = plan_maker(team, executor, 0, __func__);

	return init_scan(&m, &plan_exscan, order, plan);
}
