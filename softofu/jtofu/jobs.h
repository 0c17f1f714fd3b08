/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_JTOFU_JOBS_H
#define SOFTOFU_JTOFU_JOBS_H

#include "softofu/include/jtofu.h"
#include "softofu/rank_map.h"

/* The jobs that jTofu knows. Hold jobs_lock from finding a job to the last use of it. */
void jobs_lock(void);
void jobs_unlock(void);
const struct rank_map *jobs_own(uint32_t *rank); /* NULL: not initialised */
const struct rank_map *jobs_find(jtofu_job_id_t job_id);

#endif
