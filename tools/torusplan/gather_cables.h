/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_GATHER_H
#define TORUSPLAN_GATHER_H

#include <stdint.h>

#include "comms/torus/cabling/cabling.h"
#include "records.h"
#include "rte/host/hosts.h"

/* Collects the output of the agents of torusplan discover, and the cables that follow from it. */
struct gathered {
	struct cabling cabling;
	struct records records; /* with the same numbers of ports */
	int answered;		/* hosts */
	uint64_t *state;	/* by host, 0: no answer */
};

/*
 * Starts an agent on each host and reads their output, for at most this many seconds. Returns false
 * with the reason in `problem`.
 */
bool gather(struct gathered *gathered, const struct hosts *hosts, double seconds, char *problem, size_t size);
void gathered_free(struct gathered *gathered);

#endif
