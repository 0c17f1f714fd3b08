/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_ENVIRONMENT_H
#define OSHRUN_ENVIRONMENT_H

#include <stdbool.h>

#include "options.h"

/*
 * Our environment as the PEs shall see it: with each -x applied, and without what a launcher around us told us
 * about its own server, which is not theirs. NULL: out of memory, said in one line.
 */
char **environment_for_pes(const struct options *options);
void environment_free(char **environment);

/* Adds a variable that is not there yet. False: out of memory. */
bool environment_add(char ***environment, const char *name, const char *value);

#endif
