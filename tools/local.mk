# SPDX-License-Identifier: BSD-3-Clause
# The tools a user calls (oshcc, oshinfo) and the files by which other build systems find us.

# --- Compiler wrappers: one script under several names, in the build folder as installed ---

bin_SCRIPTS = oshcc
noinst_SCRIPTS = oshcxx oshc++
CLEANFILES += oshcc oshcxx oshc++
EXTRA_DIST += tools/oshcc.in tools/fill.sh tools/below-prefix.sh

# What a program needs besides libtorushmem.a when it takes the archive.
TORUSHMEM_PRIVATE_LIBS = $(PMIX_LIBS) $(LIBS)

FILL = $(SHELL) $(top_srcdir)/tools/fill.sh
# A folder as .pc files have it: $${prefix} and the rest, so that pkg-config --define-prefix
# finds a tree that was moved.
BELOW_PREFIX = $(SHELL) $(top_srcdir)/tools/below-prefix.sh '$(prefix)'
FILL_VALUES = \
	FJMPI_LINK='$(FJMPI_LINK)' \
	VERSION='$(PACKAGE_VERSION)' \
	prefix='$(prefix)' exec_prefix='$(exec_prefix)' \
	bindir='$(bindir)' libdir='$(libdir)' includedir='$(includedir)' \
	PREFIX_LIBDIR="`$(BELOW_PREFIX) '$(libdir)'`" PREFIX_BINDIR="`$(BELOW_PREFIX) '$(bindir)'`" \
	PREFIX_INCLUDEDIR="`$(BELOW_PREFIX) '$(includedir)'`" \
	OSHCC="`echo oshcc | sed '$(transform)'`" OSHCXX="`echo oshcxx | sed '$(transform)'`" OSHRUN="`echo oshrun | sed '$(transform)'`" \
	OSHFORT="`echo oshfort | sed '$(transform)'`" \
	CC='$(CC)' CXX='$(CXX)' FC='$(FC)' FORTRAN_MISMATCH='$(FORTRAN_MISMATCH)' WRAPPER_RPATH='$(WRAPPER_RPATH)' \
	PRIVATE_LIBS='$(TORUSHMEM_PRIVATE_LIBS)'

oshcc: tools/oshcc.in tools/fill.sh Makefile
	$(AM_V_GEN)rm -f $@ && $(FILL) $(top_srcdir)/tools/oshcc.in $(FILL_VALUES) >$@.tmp && \
		chmod 755 $@.tmp && mv $@.tmp $@

if WITH_FORTRAN
fortran_wrappers = oshfort oshf90 oshf77
FORTRAN_LINKS = oshcc:oshfort oshcc:oshf90 oshcc:oshf77
endif
noinst_SCRIPTS += $(fortran_wrappers)
CLEANFILES += $(fortran_wrappers)

oshcxx oshc++ $(fortran_wrappers): oshcc
	$(AM_V_GEN)rm -f $@ && $(LN_S) oshcc $@

# --- oshinfo ---

bin_PROGRAMS += oshinfo
oshinfo_SOURCES = \
	rte/option_rows.c rte/option_rows.h \
	tools/oshinfo/report_build.c \
	tools/oshinfo/report_launchers.c \
	tools/oshinfo/report_machine.c \
	tools/oshinfo/main.c \
	tools/oshinfo/report_paths.c \
	tools/oshinfo/report.c \
	tools/oshinfo/report.h \
	tools/oshinfo/report_print.c \
	tools/oshinfo/report_settings.c \
	tools/oshinfo/report_cables.c \
	tools/oshinfo/report_gpu.c \
	comms/gpu/driver.c comms/gpu/driver.def comms/gpu/driver.h \
	tools/oshinfo/report_ofi.c \
	tools/oshinfo/report_tofu.c \
	tools/oshinfo/report_torus.c \
	tools/oshinfo/report_ucx.c
oshinfo_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS) \
	-DBUILD_PREFIX='"$(prefix)"' -DBUILD_LIBDIR='"$(libdir)"' -DBUILD_BINDIR='"$(bindir)"' \
	-DOSHRUN_NAME='"'"`echo oshrun | sed '$(transform)'`"'"'
if WITH_TOFU
oshinfo_SOURCES += comms/net/tofu/tofu_library.c comms/net/tofu/tofu_library.h
oshinfo_CPPFLAGS += $(TOFU_CPPFLAGS)
endif
if WITH_OFI
oshinfo_SOURCES += comms/net/ofi/ofi_library.c comms/net/ofi/ofi_library.h
oshinfo_CPPFLAGS += $(OFI_CFLAGS)
endif
oshinfo_LDADD = libtorusthink.la librtebase.la $(UCX_LIBS) $(PMIX_LIBS) $(HWLOC_LIBS)

