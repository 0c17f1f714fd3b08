/* SPDX-License-Identifier: BSD-3-Clause */
/* run: not=valgrind */
/* As rma_sizes.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/rma_sizes.c"
