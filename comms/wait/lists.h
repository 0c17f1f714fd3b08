/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_LISTS_H
#define COMMS_WAIT_LISTS_H

#include "comms/core/comms.h"

/*
 * The command lists of plans, as waits see them: a PE that waits moves them. comms/coll fills in
 * the functions.
 */
struct wait_lists {
	atomic_int to_move;  /* number of lists that any waiting thread may move */
	bool (*move)(void);  /* moves them; returns true if anything moved */
	bool (*serve)(void); /* moves all lists that wait for the network, after an arrival */
};
extern struct wait_lists wait_lists;

COMMS_INLINE bool comms_lists_active(void)
{
	return COMMS_UNLIKELY(atomic_load_explicit(&wait_lists.to_move, memory_order_relaxed) > 0);
}

#endif
