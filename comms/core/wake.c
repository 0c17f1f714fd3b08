/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakes a PE that sleeps on its wakeup. comms/wait has the code that sleeps. */
#include "comms.h"
#include "futex.h"

void comms_wake_sleepers(struct comms_wakeup *wakeup)
{
	atomic_fetch_add_explicit(&wakeup->word, 1, memory_order_relaxed);
	futex(&wakeup->word, FUTEX_WAKE, INT32_MAX, NULL);
}
