/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_GATHER_H
#define TORUSPLAN_GATHER_H

#include <stdint.h>

#include "comms/torus/cabling/cabling.h"
#include "records.h"
#include "rte/host/hosts.h"

/* What the agents of torusplan discover say, and the cables that follow from it. */
struct gathered {
	struct cabling cabling;
	int answered;		  /* hosts */
	int joined[RECORD_KINDS]; /* ports whose other end each kind of record showed */
	uint64_t *state;	  /* by host, 0: it has not answered */
};

/* Starts an agent on each host and listens to them, for at most so many seconds. False: problem says why there is nothing. */
bool gather(struct gathered *gathered, const struct hosts *hosts, double seconds, char *problem, size_t size);
void gathered_free(struct gathered *gathered);

#endif
