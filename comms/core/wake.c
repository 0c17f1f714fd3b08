/* SPDX-License-Identifier: BSD-3-Clause */
/* Waking a PE that sleeps on its bell; comms/wait has how it goes to sleep. */
#include "comms.h"
#include "futex.h"

void comms_ring(struct comms_bell *bell)
{
	atomic_fetch_add_explicit(&bell->word, 1, memory_order_relaxed);
	futex(&bell->word, FUTEX_WAKE, INT32_MAX, NULL);
}
