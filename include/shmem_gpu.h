/* SPDX-License-Identifier: BSD-3-Clause */
/* Another name of shmemg.h, which is the draft's. */
#ifndef TORUSHMEM_SHMEM_GPU_H
#define TORUSHMEM_SHMEM_GPU_H

#include <shmemg.h>

#endif
