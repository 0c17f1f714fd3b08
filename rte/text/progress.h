/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PROGRESS_H
#define RTE_PROGRESS_H

/*
 * A line on standard error that shows how far a tool has come, for what may take more than some seconds. It appears after two, and
 * only on a terminal to which standard output does not go as well. Cheap enough to call often; done == of takes the line away.
 */
void progress_line(const char *what, long done, long of);

#endif