# --- pkg-config, CMake, autoconf ---

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = tools/pkg/torushmem.pc tools/pkg/openshmem.pc
if WITH_FORTRAN
pkgconfig_DATA += tools/pkg/torushmem-fortran.pc
endif
cmakedir = $(libdir)/cmake/OpenSHMEM
cmake_DATA = tools/pkg/OpenSHMEMConfig.cmake tools/pkg/OpenSHMEMConfigVersion.cmake
aclocaldir = $(datadir)/aclocal
dist_aclocal_DATA = tools/pkg/ax_openshmem.m4
CLEANFILES += $(pkgconfig_DATA) $(cmake_DATA) tools/pkg/compat.pc
EXTRA_DIST += \
	tools/pkg/torushmem.pc.in \
	tools/pkg/torushmem-fortran.pc.in \
	tools/pkg/openshmem.pc.in \
	tools/pkg/OpenSHMEMConfig.cmake.in \
	tools/pkg/OpenSHMEMConfigVersion.cmake.in

$(pkgconfig_DATA) $(cmake_DATA) tools/pkg/compat.pc: tools/fill.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(FILL) $(top_srcdir)/$@.in $(FILL_VALUES) >$@.tmp && mv $@.tmp $@
tools/pkg/torushmem.pc: tools/pkg/torushmem.pc.in tools/below-prefix.sh
tools/pkg/torushmem-fortran.pc: tools/pkg/torushmem-fortran.pc.in tools/below-prefix.sh
tools/pkg/openshmem.pc: tools/pkg/openshmem.pc.in
tools/pkg/compat.pc: tools/pkg/compat.pc.in
tools/pkg/OpenSHMEMConfig.cmake: tools/pkg/OpenSHMEMConfig.cmake.in
tools/pkg/OpenSHMEMConfigVersion.cmake: tools/pkg/OpenSHMEMConfigVersion.cmake.in

# --- Other names of the same things ---

# Each part of the tree adds its own; automake knows one hook of a kind.
INSTALL_EXEC_HOOKS = install-tool-links
INSTALL_DATA_HOOKS =
if COMPAT_ROOT
INSTALL_EXEC_HOOKS += install-compat-root
endif
UNINSTALL_HOOKS = uninstall-tool-links uninstall-compat-root
install-exec-hook: $(INSTALL_EXEC_HOOKS)
install-data-hook: $(INSTALL_DATA_HOOKS)
uninstall-hook: $(UNINSTALL_HOOKS)

LINKS = $(SHELL) $(top_srcdir)/tools/links.sh
TOOL_LINKS = oshcc:oshcxx oshcc:oshc++ $(FORTRAN_LINKS) oshinfo:oshmem_info oshinfo:osh_info
EXTRA_DIST += tools/links.sh tools/install-pages.sh

install-tool-links:
	$(LINKS) make "$(DESTDIR)$(bindir)" '$(transform)' '' $(TOOL_LINKS)

uninstall-tool-links:
	$(LINKS) remove "$(DESTDIR)$(bindir)" '$(transform)' '' $(TOOL_LINKS)

# The root that other programs look for: docs/guide/13-porting.md. In a folder of its own: Open MPI
# has a liboshmem, too, and must not be hidden by ours where it is found now.
compatdir = $(libdir)/torushmem-compat
COMPAT_COMMANDS = oshcc:oshcc oshcc:oshcxx oshcc:oshc++ oshcc:oshCC oshcc:shmemcc oshcc:shmemcxx oshcc:shmemc++ \
	$(FORTRAN_LINKS) oshrun:oshrun oshrun:shmemrun oshinfo:oshinfo oshinfo:oshmem_info oshinfo:osh_info
if WITH_FORTRAN
COMPAT_COMMANDS += oshcc:shmemfort
endif
COMPAT_PACKAGES = oshmem sandia-openshmem sma
noinst_DATA += tools/pkg/compat.pc
EXTRA_DIST += tools/compat-root.sh tools/pkg/compat.pc.in

install-compat-root: tools/pkg/compat.pc
	DESTDIR='$(DESTDIR)' $(SHELL) $(top_srcdir)/tools/compat-root.sh '$(compatdir)' '$(bindir)' '$(libdir)' \
		'$(includedir)' '$(transform)' '$(COMPAT_COMMANDS)' \
		'$(include_HEADERS) $(nodist_include_HEADERS)' '$(mppinclude_HEADERS)'
	$(MKDIR_P) "$(DESTDIR)$(compatdir)/lib/pkgconfig"
	for name in $(COMPAT_PACKAGES); do \
		$(INSTALL_DATA) tools/pkg/compat.pc "$(DESTDIR)$(compatdir)/lib/pkgconfig/$$name.pc" || exit 1; \
	done

uninstall-compat-root:
	rm -rf "$(DESTDIR)$(compatdir)"

.PHONY: install-tool-links uninstall-tool-links install-compat-root uninstall-compat-root

# --- Tests ---

EXTRA_DIST += \
	.ci/run \
	tests/tools/wrappers.bats \
	tests/tools/oshinfo.bats \
	tests/tools/install.bats \
	tests/tools/quickstart.bats
