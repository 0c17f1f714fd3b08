/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PROGRAM_KIND_H
#define OSHRUN_PROGRAM_KIND_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a process that has connected to PMIx runs a program that is not of OpenSHMEM: PMIx is mapped, and neither a
 * library nor the executable contains an OpenSHMEM. Messages then do not speak of its routines. Of a process that has
 * ended only the file of its program is examined. Returns false if nothing can be, or if the process only started the one that connected.
 */
bool program_is_other(pid_t pid, const char *file_of_program);

/* Whether the program looks for leaks when it ends: made with -fsanitize=address or -fsanitize=leak. */
bool program_checks_leaks(const char *file_of_program);

#endif
