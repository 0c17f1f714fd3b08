# SPDX-License-Identifier: BSD-3-Clause
# Packages: docs/packages.md. Nothing of this is built or installed by make.

EXTRA_DIST += \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libtorushmem-dev.install \
	debian/libtorushmem-dev.postinst \
	debian/libtorushmem-dev.prerm \
	debian/libtorushmem-dev.triggers \
	debian/libtorushmem0.install \
	debian/plain-names \
	debian/rules \
	debian/softofu.install \
	debian/source/format \
	debian/source/lintian-overrides \
	debian/tests/beside-openmpi \
	debian/tests/cmake \
	debian/tests/control \
	debian/tests/cxx \
	debian/tests/lib \
	debian/tests/readme \
	debian/tests/utofu \
	debian/torushmem-bin.install \
	debian/torushmem-bin.postinst \
	debian/torushmem-bin.prerm \
	debian/torushmem-bin.triggers \
	debian/torushmem-doc.install
