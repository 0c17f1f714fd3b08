/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of all kinds of plans: blocks, ports and commands. */
#include "plans.h"

#include <string.h>

#include "comms/core/copy.h"

#define PIECE (256UL << 10)
#define THREAD_FROM (64UL << 10) /* bytes, on a node */
/*
 * Bytes from which a start wakes the network's thread, which rests for half a millisecond after the
 * PE has polled: a run takes a part of that time, and more than the call that wakes it.
 */
#define ATTENDED_FROM (16UL << 10)

static struct comms_queue *queue_of(struct maker *m, int queue)
{
	return &m->plan->list.queues[queue];
}

int plan_queue(struct maker *m)
{
	comms_list_queue(&m->plan->list);
	return m->plan->list.n_queues - 1;
}

bool plan_is_near(const struct maker *m, int pe)
{
	return pe == comms.pe || (m->near && comms_connect(pe)->reach[COMMS_HEAP].size > 0);
}

void *plan_here(const struct maker *m, const void *address, int pe)
{
	struct comms_peer *peer;
	void *here;

	here = comms_reach_any(address, 1, pe, &peer);
	if (!here && !rte_is_broken())
		rte_misuse(m->set.routine,
			   "PE %d of this node runs another program, so its global data lies differently; use "
			   "shmem_malloc memory",
			   pe);
	return here ? here : (void *)(uintptr_t)address; /* no plan of a broken job runs */
}

const struct plan_block *plan_block_of(struct maker *m, int pe)
{
	const struct plan_block *shown = &team_scratch(m->set.team)->plan;

	if (pe == comms.pe)
		return shown;
	if (pe != m->known_pe)
		comms_get(&m->known, shown, sizeof m->known, pe, m->set.routine);
	m->known_pe = pe;
	return &m->known;
}

struct port *plan_port(struct maker *m, int pe, size_t port)
{
	return (struct port *)(comms.system->plans + plan_block_of(m, pe)->ports) + port;
}

char *plan_staging(struct maker *m, int pe)
{
	return comms.system->plans + plan_block_of(m, pe)->staging;
}

/* --- Commands --- */

static struct comms_iteration iteration_of(struct when when)
{
	return (struct comms_iteration){when.each, when.nth};
}

void plan_await(struct maker *m, int queue, struct when when)
{
	comms_queue_add(queue_of(m, queue),
			&(struct comms_command){.kind = COMMS_AWAIT, .until = when.word, .when = iteration_of(when)});
}

void plan_put(struct maker *m, int queue, struct when when, int pe, struct comms_piece data, struct when notified)
{
	m->plan->list.by_network = true;
	comms_queue_add(queue_of(m, queue), &(struct comms_command){.kind = COMMS_PUT,
								    .until = when.word,
								    .when = iteration_of(when),
								    .pe = pe,
								    .word = notified.word,
								    .notified = iteration_of(notified),
								    .dest = data.dest,
								    .source = data.source,
								    .size = data.bytes});
}

void plan_notify(struct maker *m, int queue, int pe, struct when notified)
{
	bool near = plan_is_near(m, pe);

	m->plan->list.by_network |= !near;
	comms_queue_add(queue_of(m, queue),
			&(struct comms_command){.kind = COMMS_NOTIFY,
						.pe = pe,
						.word = notified.word,
						.there = near ? plan_here(m, notified.word, pe) : NULL,
						.notified = iteration_of(notified)});
}

void plan_copy(struct maker *m, int queue, struct when when, void *dest, const void *source, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PIECE) {
		comms_queue_add(queue_of(m, queue),
				&(struct comms_command){.kind = COMMS_COPY,
							.until = when.word,
							.when = iteration_of(when),
							.dest = (char *)dest + at,
							.source = (const char *)source + at,
							.size = bytes - at < PIECE ? bytes - at : PIECE});
		when = AT_ONCE;
	}
}

void plan_combine(struct maker *m, int queue, struct when when, const struct combination *combination)
{
	comms_queue_add(queue_of(m, queue), &(struct comms_command){.kind = COMMS_COMBINE,
								    .until = when.word,
								    .when = iteration_of(when),
								    .dest = combination->dest,
								    .source = combination->source,
								    .with = combination->with,
								    .size = combination->count,
								    .combine = combination->combine});
}

void plan_by_nic(struct maker *m, int queue, struct comms_session *session)
{
	m->plan->list.session = session;
	m->plan->list.by_network = true;
	comms_queue_add(queue_of(m, queue), &(struct comms_command){.kind = COMMS_BY_NIC});
}

void plan_nic_is_done(struct maker *m, int queue)
{
	comms_queue_add(queue_of(m, queue), &(struct comms_command){.kind = COMMS_NIC_IS_DONE});
}

void plan_advance(struct maker *m, int queue, struct comms_procedure procedure)
{
	m->plan->list.procedure = procedure;
	m->plan->list.by_network = true;
	comms_queue_add(queue_of(m, queue), &(struct comms_command){.kind = COMMS_ADVANCE});
}

/* --- Start and end --- */

static int executor_of(int executor, const char *routine)
{
	if (executor < SHMEMX_PLAN_AUTO || executor > SHMEMX_PLAN_NIC)
		rte_misuse_together(
			routine,
			"executor=%d: give SHMEMX_PLAN_AUTO, SHMEMX_PLAN_LIST, SHMEMX_PLAN_THREAD or SHMEMX_PLAN_NIC",
			executor);
	return executor ? executor : setting_choice(SETTING_PLAN_EXECUTOR);
}

struct maker plan_maker(shmem_team_t team, int executor, size_t bytes, const char *routine)
{
	struct maker m = {.set = set_of_team(team, routine), .bytes = bytes, .known_pe = -1, .near = true};

	set_check_agreement(&m.set, "executor", executor, NULL, 0, NULL);
	m.executor = executor_of(executor, routine);
	comms_group_prepare(m.set.group);
	return m;
}

void plan_check_data(struct maker *m, const void *dest, size_t dest_bytes, const void *source, size_t source_bytes)
{
	if (rte_is_broken())
		return;
	if (dest_bytes > 0) {
		comms_check_symmetric(dest, dest_bytes, "dest", m->set.routine);
		m->near &= comms_shared(comms_find_segment(dest));
	}
	if (source_bytes > 0) {
		comms_check_symmetric(source, source_bytes, "source", m->set.routine);
		m->near &= comms_shared(comms_find_segment(source));
	}
}

/*
 * Arrivals advance a plan over the network without a call; on a node only a thread does, if a
 * processor is free for it.
 */
static bool takes_thread(const struct maker *m)
{
	if (m->executor != SHMEMX_PLAN_AUTO)
		return m->executor == SHMEMX_PLAN_THREAD;
	return !m->plan->list.by_network && !comms.oversubscribed && m->bytes >= THREAD_FROM;
}

bool plan_end(struct maker *m, shmemx_plan_t *plan)
{
	set_sync(&m->set); /* the others have read this PE's block */
	if (rte_is_broken())
		return false;
	m->plan->words.by_executor = takes_thread(m);
	m->plan->list.by_executor = m->plan->words.start || m->plan->words.by_executor;
	/* Procedures move much, or nobody knows how much. */
	m->plan->list.attended = m->bytes >= ATTENDED_FROM || m->plan->list.procedure.state;
	if (m->plan->list.by_executor)
		comms_executor_start(m->set.routine);
	*plan = m->plan;
	return true;
}
