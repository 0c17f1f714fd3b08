# SPDX-License-Identifier: BSD-3-Clause
# Manual pages. The table of settings in oshmem(7) is made from the same rows as the library's.

dist_man1_MANS += docs/man/oshcc.1 docs/man/oshinfo.1
nodist_man7_MANS = docs/man/oshmem.7
CLEANFILES += docs/man/oshmem.7
EXTRA_DIST += docs/man/oshmem.7.in docs/man/settings-table.sh

docs/man/oshmem.7: docs/man/oshmem.7.in docs/man/settings-table.sh rte/settings.def tools/fill.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) docs/man && \
		CPP='$(CPP)' $(SHELL) $(top_srcdir)/docs/man/settings-table.sh $(top_srcdir)/rte/settings.def >$@.table && \
		$(FILL) $(top_srcdir)/docs/man/oshmem.7.in libdir='$(libdir)' includedir='$(includedir)' \
			aclocaldir='$(aclocaldir)' | \
			sed -e '/^@SETTINGS@$$/{r $@.table' -e 'd' -e '}' >$@.tmp && \
		rm -f $@.table && mv $@.tmp $@

INSTALL_DATA_HOOKS += install-man-links
UNINSTALL_HOOKS += uninstall-man-links

install-man-links:
	cd "$(DESTDIR)$(man1dir)" && rm -f oshcxx.1 oshc++.1 oshmem_info.1 osh_info.1 && \
		$(LN_S) oshcc.1 oshcxx.1 && $(LN_S) oshcc.1 oshc++.1 && \
		$(LN_S) oshinfo.1 oshmem_info.1 && $(LN_S) oshinfo.1 osh_info.1

uninstall-man-links:
	cd "$(DESTDIR)$(man1dir)" 2>/dev/null && rm -f oshcxx.1 oshc++.1 oshmem_info.1 osh_info.1 || :

.PHONY: install-man-links uninstall-man-links
