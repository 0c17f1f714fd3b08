# SPDX-License-Identifier: BSD-3-Clause
# Programs whose every load and store is explored: the library once more, with the compiler's calls
# for -fsanitize=thread, and what takes those calls in place of the sanitizer.

EXPLORED = -Dsyscall=explore_syscall -Dsched_yield=explore_yield -Dsched_getcpu=explore_getcpu \
	-Dnanosleep=explore_nanosleep \
	-Dmemcpy=explore_memcpy -Dmemmove=explore_memmove -Dmemset=explore_memset -Dmemcmp=explore_memcmp \
	-Dpthread_mutex_lock=explore_mutex_lock -Dpthread_mutex_trylock=explore_mutex_trylock \
	-Dpthread_mutex_unlock=explore_mutex_unlock -Dpthread_create=explore_thread_create -Dpthread_join=explore_thread_join \
	-Dclock_gettime=explore_clock_gettime -Dprocess_vm_writev=explore_vm_writev -Dprocess_vm_readv=explore_vm_readv

# Not among what the other tests need: flags of another sanitizer do not go with these.
EXTRA_LIBRARIES += tests/order/libexplore.a
tests_order_libexplore_a_SOURCES = tests/order/explore.h tests/order/inside.h tests/order/hooks.c tests/order/memory.c tests/order/races.c \
	tests/order/sites.c tests/order/threads.c

tests_order_libexplore_a_CFLAGS = $(AM_CFLAGS) -Wno-missing-prototypes

EXTRA_PROGRAMS += tests/order/scenarios
tests_order_scenarios_SOURCES = tests/order/scenarios.c tests/order/scenarios.h tests/order/parts.c \
	$(libtorushmem_la_SOURCES)
tests_order_scenarios_CPPFLAGS = $(libtorushmem_la_CPPFLAGS) $(EXPLORED) -DTIMED_WAITS=1 -DSTEPS_OF_A_CALL=1
# Without -O2 more accesses keep a line of their own; fences are not for the
# sanitizer, but they are for us.
tests_order_scenarios_CFLAGS = $(AM_CFLAGS) -fwrapv -g -O1 -U_FORTIFY_SOURCE -Wno-tsan -fsanitize=thread
tests_order_scenarios_LDFLAGS = $(AM_LDFLAGS)
tests_order_scenarios_LDADD = tests/order/libexplore.a libtorusthink.la librtebase.la
if WITH_SOFTOFU
tests_order_scenarios_SOURCES += tests/order/tofu.c $(libtofucom_la_SOURCES) $(SOFTOFU_NET_SOURCES)
tests_order_scenarios_LDADD += libsoftofugrid.la $(ZLIB_LIBS)
endif
tests_order_scenarios_LDADD += $(PMIX_LIBS) -lm
# The link without -fsanitize=thread, which would bring the sanitizer's own library.
tests_order_scenarios_LINK = $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=link $(CCLD) $(AM_CFLAGS) -g \
	$(tests_order_scenarios_LDFLAGS) $(LDFLAGS) -o $@

check-order: tests/order/scenarios$(EXEEXT)
	@$(SHELL) $(srcdir)/tests/order/run --build .

CLEANFILES += tests/order/scenarios$(EXEEXT) tests/order/libexplore.a
.PHONY: check-order
EXTRA_DIST += tests/order/run tests/order/weakenings.tsv
