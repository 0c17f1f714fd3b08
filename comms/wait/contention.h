/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CONTENTION_H
#define COMMS_CONTENTION_H

#include "comms/core/comms.h"

/*
 * Decides how many times waiting PEs poll (comms.spin) if others may want the processors; `most` is
 * the maximum.
 */
void contention_start(unsigned most);
void contention_stop(void);

/*
 * Called every CONTENTION_POLLS polls of a wait: takes the number of polls left, and returns it or
 * less.
 */
#define CONTENTION_POLLS 64
unsigned contention_poll(unsigned polls);

/* Counts one poll; returns the number of polls left. */
static inline unsigned contention_fewer(unsigned polls)
{
	if (COMMS_UNLIKELY(polls % CONTENTION_POLLS == 0) && comms.minds_contention)
		polls = contention_poll(polls);
	return polls - 1;
}
/* Called after a sleep. */
void contention_sample(void);
/* Do waiting PEs poll the minimum number of times? */
bool contention_is_there(void);

#endif
