/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/vcq.h"

/*
 * Registered memory. Stags 0 to 255 belong to a VCQ and are chosen by the program. The others are given out one after
 * the other over all of the process, so that a stag means the same memory for long and a wrong one is noticed: the low
 * 14 bits are the place in the process's table, the rest counts how often the place was used.
 */
#define OF_THE_PROCESS FIXED_STAGS
#define WITHIN_64K 0xffffull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_place;

static void write_down(struct memory *memory, uint64_t address, uint64_t size, uint32_t number, uint32_t stag,
		       unsigned long flags)
{
	atomic_store_explicit(&memory->address, address, memory_order_relaxed);
	atomic_store_explicit(&memory->vcq, number + 1, memory_order_relaxed);
	atomic_store_explicit(&memory->stag, stag, memory_order_relaxed);
	atomic_store_explicit(&memory->flags, (uint32_t)flags, memory_order_relaxed);
	atomic_store_explicit(&memory->size, size, memory_order_release);
}

static int register_fixed(struct vcq *vcq, uint64_t address, size_t size, uint32_t stag, unsigned long flags,
			  uint64_t *stadd)
{
	struct memory *memory = &vcq->shared->fixed[stag];
	int code = UTOFU_ERR_USED;

	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&memory->size, memory_order_relaxed)) {
		write_down(memory, address, size, vcq->number, stag, flags);
		*stadd = STADD_MAKE(stag, 0);
		code = UTOFU_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

static int register_any(struct vcq *vcq, uint64_t address, size_t size, unsigned long flags, uint64_t *stadd)
{
	int code = UTOFU_ERR_FULL;

	pthread_mutex_lock(&lock);
	for (uint32_t tried = 0; tried < MEMORIES && code; tried++) {
		uint32_t place = next_place++ % MEMORIES, stag;
		struct memory *memory = &vcq->nic->me->memories[place];

		if (atomic_load_explicit(&memory->size, memory_order_relaxed))
			continue;
		stag = atomic_load_explicit(&memory->stag, memory_order_relaxed) + MEMORIES;
		if (stag % MEMORIES != (place + OF_THE_PROCESS) % MEMORIES || stag >= 1u << 27)
			stag = place + OF_THE_PROCESS;
		write_down(memory, address, size, vcq->number, stag, flags);
		*stadd = STADD_MAKE(stag, address & WITHIN_64K);
		code = UTOFU_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

int memory_register(struct vcq *vcq, void *address, size_t size, int stag, unsigned long flags, uint64_t *stadd)
{
	uint64_t at = (uint64_t)(uintptr_t)address;

	if (stag < 0)
		return register_any(vcq, at, size, flags, stadd);
	return register_fixed(vcq, at, size, (uint32_t)stag, flags, stadd);
}

/* NULL: that stag means nothing for this VCQ. first: the offset its STADDs begin with. */
static struct memory *look_up(struct nic *nic, struct shared_vcq *vcq, uint32_t number, uint64_t stadd, uint64_t *size,
			      uint64_t *first)
{
	uint32_t stag = STADD_STAG(stadd);
	struct memory *memory;

	if (!(stadd & STADD_MARK))
		return NULL;
	if (stag < FIXED_STAGS)
		memory = &vcq->fixed[stag];
	else
		memory = &job_process(nic->job, vcq->rank)->memories[(stag - OF_THE_PROCESS) % MEMORIES];
	*size = atomic_load_explicit(&memory->size, memory_order_acquire);
	if (!*size || atomic_load_explicit(&memory->vcq, memory_order_relaxed) != number + 1 ||
	    atomic_load_explicit(&memory->stag, memory_order_relaxed) != stag)
		return NULL;
	*first = stag < FIXED_STAGS ? 0 : atomic_load_explicit(&memory->address, memory_order_relaxed) & WITHIN_64K;
	return memory;
}

enum translated memory_find(struct nic *nic, struct shared_vcq *vcq, uint32_t number, uint64_t stadd, uint64_t bytes,
			    bool to_write, uint64_t *address)
{
	uint64_t offset = stadd & STADD_OFFSET, size, first;
	struct memory *memory = look_up(nic, vcq, number, stadd, &size, &first);

	if (!memory)
		return NO_SUCH_STAG;
	if (offset < first || offset - first > size || bytes > size - (offset - first))
		return TOO_LONG;
	if (to_write && (atomic_load_explicit(&memory->flags, memory_order_relaxed) & UTOFU_REG_MEM_FLAG_READ_ONLY))
		return NO_ACCESS;
	*address = atomic_load_explicit(&memory->address, memory_order_relaxed) + (offset - first);
	return TRANSLATED;
}

int memory_forget(struct vcq *vcq, uint64_t stadd)
{
	uint64_t size, first;
	struct memory *memory;
	int code = UTOFU_ERR_INVALID_STADD;

	pthread_mutex_lock(&lock);
	memory = look_up(vcq->nic, vcq->shared, vcq->number, stadd, &size, &first);
	if (memory && (stadd & STADD_OFFSET) == first) {
		atomic_store_explicit(&memory->size, 0, memory_order_relaxed);
		code = UTOFU_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return code;
}
