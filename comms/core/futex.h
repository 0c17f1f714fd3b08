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

/*
 * The futex system call, which the C library does not wrap. The operation is a FUTEX_ constant; a
 * NULL timeout means none.
 */
static inline long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

#endif
