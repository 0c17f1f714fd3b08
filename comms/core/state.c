/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the layer, and simple queries of it. */
#include "awaited.h"
#include "comms.h"

struct comms comms;
_Thread_local struct comms_awaited comms_awaited = {NULL, COMMS_NOBODY};

enum comms_segment_id comms_find_segment(const void *address)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if ((size_t)((const char *)address - comms.segments[i].base) < comms.segments[i].size)
			return i;
	return COMMS_SEGMENTS;
}

int comms_compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}
