# SPDX-License-Identifier: BSD-3-Clause
# Programs of uTofu alone; tests/tools/softofu.bats starts them.

SOFTOFU_TESTS = \
	tests/softofu/notices \
	tests/softofu/pmix_map
check_PROGRAMS += $(SOFTOFU_TESTS)

SOFTOFU_CPPFLAGS = -I$(top_srcdir)/softofu/include $(AM_CPPFLAGS)
SOFTOFU_LIBS = libtofucom.la libjtofu.la
tests_softofu_notices_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_notices_LDADD = $(SOFTOFU_LIBS)
tests_softofu_pmix_map_CPPFLAGS = $(SOFTOFU_CPPFLAGS) $(PMIX_CFLAGS)
tests_softofu_pmix_map_LDADD = $(SOFTOFU_LIBS) $(PMIX_LIBS)

EXTRA_DIST += \
	tests/conformance/check-tofu.awk \
	tests/conformance/tofu.tsv \
	tests/softofu/together.h \
	tests/tools/softofu.bats
