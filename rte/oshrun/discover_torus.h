/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_FIND_TORUS_H
#define OSHRUN_FIND_TORUS_H

#include "launchers.h"

/*
 * Before a job on several hosts starts: which torus they are cabled as, if nobody says it and SHMEM_TORUS_DISCOVER allows to look. What is
 * found goes to the PEs in the environment (RTE_TORUS_FOUND).
 */
void find_torus(const struct launcher *launcher, const struct options *options, const struct hosts *hosts);

#endif
