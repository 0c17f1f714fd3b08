/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2,4,8 ucx-tcp=3,8 mixed=4,8 not=valgrind */
/* As contact.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/contact.c"
