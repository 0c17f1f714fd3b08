# SPDX-License-Identifier: BSD-3-Clause
# Small programs to read and to run. Built in the tree as a user would build
# them, and installed as text.

EXAMPLES = \
	examples/costs \
	examples/globals \
	examples/gpu_ring \
	examples/harvest \
	examples/heat \
	examples/hello \
	examples/histogram \
	examples/lattice \
	examples/neighbours \
	examples/pi \
	examples/poisson \
	examples/ring \
	examples/service \
	examples/solver \
	examples/stencil \
	examples/train \
	examples/upwind

noinst_PROGRAMS += $(EXAMPLES)
examples_poisson_LDADD = libtorushmem.la -lm
examples_solver_LDADD = libtorushmem.la -lm
examples_stencil_LDADD = libtorushmem.la -lm

examplesdir = $(docdir)/examples
dist_examples_DATA = \
	examples/Makefile \
	examples/costs.c \
	examples/globals.c \
	examples/gpu_ring.c \
	examples/harvest.c \
	examples/halo.h \
	examples/halo_job.h \
	examples/heat.c \
	examples/hello.c \
	examples/histogram.c \
	examples/lattice.c \
	examples/neighbours.c \
	examples/pi.c \
	examples/poisson.c \
	examples/ring.c \
	examples/service.c \
	examples/solver.c \
	examples/stencil.c \
	examples/stencil.py \
	examples/stencil_gpu.cu \
	examples/train.c \
	examples/upwind.c \
	examples/wilson.h

# In C++: built by tests/tools/hpp.bats, for the build of the tree needs no C++ compiler.
examplescxxdir = $(docdir)/examples/cxx
dist_examplescxx_DATA = \
	examples/cxx/Makefile \
	examples/cxx/halo.hpp \
	examples/cxx/heat.cc \
	examples/cxx/lattice.cc \
	examples/cxx/solver.cc \
	examples/cxx/stencil.cc \
	examples/cxx/wilson.hpp

# In Fortran: built by tests/tools/fortran.bats, for there may be no Fortran compiler.
if WITH_FORTRAN
examplesfortrandir = $(docdir)/examples/fortran
dist_examplesfortran_DATA = \
	examples/fortran/Makefile \
	examples/fortran/halo.f90 \
	examples/fortran/heat.f90 \
	examples/fortran/lattice.f90 \
	examples/fortran/solver.f90 \
	examples/fortran/stencil.f90 \
	examples/fortran/wilson.f90
endif
