/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CABLES_H
#define COMMS_CABLES_H

#include <stdbool.h>

#include "comms/torus/shape.h"

/*
 * What this PE sees of the cables of its node while the job runs. A cable without a carrier is dead; the kernel knows. One is doubted where the
 * connections to the neighbour have sent, while they had something to send, less than half of what those to other neighbours have, for some
 * time. Only a test can tell whether the cable is to blame. The caller makes it when nothing else is under way.
 *
 * One thread at a time may call these functions.
 */

/* False: the kernel has no port that is known to be this cable's. */
bool cables_watched(int direction);

/* Of the usual rate: 1, less after cables_judge, or 0 without a carrier. */
float cables_share(int direction);

/* Takes note of what was sent to these PEs, neighbours by direction; -1: none is there. */
void cables_measure(const int neighbour[TORUS_DIRECTIONS]);

/* The cable that is most in doubt, -1: none is; one to compare it with; and what it seems to have of the rate of that one. */
struct cables_doubt {
	int direction, other;
	float share;
};
struct cables_doubt cables_doubted(void);
/* The cable to compare another one with, -1: none is known to be fast. */
int cables_fastest_but(int direction);

/* What the test found. A cable that is as fast as others is doubted again only after twice as long. */
void cables_judge(int direction, float share);

void cables_stop(void);

#endif
