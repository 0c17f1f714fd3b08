/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of torushmem (names that begin with shmemx_). */
#ifndef TORUSHMEM_SHMEMX_H
#define TORUSHMEM_SHMEMX_H

#include <shmem.h>

#endif
