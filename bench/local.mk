# SPDX-License-Identifier: BSD-3-Clause
# The benchmarks. Built in the tree, never installed; bench/compare/libraries compiles the same
# sources with other libraries.

noinst_PROGRAMS += bench/simulate bench/bench bench/floor/floor bench/hello bench/neighbours

bench_shared = bench/programs/harness.c bench/programs/line.c bench/programs/main.c bench/programs/measure.h bench/programs/record.c

bench_bench_SOURCES = $(bench_shared) \
	bench/programs/bench.c \
	bench/programs/bench.h \
	bench/programs/bench_atomics.c \
	bench/programs/bench_inline.c \
	bench/programs/bench_memory.c \
	bench/programs/bench_pingpong.c \
	bench/programs/bench_plans.c \
	bench/programs/bench_rma.c \
	bench/programs/bench_stencil.c \
	bench/programs/bench_sync.c \
	bench/programs/collectives.c \
	bench/programs/gups.c \
	bench/programs/halo.c \
	bench/programs/isort.c \
	bench/programs/overlap.c \
	bench/programs/members.c \
	bench/programs/pes.c \
	bench/programs/rate.c
bench_bench_LDADD = libtorushmem.la -lm

bench_floor_floor_SOURCES = $(bench_shared) \
	bench/floor/floor.c \
	bench/floor/floor.h \
	bench/floor/floor_copy.c \
	bench/floor/processes.c
bench_floor_floor_LDADD =

# It calls what is inside the library, so it takes the archive as it was before its
# inner names were made local.
if HAVE_ARCHIVE
noinst_PROGRAMS += bench/breakdown
bench_breakdown_SOURCES = bench/programs/breakdown.c bench/programs/bench.h bench/programs/harness.c bench/programs/line.c bench/programs/measure.h bench/programs/members.c bench/programs/pes.c bench/programs/record.c
# As the library's functions, which they are compared with.
bench_breakdown_CFLAGS = $(AM_CFLAGS) $(ALIGN_CFLAGS)
bench_breakdown_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS)
bench_breakdown_DEPENDENCIES = libtorushmem.la
bench_breakdown_LDADD = .libs/libtorushmem-open.a $(UCX_LIBS) $(PMIX_LIBS) -lm
endif

bench_neighbours_SOURCES = bench/programs/neighbours.h bench/programs/neighbours_main.c bench/programs/neighbours_shmem.c

EXTRA_DIST += \
	bench/compare/jobs.py \
	bench/compare/libraries \
	bench/compare/neighbours \
	bench/compare/plots.gp \
	bench/compare/report.py \
	bench/programs/neighbours_mpi.c \
	bench/programs/sums_mpi.c \
	docs/performance \
	docs/lattice-qcd.md \
	docs/performance.md \
	docs/records \
	docs/torus-performance.md \
	tests/tools/bench.bats \
	tests/tools/figures.bats \
	tests/tools/simulate.bats

bench_hello_SOURCES = bench/programs/hello.c

# Where Debian's Open MPI is installed it is what we compare with; COMPARE_FLAGS adds to it:
# --quick, --only put,get, ...
COMPARE_OSHCC = /usr/bin/oshcc
COMPARE_OSHRUN = /usr/bin/oshrun --allow-run-as-root --oversubscribe --mca osc ^rdma

performance: all
	@if $(COMPARE_OSHCC) --showme:version 2>&1 | grep -Eq 'Open (MPI|SHMEM)'; then \
		set -- --against NAME=openmpi OSHCC='$(COMPARE_OSHCC)' OSHRUN='$(COMPARE_OSHRUN)'; \
	else \
		echo "no Open MPI at $(COMPARE_OSHCC) to compare with (Debian: openmpi-bin libopenmpi-dev)"; set --; \
	fi; \
	python3 $(top_srcdir)/bench/compare/libraries --build '$(abs_top_builddir)' \
		--keep $(top_srcdir)/docs/records/performance.tsv $(COMPARE_FLAGS) "$$@"
	@python3 $(top_srcdir)/bench/compare/report.py

# Sums of little data beside Open MPI's two, OpenSHMEM and MPI_Allreduce, in the same rounds.
COMPARE_MPICC = /usr/bin/mpicc

performance-sums: all
	@for tool in '$(COMPARE_OSHCC)' '$(COMPARE_MPICC)'; do \
		command -v "$$tool" >/dev/null || \
			{ echo "no Open MPI at $$tool to compare with (Debian: openmpi-bin libopenmpi-dev)"; exit 1; }; \
	done; \
	python3 $(top_srcdir)/bench/compare/libraries --build '$(abs_top_builddir)' --only sums,sums-4 $(COMPARE_FLAGS) \
		--against NAME=oshmem OSHCC='$(COMPARE_OSHCC)' OSHRUN='$(COMPARE_OSHRUN)' \
		--against NAME=mpi MPICC='$(COMPARE_MPICC)' OSHRUN='$(COMPARE_OSHRUN)'

# The tables and plots of pages again from their records; needs gnuplot (Debian: gnuplot-nox).
figures:
	@python3 $(top_srcdir)/bench/compare/report.py

.PHONY: figures performance performance-sums

# Collectives on tori that nobody has at hand.
bench_simulate_SOURCES = bench/programs/simulate.c bench/programs/simulate.h bench/programs/simulate_alltoall.c bench/programs/simulate_rings.c bench/programs/simulate_schedule.c
bench_simulate_LDADD = libtorusthink.la
