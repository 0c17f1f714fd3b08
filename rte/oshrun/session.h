/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SESSION_H
#define OSHRUN_SESSION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The private folder (0700) in which the PMIx server keeps what the PEs map. The best place is memory,
 * /dev/shm; else TMPDIR, else /tmp. The name is written into folder before the folder is made, so that whoever
 * watches that memory can remove it at any moment. False: nothing can be written; said in one line.
 */
bool session_create(char *folder, size_t size, const char *name, int pes);

/* Removes the folder and everything in it. Follows no symbolic link. An empty name is nothing to remove. */
void session_remove(const char *folder);

#endif
