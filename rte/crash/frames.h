/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_FRAMES_H
#define RTE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names for the addresses of a back-trace. The handler of a signal calls these functions in the
 * process that dies: they allocate nothing, take no lock, and use only system calls and simple
 * string functions. The results stay in static memory of these files, so one thread may use them,
 * once.
 *
 * frames.c        the file of the process that contains an address, and the function there, from
 *                 the symbol tables of the file
 * source_lines.c  file and line of the source, from addr2line in a child, which gets two seconds
 */

enum { FRAMES_MOST = 64, FRAME_FILES = 24 };

struct frame {
	uintptr_t address; /* of an instruction; for a caller, one inside the call instruction */
	int file;	   /* index in frame_files; -1: unknown */
	/* The address in the numbering of the file, as addr2line expects it. */
	uintptr_t there;
	const char *function; /* NULL: unknown */
	uintptr_t into;	      /* bytes from the function's start */
	/*
	 * The output of addr2line: pairs of lines, function and location, the innermost first;
	 * NULL: none.
	 */
	const char *lines;
};

struct frame_file {
	char path[512];
	const char *bytes; /* NULL: unreadable, or changed since the process started */
	size_t size;
	bool program;
	bool has_lines; /* it has debugging information */
};
extern struct frame_file frame_files[FRAME_FILES];

/*
 * Maps a file before any signal, so that its names are known whatever happens to the file. It
 * allocates memory.
 */
void frames_keep(const char *path);

/* Fills in the file and the function of each address. */
void frames_find(struct frame *frames, int n);

/*
 * Fills in source lines from files that have some. Returns why some are missing, as the end of a
 * sentence; NULL: none is missing.
 */
const char *frames_find_lines(struct frame *frames, int n);

#endif
