/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_BACKTRACE_H
#define RTE_BACKTRACE_H

#include <stdbool.h>
#include <ucontext.h>

#include "frames.h"

/*
 * The calls that led to a signal, and the library's routine among them. A signal handler may call
 * all functions but backtrace_prepare: none allocates memory or takes a lock.
 */

/*
 * Maps the file that contains the library, and lets the C library load what its backtrace needs.
 * Call it before any signal.
 */
void backtrace_prepare(void);

/*
 * Fills in the addresses of the calls, the innermost first and without those of the handler itself,
 * and returns how many. It must be called by a function that the handler calls.
 */
int backtrace_take(struct frame frames[FRAMES_MOST], const ucontext_t *context);

/* Is this call in the library, or in a program that contains the library? */
bool backtrace_in_library(const struct frame *frame);

/* The API routine that contains this call, by the name that users know; NULL: none. */
const char *backtrace_routine_at(const struct frame *frame);

/* The API routine that the program called: the outermost one. NULL: none. */
const char *backtrace_routine(const struct frame *frames, int n);

#endif
