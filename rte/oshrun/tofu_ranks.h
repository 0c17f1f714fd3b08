/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_TOFU_RANKS_H
#define OSHRUN_TOFU_RANKS_H

#include "job.h"

/* The PMIx key of the map of ranks. */
#define TOFU_MAP_KEY "fjpmix.rankmap"

/*
 * Prepares a job for programs of software Tofu: puts the number of ranks into their environment
 * and, if SOFTOFU_SHAPE is set, makes the map of ranks, which the PMIx server publishes. Returns 0,
 * or an exit code after one line. Does nothing in an oshrun without software Tofu.
 */
#if HAVE_SOFTOFU
int tofu_ranks_prepare(struct job *job);
#else
static inline int tofu_ranks_prepare(struct job *job)
{
	(void)job;
	return 0;
}
#endif

#endif
