# SPDX-License-Identifier: BSD-3-Clause
# torusplan: shows a torus on paper. Links neither the library nor UCX nor PMIx.

bin_PROGRAMS += torusplan
torusplan_SOURCES = \
	rte/option_rows.c rte/option_rows.h \
	tools/torusplan/agent.c tools/torusplan/agent.h \
	tools/torusplan/run_discover.c tools/torusplan/run_discover.h \
	tools/torusplan/found_file.c \
	tools/torusplan/gather_cables.c tools/torusplan/gather_cables.h \
	tools/torusplan/records.c tools/torusplan/records.h \
	tools/torusplan/remote.c tools/torusplan/remote.h \
	tools/torusplan/drawing.h \
	tools/torusplan/machine.c \
	tools/torusplan/main.c \
	tools/torusplan/torusplan_options.c \
	tools/torusplan/run_place.c \
	tools/torusplan/run_routes.c \
	tools/torusplan/run_show.c \
	tools/torusplan/svg.c \
	tools/torusplan/run_tni.c \
	tools/torusplan/torusplan.h \
	tools/torusplan/run_trees.c \
	tools/torusplan/run_view.c
nodist_torusplan_SOURCES = tools/torusplan/trees_page.h tools/torusplan/view_page.h
BUILT_SOURCES += $(nodist_torusplan_SOURCES)
CLEANFILES += $(nodist_torusplan_SOURCES)

# A page as a C string, a line for each of its lines.
PAGE_AS_STRING = $(MKDIR_P) tools/torusplan && sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/'
tools/torusplan/view_page.h: tools/torusplan/view.html
	$(AM_V_GEN)$(PAGE_AS_STRING) $(top_srcdir)/tools/torusplan/view.html >$@.new && mv $@.new $@
tools/torusplan/trees_page.h: tools/torusplan/trees.html
	$(AM_V_GEN)$(PAGE_AS_STRING) $(top_srcdir)/tools/torusplan/trees.html >$@.new && mv $@.new $@
tools/torusplan/run_view.$(OBJEXT): tools/torusplan/view_page.h
tools/torusplan/run_trees.$(OBJEXT): tools/torusplan/trees_page.h

torusplan_LDADD = libtorusthink.la librtebase.la -lm

dist_man1_MANS += docs/man/torusplan.1

EXTRA_DIST += \
	tools/torusplan/trees.html \
	tools/torusplan/view.html \
	tests/machines/show \
	tests/tools/torusplan.bats \
	$(TEST_MACHINES)

# Recorded shapes, each with the text that torusplan is to print.
TEST_MACHINES = \
	tests/machines/cube-8.shape tests/machines/cube-8.expected \
	tests/machines/holes-30-of-32.shape tests/machines/holes-30-of-32.expected \
	tests/machines/line-9.shape tests/machines/line-9.expected \
	tests/machines/mesh-5x5.shape tests/machines/mesh-5x5.expected \
	tests/machines/mesh-6x5x4.shape tests/machines/mesh-6x5x4.expected \
	tests/machines/odd-7x5x3.shape tests/machines/odd-7x5x3.expected \
	tests/machines/pairs-two-cables.shape tests/machines/pairs-two-cables.expected \
	tests/machines/scattered-36.shape tests/machines/scattered-36.expected \
	tests/machines/single.shape tests/machines/single.expected \
	tests/machines/small-4x2x2.shape tests/machines/small-4x2x2.expected \
	tests/machines/tile-4x4.shape tests/machines/tile-4x4.expected \
	tests/machines/tofu-full.shape tests/machines/tofu-full.expected \
	tests/machines/tofu-wrapping.shape tests/machines/tofu-wrapping.expected
