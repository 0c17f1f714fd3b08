/* SPDX-License-Identifier: BSD-3-Clause */
/* run: not=valgrind */
/* As threads.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/threads.c"
