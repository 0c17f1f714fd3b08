# SPDX-License-Identifier: BSD-3-Clause
# Extensions of Fujitsu's MPI over software Tofu. To remove this folder, remove it, and the line of
# softofu/local.mk that includes this file; --disable-fjmpi builds and installs nothing of it.

if WITH_FJMPI

# RDMA, places, persistent requests and collectives of Fujitsu's MPI, for mpi-ext.h and
# fjmpi.f90. It knows no MPI.
FJMPI_LIBS = libfjmpi.la
FJMPI_LINK = -lfjmpi
softofuexeclib_LTLIBRARIES += libfjmpi.la
libfjmpi_la_SOURCES = \
	softofu/net/net_shape.c softofu/net/net_shape.h \
	softofu/fjmpi/error.c softofu/fjmpi/error.h \
	softofu/fjmpi/fjmpi_plans.c \
	softofu/fjmpi/fjmpi_rdma.c \
	softofu/fjmpi/fjmpi_topology.c \
	softofu/fjmpi/plan.h \
	softofu/fjmpi/plan_combine.c \
	softofu/fjmpi/plan_make.c \
	softofu/fjmpi/plan_members.c softofu/fjmpi/plan_members.h \
	softofu/fjmpi/plan_pair.c \
	softofu/fjmpi/plan_pair.h \
	softofu/fjmpi/plan_pair_connect.c \
	softofu/fjmpi/plan_queues.c \
	softofu/fjmpi/plan_schedules.c
libfjmpi_la_CPPFLAGS = -I$(top_srcdir)/softofu/include $(AM_CPPFLAGS)
libfjmpi_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libfjmpi_la_LIBADD = libtofucom.la libjtofu.la -lpthread
libfjmpi_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,-Bsymbolic -export-symbols-regex '^fjmpi_(plan|rdma|topology)_'

# In a folder of its own: it stands before the mpi-ext.h of whatever MPI there is.
softofumpidir = $(softofuincludedir)/mpi
softofumpi_HEADERS = \
	softofu/fjmpi/fjmpi_collectives.h \
	softofu/fjmpi/fjmpi_pairs.h \
	softofu/fjmpi/fjmpi_persistent.h \
	softofu/fjmpi/fjmpi_plans.h \
	softofu/fjmpi/fjmpi_rdma.h \
	softofu/fjmpi/fjmpi_requests.h \
	softofu/fjmpi/fjmpi_topology.h \
	softofu/fjmpi/mpi-ext.h

# The program's mpicc and mpifort compile them.
fjmpi_fortran = \
	softofu/fjmpi/fjmpi.f90 \
	softofu/fjmpi/fjmpi_fortran.c \
	softofu/fjmpi/mpi_ext.f90 \
	softofu/fjmpi/mpi_f08_ext.f90 \
	softofu/fjmpi/mpif-ext.h
EXTRA_DIST += $(fjmpi_fortran)
if WITH_FORTRAN
softofumpi_HEADERS += $(fjmpi_fortran)
endif

endif
