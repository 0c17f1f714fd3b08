/* SPDX-License-Identifier: BSD-3-Clause */
/* The target of an operation: checks arguments, finds the memory and the path to it. */
#include "target.h"

#include "comms/core/globals.h"
#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "comms/observe/trace.h"
#include "rte/rte.h"

static void complain_of_remote(const struct target *t, size_t bytes, const char *routine)
{
	const struct comms_peer *peer = t->place.peer;

	if (t->place.segment == COMMS_GLOBALS && !peer->same_program)
		rte_die(routine,
			"PE %d runs another program, so its global data lies differently; use shmem_malloc memory",
			peer->pe);
	if (t->place.segment >= COMMS_FIXED_SEGMENTS)
		rte_die(routine, "%zu bytes at offset %zu run past the end of the %s on PE %d", bytes, t->place.offset,
			comms_segment_name(t->place.segment), peer->pe);
	rte_die(routine,
		"%zu bytes at offset %zu run past the end of PE %d's heap (%zu bytes); give all PEs the same "
		"SHMEM_SYMMETRIC_SIZE",
		bytes, t->place.offset - COMMS_SYSTEM_BYTES, peer->pe,
		peer->remote_size[COMMS_HEAP] - COMMS_SYSTEM_BYTES);
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

struct target target_check(const void *address, size_t bytes, const char *argument, int pe, const char *routine)
{
	comms_check_pe(pe, routine);
	comms_check_symmetric(address, bytes, argument, routine);
	struct target t = target_find(address, pe);
	size_t size = comms_segment_remote(t.place.peer, t.place.segment).size;

	if (pe != comms.pe && ((t.place.segment == COMMS_GLOBALS && !t.place.peer->same_program) ||
			       t.place.offset > size || bytes > size - t.place.offset))
		complain_of_remote(&t, bytes, routine);
	if (!t.here && !comms.network)
		rte_die(routine,
			"no path to this memory of PE %d: it is not shared and no network is in use; do all PEs have "
			"the same SHMEM_ settings?",
			pe);
	return t;
}

struct target target_check_word(void *dest, size_t width, int pe, const char *routine)
{
	struct target t = target_check(dest, width, "dest", pe, routine);

	if ((uintptr_t)dest % width)
		rte_die(routine, "dest=%p is not aligned to %zu bytes, as atomics need", dest, width);
	if (comms.network_atomics)
		t.here = NULL;
	return t;
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
