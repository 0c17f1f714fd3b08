/* SPDX-License-Identifier: BSD-3-Clause */
/* run: not=valgrind */
/* As wait.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/wait.c"
