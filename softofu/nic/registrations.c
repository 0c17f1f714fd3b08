/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/vcq.h"

/*
 * Registered memory. Stags 0 to 255 belong to a VCQ, and the program chooses them. The others count
 * up over the whole process, so that a stag means the same memory for a long time and a wrong stag
 * is noticed: the low 14 bits are the place in the table of the process, the rest counts the uses
 * of the place.
 */
#define OF_THE_PROCESS FIXED_STAGS
#define WITHIN_64K 0xffffull

static void write_registration(struct memory *memory, const struct registration *wanted, uint32_t number, uint32_t stag)
{
	atomic_store_explicit(&memory->address, (uint64_t)(uintptr_t)wanted->address, memory_order_relaxed);
	atomic_store_explicit(&memory->vcq, number + 1, memory_order_relaxed);
	atomic_store_explicit(&memory->stag, stag, memory_order_relaxed);
	atomic_store_explicit(&memory->flags, (uint32_t)wanted->flags, memory_order_relaxed);
	atomic_store_explicit(&memory->size, wanted->size, memory_order_release);
}

static int register_fixed(struct vcq *vcq, const struct registration *wanted, uint64_t *stadd)
{
	uint32_t stag = (uint32_t)wanted->stag;
	struct memory *memory = &vcq->shared->fixed[stag];
	int code = UTOFU_ERR_USED;

	pthread_mutex_lock(&vcq->nic->registration_lock);
	if (!atomic_load_explicit(&memory->size, memory_order_relaxed)) {
		write_registration(memory, wanted, vcq->number, stag);
		*stadd = STADD_MAKE(stag, 0);
		code = UTOFU_SUCCESS;
	}
	pthread_mutex_unlock(&vcq->nic->registration_lock);
	return code;
}

static int register_any(struct vcq *vcq, const struct registration *wanted, uint64_t *stadd)
{
	int code = UTOFU_ERR_FULL;

	pthread_mutex_lock(&vcq->nic->registration_lock);
	for (uint32_t tried = 0; tried < MEMORIES && code; tried++) {
		uint32_t place = vcq->nic->next_registration++ % MEMORIES, stag;
		struct memory *memory = &vcq->nic->me->memories[place];

		if (atomic_load_explicit(&memory->size, memory_order_relaxed))
			continue;
		stag = atomic_load_explicit(&memory->stag, memory_order_relaxed) + MEMORIES;
		if (stag % MEMORIES != (place + OF_THE_PROCESS) % MEMORIES || stag >= 1u << 27)
			stag = place + OF_THE_PROCESS;
		write_registration(memory, wanted, vcq->number, stag);
		*stadd = STADD_MAKE(stag, (uintptr_t)wanted->address & WITHIN_64K);
		code = UTOFU_SUCCESS;
	}
	pthread_mutex_unlock(&vcq->nic->registration_lock);
	return code;
}

int memory_register(struct vcq *vcq, const struct registration *wanted, uint64_t *stadd)
{
	return wanted->stag < 0 ? register_any(vcq, wanted, stadd) : register_fixed(vcq, wanted, stadd);
}

/* Returns NULL if the stag means nothing for this VCQ. first: offset of its first byte. */
static struct memory *find_registration(struct nic *nic, const struct range *range, uint64_t *size, uint64_t *first)
{
	uint32_t stag = STADD_STAG(range->stadd);
	struct memory *memory;

	if (!(range->stadd & STADD_MARK))
		return NULL;
	if (stag < FIXED_STAGS)
		memory = &range->vcq->fixed[stag];
	else
		memory = &job_process(nic->job, range->vcq->rank)->memories[(stag - OF_THE_PROCESS) % MEMORIES];
	*size = atomic_load_explicit(&memory->size, memory_order_acquire);
	if (!*size || atomic_load_explicit(&memory->vcq, memory_order_relaxed) != range->number + 1 ||
	    atomic_load_explicit(&memory->stag, memory_order_relaxed) != stag)
		return NULL;
	*first = stag < FIXED_STAGS ? 0 : atomic_load_explicit(&memory->address, memory_order_relaxed) & WITHIN_64K;
	return memory;
}

enum translated memory_find(struct nic *nic, const struct range *range, uint64_t *address)
{
	uint64_t offset = range->stadd & STADD_OFFSET, size, first;
	struct memory *memory = find_registration(nic, range, &size, &first);

	if (!memory)
		return NO_SUCH_STAG;
	if (offset < first || offset - first > size || range->bytes > size - (offset - first))
		return TOO_LONG;
	if (range->to_write &&
	    (atomic_load_explicit(&memory->flags, memory_order_relaxed) & UTOFU_REG_MEM_FLAG_READ_ONLY))
		return NO_ACCESS;
	*address = atomic_load_explicit(&memory->address, memory_order_relaxed) + (offset - first);
	return TRANSLATED;
}

int memory_forget(struct vcq *vcq, uint64_t stadd)
{
	struct range range = {.vcq = vcq->shared, .number = vcq->number, .stadd = stadd};
	uint64_t size, first;
	struct memory *memory;
	int code = UTOFU_ERR_INVALID_STADD;

	pthread_mutex_lock(&vcq->nic->registration_lock);
	memory = find_registration(vcq->nic, &range, &size, &first);
	if (memory && (stadd & STADD_OFFSET) == first) {
		atomic_store_explicit(&memory->size, 0, memory_order_relaxed);
		code = UTOFU_SUCCESS;
	}
	pthread_mutex_unlock(&vcq->nic->registration_lock);
	return code;
}
