/* SPDX-License-Identifier: BSD-3-Clause */
/* run: tofu-few=2 not=valgrind */
/* As rma.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/rma.c"
