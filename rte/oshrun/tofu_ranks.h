/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_TOFU_RANKS_H
#define OSHRUN_TOFU_RANKS_H

#include "job.h"

/*
 * What uTofu programs ask of a launcher: how many they are, in the environment, and if SOFTOFU_SHAPE is set the map of
 * ranks, to be published. Returns 0, or an exit code after one line.
 */
int tofu_ranks_prepare(struct job *job);

#endif
