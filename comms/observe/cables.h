/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CABLES_H
#define COMMS_CABLES_H

#include <stdbool.h>

#include "comms/torus/shape.h"

/*
 * What this PE knows of the cables of its node while the job runs. A cable without a carrier is
 * dead; the kernel reports that. A cable is suspect if for some time the connections to its
 * neighbour have sent, while they had something to send, less than half of what those to other
 * neighbours have. Only a test can show whether the cable is at fault; the caller makes one when
 * nothing else is under way.
 *
 * One thread at a time may call these functions.
 */

/* Returns false if no port of the kernel is known to belong to this cable. */
bool cables_watched(int direction);

/* Share of the usual rate: 1, less after cables_judge, or 0 without a carrier. */
float cables_share(int direction);

/* Records the data sent to these PEs, neighbours by direction; -1: no neighbour. */
void cables_measure(const int neighbour[TORUS_DIRECTIONS]);

/*
 * The most suspect cable, -1: none; another cable to compare it with; and its apparent rate
 * relative to that one.
 */
struct cables_doubt {
	int direction, other;
	float share;
};
struct cables_doubt cables_doubted(void);
/* A cable to compare another one with, -1: none is known to be fast. */
int cables_fastest_but(int direction);

/*
 * Records the result of the test. A cable that was as fast as others is tested again only after
 * twice the time.
 */
void cables_judge(int direction, float share);

void cables_stop(void);

#endif
