/* SPDX-License-Identifier: BSD-3-Clause */
/* The target of an operation: checks arguments, finds the memory and the path to it. */
#include "target.h"

#include "comms/core/globals.h"
#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "comms/observe/trace.h"
#include "rte/rte.h"

static const struct target no_target;

static bool complain_of_remote(const struct target *t, size_t bytes, const char *routine)
{
	const struct comms_peer *peer = t->place.peer;

	if (t->place.segment == COMMS_GLOBALS && !peer->same_program)
		rte_misuse(routine,
			   "PE %d runs another program, so its global data lies differently; use shmem_malloc memory",
			   peer->pe);
	else if (t->place.segment >= COMMS_FIXED_SEGMENTS)
		rte_misuse(routine, "%zu bytes at offset %zu run past the end of the %s on PE %d", bytes,
			   t->place.offset, comms_segment_name(t->place.segment), peer->pe);
	else
		rte_misuse(
			routine,
			"%zu bytes at offset %zu run past the end of PE %d's heap (%zu bytes); give all PEs the same "
			"SHMEM_SYMMETRIC_SIZE",
			bytes, t->place.offset - COMMS_SYSTEM_BYTES, peer->pe,
			peer->remote_size[COMMS_HEAP] - COMMS_SYSTEM_BYTES);
	return false;
}

struct target target_find(const void *address, int pe)
{
	enum comms_segment_id segment = comms_find_segment(address);
	struct comms_peer *peer = comms_connect(pe);
	size_t offset = (size_t)((const char *)address - comms.segments[segment].base);
	struct comms_reach reach = comms_segment_reach(peer, segment);

	return (struct target){
		{peer, segment, offset},
		offset < reach.size ? reach.base + offset : NULL,
	};
}

/* Is the memory there on the target, and a path to it? */
static bool target_is_good(const struct target *t, size_t bytes, int pe, const char *routine)
{
	size_t size = comms_segment_remote(t->place.peer, t->place.segment).size;

	if (pe != comms.pe && ((t->place.segment == COMMS_GLOBALS && !t->place.peer->same_program) ||
			       t->place.offset > size || bytes > size - t->place.offset))
		return complain_of_remote(t, bytes, routine);
	if (t->here || comms.network)
		return true;
	rte_misuse(routine,
		   "no path to this memory of PE %d: it is not shared and no network is in use; do all PEs have "
		   "the same SHMEM_ settings?",
		   pe);
	return false;
}

struct target target_check(const void *address, size_t bytes, const char *argument, int pe, const char *routine)
{
	if (!comms_check_pe(pe, routine) || !comms_check_symmetric(address, bytes, argument, routine))
		return no_target;
	struct target t = target_find(address, pe);

	return COMMS_LIKELY(target_is_good(&t, bytes, pe, routine)) ? t : no_target;
}

struct target target_check_word(void *dest, size_t width, int pe, const char *routine)
{
	struct target t = target_check(dest, width, "dest", pe, routine);

	if (comms.network_atomics)
		t.here = NULL;
	if (COMMS_LIKELY((uintptr_t)dest % width == 0))
		return t;
	rte_misuse(routine, "dest=%p is not aligned to %zu bytes, as atomics need", dest, width);
	return no_target;
}

enum counters_row target_row(const struct target *target)
{
	return target->here ? ROW_LOCAL : comms.network->row;
}

void target_count(const struct target *target, enum counters_side side, size_t bytes,
		  const struct comms_channel *channel)
{
	if (COMMS_LIKELY(!comms.observed))
		return;
	counters_operation(target_row(target), side, target->place.peer->pe, bytes);
	if (comms.traced && !target->here)
		trace_set_channel(channel);
}
