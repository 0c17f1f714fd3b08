/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <string.h>

#include "softofu/nic/carry.h"
#include "softofu/nic/record.h"

/*
 * From the transmit order queue to the carrier.
 *
 * An ordinary queue is emptied by whoever posts, at once: nothing has to be woken. But the machine promises no order
 * between communications that did not ask for it, and programs must not learn that there is one here. So the adversary
 * draws lots: one in HOLD_ONE_IN of them is held back, its source not yet read, until a later call for this or another
 * queue of the process lets it go or the card's thread does. One with UTOFU_ONESIDED_FLAG_STRONG_ORDER is never held,
 * and goes after everything that was posted before it.
 *
 * A session's queue is emptied by the card's thread alone, as far as the scheduling pointer lets it.
 */
enum { HOLD_ONE_IN = 4 };

static struct posted *entry(struct vcq *vcq, uint32_t i)
{
	return &vcq->toq[(vcq->toq_first + i) % TOQ_SIZE];
}

static uint32_t ready(const struct vcq *vcq)
{
	return vcq->toq_count - vcq->delayed;
}

static bool ordered(const struct vcq *vcq, const struct descriptor *what)
{
	return (what->flags & UTOFU_ONESIDED_FLAG_STRONG_ORDER) || vcq->nic->settings.order == ORDER_POSTED;
}

/* With the lock: entry i leaves the queue. The few before it move up. */
static void take(struct vcq *vcq, uint32_t i, struct posted *taken)
{
	*taken = *entry(vcq, i);
	if (taken->held) {
		vcq->held--;
		atomic_fetch_sub_explicit(&vcq->nic->held, 1, memory_order_relaxed);
	}
	for (; i > 0; i--)
		*entry(vcq, i) = *entry(vcq, i - 1);
	vcq->toq_first++;
	vcq->toq_count--;
}

static void carry(struct vcq *vcq, struct posted *taken)
{
	if (taken->told)
		taken->what.flags &= ~UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
	record_sent(vcq, &taken->what, taken->place);
	vcq->nic->carrier->carry(vcq, &taken->what, taken->cbdata, ordered(vcq, &taken->what));
}

/* A get's or an atomic's notice in the TCQ says that the request is out, not that the answer is in. */
static void tell_early(struct vcq *vcq, struct posted *held)
{
	if ((held->what.kind != KIND_GET && held->what.kind != KIND_ARMW) ||
	    !(held->what.flags & UTOFU_ONESIDED_FLAG_TCQ_NOTICE))
		return;
	vcq->tcq[vcq->tcq_tail++ % TCQ_SIZE] = (struct sent){held->cbdata, UTOFU_SUCCESS};
	held->told = true;
}

static bool draws_to_hold(struct vcq *vcq, const struct descriptor *what)
{
	return what->kind != KIND_NOP && vcq->held < HELD_MOST && !vcq_lot(vcq, HOLD_ONE_IN) &&
	       atomic_load_explicit(&vcq->nic->thread_runs, memory_order_relaxed);
}

static void hold(struct vcq *vcq, struct posted *posted)
{
	posted->held = true;
	vcq->held++;
	atomic_fetch_add_explicit(&vcq->nic->held, 1, memory_order_seq_cst);
	tell_early(vcq, posted);
}

static bool is_held(struct vcq *vcq, struct posted *posted)
{
	if (!posted->held && draws_to_hold(vcq, &posted->what))
		hold(vcq, posted);
	return posted->held;
}

static bool flush_is_due(struct vcq *vcq)
{
	for (uint32_t i = ready(vcq); i-- > 0;)
		if (ordered(vcq, &entry(vcq, i)->what))
			return true;
	return false;
}

/* The next that the caller is to carry out; false: none, or what is left is held. */
static bool take_next(struct vcq *vcq, struct posted *taken)
{
	bool found = false;

	vcq_lock(vcq);
	if (flush_is_due(vcq)) {
		while (vcq->at_card) {
			vcq_unlock(vcq);
			sched_yield();
			vcq_lock(vcq);
		}
		found = ready(vcq) > 0;
		if (found)
			take(vcq, 0, taken);
	} else {
		for (uint32_t i = 0; i < ready(vcq) && !found; i++) {
			found = !is_held(vcq, entry(vcq, i));
			if (found)
				take(vcq, i, taken);
		}
	}
	vcq_unlock(vcq);
	return found;
}

static void run_one(struct vcq *vcq, struct posted *posted)
{
	carry(vcq, posted);
	atomic_fetch_add_explicit(&vcq->counts.by_caller, 1, memory_order_relaxed);
}

static void run(struct vcq *vcq)
{
	struct posted taken;

	while (take_next(vcq, &taken))
		run_one(vcq, &taken);
}

static void append(struct vcq *vcq, const struct descriptor *what, void *cbdata)
{
	struct posted *last = entry(vcq, vcq->toq_count++);

	last->what = *what;
	last->cbdata = cbdata;
	last->blocks_done = 0;
	last->held = last->told = false;
	if (what->flags & UTOFU_ONESIDED_FLAG_DELAY_START)
		vcq->delayed++;
	else
		vcq->delayed = 0;
}

