/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_JTOFU_JOBS_H
#define SOFTOFU_JTOFU_JOBS_H

#include "softofu/include/jtofu.h"
#include "softofu/map.h"

/* The jobs jTofu was told of. jobs_lock is held from finding one to the last look at it. */
void jobs_lock(void);
void jobs_unlock(void);
const struct map *jobs_own(uint32_t *rank); /* NULL: not initialised */
const struct map *jobs_find(jtofu_job_id_t job_id);

#endif
