/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_LEAK_CHECK_H
#define OSHRUN_LEAK_CHECK_H

#include "options.h"

/*
 * If a program of the job looks for leaks when it ends (-fsanitize=address, -fsanitize=leak), adds the suppressions for leaks
 * inside PMIx, UCX and hwloc to LSAN_OPTIONS of our environment, unless the user names suppressions there.
 * False: no memory.
 */
bool leak_check_prepare(const struct options *options);

#endif
