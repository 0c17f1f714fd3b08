/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_LEAK_CHECK_H
#define OSHRUN_LEAK_CHECK_H

#include "options.h"

/*
 * If a program of the job looks for leaks at its end (-fsanitize=address, -fsanitize=leak), adds
 * suppressions for leaks inside PMIx, UCX and hwloc to LSAN_OPTIONS in this process's environment,
 * unless the user sets suppressions there. Returns false if there is no memory.
 */
bool leak_check_prepare(const struct options *options);

#endif
