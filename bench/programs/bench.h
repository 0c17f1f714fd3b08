/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver for OpenSHMEM libraries. It is written against OpenSHMEM 1.4, so that the same source
 * runs with old and new libraries; what came later is used where the library says that it has it.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "measure.h"

#include <shmem.h>
#ifdef TORUSHMEM_SHMEM_H
#include <shmemx.h>
#endif

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAS_15 1
#else
#define HAS_15 0
#endif

#define LARGEST_GLOBAL (64 * MIB)

/* Symmetric memory, touched by everybody; ends the job with a message if there is not enough. */
void *heap_take(size_t bytes);
void heap_give(void *p);
size_t largest_size(void);

/* Data that identifies the member and the spot. */
void pattern_write(void *p, size_t bytes, int who, unsigned spot);
bool pattern_is(const void *p, size_t bytes, int who, unsigned spot);

/* All PEs as a grid, as square as their number allows. */
void grid_of_pes(int *across, int *down);

/* A put and a flag after it: put-with-signal, or what one wrote before there was one. */
void put_with_flag(void *to, const void *from, size_t bytes, uint64_t *flag, uint64_t value, int pe);
void await_flag(uint64_t *flag, uint64_t value);

void rma_put(void);
void rma_get(void);
void rma_p(void);
void rma_g(void);
void inline_forms(void);
void rate_put(void);
void rate_get(void);
void atomics_alone(void);
void atomics_contended(void);
void signal_ping_pong(void);
void wait_ping_pong(void);
void wait_wake_up(void);
void sync_all_members(void);
void collective_broadcast(void);
void collective_reduce(void);
void collective_collect(void);
void collective_fcollect(void);
void collective_alltoall(void);
void collective_plans(void);
void collective_overlap(void);
void memory_per_pe(void);
void halo_exchange(void);
void stencil_poisson(void);
void gups_random_access(void);
void isort_keys(void);

#endif
