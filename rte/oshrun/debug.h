/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_DEBUG_H
#define OSHRUN_DEBUG_H

#include "job.h"

/* --debug: finds the debugger and its arguments. Returns 0, or an exit code after one line. */
int debug_prepare(struct job *job);

/* Does this PE run under the debugger? */
bool debug_is(const struct job *job, int pe);

#endif
