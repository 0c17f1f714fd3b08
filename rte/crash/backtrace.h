/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_BACKTRACE_H
#define RTE_BACKTRACE_H

#include <stdbool.h>
#include <ucontext.h>

#include "frames.h"

/*
 * The calls that led to a signal, and the routine of OpenSHMEM among them. The handler of a signal may call all of this but
 * backtrace_prepare: nothing here allocates memory or takes a lock.
 */

/* Finds the names of the library's routines, and lets the C library load what its backtrace needs. Call it before any signal. */
void backtrace_prepare(void);

/*
 * Fills in the addresses of the calls, the innermost first and without those of the handler itself, and returns how many. It must be called
 * by a function that the handler calls.
 */
int backtrace_take(struct frame frames[FRAMES_MOST], const ucontext_t *context);

/* Is this call one of the library, or of the program that contains the library? */
bool backtrace_in_library(const struct frame *frame);

/* The routine of OpenSHMEM that this call is in, by the name that users know; NULL: in none. */
const char *backtrace_routine_at(const struct frame *frame);

/* The routine that the program has called: the outermost one. NULL: none. */
const char *backtrace_routine(const struct frame *frames, int n);

#endif
