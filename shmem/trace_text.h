/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_TRACE_TEXT_H
#define SHMEM_TRACE_TEXT_H

#include <stddef.h>

/* Text on its way into a file, by write and nothing else, so that the handler of a signal may do it. */
struct trace_text {
	int file;
	int failed; /* the errno of it, 0: none */
	size_t used;
	char buffer[8192];
};

/* %s text; %d an int; %l an int64_t; %t an int64_t of nanoseconds, written as microseconds with three decimals. */
void trace_put(struct trace_text *text, const char *format, ...);
void trace_flush(struct trace_text *text);

#endif
