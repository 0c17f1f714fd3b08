/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/vcq.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The queues of a NIC that a process may use. Up to 4 ranks of a node use all TNIs, up to 8 three,
 * up to 12 two, more than that one. Ranks that share a TNI divide its CQs. The first CQ of a rank
 * is the one that programs expect that construct ids.
 */
static const uint8_t first_cqs[9][8] = {
	[1] = {0},
	[2] = {0, 6},
	[3] = {0, 4, 8},
	[4] = {0, 2, 5, 8},
	[5] = {0, 2, 5, 8, 10},
	[6] = {0, 2, 5, 8, 9, 10},
	[7] = {0, 2, 5, 6, 8, 9, 10},
	[8] = {0, 2, 4, 5, 6, 8, 9, 10},
};

/*
 * The division of the first years of the machine, which older programs expect. With more ranks on a
 * TNI it is not known.
 */
static const uint8_t early_cqs[5][8] = {[1] = {0}, [2] = {0, 6}, [3] = {0, 3, 6}, [4] = {0, 3, 6, 9}};

struct share {
	int first_tni, tnis; /* consecutive */
	int first_cq, cqs;
};

static struct share share_of(const struct nic *nic)
{
	int per_node = nic->settings.grid.per_node, sharers, mine;
	const uint8_t *first;
	struct share share;

	share.tnis = per_node <= 4 ? 6 : per_node <= 8 ? 3 : per_node <= 12 ? 2 : 1;
	sharers = per_node <= 4 ? per_node : per_node <= 24 ? 4 : (per_node + 5) / 6;
	mine = nic->local / (TNIS / share.tnis);
	share.first_tni = nic->local % (TNIS / share.tnis) * share.tnis;
	first = nic->settings.early_cqs && sharers <= 4 ? early_cqs[sharers] : first_cqs[sharers];
	share.first_cq = first[mine];
	share.cqs = (mine + 1 < sharers ? first[mine + 1] : CQS) - share.first_cq;
	return share;
}

int nic_tnis(const struct nic *nic, uint16_t tnis[TNIS])
{
	struct share share = share_of(nic);

	for (int i = 0; i < share.tnis; i++)
		tnis[i] = (uint16_t)(share.first_tni + i);
	return share.tnis;
}

struct vcq *vcq_table(int *count)
{
	*count = VCQS_OF_PROCESS;
	return calloc(VCQS_OF_PROCESS, sizeof(struct vcq));
}

struct shared_vcq *vcq_find(struct nic *nic, uint64_t id, uint32_t *number)
{
	struct vcq_name name;
	struct shared_vcq *vcq;
	uint32_t at;
	long node;

	if (!id_read(id, &name) || (node = node_grid_node(&nic->settings.grid, name.coords)) < 0)
		return NULL;
	at = atomic_load_explicit(&job_node_nic(nic->job, (uint32_t)node)->vcqs[name.tni][name.cq][name.component],
				  memory_order_acquire);
	if (!at)
		return NULL;
	vcq = job_vcq(nic->job, at - 1);
	*number = at - 1;
	return atomic_load_explicit(&vcq->live, memory_order_relaxed) ? vcq : NULL;
}

static bool vcq_is_alone(struct nic *nic, uint32_t at)
{
	return job_vcq(nic->job, at - 1)->flags & (UTOFU_VCQ_FLAG_EXCLUSIVE | UTOFU_VCQ_FLAG_SESSION_MODE);
}

static bool is_empty(_Atomic uint32_t components[COMPONENTS])
{
	for (int i = 0; i < COMPONENTS; i++)
		if (atomic_load_explicit(&components[i], memory_order_relaxed))
			return false;
	return true;
}

/*
 * The CQ of a new VCQ: one of its own for an exclusive VCQ or a session, else the first CQ of the
 * rank.
 */
static int choose_cq(struct nic *nic, unsigned tni, int component, bool alone, unsigned *cq, unsigned *chosen)
{
	struct share share = share_of(nic);
	struct node_nic *node_nic = job_node_nic(nic->job, (uint32_t)nic->node);
	int at = share.first_cq;

	if (alone) {
		for (at = share.first_cq + share.cqs - 1; at >= share.first_cq; at--)
			if (is_empty(node_nic->vcqs[tni][at]))
				break;
		if (at < share.first_cq)
			return UTOFU_ERR_FULL;
	}
	*cq = (unsigned)at;
	for (int i = component < 0 ? NAMED_COMPONENTS : component; i < COMPONENTS; i++) {
		uint32_t there = atomic_load_explicit(&node_nic->vcqs[tni][at][i], memory_order_relaxed);

		*chosen = (unsigned)i;
		if (there && (vcq_is_alone(nic, there) || component >= 0))
			return vcq_is_alone(nic, there) ? UTOFU_ERR_FULL : UTOFU_ERR_USED;
		if (!there)
			return UTOFU_SUCCESS;
	}
	return UTOFU_ERR_FULL;
}

