# SPDX-License-Identifier: BSD-3-Clause
# Packages: docs/packages.md. make all and make install leave this alone.

EXTRA_DIST += \
	debian/changelog \
	debian/clean \
	debian/control \
	debian/copyright \
	debian/libtorushmem-compat-dev.install \
	debian/libtorushmem-dev.install \
	debian/libtorushmem-dev.postinst \
	debian/libtorushmem-dev.prerm \
	debian/libtorushmem-dev.triggers \
	debian/libtorushmem-fortran0.install \
	debian/libtorushmem0.install \
	debian/python3-torushmem.install \
	debian/python3-torushmem.links \
	debian/plain-names \
	debian/rules \
	debian/softofu.install \
	debian/softofu.lintian-overrides \
	debian/source/format \
	debian/source/lintian-overrides \
	debian/tests/beside-openmpi \
	debian/tests/cmake \
	debian/tests/compat \
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

# Modules for environment-modules (Tcl) and Lmod (Lua), in a folder that module use is
# told of: a site has its own.
moduledir = $(datadir)/modulefiles
install-modules:
	$(MKDIR_P) "$(DESTDIR)$(moduledir)/torushmem"
	for kind in tcl lua; do \
		$(FILL) $(top_srcdir)/packaging/modules/torushmem.$$kind.in $(FILL_VALUES) mandir='$(mandir)' aclocaldir='$(aclocaldir)' \
			>"$(DESTDIR)$(moduledir)/torushmem/$(PACKAGE_VERSION).$$kind" || exit 1; \
	done
	cd "$(DESTDIR)$(moduledir)/torushmem" && mv $(PACKAGE_VERSION).tcl $(PACKAGE_VERSION)

.PHONY: install-modules

# Symbols that the libraries export and their lists lack: each is to be added there.
symbols: $(lib_LTLIBRARIES)
	for list in libtorushmem.so:libtorushmem0 libtorushmem_fortran.so:libtorushmem-fortran0; do \
		[ -e .libs/$${list%:*} ] || continue; \
		$(AWK) -v names=1 -f $(top_srcdir)/packaging/expand-exports.awk $(top_srcdir)/packaging/$${list#*:}.exports | \
			LC_ALL=C sort >$${list#*:}.listed; \
		nm -D --defined-only .libs/$${list%:*} | awk '$$3 !~ /_MOD___/ { print $$3 }' | LC_ALL=C sort | \
			LC_ALL=C comm -13 $${list#*:}.listed - | sed "s,$$, is not in packaging/$${list#*:}.exports,"; \
		rm -f $${list#*:}.listed; \
	done

.PHONY: symbols

EXTRA_DIST += \
	packaging/expand-exports.awk \
	packaging/libtorushmem-fortran0.exports \
	packaging/libtorushmem0.exports \
	packaging/patches/README.md \
	packaging/patches/conveyors-alltoallv.patch \
	packaging/patches/kokkos-remote-spaces-find-shmem.patch \
	packaging/patches/ucx-socket-functions.patch \
	tests/tools/packages.bats \
	tests/tools/spack_recipe.py
