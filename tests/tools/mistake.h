/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_TOOLS_MISTAKE_H
#define TESTS_TOOLS_MISTAKE_H

#include <shmemx.h>
#include <stdbool.h>

/* What both files of the program use. */
#define WORLD SHMEM_TEAM_WORLD

extern const char *mistake; /* its name */
extern long words[4], from[16], to[48];

bool is(const char *name);

/* All PEs call it; the mistake is on the odd one if it is a matter of one PE. */
void make_extension_mistake(bool odd);

#endif
