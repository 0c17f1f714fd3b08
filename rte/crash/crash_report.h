/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_CRASH_REPORT_H
#define RTE_CRASH_REPORT_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/*
 * What a PE writes to standard error when a signal ends it. The handler of the signal calls these functions, but for
 * crash_report_find_speaker; one thread at a time may do so.
 */

/* Writes which PE and routine the signal of this name has met, which argument it concerns, and the calls that led there. */
void crash_report(const char *name, const siginfo_t *info, const ucontext_t *context);

/* Writes that the report could not be completed. For a signal that comes during crash_report, and for nothing else. */
void crash_report_damage(const char *name);

/* Has a process sent the signal, or the kernel for what this process did? */
bool crash_sent_by_process(const siginfo_t *info);

/*
 * When a PE is gone, oshrun ends the others by a SIGTERM with the number of that PE. Each of the others then calls crash_report_routine, which
 * writes the routine that it was in; only the first PE that was in a routine writes.
 */
bool crash_report_find_speaker(void); /* before any signal; false: not started by oshrun */
bool crash_report_is_wanted(const siginfo_t *info);
void crash_report_routine(const siginfo_t *info, const ucontext_t *context);

#endif
