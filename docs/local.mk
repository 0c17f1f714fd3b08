# SPDX-License-Identifier: BSD-3-Clause
# Manual pages. The table of settings in oshmem(7) is made from the same rows as the library's.

dist_man1_MANS += docs/man/oshcc.1 docs/man/oshinfo.1
nodist_man7_MANS = docs/man/oshmem.7
dist_man7_MANS += docs/man/shmem_check.7
CLEANFILES += docs/man/oshmem.7
EXTRA_DIST += docs/man/oshmem.7.in docs/man/settings-table.sh

docs/man/oshmem.7: docs/man/oshmem.7.in docs/man/settings-table.sh rte/settings.def tools/fill.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) docs/man && \
		CPP='$(CPP)' $(SHELL) $(top_srcdir)/docs/man/settings-table.sh $(top_srcdir)/rte/settings.def >$@.table && \
		$(FILL) $(top_srcdir)/docs/man/oshmem.7.in libdir='$(libdir)' includedir='$(includedir)' \
			aclocaldir='$(aclocaldir)' | \
			sed -e '/^@SETTINGS@$$/{r $@.table' -e 'd' -e '}' >$@.tmp && \
		rm -f $@.table && mv $@.tmp $@

INSTALL_DATA_HOOKS += install-man-links install-docs
UNINSTALL_HOOKS += uninstall-man-links uninstall-docs

OVERVIEW_LINKS = oshmem:openshmem oshmem:shmem oshmem:torushmem

install-man-links:
	$(LINKS) make "$(DESTDIR)$(man1dir)" '$(transform)' .1 $(TOOL_LINKS)
	$(LINKS) make "$(DESTDIR)$(man7dir)" '$(transform)' .7 $(OVERVIEW_LINKS)

uninstall-man-links:
	$(LINKS) remove "$(DESTDIR)$(man1dir)" '$(transform)' .1 $(TOOL_LINKS)
	$(LINKS) remove "$(DESTDIR)$(man7dir)" '$(transform)' .7 $(OVERVIEW_LINKS)

# Pages for readers, of the whole tree: whatever part of it lists a page for
# make dist has it installed.
INSTALL_DOCS = $(SHELL) $(top_srcdir)/tools/install-docs.sh
EXTRA_DIST += tools/install-docs.sh

install-docs:
	$(INSTALL_DOCS) install "$(top_srcdir)" "$(DESTDIR)$(docdir)" $(EXTRA_DIST)

uninstall-docs:
	$(INSTALL_DOCS) uninstall "$(top_srcdir)" "$(DESTDIR)$(docdir)" $(EXTRA_DIST)

.PHONY: install-man-links uninstall-man-links install-docs uninstall-docs

# shmem.hpp is no routine, and has a page of its own.
dist_man3_MANS = docs/man/shmem.hpp.3

# Manual pages of the routines: one for each text or page of docs/man/man3, and for every other
# routine one that refers to it.
man3_texts = \
	docs/man/man3/shmemg.3 \
	docs/man/man3/shmemx_alltoallv.3 \
	docs/man/man3/shmemx_atomic.3 \
	docs/man/man3/shmemx_broadcast_nb.3 \
	docs/man/man3/shmemx_error.3 \
	docs/man/man3/shmemx_exchange.3 \
	docs/man/man3/shmemx_gather.3 \
	docs/man/man3/shmemx_grid.3 \
	docs/man/man3/shmemx_heap.3 \
	docs/man/man3/shmemx_init_attr.3 \
	docs/man/man3/shmemx_inline.3 \
	docs/man/man3/shmemx_plan.3 \
	docs/man/man3/shmemx_rdma.3 \
	docs/man/man3/shmemx_reduce.3 \
	docs/man/man3/shmemx_reduce_scatter.3 \
	docs/man/man3/shmemx_stats.3 \
	docs/man/man3/shmemx_wait_until_within.3 \
	docs/man/man3/shmemx_team_of_pes.3 \
	docs/man/man3/shmemx_wtime.3 \
	docs/man/man3/shmem_alltoall.txt \
	docs/man/man3/shmem_atomic_fetch.txt \
	docs/man/man3/shmem_barrier_all.txt \
	docs/man/man3/shmem_broadcast.txt \
	docs/man/man3/shmem_broadcast32.txt \
	docs/man/man3/shmem_collect.txt \
	docs/man/man3/shmem_ctx_create.txt \
	docs/man/man3/shmem_ctx_session_start.txt \
	docs/man/man3/shmem_fadd.txt \
	docs/man/man3/shmem_get.txt \
	docs/man/man3/shmem_global_exit.txt \
	docs/man/man3/shmem_info_get_version.txt \
	docs/man/man3/shmem_init.txt \
	docs/man/man3/shmem_init_thread.txt \
	docs/man/man3/shmem_long_sum_to_all.txt \
	docs/man/man3/shmem_malloc.txt \
	docs/man/man3/shmem_my_pe.txt \
	docs/man/man3/shmem_pcontrol.txt \
	docs/man/man3/shmem_ptr.txt \
	docs/man/man3/shmem_put.txt \
	docs/man/man3/shmem_put_signal.txt \
	docs/man/man3/shmem_quiet.txt \
	docs/man/man3/shmem_set_lock.txt \
	docs/man/man3/shmem_signal_fetch.txt \
	docs/man/man3/shmem_sum_inscan.txt \
	docs/man/man3/shmem_sum_reduce.txt \
	docs/man/man3/shmem_team_my_pe.txt \
	docs/man/man3/shmem_team_split_strided.txt \
	docs/man/man3/shmem_test.txt \
	docs/man/man3/shmem_udcflush.txt \
	docs/man/man3/shmem_wait_until.txt
