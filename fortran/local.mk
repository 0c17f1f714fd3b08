# SPDX-License-Identifier: BSD-3-Clause
# The Fortran interface: a library of its own over the C routines, the module shmem and the include
# file shmem.fh. Everything that has a line per type or routine is made from the tables.

fortran_tables = \
	fortran/arguments.tsv fortran/generics.awk fortran/generics.def fortran/interfaces.awk fortran/legacy.awk fortran/legacy.def \
	fortran/make-fortran.sh fortran/own.awk fortran/shmem.f90.in fortran/shmemx.f90.in fortran/synopsis.awk \
	fortran/types.tsv
EXTRA_DIST += $(fortran_tables)

fortran_sources = $(fortran_tables) include/prototypes.def include/types.def include/generics.def include/shmem.h.in \
	include/shmemx.h
MAKE_FORTRAN = CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/fortran/make-fortran.sh
made_of_tables = fortran/shmem.f90 fortran/shmemx.f90 fortran/typed.c fortran/legacy_calls.c include/shmem.fh \
	include/shmem_interfaces/shmem.fh include/shmem_constants/shmem.fh
CLEANFILES += $(made_of_tables) include/shmem.mod include/shmemx.mod

fortran/shmem.f90: $(fortran_sources)
	@$(MKDIR_P) fortran
	$(AM_V_GEN)$(MAKE_FORTRAN) module "$(VERSION)" >$@.new && mv $@.new $@
fortran/shmemx.f90: $(fortran_sources)
	@$(MKDIR_P) fortran
	$(AM_V_GEN)$(MAKE_FORTRAN) modulex "$(VERSION)" >$@.new && mv $@.new $@
fortran/typed.c: $(fortran_sources)
	@$(MKDIR_P) fortran
	$(AM_V_GEN)$(MAKE_FORTRAN) typed "$(VERSION)" >$@.new && mv $@.new $@
fortran/legacy_calls.c: $(fortran_sources)
	@$(MKDIR_P) fortran
	$(AM_V_GEN)$(MAKE_FORTRAN) legacy "$(VERSION)" >$@.new && mv $@.new $@
include/shmem.fh: $(fortran_sources)
	@$(MKDIR_P) include
	$(AM_V_GEN)$(MAKE_FORTRAN) include "$(VERSION)" >$@.new && mv $@.new $@
include/shmem_interfaces/shmem.fh: $(fortran_sources)
	@$(MKDIR_P) include/shmem_interfaces
	$(AM_V_GEN)$(MAKE_FORTRAN) interfaces "$(VERSION)" >$@.new && mv $@.new $@
include/shmem_constants/shmem.fh: $(fortran_sources)
	@$(MKDIR_P) include/shmem_constants
	$(AM_V_GEN)$(MAKE_FORTRAN) numbers "$(VERSION)" >$@.new && mv $@.new $@

if WITH_FORTRAN
lib_LTLIBRARIES += libtorushmem_fortran.la
BUILT_SOURCES += include/shmem.fh include/shmem_interfaces/shmem.fh include/shmem_constants/shmem.fh
libtorushmem_fortran_la_SOURCES = \
	fortran/fortran_allocate.c \
	fortran/bodies.h \
	fortran/fortran_collectives.c \
	fortran/fortran_exchange.c \
	fortran/fortran.h \
	fortran/fortran_grid.c \
	fortran/fortran_legacy.c \
	fortran/legacy.h \
	fortran/fortran_plans.c \
	fortran/fortran_rdma.c \
	fortran/fortran_requests.c \
	fortran/fortran_rma.c \
	fortran/fortran_sections.c \
	fortran/fortran_setup.c \
	fortran/fortran_stats.c \
	fortran/fortran_vectors.c \
	fortran/fortran_waits.c
# The modules are compiled in their order, which automake does not know.
fortran/modules.f90: fortran/shmem.f90 fortran/shmemx.f90
	$(AM_V_GEN)cat fortran/shmem.f90 fortran/shmemx.f90 >$@.new && mv $@.new $@
