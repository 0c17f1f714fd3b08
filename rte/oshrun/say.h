/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SAY_H
#define OSHRUN_SAY_H

#include <stddef.h>

/* One line to stderr, "oshrun: " before it and a newline after it, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* While the PEs' output passes through oshrun, its own lines take the same way, so that none is torn. */
void say_through(void (*sink)(void *arg, const char *line, size_t length), void *arg);

/*
 * From now on only say() reaches stderr, and what libraries print to it goes nowhere: libpmix reports each PE that
 * dies while it connects. Returns the descriptor that is stderr now.
 */
int say_only_ours(void);

#endif
