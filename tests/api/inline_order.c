/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,4 ucx-tcp=2,3 ucx-shm=2,3 mixed=4 split=3 tofu-few=2 not=valgrind */
/* As order.c, with the inline forms. */
#define SHMEMX_INLINE
#include "tests/api/order.c"