CLEANFILES += fortran/modules.f90
nodist_libtorushmem_fortran_la_SOURCES = fortran/modules.f90 fortran/typed.c fortran/legacy_calls.c
libtorushmem_fortran_la_CPPFLAGS = $(AM_CPPFLAGS) $(FORTRAN_CFLAGS)
# As in the C library; routines that Fortran calls have no prototypes, and their
# frames name them in messages.
libtorushmem_fortran_la_CFLAGS = $(AM_CFLAGS) $(ALIGN_CFLAGS) $(FRAME_CFLAGS) -Wno-missing-prototypes -fvisibility=hidden
libtorushmem_fortran_la_FCFLAGS = $(FC_MODOUT)include $(FC_MODINC)include
libtorushmem_fortran_la_LDFLAGS = -version-info 0:0:0 -no-undefined
libtorushmem_fortran_la_LIBADD = libtorushmem.la

# The module of this compiler, and its source for others.
mppinclude_HEADERS += include/mpp/shmem.fh
interfacesdir = $(includedir)/shmem_interfaces
nodist_interfaces_HEADERS = include/shmem_interfaces/shmem.fh
interfacesmppdir = $(interfacesdir)/mpp
interfacesmpp_HEADERS = include/mpp/shmem.fh
constantsdir = $(includedir)/shmem_constants
nodist_constants_HEADERS = include/shmem_constants/shmem.fh
constantsmppdir = $(constantsdir)/mpp
constantsmpp_HEADERS = include/mpp/shmem.fh
nodist_include_HEADERS += fortran/shmem.f90 fortran/shmemx.f90 include/shmem.fh
modules = include/shmem.mod include/shmemx.mod
$(modules): libtorushmem_fortran.la
	@test -f $@ && touch $@
nodist_include_HEADERS += $(modules)

# --- Tests: programs like the others of tests/api, over what they share ---

FORTRAN_TESTS = tests/api/fortran_extensions tests/api/fortran_setup tests/api/fortran_types
check_PROGRAMS += $(FORTRAN_TESTS)
check_LIBRARIES += tests/fortran/libcases.a
AM_FCFLAGS = $(FC_MODOUT)tests/fortran $(FC_MODINC)include $(FC_MODINC)tests/fortran
tests_fortran_libcases_a_SOURCES = tests/fortran/check.f90
nodist_tests_fortran_libcases_a_SOURCES = tests/fortran/cases.f90
tests/fortran/cases.f90: $(fortran_sources) tests/fortran/cases.awk tests/fortran/type.f90.in
	@$(MKDIR_P) tests/fortran
	$(AM_V_GEN)$(MAKE_FORTRAN) rows "$(VERSION)" >$@.rows && $(AWK) -f $(srcdir)/tests/fortran/cases.awk $@.rows \
		$(srcdir)/fortran/types.tsv $(srcdir)/tests/fortran/type.f90.in >$@.new && rm -f $@.rows && mv $@.new $@
CLEANFILES += tests/fortran/cases.f90 tests/fortran/*.mod
# Many lines, which run once.
tests/fortran/cases.$(OBJEXT): FCFLAGS = -O0
tests/fortran/check.$(OBJEXT): include/shmem.mod
tests/fortran/cases.$(OBJEXT): tests/fortran/check.$(OBJEXT)
tests/api/fortran_types.$(OBJEXT): tests/fortran/cases.$(OBJEXT)
tests/api/fortran_extensions.$(OBJEXT) tests/api/fortran_setup.$(OBJEXT): tests/fortran/check.$(OBJEXT)
fortran_test_libs = tests/fortran/libcases.a libtorushmem_fortran.la libtorushmem.la
tests_api_fortran_types_SOURCES = tests/api/fortran_types.f90
tests_api_fortran_types_LDADD = $(fortran_test_libs)
tests_api_fortran_extensions_SOURCES = tests/api/fortran_extensions.f90
tests_api_fortran_extensions_LDADD = $(fortran_test_libs)
tests_api_fortran_setup_SOURCES = tests/api/fortran_setup.f90
tests_api_fortran_setup_LDADD = $(fortran_test_libs)
endif

EXTRA_DIST += \
	tests/fortran/cases.awk \
	tests/fortran/copies.c \
	tests/fortran/copies.f90 \
	tests/fortran/old_cray.f90 \
	tests/fortran/old_fixed.f \
	tests/fortran/old_forms.f \
	tests/fortran/old_free.f90 \
	tests/fortran/putter.c \
	tests/fortran/putter.f90 \
	tests/fortran/type.f90.in \
	tests/tools/fortran.bats
