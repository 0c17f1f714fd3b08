/* SPDX-License-Identifier: BSD-3-Clause */
/* As wait.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/wait.c"
