/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_COMMAND_H
#define RTE_COMMAND_H

/*
 * Executes a command, without input and without its complaints, and returns what it prints, to be freed. NULL: it cannot be executed, fails,
 * prints more than a megabyte, or has not ended after so many seconds, when it is killed.
 */
char *command_output(const char *const *words, double seconds);

#endif
