/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_COMMAND_H
#define RTE_COMMAND_H

/*
 * Executes a command without input or error output. Returns its output, which the caller frees.
 * NULL: it cannot be executed, fails, prints more than a megabyte, or is killed after this many
 * seconds.
 */
char *command_output(const char *const *words, double seconds);

#endif
