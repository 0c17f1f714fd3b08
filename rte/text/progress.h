/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PROGRESS_H
#define RTE_PROGRESS_H

/*
 * A line on standard error that shows the progress of a tool that may take seconds. It appears
 * after two seconds, and only on a terminal that does not also show standard output. Calls are
 * cheap; done == of removes the line.
 */
void progress_line(const char *what, long done, long of);

#endif
