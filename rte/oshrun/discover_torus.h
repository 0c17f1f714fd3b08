/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_DISCOVER_TORUS_H
#define OSHRUN_DISCOVER_TORUS_H

#include "launchers.h"

/*
 * Finds the torus of a job on several hosts before it starts, unless it is given and if
 * SHMEM_TORUS_DISCOVER allows. Passes the result to the PEs in the environment (RTE_TORUS_FOUND).
 */
void discover_torus(const struct launcher *launcher, const struct options *options, const struct hosts *hosts);

#endif
