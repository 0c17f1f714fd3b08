/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of GPU memory, and the allocation in it. */
#include "gpu.h"

#include <shmemg.h>
#include <string.h>

#include "comms/gpu/gpu.h"
#include "rte/settings.h"
#include "rte/text/text.h"
#include "shmem/blocks.h"

#define STAGE_MOST (1UL << 20)
#define STAGE_LEAST (16UL << 10)
#define STAGE_SHARE 8 /* of the symmetric heap, at most, for the stages of all teams */

static struct {
	struct blocks *blocks;
	char *base; /* of the heap on the GPU */
	char *box;  /* symmetric host memory for comms/gpu/ */
	char *stages;
	size_t stage;	/* bytes of each */
	size_t aligned; /* the heaps of all PEs begin at multiples of this power of two */
} heap;

#define GPU_ALIGNMENT 256 /* as the driver's own allocations */

bool api_gpu_is_there(void)
{
	return comms.device != NULL;
}

char *gpu_stage(const struct set *set, size_t *bytes)
{
	if (!set->team)
		rte_die(set->routine, "memory of a GPU in an active set for which no slot is free; use a team");
	*bytes = heap.stage;
	return heap.stages + (size_t)set->group->slot * heap.stage;
}

/* --- Start and end --- */

static void forget(void)
{
	api_device_world = api_device_shared = NULL;
	blocks_destroy(heap.blocks);
	memset(&heap, 0, sizeof heap);
}

/* One line for the job: PE 0 speaks, or a PE whose GPU alone is missing. */
static void report(const char *routine, const char *problem, bool mine, uint64_t first)
{
	if (mine && first == (uint64_t)comms.pe)
		rte_report(routine, "no memory of GPUs: %s", problem);
}

/* True if all PEs have got this far. */
static bool all_have(bool mine, const char *problem, const char *routine)
{
	const struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);
	uint64_t first = mine ? UINT64_MAX : (uint64_t)comms.pe;

	set_reduce_words(&world, &first, 1, SET_LEAST);
	report(routine, problem, !mine, first);
	return first == UINT64_MAX;
}

static size_t stage_bytes(void)
{
	size_t share = comms.heap_size / STAGE_SHARE / COMMS_SLOTS / 4096 * 4096;

	return share > STAGE_MOST ? STAGE_MOST : share < STAGE_LEAST ? STAGE_LEAST : share;
}

static bool take_host_memory(void)
{
	heap.stage = stage_bytes();
	heap.box = api_allocate(comms_gpu_box_bytes(), "shmem_init_thread");
	heap.stages = heap.box ? api_allocate(COMMS_SLOTS * heap.stage, "shmem_init_thread") : NULL;
	return heap.stages != NULL;
}

static size_t least_alignment(const char *base, const char *routine)
{
	const struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);
	uint64_t aligned = (uintptr_t)base & -(uintptr_t)base;

	set_reduce_words(&world, &aligned, 1, SET_LEAST);
	return aligned;
}

static bool start_on_all(const char *routine)
{
	const char *problem = "", *pinned;
	size_t bytes = 0, made;
	bool good;

	good = comms_gpu_find(&problem);
	if (!all_have(good, problem, routine))
		return false;
	setting_size(SETTING_DEVICE_SYMMETRIC_SIZE, &bytes);
	good = comms_gpu_make_heap(bytes, &problem);
	if (!all_have(good, problem, routine))
		return false;
	if (!take_host_memory()) /* it has been reported */
		return false;
	heap.base = comms_gpu_heap(&made);
	heap.aligned = least_alignment(heap.base, routine);
	heap.blocks = blocks_create(made);
	if (!heap.blocks)
		rte_die(routine, "no memory");
	if (comms_gpu_shares_memory())
		comms_gpu_pin_heap(&pinned);
	comms_gpu_open(heap.box);
	api_barrier_all(routine);
	return true;
}

/* --- Teams --- */

static struct shmemx_team *part_of(shmem_team_t parent, int first, int size)
{
	shmem_team_t team = SHMEM_TEAM_INVALID;

	pshmem_team_split_strided(parent, first, 1, size, NULL, 0, &team);
	return team;
}

