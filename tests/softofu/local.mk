# SPDX-License-Identifier: BSD-3-Clause
# Programs of uTofu alone; tests/tools/softofu.bats starts them. speed is no test: oshrun -n 2 tests/softofu/speed

SOFTOFU_TESTS = \
	tests/softofu/errors \
	tests/softofu/gates \
	tests/softofu/notices \
	tests/softofu/order \
	tests/softofu/places \
	tests/softofu/pmix_map \
	tests/softofu/session \
	tests/softofu/speed \
	tests/softofu/threads
check_PROGRAMS += $(SOFTOFU_TESTS)

tests_softofu_errors_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_errors_LDADD = $(SOFTOFU_LIBS)
tests_softofu_gates_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_gates_LDADD = $(SOFTOFU_LIBS) -lm
tests_softofu_notices_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_notices_LDADD = $(SOFTOFU_LIBS)
tests_softofu_order_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_order_LDADD = $(SOFTOFU_LIBS)
tests_softofu_places_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_places_LDADD = $(SOFTOFU_LIBS)
tests_softofu_pmix_map_CPPFLAGS = $(SOFTOFU_CPPFLAGS) $(PMIX_CFLAGS)
tests_softofu_pmix_map_LDADD = $(SOFTOFU_LIBS) $(PMIX_LIBS)
tests_softofu_session_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_session_LDADD = $(SOFTOFU_LIBS)
tests_softofu_speed_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_speed_LDADD = $(SOFTOFU_LIBS)
tests_softofu_threads_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
tests_softofu_threads_LDADD = $(SOFTOFU_LIBS) -lpthread

EXTRA_DIST += \
	tests/conformance/check-tofu.awk \
	tests/conformance/tofu.tsv \
	tests/softofu/mpi/chain.cc \
	tests/softofu/mpi/check.h \
	tests/softofu/mpi/messages.c \
	tests/softofu/mpi/neighbours.cc \
	tests/softofu/mpi/pingpong.c \
	tests/softofu/mpi/topology.c \
	tests/softofu/together.h \
	tests/tools/softofu.bats
