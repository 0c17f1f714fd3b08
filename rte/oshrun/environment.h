/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_ENVIRONMENT_H
#define OSHRUN_ENVIRONMENT_H

#include <stdbool.h>

#include "options.h"

/*
 * The environment of the PEs: this process's, with each -x applied, and without the variables of an
 * outer PMIx server. NULL: out of memory, reported in one line.
 */
char **environment_for_pes(const struct options *options);
void environment_free(char **environment);

/* Adds a variable unless it is set. Returns false if out of memory. */
bool environment_add(char ***environment, const char *name, const char *value);

#endif
