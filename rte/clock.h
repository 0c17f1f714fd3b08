/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_CLOCK_H
#define RTE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The monotonic clock of this host. Signal handlers may call this. */
static inline int64_t rte_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t rte_clock_ms(void)
{
	return rte_clock_ns() / 1000000;
}

#endif
