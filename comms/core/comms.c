/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the layer, and simple queries of it. */
#include "awaited.h"
#include "comms.h"

struct comms comms;
_Thread_local struct comms_awaited comms_awaited = {NULL, COMMS_NOBODY};

static bool segment_contains(const struct comms_segment *segment, const void *address)
{
	return (size_t)((const char *)address - segment->base) < segment->size;
}

enum comms_segment_id comms_find_segment(const void *address)
{
	unsigned regions;

	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (segment_contains(&comms.segments[i], address))
			return i;
	regions = atomic_load_explicit(&comms.regions, memory_order_acquire);
	for (int i = COMMS_FIXED_SEGMENTS; regions >> i; i++)
		if (regions >> i & 1 && segment_contains(&comms.segments[i], address))
			return i;
	return COMMS_NO_SEGMENT;
}

int comms_compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}
