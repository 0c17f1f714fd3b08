/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_JOIN_TRACE_H
#define OSHRUN_JOIN_TRACE_H

#include <stdbool.h>

/*
 * Joins a trace from its parts (rte/trace/trace_events.h) and reports it in one line, with the
 * missing parts. Returns false if there are no parts.
 */
bool join_trace(const char *file);

/*
 * Call after a job, with the file that its PEs named; NULL: the job had no trace. PEs that ended as
 * they should have joined the parts themselves; joins the parts that are left otherwise.
 */
void join_trace_after_job(const char *file);

#endif
