/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local record of the program's memory that a routine accesses: near.h. */
#include "near.h"

#define PAGE 4096UL /* no system has smaller ones */

_Thread_local struct comms_near comms_near = {.pe = COMMS_NOBODY};
_Thread_local struct comms_near_both comms_near_both;

static bool lies_in_segment(const void *memory, size_t bytes)
{
	enum comms_segment_id id = comms_find_segment(memory);

	return id < COMMS_NO_SEGMENT &&
	       bytes <= comms.segments[id].size - (size_t)((const char *)memory - comms.segments[id].base);
}

void comms_near_read(const void *memory, size_t bytes)
{
	const _Atomic(char) *at = memory;

	if (bytes == 0 || lies_in_segment(memory, bytes))
		return;
	for (size_t i = 0; i < bytes; i += PAGE)
		(void)atomic_load_explicit(&at[i], memory_order_relaxed);
	(void)atomic_load_explicit(&at[bytes - 1], memory_order_relaxed);
}

void comms_near_write(void *memory, size_t bytes)
{
	_Atomic(char) *at = memory;

	if (bytes == 0 || lies_in_segment(memory, bytes))
		return;
	/* Changes nothing, not even temporarily. */
	for (size_t i = 0; i < bytes; i += PAGE)
		atomic_fetch_or_explicit(&at[i], 0, memory_order_relaxed);
	atomic_fetch_or_explicit(&at[bytes - 1], 0, memory_order_relaxed);
}
