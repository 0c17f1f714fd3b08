/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2 ucx-tcp=2 mixed=3 not=valgrind */
/* As generics.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/generics.c"
