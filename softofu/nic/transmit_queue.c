/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <string.h>

#include "softofu/nic/carrier.h"
#include "softofu/nic/recording.h"

/*
 * From the transmit order queue to the carrier.
 *
 * The caller that posts to an ordinary queue empties it at once, so no thread has to be woken. But
 * the machine promises no order between communications without strong order, and programs must not
 * rely on one here. So reorder injection holds back one in HOLD_ONE_IN of them at random, without
 * reading its source, until a later call for any queue of the process or the NIC's thread releases
 * it. A communication with UTOFU_ONESIDED_FLAG_STRONG_ORDER is never held back, and goes after
 * everything that was posted before.
 *
 * The NIC's thread alone empties the queue of a session, as far as the scheduling pointer allows.
 */
enum { HOLD_ONE_IN = 4 };

static struct posted *toq_entry(struct vcq *vcq, uint32_t i)
{
	return &vcq->toq[(vcq->toq_first + i) % TOQ_SIZE];
}

static uint32_t toq_ready(const struct vcq *vcq)
{
	return vcq->toq_count - vcq->delayed;
}

static bool ordered(const struct vcq *vcq, const struct descriptor *what)
{
	return (what->flags & UTOFU_ONESIDED_FLAG_STRONG_ORDER) || vcq->nic->settings.order == ORDER_POSTED;
}

/* Removes entry i and moves the few before it up. Call with the lock held. */
static void toq_take(struct vcq *vcq, uint32_t i, struct posted *taken)
{
	*taken = *toq_entry(vcq, i);
	if (taken->held) {
		vcq->held--;
		atomic_fetch_sub_explicit(&vcq->nic->held, 1, memory_order_relaxed);
	}
	for (; i > 0; i--)
		*toq_entry(vcq, i) = *toq_entry(vcq, i - 1);
	vcq->toq_first++;
	vcq->toq_count--;
}

static void toq_carry(struct vcq *vcq, struct posted *taken)
{
	if (taken->completed)
		taken->what.flags &= ~UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
	record_sent(vcq, &taken->what, taken->place);
	vcq->nic->carrier->carry(vcq, &taken->what, taken->cbdata, ordered(vcq, &taken->what));
}

/*
 * The TCQ notice of a get or an atomic operation says that the request is out, not that the answer
 * has come. So it is written when the request is held back.
 */
static void complete_early(struct vcq *vcq, struct posted *held)
{
	if ((held->what.kind != KIND_GET && held->what.kind != KIND_ARMW) ||
	    !(held->what.flags & UTOFU_ONESIDED_FLAG_TCQ_NOTICE))
		return;
	vcq->tcq[vcq->tcq_tail++ % TCQ_SIZE] = (struct sent){held->cbdata, UTOFU_SUCCESS};
	held->completed = true;
}

static bool draws_to_hold(struct vcq *vcq, const struct descriptor *what)
{
	return what->kind != KIND_NOP && vcq->held < HELD_MOST && !vcq_random(vcq, HOLD_ONE_IN) &&
	       atomic_load_explicit(&vcq->nic->thread_runs, memory_order_relaxed);
}

static void toq_hold(struct vcq *vcq, struct posted *posted)
{
	posted->held = true;
	vcq->held++;
	atomic_fetch_add_explicit(&vcq->nic->held, 1, memory_order_seq_cst);
	complete_early(vcq, posted);
}

static bool is_held(struct vcq *vcq, struct posted *posted)
{
	if (!posted->held && draws_to_hold(vcq, &posted->what))
		toq_hold(vcq, posted);
	return posted->held;
}

static bool flush_is_due(struct vcq *vcq)
{
	for (uint32_t i = toq_ready(vcq); i-- > 0;)
		if (ordered(vcq, &toq_entry(vcq, i)->what))
			return true;
	return false;
}

/*
 * Takes the next entry for the caller. Returns false if the queue is empty or only held entries are
 * left.
 */
static bool take_next(struct vcq *vcq, struct posted *taken)
{
	bool found = false;

	vcq_lock(vcq);
	if (flush_is_due(vcq)) {
		while (vcq->at_nic) {
			vcq_unlock(vcq);
			sched_yield();
			vcq_lock(vcq);
		}
		found = toq_ready(vcq) > 0;
		if (found)
			toq_take(vcq, 0, taken);
	} else {
		for (uint32_t i = 0; i < toq_ready(vcq) && !found; i++) {
			found = !is_held(vcq, toq_entry(vcq, i));
			if (found)
				toq_take(vcq, i, taken);
		}
	}
	vcq_unlock(vcq);
	return found;
}

static void toq_run_one(struct vcq *vcq, struct posted *posted)
{
	toq_carry(vcq, posted);
	atomic_fetch_add_explicit(&vcq->counts.by_caller, 1, memory_order_relaxed);
}

static void toq_run(struct vcq *vcq)
{
	struct posted taken;

	while (take_next(vcq, &taken))
		toq_run_one(vcq, &taken);
}

static void toq_append(struct vcq *vcq, const struct descriptor *what, void *cbdata)
{
	struct posted *last = toq_entry(vcq, vcq->toq_count++);

	last->what = *what;
	last->cbdata = cbdata;
	last->blocks_done = 0;
	last->held = last->completed = false;
	if (what->flags & UTOFU_ONESIDED_FLAG_DELAY_START)
		vcq->delayed++;
	else
		vcq->delayed = 0;
}

