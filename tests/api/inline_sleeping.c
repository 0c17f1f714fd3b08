/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=2,3,4 not=valgrind */
/* As sleeping.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/sleeping.c"
