/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_CRASH_REPORT_H
#define RTE_CRASH_REPORT_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/*
 * What a PE writes to standard error when a signal ends it. The handler of the signal calls these
 * functions, but for crash_report_find_speaker; one thread at a time may do so.
 */

/*
 * Writes the PE, the routine, the argument that the signal concerns, and the calls that led there.
 */
void crash_report(const char *name, const siginfo_t *info, const ucontext_t *context);

/* Writes that the report could not be completed. Only for a signal during crash_report. */
void crash_report_damage(const char *name);

/* Did a process send the signal, rather than the kernel for an action of this process? */
bool crash_sent_by_process(const siginfo_t *info);

/*
 * When a PE is gone, oshrun ends the others by a SIGTERM with the number of that PE. Each of the
 * others then calls crash_report_routine, which writes the routine that it was in; only the first
 * PE that was in a routine writes.
 */
bool crash_report_find_speaker(void); /* call before any signal; false: not started by oshrun */
bool crash_report_is_wanted(const siginfo_t *info);
void crash_report_routine(const siginfo_t *info, const ucontext_t *context);

#endif
