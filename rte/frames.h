/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_FRAMES_H
#define RTE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names for the addresses of a back-trace, found by the handler of a signal in the process that dies: no allocation, no lock, nothing of
 * the C library but system calls and plain loops. What is found stays in memory of these files, which one thread uses, once.
 *
 * frames.c  in which file of the process an address is, and the function there, by the symbol tables of the file
 * lines.c   file and line of the source, by a child that runs addr2line, which gets two seconds
 */

enum { FRAMES_MOST = 64, FRAME_FILES = 24 };

struct frame {
	uintptr_t address; /* of an instruction; of a caller: one inside the call */
	int file;	   /* -1: not known */
	uintptr_t there;   /* the address as the file counts, and addr2line with it */
	const char *function; /* NULL: not known */
	uintptr_t into;	      /* bytes from its begin */
	const char *lines;    /* what addr2line says: pairs of lines, function and place, the innermost first; NULL: nothing */
};

struct frame_file {
	char path[512];
	const char *bytes; /* NULL: cannot be read, or is no longer what the process runs */
	size_t size;
	bool program;
	bool has_lines; /* it has debugging information */
};
extern struct frame_file frame_files[FRAME_FILES];

/* Fills in the file and the function of each address. */
void frames_find(struct frame *frames, int n);

/* And the lines, of those files that have some. Returns why some are missing, as the end of a sentence; NULL: none is. */
const char *frames_find_lines(struct frame *frames, int n);

#endif
