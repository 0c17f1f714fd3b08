/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stops this PE again and again for up to a millisecond, wherever it may be, so that narrow races
 * are run into.
 */
#ifndef TESTS_LIB_STOPS_H
#define TESTS_LIB_STOPS_H

#include <signal.h>
#include <sys/time.h>

#include "check.h"

static uint64_t stops_drawn;
static volatile sig_atomic_t stops_wanted;

static uint64_t stops_draw(uint64_t below)
{
	return noise(stops_drawn++) % below;
}

static void stops_sleep(uint64_t microseconds)
{
	struct timespec time = {0, (long)microseconds * 1000};

	nanosleep(&time, NULL);
}

static void stops_next(void)
{
	struct itimerval in = {.it_value.tv_usec = (long)(200 + stops_draw(3000))};

	setitimer(ITIMER_REAL, &in, NULL);
}

static void stops_now(int signal)
{
	(void)signal;
	if (!stops_wanted)
		return;
	stops_sleep(stops_draw(1000));
	stops_next();
}

static void stops_end(void)
{
	stops_wanted = 0;
}

static void stops_begin(uint64_t seed)
{
	struct sigaction action = {.sa_handler = stops_now, .sa_flags = SA_RESTART};

	stops_end();
	sigaction(SIGALRM, &action, NULL);
	stops_drawn = noise(seed * 1000 + (uint64_t)me);
	stops_wanted = 1;
	stops_next();
}

#endif
