/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "softofu/nic/carrier.h"
#include "softofu/nic/recording.h"

/*
 * The message receive queue. Any process may write: it reserves the next number, fills the entry,
 * and then writes the number into the entry, where the owner waits for it. A number may be reserved
 * early, to keep the place of a later notice. A full queue is broken, as on the machine: it loses
 * this notice and all later ones.
 */
static void say_unread(struct nic *nic, struct shared_vcq *vcq, uint64_t unread, const char *then)
{
	struct vcq_name name;

	id_read(shared_vcq_id(vcq), &name);
	fprintf(stderr,
		"softofu: rank %u: the MRQ of TNI %u CQ %u component %u holds %llu notices that nobody reads and %s. "
		"Read it with utofu_poll_mrq, or set SOFTOFU_MRQ_SIZE to more than %llu\n",
		vcq->rank, name.tni, name.cq, name.component, (unsigned long long)unread, then,
		(unsigned long long)nic->job->mrq_size);
}

/* Warns once per queue before it overflows. */
static void warn_of_overflow(struct nic *nic, struct shared_vcq *vcq, uint64_t unread)
{
	if (!atomic_load_explicit(&vcq->mrq_warned, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&vcq->mrq_warned, 1, memory_order_relaxed))
		say_unread(nic, vcq, unread, "is three quarters full; when it is full, notices are lost");
}

/*
 * Whether there is room for the notice with this number. The number may be old and already read:
 * then the head is beyond it.
 */
static bool mrq_has_room(struct nic *nic, struct shared_vcq *vcq, uint64_t number)
{
	int64_t size = (int64_t)nic->job->mrq_size, much = size / 4 * 3, unread;
	uint64_t head;

	if ((int64_t)(number - atomic_load_explicit(&vcq->mrq_head_seen, memory_order_acquire)) < much)
		return true;
	head = atomic_load_explicit(&vcq->mrq_head, memory_order_acquire);
	atomic_store_explicit(&vcq->mrq_head_seen, head, memory_order_release);
	unread = (int64_t)(number - head);
	if (unread >= much && unread < size)
		warn_of_overflow(nic, vcq, (uint64_t)unread);
	return unread < size;
}

/*
 * A writer that advances the tail publishes the head that it saw. A head older than the tail would
 * make the queue look full when it is not.
 */
bool mrq_reserve(struct nic *nic, struct shared_vcq *vcq, uint64_t *number)
{
	*number = atomic_load_explicit(&vcq->mrq_tail, memory_order_acquire);
	do {
		if (atomic_load_explicit(&vcq->mrq_lost, memory_order_relaxed))
			return false;
		if (!mrq_has_room(nic, vcq, *number)) {
			if (!atomic_exchange_explicit(&vcq->mrq_lost, 1, memory_order_release))
				say_unread(nic, vcq, nic->job->mrq_size, "is full; what comes from now on is lost");
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&vcq->mrq_tail, number, *number + 1, memory_order_acq_rel,
							memory_order_acquire));
	return true;
}

void mrq_fill(struct nic *nic, struct shared_vcq *vcq, uint64_t number, const struct mrq_entry *notice)
{
	struct mrq_entry *entry = &vcq_entries(vcq)[number & (nic->job->mrq_size - 1)];

	entry->vcq_id = notice->vcq_id;
	entry->rmt_value = notice->rmt_value;
	entry->lcl_stadd = notice->lcl_stadd;
	entry->rmt_stadd = notice->rmt_stadd;
	entry->type = notice->type;
	entry->edata = notice->edata;
	entry->code = notice->code;
	entry->time = nic_time;
	entry->message = record_message;
	atomic_store_explicit(&entry->sequence, number + 1, memory_order_release);
}

/* Relaxed: mrq_take acquires. */
int mrq_ready(struct vcq *vcq)
{
	struct shared_vcq *shared = vcq->shared;
	uint64_t head = atomic_load_explicit(&shared->mrq_head, memory_order_relaxed);
	struct mrq_entry *entry = &vcq_entries(shared)[head & (vcq->nic->job->mrq_size - 1)];

	return atomic_load_explicit(&entry->sequence, memory_order_relaxed) == head + 1 ||
			       atomic_load_explicit(&shared->mrq_lost, memory_order_relaxed)
		       ? UTOFU_SUCCESS
		       : UTOFU_ERR_NOT_FOUND;
}

/* Takes the next notice. Call with the lock held. */
int mrq_take(struct vcq *vcq, struct utofu_mrq_notice *notice)
{
	struct shared_vcq *shared = vcq->shared;
	uint64_t head = atomic_load_explicit(&shared->mrq_head, memory_order_relaxed);
	struct mrq_entry *entry = &vcq_entries(shared)[head & (vcq->nic->job->mrq_size - 1)];
	int code;

	if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != head + 1) {
		/* Report the loss after all notices that were not lost. */
		if (atomic_load_explicit(&shared->mrq_lost, memory_order_acquire) &&
		    atomic_load_explicit(&shared->mrq_tail, memory_order_relaxed) == head)
			return UTOFU_ERR_MRQ_OTHER;
		return UTOFU_ERR_NOT_FOUND;
	}
	*notice = (struct utofu_mrq_notice){
		.notice_type = entry->type,
		.vcq_id = entry->vcq_id,
		.edata = entry->edata,
		.rmt_value = entry->rmt_value,
		.lcl_stadd = entry->lcl_stadd,
		.rmt_stadd = entry->rmt_stadd,
	};
	code = entry->code;
	if (entry->time > atomic_load_explicit(&vcq->nic->clock, memory_order_relaxed))
		atomic_store_explicit(&vcq->nic->clock, entry->time, memory_order_relaxed);
	record_read(vcq, entry);
	atomic_store_explicit(&shared->mrq_head, head + 1, memory_order_release);
	atomic_fetch_add_explicit(&vcq->counts.notices_in, 1, memory_order_relaxed);
	return code;
}

size_t mrq_unread(struct vcq *vcq)
{
	return (size_t)(atomic_load_explicit(&vcq->shared->mrq_tail, memory_order_relaxed) -
			atomic_load_explicit(&vcq->shared->mrq_head, memory_order_relaxed));
}

/* queue_post has checked that there is room for one per descriptor. */
void tcq_put(struct vcq *vcq, void *cbdata, int code)
{
	vcq_lock(vcq);
	vcq->tcq[vcq->tcq_tail++ % TCQ_SIZE] = (struct sent){cbdata, code};
	vcq_unlock(vcq);
}

int tcq_take(struct vcq *vcq, void **cbdata)
{
	struct sent *sent;

	if (vcq->tcq_head == vcq->tcq_tail)
		return UTOFU_ERR_NOT_FOUND;
	sent = &vcq->tcq[vcq->tcq_head++ % TCQ_SIZE];
	*cbdata = sent->cbdata;
	return sent->code;
}
