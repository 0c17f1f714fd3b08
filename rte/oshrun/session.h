/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SESSION_H
#define OSHRUN_SESSION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes the private folder (0700) in which the PMIx server keeps the files that the PEs map: in
 * memory, /dev/shm, if possible, else in TMPDIR, else in /tmp. The name is written into folder
 * before the folder is made, so that the reaper, which shares that memory, can remove the folder at
 * any moment. False: no place can be written; reported in one line.
 */
bool session_create(char *folder, size_t size, const char *name, int pes);

/*
 * Removes the folder and everything in it. Follows no symbolic link. Does nothing if the name is
 * empty.
 */
void session_remove(const char *folder);

#endif
