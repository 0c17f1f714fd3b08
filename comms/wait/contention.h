/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CONTENTION_H
#define COMMS_CONTENTION_H

#include "comms/core/comms.h"

/* Decides how many times waiting PEs poll (comms.spin) where others may want the processors: at most so many times. */
void contention_start(unsigned most);
void contention_stop(void);

/* Called every so many polls of a wait: takes how many are left, and returns it or less. */
#define CONTENTION_POLLS 64
unsigned contention_poll(unsigned polls);

/* One poll has been made: how many are left? */
static inline unsigned contention_fewer(unsigned polls)
{
	if (COMMS_UNLIKELY(polls % CONTENTION_POLLS == 0) && comms.minds_contention)
		polls = contention_poll(polls);
	return polls - 1;
}
/* Called after a sleep. */
void contention_sample(void);
/* Do waiting PEs poll as few times as they may? */
bool contention_is_there(void);

#endif
