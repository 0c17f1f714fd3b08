/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GLOBALS_H
#define COMMS_GLOBALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The program's global data (.data and .bss of the executable), moved into shared memory before
 * main so that other PEs of the node can map it. If that is disabled or impossible, fd is -1 and
 * the data stays where it was; start and size are valid in both cases.
 */
struct globals {
	char *start;
	size_t size;
	int fd;
	uint64_t layout; /* equal on PEs that run the same program */
	const char *why_private;
};

extern struct globals globals;

/*
 * Call before each start. Where the library learns of other PEs only then, the data moves now if
 * this thread is the only one; otherwise it is not symmetric, and size is 0.
 */
void globals_start(void);

/*
 * At the end of a broken job: the data leaves its file, where PEs that have not noticed the end may
 * go on storing. The next start shares it again.
 */
void globals_take_back(void);

#endif
