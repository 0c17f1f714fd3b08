/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PROGRAM_H
#define OSHRUN_PROGRAM_H

/*
 * Finds the file to execute for the user's name, as execvp would, and then in the current folder.
 * Returns 0 with *path set (free it). Otherwise prints the reason in one line and returns the exit
 * code: like shells, 127 if there is no such file, 126 if it cannot be executed.
 */
int program_find(const char *name, const char *wdir, char **path);

/* The same line and exit code after execve failed with this errno. */
int program_failed(const char *name, const char *path, int error);

#endif