/*
 * Whether a descriptor can skip the queue: the queue is empty, and the descriptor asks for order.
 * Call with the lock held.
 */
static bool goes_at_once(struct vcq *vcq, const struct descriptor *what, uint32_t count)
{
	return count == 1 && !vcq->toq_count && !vcq->at_nic && !(vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE) &&
	       !(what->flags & UTOFU_ONESIDED_FLAG_DELAY_START) && ordered(vcq, what);
}

int queue_post(struct vcq *vcq, const struct descriptor *what, uint32_t count, void *cbdata)
{
	struct nic *nic = vcq->nic;

	vcq_lock(vcq);
	if (vcq->toq_count + (vcq->tcq_tail - vcq->tcq_head) + vcq->at_nic + count > TOQ_SIZE) {
		vcq_unlock(vcq);
		return UTOFU_ERR_BUSY;
	}
	if (goes_at_once(vcq, what, count)) {
		vcq_unlock(vcq);
		toq_run_one(vcq, &(struct posted){.what = *what, .cbdata = cbdata});
		return UTOFU_SUCCESS;
	}
	for (uint32_t i = 0; i < count; i++)
		toq_append(vcq, &what[i], cbdata);
	vcq_unlock(vcq);
	if (vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE) {
		process_wake(nic->me);
		return UTOFU_SUCCESS;
	}
	toq_run(vcq);
	/* Wake a thread that sleeps without a limit, if something is held back now. */
	if (atomic_load_explicit(&nic->held, memory_order_relaxed) &&
	    atomic_load_explicit(&nic->me->asleep, memory_order_seq_cst) == ASLEEP_UNTIL_WOKEN)
		process_wake(nic->me);
	return UTOFU_SUCCESS;
}

/* Takes a random held entry. at_nic makes strong order wait for it. */
static bool take_held(struct vcq *vcq, struct posted *taken, bool all)
{
	bool found = false;

	vcq_lock(vcq);
	if (vcq->held && (all || !vcq_random(vcq, 2))) {
		uint32_t i = vcq_random(vcq, toq_ready(vcq));

		while (!toq_entry(vcq, i)->held)
			i = (i + 1) % toq_ready(vcq);
		toq_take(vcq, i, taken);
		vcq->at_nic++;
		found = true;
	}
	vcq_unlock(vcq);
	return found;
}

static void done_at_nic(struct vcq *vcq)
{
	vcq_lock(vcq);
	vcq->at_nic--;
	vcq_unlock(vcq);
}

static void release_held(struct vcq *vcq, bool all, _Atomic uint64_t *counter)
{
	struct posted taken;

	while (take_held(vcq, &taken, all)) {
		toq_carry(vcq, &taken);
		done_at_nic(vcq);
		atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
	}
}

void queue_release_some(struct vcq *vcq)
{
	struct nic *nic = vcq->nic;

	if (!atomic_load_explicit(&nic->held, memory_order_relaxed))
		return;
	release_held(vcq, false, &vcq->counts.by_caller);
	if (!atomic_load_explicit(&nic->held, memory_order_relaxed) || pthread_mutex_trylock(&nic->lock))
		return;
	for (int i = 0; i < nic->vcq_count; i++)
		if (&nic->vcqs[i] != vcq && atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed))
			release_held(&nic->vcqs[i], false, &nic->vcqs[i].counts.by_caller);
	pthread_mutex_unlock(&nic->lock);
}

void queue_drain(struct vcq *vcq)
{
	bool busy = true;

	release_held(vcq, true, &vcq->counts.by_caller);
	while (busy) {
		vcq_lock(vcq);
		busy = vcq->at_nic > 0;
		vcq_unlock(vcq);
		if (busy)
			sched_yield();
	}
}

/* Block number k of a strided put as a put of its own. Only the last block carries the notices. */
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
	if (toq_ready(vcq) && vcq->done < atomic_load_explicit(&vcq->shared->scheduled, memory_order_acquire)) {
		struct posted *first = toq_entry(vcq, 0);
		bool cut = vcq->nic->settings.sps_by_block && first->what.kind == KIND_PUT &&
			   first->what.memory.blocks > 1;

		if (cut)
			cut_block(first, taken);
		if (!cut || first->blocks_done == first->what.memory.blocks) {
			struct posted whole;

			toq_take(vcq, 0, cut ? &whole : taken);
		}
		taken->place = vcq->done++;
		vcq->at_nic++;
		found = true;
	}
	vcq_unlock(vcq);
	return found;
}

bool queue_run_by_nic(struct vcq *vcq)
{
	struct posted taken;
	bool did = false;

	if (!(vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE)) {
		release_held(vcq, true, &vcq->counts.by_nic);
		return false;
	}
	while (take_scheduled(vcq, &taken)) {
		toq_carry(vcq, &taken);
		done_at_nic(vcq);
		atomic_fetch_add_explicit(&vcq->counts.by_nic, 1, memory_order_relaxed);
		did = true;
	}
	return did;
}
