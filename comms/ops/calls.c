/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of an API routine while calls are observed or checked, or before the library is up. */
#include "ops.h"
#include "comms/core/comms.h"
#include "comms/observe/counters.h"
#include "rte/rte.h"
#include "reorder.h"

bool comms_observe_begin(const char *routine, size_t bytes, int pe)
{
	comms_check_up(routine);
	if ((!comms.observed && !comms.checks) || rte_is_broken())
		return false; /* not quick for another reason: see struct comms */
	if (counters_begin(routine, bytes, pe) && comms.checks)
		reorder_call_begins(counters_category_of(routine));
	return true;
}

bool comms_refuse_call(const char *routine)
{
	if (COMMS_LIKELY(!rte_is_broken()))
		return false;
	rte_broken_in(routine);
	return true;
}

void comms_observe_end(void)
{
	counters_end();
}
