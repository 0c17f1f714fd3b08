/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SAY_H
#define OSHRUN_SAY_H

#include <stddef.h>

/* One line to stderr, "oshrun: " before it and a newline after it, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Sends the lines of say() to sink, in the same queue as the PEs' output, so that no line is torn.
 * NULL: to stderr.
 */
void say_through(void (*sink)(void *arg, const char *line, size_t length), void *arg);

/*
 * From now on only say() writes to stderr, and output of libraries to it is discarded: libpmix
 * reports each PE that dies while it connects. Returns the descriptor that now leads to the former
 * stderr.
 */
int say_mute_libraries(void);

#endif