noinst_DATA += docs/man/man3.stamp
EXTRA_DIST += docs/protocols/cables.md docs/protocols/deadlock.md docs/protocols/greeting.md docs/protocols/rendezvous.md docs/protocols/messages.md docs/protocols/neighbours.md docs/protocols/node.md docs/protocols/order/contact.md docs/protocols/order/events.md docs/protocols/order/flags.md docs/protocols/order/lists.md docs/protocols/order/locks.md docs/protocols/order/node.md docs/protocols/order/slots.md docs/protocols/order/softofu.md docs/protocols/order/wakeups.md docs/protocols/orders.md docs/protocols/ring-schedule.md docs/protocols/trees.md docs/simulations.md docs/torus-collectives.md docs/conformance.md docs/man/make-man3.sh docs/man/man3.awk docs/man/extension.awk docs/man/wrap.awk $(man3_texts) docs/protocols/plans.md
CLEANFILES += docs/man/man3.stamp docs/man/fortran.synopsis

docs/man/man3.stamp: docs/man/make-man3.sh docs/man/man3.awk docs/man/extension.awk docs/man/wrap.awk $(man3_texts) tests/conformance/openshmem-1.6.tsv tests/conformance/additions.tsv include/shmem.h include/shmemx_typed.h $(fortran_sources)
	$(AM_V_GEN)rm -rf docs/man/man3-pages && $(MKDIR_P) docs/man && \
		$(MAKE_FORTRAN) synopsis "$(VERSION)" >docs/man/fortran.synopsis && \
		AWK='$(AWK)' $(SHELL) $(top_srcdir)/docs/man/make-man3.sh $(top_srcdir)/tests/conformance \
			$(top_srcdir)/docs/man/man3 include/shmem.h docs/man/fortran.synopsis docs/man/man3-pages && touch $@

INSTALL_DATA_HOOKS += install-man3-pages
UNINSTALL_HOOKS += uninstall-man3-pages

# automake would rename the pages by $(transform), but not the names in the links.
install-man3-pages: docs/man/man3.stamp
	$(MKDIR_P) "$(DESTDIR)$(man3dir)" && \
		$(SHELL) $(top_srcdir)/tools/install-pages.sh install docs/man/man3-pages "$(DESTDIR)$(man3dir)" '$(transform)' $(INSTALL_DATA)

uninstall-man3-pages: docs/man/man3.stamp
	$(SHELL) $(top_srcdir)/tools/install-pages.sh uninstall docs/man/man3-pages "$(DESTDIR)$(man3dir)" '$(transform)'

clean-local: clean-headers clean-guide clean-verify
	rm -rf docs/man/man3-pages

# docs/conformance.md, in the source tree, after tests have changed.
conformance-page:
	CC='$(CC)' $(SHELL) $(top_srcdir)/tests/conformance/make-page >$(top_srcdir)/docs/conformance.md.new && \
		mv $(top_srcdir)/docs/conformance.md.new $(top_srcdir)/docs/conformance.md

.PHONY: clean-headers install-man3-pages uninstall-man3-pages conformance-page

# The pages about the source, but for those of protocols.
EXTRA_DIST += docs/glossary.md docs/tour.md docs/decisions/README.md docs/decisions/accept-filter.md docs/decisions/cables.md \
	docs/decisions/blocks.md docs/decisions/collectives.md docs/decisions/errors.md docs/decisions/gpu.md docs/decisions/launcher.md docs/decisions/libfabric.md docs/decisions/memory.md \
	docs/decisions/observing.md docs/decisions/paths.md docs/decisions/plans.md docs/decisions/python.md \
	docs/decisions/testing.md docs/decisions/tofu.md docs/decisions/torus.md docs/decisions/ucx.md docs/decisions/versions.md docs/decisions/waiting.md docs/packages.md

# The guide. make guide: as pages with a search, in the folder guide.
EXTRA_DIST += docs/guide/index.md docs/guide/01-one-sided.md docs/guide/02-first-job.md docs/guide/03-symmetric-memory.md \
	docs/guide/04-puts-and-signals.md docs/guide/05-collectives.md docs/guide/06-threads.md docs/guide/07-stencils.md \
	docs/guide/08-torus.md docs/guide/09-plans.md docs/guide/10-tofu.md docs/guide/11-what-is-slow.md docs/guide/12-what-is-wrong.md \
	docs/guide/13-porting.md docs/guide/14-mpi-openmp.md docs/guide/15-administrators.md docs/guide/16-fortran.md docs/guide/17-cpp.md docs/guide/18-without-a-switch.md docs/guide/19-gpus.md docs/guide/20-in-your-own-process.md docs/guide/21-python.md docs/guide/22-training.md docs/guide/examples.md docs/guide/conf.py docs/guide/draw.py \
	docs/guide/style/guide.css docs/guide/barrier.svg docs/guide/credits.svg docs/guide/fence.svg docs/guide/signal.svg \
	docs/guide/ticket.svg docs/guide/torus.svg docs/measuring.md docs/rdma.md docs/security.md \
	docs/memory-model.md docs/promises.md docs/testing.md

guide:
	@command -v sphinx-build >/dev/null || \
		{ echo 'make guide: Sphinx is missing; on Debian: apt-get install python3-sphinx python3-myst-parser'; exit 1; }
	$(AM_V_GEN)sphinx-build -q -W --keep-going -b html -c $(srcdir)/docs/guide $(srcdir) guide
	@echo '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=docs/guide/index.html">' >guide/index.html
	@echo 'the guide is guide/index.html'

# The drawings with a time axis, in the source tree.
guide-drawings:
	python3 $(srcdir)/docs/guide/draw.py $(srcdir)/docs/guide

clean-guide:
	rm -rf guide

.PHONY: guide guide-drawings clean-guide
