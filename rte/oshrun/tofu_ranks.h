/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_TOFU_RANKS_H
#define OSHRUN_TOFU_RANKS_H

#include "job.h"

/*
 * Provides what uTofu programs need from a launcher: the number of ranks, in the environment, and if SOFTOFU_SHAPE is set the map of ranks, which
 * the server publishes. Returns 0, or an exit code after one line.
 */
int tofu_ranks_prepare(struct job *job);

#endif
