/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_FUTEX_H
#define COMMS_CORE_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The system call, which the C library has no function for. The operation is a FUTEX_ word; a timeout of NULL is none. */
static inline long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

#endif
