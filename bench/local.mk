# SPDX-License-Identifier: BSD-3-Clause
# The benchmarks. Built in the tree, never installed; bench/compare compiles the same sources with other libraries.

noinst_PROGRAMS += bench/bench bench/floor bench/hello bench/stopwatch

bench_shared = bench/harness.c bench/line.c bench/main.c bench/measure.h bench/record.c

bench_bench_SOURCES = $(bench_shared) \
	bench/atomics.c \
	bench/bench.c \
	bench/bench.h \
	bench/collectives.c \
	bench/gups.c \
	bench/halo.c \
	bench/histogram.c \
	bench/isort.c \
	bench/memory.c \
	bench/pes.c \
	bench/pingpong.c \
	bench/rate.c \
	bench/rma.c \
	bench/stencil.c \
	bench/strided.c \
	bench/sync.c
bench_bench_LDADD = libtorushmem.la -lm

bench_floor_SOURCES = $(bench_shared) \
	bench/floor.c \
	bench/floor.h \
	bench/floor_copy.c \
	bench/processes.c
bench_floor_LDADD =

bench_stopwatch_SOURCES = bench/stopwatch.c
bench_stopwatch_LDADD =
