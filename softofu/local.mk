# SPDX-License-Identifier: BSD-3-Clause
# Software Tofu: libtofucom (also found as libutofu), libjtofu and softofu-replay.

# In folders of their own: where a machine has Fujitsu's libraries and headers, which have the same
# names, neither the loader nor a compiler may find these by accident. (automake installs libraries
# with the programs where their folder's name has exec in it.)
softofuexeclibdir = $(libdir)/softofu
softofuincludedir = $(includedir)/softofu

if WITH_SOFTOFU

# The group of nodes, the map of ranks and the settings; oshrun uses them, too.
noinst_LTLIBRARIES += libsoftofugrid.la
libsoftofugrid_la_SOURCES = \
	softofu/node_grid.c softofu/node_grid.h \
	softofu/rank_map.c softofu/rank_map.h \
	softofu/softofu_settings.c softofu/softofu_settings.h
libsoftofugrid_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# The network: routers and links.
noinst_LTLIBRARIES += libsoftofunet.la
SOFTOFU_NET_SOURCES = \
	softofu/net/agenda.c \
	softofu/net/counts.h \
	softofu/net/crc.h \
	softofu/net/create.c \
	softofu/net/cycle.c \
	softofu/net/dial.c \
	softofu/net/receive_queue.c \
	softofu/net/faults.c \
	softofu/net/link.c \
	softofu/net/net.h \
	softofu/net/packet.h \
	softofu/net/net_report.c \
	softofu/net/route.c \
	softofu/net/router.c \
	softofu/net/net_settings.c softofu/net/net_settings.h \
	softofu/net/net_shape.c softofu/net/net_shape.h \
	softofu/net/state.h \
	softofu/net/net_tni.c \
	softofu/net/wires.c softofu/net/wires.h softofu/net/wires_inside.h
libsoftofunet_la_SOURCES = $(SOFTOFU_NET_SOURCES)
libsoftofunet_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) -fvisibility=hidden
libsoftofunet_la_LIBADD = $(ZLIB_LIBS) -lm

softofuexeclib_LTLIBRARIES = libtofucom.la libjtofu.la
libtofucom_la_SOURCES = \
	softofu/nic/completion.c \
	softofu/nic/carrier.h \
	softofu/nic/descriptor.h \
	softofu/nic/direct.c \
	softofu/nic/barrier_gates.c \
	softofu/nic/ids.c \
	softofu/nic/shared_job.c softofu/nic/shared_job.h \
	softofu/nic/registrations.c \
	softofu/nic/notice_queues.c \
	softofu/nic/packets.c \
	softofu/nic/packets_plan.c \
	softofu/nic/transmit_queue.c \
	softofu/nic/recording.c softofu/nic/recording.h \
	softofu/nic/reach.c softofu/nic/reach.h \
	softofu/nic/rendezvous.c \
	softofu/nic/nic_thread.c \
	softofu/nic/vcq.c softofu/nic/vcq.h \
	softofu/utofu/armw.c \
	softofu/utofu/describe.c softofu/utofu/describe.h \
	softofu/utofu/utofu_barrier.c \
	softofu/utofu/last_error.c \
	softofu/utofu/modify.c \
	softofu/utofu/utofu_memory.c \
	softofu/utofu/piggyback.c \
	softofu/utofu/poll.c \
	softofu/utofu/queries.c \
	softofu/utofu/transfer.c \
	softofu/utofu/vcqs.c
libtofucom_la_LIBADD = libsoftofugrid.la libsoftofunet.la -lpthread
libtofucom_la_LDFLAGS = -version-info 1:0:0 -no-undefined -Wl,-Bsymbolic -export-symbols-regex '^(utofu|softofu)_'

# A vendor's library in the same process has functions of the same names; -Bsymbolic above keeps
# calls inside these two libraries.

# What a recorded run would have taken on the machine.
bin_PROGRAMS += softofu-replay
softofu_replay_SOURCES = softofu/replay/published.c softofu/replay/replay.c softofu/replay/replay.h softofu/replay/replay_net.c softofu/replay/replay_options.c softofu/replay/tnis.c softofu/nic/ids.c softofu/nic/packets_plan.c
dist_man1_MANS += docs/man/softofu-replay.1
softofu_replay_CFLAGS = $(AM_CFLAGS)
softofu_replay_LDADD = libsoftofugrid.la libsoftofunet.la -lpthread

libjtofu_la_SOURCES = softofu/jtofu/jobs.c softofu/jtofu/jobs.h softofu/jtofu/jtofu_paths.c softofu/jtofu/jtofu_places.c
libjtofu_la_LIBADD = libsoftofugrid.la -lpthread
libjtofu_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,-Bsymbolic -export-symbols-regex '^jtofu_'

include softofu/fjmpi/local.mk

# For programs in this tree that use it.
SOFTOFU_CPPFLAGS = -I$(top_srcdir)/softofu/include $(AM_CPPFLAGS)
SOFTOFU_LIBS = libtofucom.la libjtofu.la

# make softofu: what is installed, without the rest of the tree.
softofu: $(SOFTOFU_LIBS) $(FJMPI_LIBS) softofu-replay$(EXEEXT)

softofuinclude_HEADERS = \
	softofu/include/jtofu.h \
	softofu/include/pmix_fjext.h \
	softofu/include/softofu-a64.h \
	softofu/include/softofu.h \
	softofu/include/utofu.h

pkgconfig_DATA += softofu/softofu.pc
softofu/softofu.pc: softofu/softofu.pc.in

# For pkg-config, which prefers it: programs that are built with this tree before it is installed.
noinst_DATA += softofu/softofu-uninstalled.pc
CLEANFILES += softofu/softofu-uninstalled.pc
softofu/softofu-uninstalled.pc: softofu/softofu.pc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(FILL) $(top_srcdir)/softofu/softofu.pc.in $(FILL_VALUES) | \
		sed -e 's|^libdir=.*|libdir=$(abs_top_builddir)/.libs|' -e 's|^includedir=.*|includedir=$(abs_top_srcdir)/softofu/include|' \
			-e 's|^mpiincludedir=.*|mpiincludedir=$(abs_top_srcdir)/softofu/fjmpi|' >$@.tmp && mv $@.tmp $@

dist_man7_MANS += docs/man/softofu.7

# The names some programs link: jTofu is in libtofutop on the machine.
SOFTOFU_LINKS = libtofucom:libutofu libjtofu:libtofutop
install-softofu-links:
	for end in .so .a; do $(LINKS) make "$(DESTDIR)$(softofuexeclibdir)" '' $$end $(SOFTOFU_LINKS) || exit 1; done

uninstall-softofu-links:
	for end in .so .a; do $(LINKS) remove "$(DESTDIR)$(softofuexeclibdir)" '' $$end $(SOFTOFU_LINKS) || exit 1; done

INSTALL_EXEC_HOOKS += install-softofu-links
UNINSTALL_HOOKS += uninstall-softofu-links

else

softofu check-softofu:
	@echo '$@: this build is without software Tofu; configure it without --disable-softofu' >&2; false

endif

.PHONY: softofu install-softofu-links uninstall-softofu-links

EXTRA_DIST += \
	docs/decisions/softofu.md \
	docs/protocols/softofu-link.md \
	docs/tofu.md \
	softofu/README.md \
	softofu/alone.sh \
	softofu/softofu.pc.in

include softofu/tests/local.mk
