/* SPDX-License-Identifier: BSD-3-Clause */
/* run: env=SHMEM_SYMMETRIC_SIZE=32m not=valgrind */
/* As ptr.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/ptr.c"
