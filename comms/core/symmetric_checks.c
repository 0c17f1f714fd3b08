/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first checks of every routine: is the library up, is the PE valid, is this symmetric memory?
 */
#include "comms.h"
#include "device.h"
#include "globals.h"
#include "regions.h"
#include "rte/rte.h"

bool comms_check_up(const char *routine)
{
	if (COMMS_UNLIKELY(comms.n_pes == 0))
		rte_misuse_together(routine, rte.generation ? "called after shmem_finalize; initialise again first"
							    : "called before shmem_init; initialise first");
	return comms.n_pes > 0;
}

bool comms_check_pe(int pe, const char *routine)
{
	if (!comms_check_up(routine))
		return false;
	if (COMMS_UNLIKELY((unsigned)pe >= (unsigned)comms.n_pes))
		rte_misuse(routine, "pe=%d: there is no such PE; the job has PEs 0 to %d", pe, comms.n_pes - 1);
	return (unsigned)pe < (unsigned)comms.n_pes;
}

bool comms_check_on_host(const void *address, const char *argument, const char *routine)
{
	if (!comms_is_on_device(address))
		return true;
	rte_misuse(routine, "%s=%p is memory of a GPU, which this routine does not take; copy it to the host first",
		   argument, address);
	return false;
}

bool comms_check_symmetric_anywhere(const void *address, size_t bytes, const char *argument, const char *routine)
{
	if (!comms_check_up(routine))
		return false;
	if (!comms_is_on_device(address))
		return comms_check_symmetric(address, bytes, argument, routine);
	comms.device->check(address, bytes, argument, routine);
	return !rte_is_broken();
}

bool comms_check_symmetric(const void *address, size_t bytes, const char *argument, const char *routine)
{
	enum comms_segment_id id;
	const struct comms_segment *segment;

	if (!comms_check_up(routine) || !comms_check_on_host(address, argument, routine))
		return false;
	id = comms_find_segment(address);
	if (id == COMMS_NO_SEGMENT) {
		rte_misuse(routine,
			   "%s=%p is not symmetric memory (heap %p-%p, globals %p-%p%s); use shmem_malloc or a "
			   "global or static variable of the program",
			   argument, address, (void *)comms_heap(), (void *)(comms_heap() + comms.heap_size),
			   (void *)globals.start, (void *)(globals.start + globals.size),
			   atomic_load_explicit(&comms.regions, memory_order_relaxed)
				   ? ", and heaps that the program made"
				   : "");
		return false;
	}
	segment = &comms.segments[id];
	if (bytes > segment->size - (size_t)((const char *)address - segment->base))
		rte_misuse(routine, "%s=%p: %zu bytes from there run past the end of the %s at %p; check the count",
			   argument, address, bytes, comms_segment_name(id), (void *)(segment->base + segment->size));
	return comms_check_block(address, bytes, argument, routine) && !rte_is_broken();
}

static bool is_in_region(const void *address)
{
	enum comms_segment_id segment = comms_find_segment(address);

	return segment >= COMMS_FIXED_SEGMENTS && segment != COMMS_NO_SEGMENT;
}

/* Memory in front of the heap is the library's own, and has no blocks; neither has global data. */
bool comms_check_in_block(const void *address, size_t bytes, const char *argument, const char *routine)
{
	size_t offset = (size_t)((const char *)address - comms_heap());

	if (bytes > 0 && (offset < comms.heap_size || is_in_region(address)))
		comms.check_block(address, bytes, argument, routine);
	return !rte_is_broken();
}
