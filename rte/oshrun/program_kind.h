/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PROGRAM_KIND_H
#define OSHRUN_PROGRAM_KIND_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Does a process that has connected to PMIx run a program without OpenSHMEM? That is: PMIx is
 * mapped, and neither a library nor the executable contains an OpenSHMEM. Messages then do not
 * mention its routines. For a process that has ended, only its program file is examined. Returns
 * false if nothing can be examined, or if the process only started the one that connected.
 */
bool program_is_other(pid_t pid, const char *file_of_program);

/* Does the program look for leaks at its end: made with -fsanitize=address or -fsanitize=leak? */
bool program_checks_leaks(const char *file_of_program);

#endif