/* With the lock. Before it is nothing, and nobody is to go after it but who comes later: it need not be written down, but is done by the caller. */
static bool goes_at_once(struct vcq *vcq, const struct descriptor *what, uint32_t count)
{
	return count == 1 && !vcq->toq_count && !vcq->at_card && !(vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE) &&
	       !(what->flags & UTOFU_ONESIDED_FLAG_DELAY_START) && ordered(vcq, what);
}

int queue_post(struct vcq *vcq, const struct descriptor *what, uint32_t count, void *cbdata)
{
	struct nic *nic = vcq->nic;
	bool held;

	vcq_lock(vcq);
	if (vcq->toq_count + (vcq->tcq_tail - vcq->tcq_head) + vcq->at_card + count > TOQ_SIZE) {
		vcq_unlock(vcq);
		return UTOFU_ERR_BUSY;
	}
	if (goes_at_once(vcq, what, count)) {
		vcq_unlock(vcq);
		run_one(vcq, &(struct posted){.what = *what, .cbdata = cbdata});
		return UTOFU_SUCCESS;
	}
	for (uint32_t i = 0; i < count; i++)
		append(vcq, &what[i], cbdata);
	vcq_unlock(vcq);
	if (vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE) {
		process_ring(nic->me);
		return UTOFU_SUCCESS;
	}
	held = atomic_load_explicit(&nic->held, memory_order_relaxed);
	run(vcq);
	/* A thread that sleeps for good has to be told that something is held now. */
	if (!held && atomic_load_explicit(&nic->held, memory_order_relaxed) &&
	    atomic_load_explicit(&nic->me->asleep, memory_order_seq_cst) == ASLEEP_FOR_GOOD)
		process_ring(nic->me);
	return UTOFU_SUCCESS;
}

/* One that is held, drawn by lot. at_card: order must wait for it. */
static bool take_held(struct vcq *vcq, struct posted *taken, bool all)
{
	bool found = false;

	vcq_lock(vcq);
	if (vcq->held && (all || !vcq_lot(vcq, 2))) {
		uint32_t i = vcq_lot(vcq, ready(vcq));

		while (!entry(vcq, i)->held)
			i = (i + 1) % ready(vcq);
		take(vcq, i, taken);
		vcq->at_card++;
		found = true;
	}
	vcq_unlock(vcq);
	return found;
}

static void done_at_card(struct vcq *vcq)
{
	vcq_lock(vcq);
	vcq->at_card--;
	vcq_unlock(vcq);
}

static void let_go(struct vcq *vcq, bool all, _Atomic uint64_t *counter)
{
	struct posted taken;

	while (take_held(vcq, &taken, all)) {
		carry(vcq, &taken);
		done_at_card(vcq);
		atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
	}
}

void queue_relent(struct vcq *vcq)
{
	struct nic *nic = vcq->nic;

	if (!atomic_load_explicit(&nic->held, memory_order_relaxed))
		return;
	let_go(vcq, false, &vcq->counts.by_caller);
	if (!atomic_load_explicit(&nic->held, memory_order_relaxed) || pthread_mutex_trylock(&nic->lock))
		return;
	for (int i = 0; i < nic->vcq_count; i++)
		if (&nic->vcqs[i] != vcq && atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed))
			let_go(&nic->vcqs[i], false, &nic->vcqs[i].counts.by_caller);
	pthread_mutex_unlock(&nic->lock);
}

void queue_drain(struct vcq *vcq)
{
	bool busy = true;

	let_go(vcq, true, &vcq->counts.by_caller);
	while (busy) {
		vcq_lock(vcq);
		busy = vcq->at_card > 0;
		vcq_unlock(vcq);
		if (busy)
			sched_yield();
	}
}

/* Block number k of a strided put as a put of its own. Only the last one has the notices. */
static void cut_block(struct posted *whole, struct posted *block)
{
	uint64_t k = whole->blocks_done++;

	*block = *whole;
	block->what.memory.blocks = 1;
	block->what.memory.lcl_stadd += k * whole->what.memory.stride;
	block->what.rmt_stadd += k * whole->what.memory.stride;
	if (whole->blocks_done < whole->what.memory.blocks)
		block->what.flags &= ~(UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE |
				       UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE);
}

static bool take_scheduled(struct vcq *vcq, struct posted *taken)
{
	bool found = false;

	vcq_lock(vcq);
	if (ready(vcq) && vcq->done < atomic_load_explicit(&vcq->shared->scheduled, memory_order_acquire)) {
		struct posted *first = entry(vcq, 0);
		bool cut = vcq->nic->settings.sps_by_block && first->what.kind == KIND_PUT &&
			   first->what.memory.blocks > 1;

		if (cut)
			cut_block(first, taken);
		if (!cut || first->blocks_done == first->what.memory.blocks) {
			struct posted whole;

			take(vcq, 0, cut ? &whole : taken);
		}
		taken->place = vcq->done++;
		vcq->at_card++;
		found = true;
	}
	vcq_unlock(vcq);
	return found;
}

bool queue_run_card(struct vcq *vcq)
{
	struct posted taken;
	bool did = false;

	if (!(vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE)) {
		let_go(vcq, true, &vcq->counts.by_card);
		return false;
	}
	while (take_scheduled(vcq, &taken)) {
		carry(vcq, &taken);
		done_at_card(vcq);
		atomic_fetch_add_explicit(&vcq->counts.by_card, 1, memory_order_relaxed);
		did = true;
	}
	return did;
}
