/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_JOB_INFO_H
#define OSHRUN_JOB_INFO_H

#include <pmix.h>
#include <stddef.h>

struct job;

/*
 * Everything that PEs can ask the PMIx server about the job and each other, in the form of
 * PMIx_server_register_nspace. Free it with PMIX_INFO_FREE. NULL: no memory.
 */
pmix_info_t *job_info_make(struct job *job, size_t *count);

#endif