/* All PEs of a node if each reaches all others; otherwise each PE is alone. */
static void make_shared_team(const char *routine)
{
	const struct set node = set_of_team(SHMEM_TEAM_SHARED, routine);
	bool reaches = true;

	for (int i = 0; i < node.group->size; i++)
		reaches = reaches && comms.device->reach(heap.base, set_pe(&node, i));
	if (set_reduce_and(&node, reaches)) {
		api_device_shared = part_of(SHMEM_TEAM_SHARED, 0, node.group->size);
		return;
	}
	for (int i = 0; i < node.group->size; i++) {
		struct shmemx_team *alone = part_of(SHMEM_TEAM_SHARED, i, 1);

		if (i == node.group->me)
			api_device_shared = alone;
	}
}

void api_gpu_start(const char *routine)
{
	if (!comms.device_wanted)
		return;
	if (start_on_all(routine)) {
		api_device_world = part_of(SHMEM_TEAM_WORLD, 0, comms.n_pes);
		make_shared_team(routine);
		return;
	}
	comms_gpu_stop();
	forget();
	comms.device_wanted = false;
	if (!comms.observed && !comms.checks)
		comms.quick_pes = comms.n_pes;
	if (comms.quick_pes > 0 && !comms.network_atomics)
		comms.quick_atomic_pes = comms.n_pes;
}

void api_gpu_part(void)
{
	comms_gpu_part();
}

void api_gpu_stop(void)
{
	comms_gpu_stop();
	forget();
}

/* --- Allocation --- */

static void check_up(const char *routine)
{
	comms_check_up(routine);
	if (!api_gpu_is_there())
		rte_die_together(routine, "there is no memory of GPUs; request SHMEM_DEVICE_HOST_INIT of "
					  "shmem_init_thread, and test that it was provided");
}

static void check_agreement(size_t size, const char *other, long value, const char *routine)
{
	struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);

	set_check_agreement(&world, "size", (long)size, other, value, NULL);
}

static void report_exhausted(size_t wanted, const char *routine)
{
	char size[32], free[32], largest[32];

	if (comms.pe == 0)
		rte_report(routine,
			   "the heap on the GPU has no room for size=%zu (%s): %s free, largest block %s; ask for less "
			   "or set SHMEM_DEVICE_SYMMETRIC_SIZE higher",
			   wanted, text_size(wanted, size), text_size(blocks_free_bytes(heap.blocks), free),
			   text_size(blocks_largest(heap.blocks), largest));
}

/* With a barrier at the end, and zeros before it if wanted. */
static void *allocate(size_t alignment, size_t size, bool zeroed, const char *routine)
{
	size_t offset;
	char *block = NULL;

	check_up(routine);
	check_agreement(size, "alignment", (long)alignment, routine);
	if (size == 0)
		return NULL;
	offset = blocks_allocate(heap.blocks, size, alignment);
	if (offset == BLOCKS_NONE)
		report_exhausted(size, routine);
	else
		block = heap.base + offset;
	if (block && zeroed)
		comms_gpu_clear(block, size);
	api_barrier_all(routine);
	return block;
}

/* A larger alignment would give different offsets on different PEs. */
static void report_alignment(size_t alignment, const char *routine)
{
	char most[32];

	check_up(routine);
	if (comms.pe == 0)
		rte_report(routine, "alignment=%zu is more than the heaps on the GPUs of all PEs have; give %s at most",
			   alignment, text_size(heap.aligned, most));
}

API void *shmemg_malloc(size_t size)
{
	return allocate(GPU_ALIGNMENT, size, false, __func__);
}

API void *shmemg_calloc(size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		total = SIZE_MAX;
	return allocate(GPU_ALIGNMENT, total, true, __func__);
}

API void *shmemg_align(size_t alignment, size_t size)
{
	if (alignment == 0 || (alignment & (alignment - 1)))
		rte_die_together(__func__, "alignment=%zu is not a power of two", alignment);
	if (alignment > heap.aligned) {
		report_alignment(alignment, __func__);
		return NULL;
	}
	return allocate(alignment < GPU_ALIGNMENT ? GPU_ALIGNMENT : alignment, size, false, __func__);
}

API void shmemg_free(void *ptr)
{
	check_up(__func__);
	if (!ptr)
		return;
	check_agreement(0, NULL, 0, __func__);
	api_barrier_all(__func__);
	if (!blocks_release(heap.blocks, (size_t)((char *)ptr - heap.base)))
		rte_die_together(__func__,
				 "ptr=%p was not returned by shmemg_malloc or a similar routine, or has been freed",
				 ptr);
}

API int shmemx_gpu_pin_heap(void)
{
	const char *problem;

	check_up(__func__);
	if (comms_gpu_pin_heap(&problem))
		return 0;
	rte_report(__func__, "%s", problem);
	return 1;
}
