# SPDX-License-Identifier: BSD-3-Clause
# Packages: docs/packages.md. make all and make install leave this alone.

EXTRA_DIST += \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libtorushmem-dev.install \
	debian/libtorushmem-dev.postinst \
	debian/libtorushmem-dev.prerm \
	debian/libtorushmem-dev.triggers \
	debian/libtorushmem-fortran0.install \
	debian/libtorushmem-fortran0.symbols \
	debian/libtorushmem0.install \
	debian/libtorushmem0.symbols \
	debian/plain-names \
	debian/rules \
	debian/softofu.install \
	debian/softofu.lintian-overrides \
	debian/source/format \
	debian/source/lintian-overrides \
	debian/tests/beside-openmpi \
	debian/tests/cmake \
	debian/tests/control \
	debian/tests/cxx \
	debian/tests/fortran \
	debian/tests/lib \
	debian/tests/readme \
	debian/tests/utofu \
	debian/tests/verify \
	debian/torushmem-bin.install \
	debian/torushmem-bin.postinst \
	debian/torushmem-bin.prerm \
	debian/torushmem-bin.triggers \
	debian/torushmem-doc.install \
	debian/torushmem-tests.install

EXTRA_DIST += \
	packaging/container/Containerfile \
	packaging/modules/torushmem.lua.in \
	packaging/modules/torushmem.tcl.in \
	packaging/spack/packages/torushmem/package.py \
	packaging/spack/repo.yaml

# Modules for environment-modules (Tcl) and Lmod (Lua), in a folder that module use is told of: a site has its own.
moduledir = $(datadir)/modulefiles
install-modules:
	$(MKDIR_P) "$(DESTDIR)$(moduledir)/torushmem"
	for kind in tcl lua; do \
		$(FILL) $(top_srcdir)/packaging/modules/torushmem.$$kind.in $(FILL_VALUES) mandir='$(mandir)' aclocaldir='$(aclocaldir)' \
			>"$(DESTDIR)$(moduledir)/torushmem/$(PACKAGE_VERSION).$$kind" || exit 1; \
	done
	cd "$(DESTDIR)$(moduledir)/torushmem" && mv $(PACKAGE_VERSION).tcl $(PACKAGE_VERSION)

.PHONY: install-modules

# What the libraries export, with the version that brought it (docs/decisions/versions.md). Lines of symbols that are gone stay,
# and tests/tools/packages.bats names them.
LIST_SYMBOLS = $(SHELL) $(top_srcdir)/packaging/list-symbols.sh
symbols: $(lib_LTLIBRARIES)
	$(LIST_SYMBOLS) .libs/libtorushmem.so.0 libtorushmem0 $(PACKAGE_VERSION) $(top_srcdir)/debian/libtorushmem0.symbols
	test ! -e libtorushmem_fortran.la || $(LIST_SYMBOLS) .libs/libtorushmem_fortran.so.0 libtorushmem-fortran0 $(PACKAGE_VERSION) \
		$(top_srcdir)/debian/libtorushmem-fortran0.symbols

.PHONY: symbols

EXTRA_DIST += packaging/list-symbols.sh tests/tools/packages.bats tests/tools/spack_recipe.py
