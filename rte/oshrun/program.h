/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PROGRAM_H
#define OSHRUN_PROGRAM_H

/*
 * Finds the file to execute for the name that the user gave, as execvp would, and then in the current folder.
 * Returns 0 with *path set (free it), or says what is wrong in one line and returns the exit code: 127 when
 * there is no such file, 126 when there is one that cannot be run, as shells do.
 */
int program_find(const char *name, const char *wdir, char **path);

/* The same line and exit code for an execve that failed with this errno. */
int program_failed(const char *name, const char *path, int error);

#endif
