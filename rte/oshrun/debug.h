/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_DEBUG_H
#define OSHRUN_DEBUG_H

#include "job.h"

/* --debug: finds the debugger and what it is called with. Returns 0, or an exit code after saying what is wrong. */
int debug_prepare(struct job *job);

/* Is this the PE that runs under it? */
bool debug_is(const struct job *job, int pe);

#endif
