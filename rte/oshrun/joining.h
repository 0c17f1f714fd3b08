/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_JOINING_H
#define OSHRUN_JOINING_H

#include <stdbool.h>

/* Makes one trace of its parts (rte/trace.h) and says so in one line, with what is missing. False: there is none. */
bool joining_join(const char *file);

/* The same after a job, whose PEs have joined it themselves unless they ended early. NULL: the job had no trace. */
void joining_after_job(const char *file);

#endif
