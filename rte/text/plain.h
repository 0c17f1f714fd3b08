/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PLAIN_H
#define RTE_PLAIN_H

#include <stddef.h>

/* A text buffer for a file. It only uses the system call write, so signal handlers may use it. */
struct plain_text {
	int file;
	int failed; /* the errno of it, 0: none */
	size_t used;
	char buffer[8192];
};

/*
 * %s text; %x an address; %d an int; %l an int64_t; %t an int64_t of nanoseconds, written as
 * microseconds with three decimals.
 */
void plain_put(struct plain_text *text, const char *format, ...);
void plain_flush(struct plain_text *text);

#endif