/*
 * With job->making. Every shared VCQ that a process looks at costs it a page of page tables, so
 * jobs of thousands of ranks must not look at all of them.
 */
static int claim_shared_vcq(struct nic *nic, uint32_t *number)
{
	struct job *job = nic->job;
	uint32_t at = job->first_free_vcq;

	while (at < job->vcqs && atomic_load_explicit(&job_vcq(job, at)->live, memory_order_relaxed))
		at++;
	job->first_free_vcq = at;
	if (at == job->vcqs)
		return UTOFU_ERR_OUT_OF_RESOURCE;
	atomic_store_explicit(&job_vcq(job, at)->live, 2, memory_order_relaxed);
	if (at >= atomic_load_explicit(&job->used_vcqs, memory_order_relaxed))
		atomic_store_explicit(&job->used_vcqs, at + 1, memory_order_relaxed);
	*number = at;
	return UTOFU_SUCCESS;
}

static void clear_shared_vcq(struct nic *nic, struct shared_vcq *shared)
{
	struct mrq_entry *entries = vcq_entries(shared);
	uint64_t written = atomic_load_explicit(&shared->mrq_tail, memory_order_relaxed);

	memset(shared->fixed, 0, sizeof shared->fixed);
	memset(entries, 0, (written < nic->job->mrq_size ? written : nic->job->mrq_size) * sizeof *entries);
	atomic_store_explicit(&shared->scheduled, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->mrq_tail, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->mrq_head, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->mrq_head_seen, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->mrq_lost, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->mrq_warned, 0, memory_order_relaxed);
}

/* After this, other processes can find the VCQ. */
static int publish_vcq(struct nic *nic, unsigned tni, int component, unsigned long flags, uint32_t *number)
{
	bool alone = flags & (UTOFU_VCQ_FLAG_EXCLUSIVE | UTOFU_VCQ_FLAG_SESSION_MODE);
	struct vcq_name name = {.tni = tni};
	struct shared_vcq *shared;
	int code;

	memcpy(name.coords, nic->coords, sizeof name.coords);
	job_lock(&nic->job->making);
	code = choose_cq(nic, tni, component, alone, &name.cq, &name.component);
	if (!code)
		code = claim_shared_vcq(nic, number);
	if (!code) {
		shared = job_vcq(nic->job, *number);
		clear_shared_vcq(nic, shared);
		shared->rank = (uint32_t)nic->rank;
		atomic_store_explicit(&shared->id, id_make(&name), memory_order_relaxed);
		shared->flags = flags;
		atomic_store_explicit(&shared->live, 1, memory_order_relaxed);
		atomic_store_explicit(&job_node_nic(nic->job, (uint32_t)nic->node)->vcqs[tni][name.cq][name.component],
				      *number + 1, memory_order_release);
	}
	job_unlock(&nic->job->making);
	return code;
}

static bool may_use(const struct nic *nic, unsigned tni)
{
	struct share share = share_of(nic);

	return (int)tni >= share.first_tni && (int)tni < share.first_tni + share.tnis;
}

static struct vcq *free_vcq_slot(struct nic *nic)
{
	for (int i = 0; i < nic->vcq_count; i++)
		if (!atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed))
			return &nic->vcqs[i];
	return NULL;
}

static int fill_vcq(struct nic *nic, struct vcq *vcq, unsigned tni, int component, unsigned long flags)
{
	int code;

	memset(vcq, 0, sizeof *vcq);
	vcq->nic = nic;
	vcq->flags = flags;
	vcq->toq = calloc(TOQ_SIZE, sizeof *vcq->toq);
	vcq->tcq = calloc(TCQ_SIZE, sizeof *vcq->tcq);
	code = vcq->toq && vcq->tcq ? publish_vcq(nic, tni, component, flags, &vcq->number) : UTOFU_ERR_OUT_OF_MEMORY;
	if (code) {
		free(vcq->toq);
		free(vcq->tcq);
		return code;
	}
	vcq->shared = job_vcq(nic->job, vcq->number);
	vcq->random_state =
		(nic->settings.seed * 0x9e3779b97f4a7c15 + 1) ^ (shared_vcq_id(vcq->shared) * 0xbf58476d1ce4e5b9);
	atomic_store_explicit(&vcq->live, true, memory_order_relaxed);
	return UTOFU_SUCCESS;
}

int vcq_create(struct nic *nic, unsigned tni, int component, unsigned long flags, struct vcq **vcq)
{
	struct vcq *slot;
	int code;

	if (!may_use(nic, tni))
		return UTOFU_ERR_NOT_AVAILABLE;
	/* Without the thread nothing is held back; a session needs it. */
	if (((flags & UTOFU_VCQ_FLAG_SESSION_MODE) || nic->settings.order == ORDER_REORDERED) &&
	    !nic_thread_start(nic) && (flags & UTOFU_VCQ_FLAG_SESSION_MODE))
		return UTOFU_ERR_OUT_OF_RESOURCE;
	pthread_mutex_lock(&nic->lock);
	slot = free_vcq_slot(nic);
	code = slot ? fill_vcq(nic, slot, tni, component, flags) : UTOFU_ERR_FULL;
	pthread_mutex_unlock(&nic->lock);
	*vcq = slot;
	return code;
}

