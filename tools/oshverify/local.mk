# SPDX-License-Identifier: BSD-3-Clause
# oshverify: the API tests, a stress part and benchmarks without the source tree. In the build tree
# it runs the programs there; make install-tests installs it with programs of its own, and after
# configure --enable-installed-tests make install does so, too.

verify_scripts = \
	tests/lib/plan.sh \
	tools/oshverify/figures.sh \
	tools/oshverify/hosts.sh \
	tools/oshverify/jobs.sh \
	tools/oshverify/paths.sh \
	tools/oshverify/perftest-pair \
	tools/oshverify/report.css \
	tools/oshverify/report.py \
	tools/oshverify/report.sh \
	tools/oshverify/suite.sh
EXTRA_DIST += $(verify_scripts) tools/oshverify/oshverify.in docs/man/oshverify.1 docs/verify.md tests/tools/verify.bats tests/cluster/verify.bats
noinst_SCRIPTS += oshverify
noinst_DATA += oshverify-data/stamp
CLEANFILES += oshverify
testsdir = $(pkglibexecdir)/tests

oshverify: tools/oshverify/oshverify.in tools/fill.sh Makefile
	$(AM_V_GEN)rm -f $@ && $(FILL) $(top_srcdir)/tools/oshverify/oshverify.in $(FILL_VALUES) testsdir='$(testsdir)' \
		OSHINFO="`echo oshinfo | sed '$(transform)'`" >$@.tmp && chmod 755 $@.tmp && mv $@.tmp $@

# The scripts in one folder, as they are installed, and what the tests say in
# their comments "run: ...".
oshverify-data/stamp: $(verify_scripts) $(API_TESTS:=.c)
	$(AM_V_GEN)rm -rf oshverify-data && $(MKDIR_P) oshverify-data && \
		for file in $(verify_scripts); do cp $(top_srcdir)/$$file oshverify-data || exit; done && \
		. oshverify-data/plan.sh && \
		for test in $(API_TESTS); do echo "$${test##*/} `run_tags $(top_srcdir)/$$test.c`"; done | sort >oshverify-data/runs && \
		touch $@

# --- The programs as they are installed: of the same objects, and with the library's
# folder as their run path ---

LINK_TEST = $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=link $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS)
installed_programs = $(API_TESTS) bench/bench bench/hello tests/lib/ucx_protocols

tests/installed/stamp: $(installed_programs) libtorushmem.la
	$(AM_V_CCLD)rm -rf tests/installed && $(MKDIR_P) tests/installed && \
		for test in $(API_TESTS); do \
			$(LINK_TEST) -o tests/installed/$${test##*/} $$test.$(OBJEXT) libtorushmem.la -ldl -lm $(LIBS) || exit; \
		done && \
		$(LINK_TEST) -o tests/installed/bench $(bench_bench_OBJECTS) $(bench_bench_LDADD) $(LIBS) && \
		$(LINK_TEST) -o tests/installed/hello $(bench_hello_OBJECTS) libtorushmem.la $(LIBS) && \
		$(LINK_TEST) -o tests/installed/ucx_protocols $(tests_lib_ucx_protocols_OBJECTS) $(UCX_LIBS) $(LIBS) && \
		touch $@

install-tests: oshverify oshverify-data/stamp tests/installed/stamp
	$(MKDIR_P) "$(DESTDIR)$(bindir)" "$(DESTDIR)$(man1dir)" "$(DESTDIR)$(testsdir)"
	$(INSTALL_SCRIPT) oshverify "$(DESTDIR)$(bindir)/`echo oshverify | sed '$(transform)'`"
	$(INSTALL_DATA) $(top_srcdir)/docs/man/oshverify.1 "$(DESTDIR)$(man1dir)/`echo oshverify | sed '$(transform)'`.1"
	for file in oshverify-data/*; do \
		test $$file = oshverify-data/stamp || $(INSTALL_DATA) $$file "$(DESTDIR)$(testsdir)" || exit; \
	done
	for program in $(installed_programs); do \
		$(LIBTOOL) --mode=install $(INSTALL_PROGRAM) tests/installed/$${program##*/} "$(DESTDIR)$(testsdir)" || exit; \
	done

uninstall-tests:
	rm -rf "$(DESTDIR)$(testsdir)"
	rm -f "$(DESTDIR)$(bindir)/`echo oshverify | sed '$(transform)'`" "$(DESTDIR)$(man1dir)/`echo oshverify | sed '$(transform)'`.1"
	rmdir "$(DESTDIR)$(pkglibexecdir)" 2>/dev/null || :

if INSTALLED_TESTS
noinst_DATA += tests/installed/stamp
INSTALL_EXEC_HOOKS += install-tests
endif
UNINSTALL_HOOKS += uninstall-tests

clean-verify:
	rm -rf oshverify-data tests/installed

.PHONY: clean-verify install-tests uninstall-tests
