/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_LISTS_H
#define COMMS_WAIT_LISTS_H

#include "comms/core/comms.h"

/* The command lists of plans as waits see them: what a PE moves while it waits. comms/plans has them, and says here how. */
struct wait_lists {
	atomic_int to_move;  /* how many any thread that waits may move */
	bool (*move)(void);  /* those; did anything move? */
	bool (*serve)(void); /* all that wait for the network, when something may have come */
};
extern struct wait_lists wait_lists;

COMMS_INLINE bool comms_lists_active(void)
{
	return COMMS_UNLIKELY(atomic_load_explicit(&wait_lists.to_move, memory_order_relaxed) > 0);
}

#endif
