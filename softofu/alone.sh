#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# alone.sh SRCDIR DIR: makes a tree of software Tofu alone in DIR: this folder, its pages, its
# examples, three scripts of tools/, and a configure.ac and Makefile.am for them. make
# check-softofu-alone builds and installs that tree, and so shows that it needs nothing else.
set -eu
source=$(CDPATH='' cd -- "$1" && pwd -P)
mkdir "$2"
cd "$2"
for path in softofu LICENSE examples/utofu docs/tofu.md docs/decisions/softofu.md docs/man/softofu.7 \
	docs/man/softofu-replay.1 docs/protocols/softofu-link.md docs/protocols/order/softofu.md \
	tests/lib/unit.h tools/fill.sh tools/links.sh tools/below-prefix.sh; do
	mkdir -p "$(dirname "$path")"
	cp -R "$source/$path" "$path"
done
cat >configure.ac <<'end'
AC_INIT([softofu], [1.0])
AC_CONFIG_HEADERS([config.h])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_PROG_CC
AM_PROG_AR
LT_INIT
PKG_CHECK_MODULES([ZLIB], [zlib])
PKG_CHECK_MODULES([PMIX], [pmix], [], [:])
AC_CHECK_PROG([have_fortran], [gfortran], [yes])
AM_CONDITIONAL([WITH_SOFTOFU], [:])
AM_CONDITIONAL([WITH_FJMPI], [:])
AM_CONDITIONAL([WITH_FORTRAN], [test "$have_fortran" = yes])
AC_SUBST([pkgconfigdir], ['${libdir}/pkgconfig'])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
end
cat >Makefile.am <<'end'
AM_CPPFLAGS = -I$(top_srcdir) -I$(top_builddir) -D_GNU_SOURCE -include config.h
AM_CFLAGS = -std=gnu11
bin_PROGRAMS =
check_PROGRAMS =
EXTRA_PROGRAMS =
noinst_LTLIBRARIES =
noinst_DATA =
pkgconfig_DATA =
dist_man1_MANS =
dist_man7_MANS =
CLEANFILES = $(pkgconfig_DATA)
EXTRA_DIST =
INSTALL_EXEC_HOOKS =
UNINSTALL_HOOKS =
LINKS = $(SHELL) $(top_srcdir)/tools/links.sh
FILL = $(SHELL) $(top_srcdir)/tools/fill.sh
BELOW_PREFIX = $(SHELL) $(top_srcdir)/tools/below-prefix.sh '$(prefix)'
FILL_VALUES = FJMPI_LINK='$(FJMPI_LINK)' VERSION='$(PACKAGE_VERSION)' prefix='$(prefix)' \
	PREFIX_LIBDIR="`$(BELOW_PREFIX) '$(libdir)'`" PREFIX_INCLUDEDIR="`$(BELOW_PREFIX) '$(includedir)'`"
$(pkgconfig_DATA): tools/fill.sh Makefile
	$(MKDIR_P) $(@D) && $(FILL) $(top_srcdir)/$@.in $(FILL_VALUES) >$@.tmp && mv $@.tmp $@
include softofu/local.mk
install-exec-hook: $(INSTALL_EXEC_HOOKS)
uninstall-hook: $(UNINSTALL_HOOKS)
end
autoreconf -i >autoreconf.log 2>&1 || { cat autoreconf.log >&2; exit 1; }
echo "$2: software Tofu alone; configure and make it there"
