# SPDX-License-Identifier: BSD-3-Clause
# oshrun: the launcher, with its own PMIx server. Links neither the library nor UCX.

bin_PROGRAMS += oshrun

oshrun_SOURCES = \
	rte/option_rows.c rte/option_rows.h \
	rte/oshrun/accept_filter.c rte/oshrun/accept_filter.h \
	rte/oshrun/await_hosts.c rte/oshrun/await_hosts.h \
	rte/oshrun/bind.c rte/oshrun/bind.h \
	rte/oshrun/debug.c rte/oshrun/debug.h \
	rte/oshrun/dry_run.c rte/oshrun/dry_run.h \
	rte/oshrun/discover_torus.c rte/oshrun/discover_torus.h \
	rte/oshrun/environment.c rte/oshrun/environment.h \
	rte/oshrun/io.c rte/oshrun/io.h \
	rte/oshrun/job.c rte/oshrun/job.h \
	rte/oshrun/job_info.c rte/oshrun/job_info.h \
	rte/oshrun/job_signals.c \
	rte/oshrun/join_trace.c rte/oshrun/join_trace.h \
	rte/oshrun/leak_check.c rte/oshrun/leak_check.h \
	rte/oshrun/launcher_options.c rte/oshrun/launcher_options.h \
	rte/oshrun/launchers.c rte/oshrun/launchers.h \
	rte/oshrun/main.c \
	rte/oshrun/option_table.c rte/oshrun/option_table.h \
	rte/oshrun/option_values.c \
	rte/oshrun/options.c rte/oshrun/options.h \
	rte/oshrun/processors.c rte/oshrun/processors.h \
	rte/oshrun/program.c rte/oshrun/program.h \
	rte/oshrun/program_kind.c rte/oshrun/program_kind.h \
	rte/oshrun/reaper.c rte/oshrun/reaper.h \
	rte/oshrun/say.c rte/oshrun/say.h \
	rte/oshrun/server.c rte/oshrun/server.h \
	rte/oshrun/session.c rte/oshrun/session.h \
	rte/oshrun/spawn.c \
	rte/oshrun/supervise.c \
	rte/oshrun/tofu_ranks.h
oshrun_CPPFLAGS = $(AM_CPPFLAGS) -DTORUSHMEM_DATA='"$(suppressionsdir)"'
oshrun_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS)
oshrun_LDADD = librtebase.la
if WITH_SOFTOFU
oshrun_SOURCES += rte/oshrun/tofu_ranks.c
oshrun_LDADD += libsoftofugrid.la
endif
oshrun_LDADD += $(PMIX_LIBS) $(HWLOC_LIBS) -lpthread

# For programs that look for leaks: beside oshrun in the build tree, too.
suppressionsdir = $(datadir)/torushmem
dist_suppressions_DATA = tests/suppressions/lsan.supp
noinst_DATA += lsan.supp
CLEANFILES += lsan.supp
lsan.supp: $(top_srcdir)/tests/suppressions/lsan.supp
	$(AM_V_GEN)cp $(top_srcdir)/tests/suppressions/lsan.supp $@

dist_man1_MANS += docs/man/oshrun.1

EXTRA_DIST += \
	docs/protocols/launch.md \
	tests/machines/nodes/README.md tests/machines/nodes/show \
	tests/machines/nodes/a64fx.xml tests/machines/nodes/a64fx.expected \
	tests/machines/nodes/a64fx-assistants.xml tests/machines/nodes/a64fx-assistants.expected \
	tests/machines/nodes/grace.xml tests/machines/nodes/grace.expected \
	tests/machines/nodes/grace-2.xml tests/machines/nodes/grace-2.expected \
	tests/machines/nodes/graviton3.xml tests/machines/nodes/graviton3.expected \
	tests/machines/nodes/hybrid-arm.xml tests/machines/nodes/hybrid-arm.expected \
	tests/machines/nodes/hybrid-x86.xml tests/machines/nodes/hybrid-x86.expected \
	tests/machines/nodes/small.xml tests/machines/nodes/small.expected \
	tests/machines/nodes/uneven.xml tests/machines/nodes/uneven.expected \
	tests/machines/nodes/xeon-2.xml tests/machines/nodes/xeon-2.expected \
	tests/tools/bad_greetings \
	tests/tools/oshrun.bats \
	tests/tools/pmix_accept_filter.bats \
	tests/tools/progs/peer.c