void vcq_release(struct nic *nic, uint32_t number)
{
	struct shared_vcq *shared = job_vcq(nic->job, number);
	struct vcq_name name;
	long node;

	id_read(shared_vcq_id(shared), &name);
	node = node_grid_node(&nic->settings.grid, name.coords);
	atomic_store_explicit(&job_node_nic(nic->job, (uint32_t)node)->vcqs[name.tni][name.cq][name.component], 0,
			      memory_order_relaxed);
	/* A process that claims it has job->making. */
	atomic_store_explicit(&shared->live, 0, memory_order_relaxed);
	if (number < nic->job->first_free_vcq)
		nic->job->first_free_vcq = number;
}

int vcq_free(struct vcq *vcq)
{
	struct nic *nic = vcq->nic;

	queue_drain(vcq);
	pthread_mutex_lock(&nic->lock);
	job_lock(&nic->job->making);
	vcq_release(nic, vcq->number);
	job_unlock(&nic->job->making);
	atomic_store_explicit(&vcq->live, false, memory_order_relaxed);
	free(vcq->toq);
	free(vcq->tcq);
	free(vcq->later);
	vcq->toq = NULL;
	vcq->tcq = NULL;
	vcq->later = NULL;
	pthread_mutex_unlock(&nic->lock);
	return UTOFU_SUCCESS;
}

void vcq_release_all(struct nic *nic)
{
	job_lock(&nic->job->making);
	for (int i = 0; i < nic->vcq_count; i++)
		if (atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed))
			vcq_release(nic, nic->vcqs[i].number);
	job_unlock(&nic->job->making);
}

void vcq_report(struct nic *nic)
{
	for (int i = 0; i < nic->vcq_count; i++) {
		struct vcq *vcq = &nic->vcqs[i];
		struct vcq_name name;

		if (!vcq->shared || !id_read(shared_vcq_id(vcq->shared), &name))
			continue;
		fprintf(stderr,
			"softofu: rank %d TNI %u CQ %u component %u: %" PRIu64 " descriptors by the caller, %" PRIu64
			" by the NIC, %" PRIu64 " bytes sent, %" PRIu64 " notices read\n",
			nic->rank, name.tni, name.cq, name.component,
			atomic_load_explicit(&vcq->counts.by_caller, memory_order_relaxed),
			atomic_load_explicit(&vcq->counts.by_nic, memory_order_relaxed),
			atomic_load_explicit(&vcq->counts.bytes_out, memory_order_relaxed),
			atomic_load_explicit(&vcq->counts.notices_in, memory_order_relaxed));
	}
}

static void two_inside(struct vcq *vcq, const char *routine)
{
	fprintf(stderr,
		"softofu: rank %d: %s: two threads are at one VCQ at once; create it with UTOFU_VCQ_FLAG_THREAD_SAFE\n",
		vcq->nic->rank, routine);
}

/*
 * The program must order its threads at a VCQ without UTOFU_VCQ_FLAG_THREAD_SAFE; this only notices
 * where it did not.
 */
struct vcq *vcq_enter(utofu_vcq_hdl_t handle, const char *routine, int *code)
{
	struct nic *nic = nic_get();
	uintptr_t first = nic ? (uintptr_t)nic->vcqs : 0;
	struct vcq *vcq = (struct vcq *)handle; /* NOLINT: a handle is an address */

	*code = nic ? UTOFU_ERR_INVALID_VCQ_HDL : UTOFU_ERR_FATAL;
	if (!nic || handle < first || handle >= first + (uintptr_t)nic->vcq_count * sizeof *vcq ||
	    (handle - first) % sizeof *vcq || !atomic_load_explicit(&vcq->live, memory_order_relaxed))
		return NULL;
	if (!(vcq->flags & UTOFU_VCQ_FLAG_THREAD_SAFE) &&
	    atomic_exchange_explicit(&vcq->entered, 1, memory_order_relaxed)) {
		two_inside(vcq, routine);
		*code = UTOFU_ERR_FATAL;
		return NULL;
	}
	return vcq;
}

void vcq_leave(struct vcq *vcq)
{
	atomic_store_explicit(&vcq->entered, 0, memory_order_relaxed);
}

void vcq_lock(struct vcq *vcq)
{
	for (int spins = 0; atomic_exchange_explicit(&vcq->lock, 1, memory_order_acquire); spins++)
		if (spins > 100)
			sched_yield();
}

void vcq_unlock(struct vcq *vcq)
{
	atomic_store_explicit(&vcq->lock, 0, memory_order_release);
}

/* splitmix64. */
uint32_t vcq_random(struct vcq *vcq, uint32_t below)
{
	uint64_t mixed = vcq->random_state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((mixed ^ mixed >> 31) >> 32) % below;
}
