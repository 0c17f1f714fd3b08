/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_TEXT_H
#define RTE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Small functions over text that the library and the tools share. */

/* The candidate closest to word by edits, or NULL if none is close enough to be a likely slip. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

/*
 * Parses "20m", "3.1M", ".5g", "4096" as OpenSHMEM 1.6 wants SHMEM_SYMMETRIC_SIZE read: rounded up to
 * whole bytes; only the first suffix letter counts. False: not such a number, or it does not fit.
 */
bool text_parse_size(const char *text, size_t *bytes);

/* "1.5 GiB", "512 B": for people. Returns buffer. */
const char *text_size(size_t bytes, char buffer[32]);

/* "1,3-5" into a set of flags of the given length; false if it is not such a list or leaves the range. */
bool text_parse_list(const char *text, bool *flags, size_t length);

/* Bytes of the text that fit into a line of so many, up to a blank at which it breaks; at least its first word. */
size_t text_fit(const char *text, size_t room);

/* All of a text file of up to 256 MiB, to be freed; NULL: problem says why not. */
char *text_of_file(const char *path, char *problem, size_t size);

/* The same, of up to so many bytes. */
char *text_of_large_file(const char *path, size_t most, char *problem, size_t size);

/* What to do when there was no memory: raise the limit that this process has, or otherwise that. */
const char *text_memory_advice(const char *otherwise);

/* What to do when dlopen failed with this text of dlerror: install, if a file is missing. */
const char *text_library_advice(const char *problem, const char *install);

#endif
