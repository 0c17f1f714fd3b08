/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "softofu/nic/carry.h"
#include "softofu/nic/record.h"

/*
 * The message receive queue. Any process may write: it takes the next turn, fills the entry and then writes the turn
 * into it, which is what the owner waits for. So a turn can be taken early, and keeps the place of a notice that comes
 * later. Full means broken, as on the machine: the notice is lost, and so is every later one.
 */
static void say_lost(struct nic *nic, struct shared_vcq *vcq)
{
	struct vcq_name name;

	id_read(shared_vcq_id(vcq), &name);
	fprintf(stderr,
		"softofu: rank %u: the MRQ of TNI %u CQ %u component %u holds %llu notices that nobody reads and is "
		"full; what "
		"comes from now on is lost. Read it with utofu_poll_mrq\n",
		vcq->rank, name.tni, name.cq, name.component, (unsigned long long)nic->job->mrq_size);
}

/* Whether there is room for notice number turn. It may have been taken long ago, and read: then the head is beyond it. */
static bool has_room(struct nic *nic, struct shared_vcq *vcq, uint64_t turn)
{
	int64_t size = (int64_t)nic->job->mrq_size;
	uint64_t head;

	if ((int64_t)(turn - atomic_load_explicit(&vcq->mrq_head_seen, memory_order_acquire)) < size)
		return true;
	head = atomic_load_explicit(&vcq->mrq_head, memory_order_acquire);
	atomic_store_explicit(&vcq->mrq_head_seen, head, memory_order_release);
	return (int64_t)(turn - head) < size;
}

/*
 * Who moves the tail on tells the next how far it saw the head: a head that is older than the tail would make a queue look full
 * that is not.
 */
bool mrq_reserve(struct nic *nic, struct shared_vcq *vcq, uint64_t *turn)
{
	*turn = atomic_load_explicit(&vcq->mrq_tail, memory_order_acquire);
	do {
		if (atomic_load_explicit(&vcq->mrq_lost, memory_order_relaxed))
			return false;
		if (!has_room(nic, vcq, *turn)) {
			if (!atomic_exchange_explicit(&vcq->mrq_lost, 1, memory_order_release))
				say_lost(nic, vcq);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&vcq->mrq_tail, turn, *turn + 1, memory_order_acq_rel,
							memory_order_acquire));
	return true;
}

void mrq_fill(struct nic *nic, struct shared_vcq *vcq, uint64_t turn, const struct mrq_entry *notice)
{
	struct mrq_entry *entry = &vcq_entries(vcq)[turn & (nic->job->mrq_size - 1)];

	entry->vcq_id = notice->vcq_id;
	entry->rmt_value = notice->rmt_value;
	entry->lcl_stadd = notice->lcl_stadd;
	entry->rmt_stadd = notice->rmt_stadd;
	entry->type = notice->type;
	entry->edata = notice->edata;
	entry->code = notice->code;
	entry->time = card_time;
	entry->message = record_message;
	atomic_store_explicit(&entry->turn, turn + 1, memory_order_release);
}

/* Who then takes it acquires. */
int mrq_look(struct vcq *vcq)
{
	struct shared_vcq *shared = vcq->shared;
	uint64_t head = atomic_load_explicit(&shared->mrq_head, memory_order_relaxed);
	struct mrq_entry *entry = &vcq_entries(shared)[head & (vcq->nic->job->mrq_size - 1)];

	return atomic_load_explicit(&entry->turn, memory_order_relaxed) == head + 1 ||
			       atomic_load_explicit(&shared->mrq_lost, memory_order_relaxed)
		       ? UTOFU_SUCCESS
		       : UTOFU_ERR_NOT_FOUND;
}

/* One thread at a time, with the lock. */
int mrq_take(struct vcq *vcq, struct utofu_mrq_notice *notice)
{
	struct shared_vcq *shared = vcq->shared;
	uint64_t head = atomic_load_explicit(&shared->mrq_head, memory_order_relaxed);
	struct mrq_entry *entry = &vcq_entries(shared)[head & (vcq->nic->job->mrq_size - 1)];
	int code;

	if (atomic_load_explicit(&entry->turn, memory_order_acquire) != head + 1) {
		/* What was lost comes after all that was not. */
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

/* queue_post has seen that there is room for one per descriptor. */
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
