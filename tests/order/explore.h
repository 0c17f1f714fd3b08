/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_ORDER_EXPLORE_H
#define TESTS_ORDER_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Explores the orders that C11 allows, in a job of real PEs.
 *
 * The library and the scenarios are compiled with -fsanitize=thread and linked with explore.c and
 * memory.c in place of the sanitizer's library, so that every load and store comes here. Between
 * explore_next and explore_done one thread of the job runs at a time. A random number chooses who
 * runs, which of the allowed values an atomic load returns, and where an atomic store lands in the
 * order of its location. docs/protocols/orders.md says what the model contains.
 *
 * An execution fails if a check fails, if two accesses race, if no thread can go on, or if only a
 * timed wait ended a sleep. A failure is printed with the two places in the source, and ends the
 * job with code 3.
 */

/* Settings, from the environment. */
#define EXPLORE_ROUNDS "EXPLORE_ROUNDS" /* executions of a scenario */
#define EXPLORE_STEPS "EXPLORE_STEPS"	/* no further execution after so many steps in all */
#define EXPLORE_SEED "EXPLORE_SEED"	/* of the first execution */
/* Acquire:OFFSET,OFFSET,...: these places in the program lose an order; release, sc, fence. */
#define EXPLORE_WEAKEN "EXPLORE_WEAKEN"
/* A file for the places whose order can be weakened. */
#define EXPLORE_SITES "EXPLORE_SITES"
#define EXPLORE_NO_MEMBARRIER "EXPLORE_NO_MEMBARRIER" /* the kernel has none */
/* A failure prints the last accesses as well. */
#define EXPLORE_TRACE "EXPLORE_TRACE"

/*
 * Collective over the PEs, after shmem_init: so many threads of each PE take part, and so many that
 * the library makes later. Those go on from one execution to the next. An execution ends when they
 * sleep and all others are done.
 */
void explore_start(int threads_per_pe, int library_threads_per_pe);
void explore_stop(void);

/* Called by each further thread of a PE, numbered from 1, before its first explore_next. */
void explore_thread(int number);

/* Begins the next execution on all threads; false when all are done. */
bool explore_next(uint64_t *round);
/* The end of this thread's part of an execution. Returns when all threads have come here. */
void explore_done(void);

/*
 * User data, where even a relaxed atomic access is a race unless something orders it. A peer's data
 * has its peer's address.
 */
void explore_data(const volatile void *start, size_t bytes);

/*
 * Collective: an object in the symmetric heap that PEs also reach through the kernel
 * (process_vm_writev).
 */
void explore_reachable(void *symmetric, size_t bytes);

/*
 * Sleeps of the library's threads whose time is limited end by themselves: for protocols whose
 * liveness rests on that.
 */
void explore_sleeps_end(void);

/* The caller has changed the mappings of this process. */
void explore_forget_mappings(void);

#define EXPLORE_CHECK(condition)                                                          \
	do {                                                                              \
		if (!(condition))                                                         \
			explore_fail("the check fails: " #condition, __FILE__, __LINE__); \
	} while (0)
_Noreturn void explore_fail(const char *text, const char *file, int line);

#endif
