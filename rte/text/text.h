/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_TEXT_H
#define RTE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Text functions that the library and the tools share. */

/*
 * The candidate with the smallest edit distance to word; NULL if none is close enough to be a
 * likely typing error.
 */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

/*
 * Parses "20m", "3.1M", ".5g", "4096" as OpenSHMEM 1.6 defines SHMEM_SYMMETRIC_SIZE: rounded up to
 * whole bytes; only the first suffix letter counts. Returns false if it is no such number or does
 * not fit.
 */
bool text_parse_size(const char *text, size_t *bytes);

/* Writes "1.5 GiB", "512 B" for users. Returns buffer. */
const char *text_size(size_t bytes, char buffer[32]);

/*
 * Sets the flags of "1,3-5" in an array of this length. Returns false if it is no such list or
 * leaves the range.
 */
bool text_parse_list(const char *text, bool *flags, size_t length);

/*
 * The bytes of the text that fit into a line of this width, up to a blank; at least its first word.
 */
size_t text_fit(const char *text, size_t room);

/* Reads a text file of up to 256 MiB; the caller frees it. NULL: problem says why not. */
char *text_of_file(const char *path, char *problem, size_t size);

/* The same, up to this many bytes. */
char *text_of_large_file(const char *path, size_t most, char *problem, size_t size);

/* What to do when there was no memory: raise the limit that this process has, or otherwise that. */
const char *text_memory_advice(const char *otherwise);

/* What to do when dlopen failed with this text of dlerror: install, if a file is missing. */
const char *text_library_advice(const char *problem, const char *install);

#endif
