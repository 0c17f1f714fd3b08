/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the routine that an access to bad memory belongs to, and its argument. Runs in a signal
 * handler: near.h, rte/crash/crash.c.
 */
#include <string.h>

#include "comms/core/near.h"
#include "comms/core/regions.h"
#include "fault.h"
#include "rte/rte.h"
#include "comms/observe/counters.h"

const char *comms_near_argument(const char *routine)
{
	switch (counters_category_of(routine)) {
	case CATEGORY_PUT:
	case CATEGORY_PUT_NBI:
	case CATEGORY_IPUT:
	case CATEGORY_PUT_SIGNAL: return "source";
	case CATEGORY_GET:
	case CATEGORY_GET_NBI:
	case CATEGORY_IGET: return "dest";
	case CATEGORY_ATOMIC_NBI: return "fetch";
	default: return NULL;
	}
}

/* The processor does not report which operand. */
static bool is_impossible(const void *address)
{
	uintptr_t high = (uintptr_t)address >> 47;

	return high != 0 && high != UINTPTR_MAX >> 47;
}

static bool fault_is_in(struct rte_fault *fault, const char *argument, const void *memory, size_t bytes)
{
	if (fault->nowhere ? !is_impossible(memory) : fault->address - (uintptr_t)memory >= bytes)
		return false;
	fault->argument = argument;
	fault->memory_known = true;
	fault->memory = (uintptr_t)memory;
	fault->bytes = bytes;
	return true;
}

/* Is this memory of another PE of the node, mapped here? */
static bool is_of_a_peer(uintptr_t address)
{
	for (int i = 0; i < comms.n_node; i++) {
		const struct comms_peer *peer = comms_peer(comms.node_pes[i]);

		for (int segment = 0; segment < COMMS_FIXED_SEGMENTS; segment++)
			if (address - (uintptr_t)peer->reach[segment].base < peer->reach[segment].size)
				return true;
		if (comms_region_at(peer, address) != COMMS_NO_SEGMENT)
			return true;
	}
	return false;
}

static const char *without_p(const char *routine)
{
	return routine[0] == 'p' ? routine + 1 : routine;
}

/*
 * The routine's own code accesses only memory that it has checked, its local argument, and the
 * context handle.
 */
static void explain_by_name(struct rte_fault *fault)
{
	const char *argument = comms_near_argument(fault->routine);
	bool context = !strncmp(fault->routine, "shmem_ctx_", 10);

	if (!fault->at_once || comms.n_pes == 0 || is_of_a_peer(fault->address))
		return;
	if (argument && context)
		argument = !strcmp(argument, "source") ? "source or ctx"
			   : !strcmp(argument, "dest") ? "dest or ctx"
						       : "fetch or ctx";
	fault->argument = argument ? argument : context ? "ctx" : NULL;
}

/* A file that became shorter is a fault in memory that has been checked. */
static void explain_place(struct rte_fault *fault)
{
	enum comms_segment_id segment = COMMS_NO_SEGMENT;

	for (int i = 0; i < comms.n_node && segment == COMMS_NO_SEGMENT; i++) {
		segment = comms_region_at(comms_peer(comms.node_pes[i]), fault->address);
		fault->place_pe = comms.node_pes[i];
	}
	if (segment == COMMS_NO_SEGMENT) {
		segment = comms_find_segment((const void *)fault->address);
		fault->place_pe = comms.pe;
	}
	if (segment != COMMS_NO_SEGMENT && segment >= COMMS_FIXED_SEGMENTS)
		fault->place = comms_segment_name(segment);
}

void comms_explain_fault(struct rte_fault *fault)
{
	const struct comms_near *near = &comms_near;
	const struct comms_near_both *both = &comms_near_both;

	if (fault->is_fault && !fault->nowhere)
		explain_place(fault);
	if (!fault->in_library)
		return;
	if (near->routine)
		fault->routine = without_p(near->routine);
	if (!fault->routine || !fault->is_fault)
		return;
	if (both->routine && !strcmp(without_p(both->routine), fault->routine) &&
	    (fault_is_in(fault, "source", both->source, both->source_bytes) ||
	     fault_is_in(fault, "dest", both->dest, both->dest_bytes)))
		return;
	if (!near->routine)
		explain_by_name(fault);
	else if (comms_near_argument(fault->routine))
		fault_is_in(fault, comms_near_argument(fault->routine), near->memory, near->bytes);
}
