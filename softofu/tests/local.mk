# SPDX-License-Identifier: BSD-3-Clause
# Tests of software Tofu: programs of uTofu alone, which softofu.bats and softofu_net.bats start,
# and unit tests of the network.

if WITH_SOFTOFU

# speed is no test: oshrun -n 2 softofu/tests/speed
SOFTOFU_TESTS = \
	softofu/tests/damaged_records \
	softofu/tests/errors \
	softofu/tests/gate_reductions \
	softofu/tests/lattice_exchange \
	softofu/tests/many_ranks \
	softofu/tests/mrq_depth \
	softofu/tests/utofu_notices \
	softofu/tests/strong_order \
	softofu/tests/place_queries \
	softofu/tests/pmix_map \
	softofu/tests/session_chain \
	softofu/tests/speed \
	softofu/tests/two_senders \
	softofu/tests/vcq_threads \
	softofu/tests/whole_lines
check_PROGRAMS += $(SOFTOFU_TESTS)

softofu_tests_damaged_records_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_errors_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_errors_LDADD = $(SOFTOFU_LIBS)
softofu_tests_gate_reductions_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_gate_reductions_LDADD = $(SOFTOFU_LIBS) -lm
softofu_tests_lattice_exchange_CPPFLAGS = $(SOFTOFU_CPPFLAGS) $(PMIX_CFLAGS)
softofu_tests_lattice_exchange_LDADD = $(SOFTOFU_LIBS) $(PMIX_LIBS)
softofu_tests_many_ranks_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_many_ranks_LDADD = $(SOFTOFU_LIBS)
softofu_tests_mrq_depth_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_mrq_depth_LDADD = $(SOFTOFU_LIBS)
softofu_tests_utofu_notices_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_utofu_notices_LDADD = $(SOFTOFU_LIBS)
softofu_tests_strong_order_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_strong_order_LDADD = $(SOFTOFU_LIBS)
softofu_tests_place_queries_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_place_queries_LDADD = $(SOFTOFU_LIBS)
softofu_tests_pmix_map_CPPFLAGS = $(SOFTOFU_CPPFLAGS) $(PMIX_CFLAGS)
softofu_tests_pmix_map_LDADD = $(SOFTOFU_LIBS) $(PMIX_LIBS)
softofu_tests_session_chain_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_session_chain_LDADD = $(SOFTOFU_LIBS)
softofu_tests_speed_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_speed_LDADD = $(SOFTOFU_LIBS)
softofu_tests_two_senders_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_two_senders_LDADD = $(SOFTOFU_LIBS)
softofu_tests_vcq_threads_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_vcq_threads_LDADD = $(SOFTOFU_LIBS) -lpthread
softofu_tests_whole_lines_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
softofu_tests_whole_lines_LDADD = $(SOFTOFU_LIBS)

# Random packets over a network, as a program: for the soak below, and to search for deadlocks.
# And what a network costs.
check_PROGRAMS += softofu-nettest softofu-netspeed
softofu_netspeed_SOURCES = softofu/tests/netspeed.c softofu/tests/traffic.c softofu/tests/traffic.h
softofu_netspeed_LDADD = libsoftofunet.la
softofu_nettest_SOURCES = softofu/tests/nettest.c softofu/tests/traffic.c softofu/tests/traffic.h
softofu_nettest_LDADD = libsoftofunet.la

SOFTOFU_UNIT_TESTS = \
	softofu/tests/unit/softofu_net_model \
	softofu/tests/unit/softofu_net_parts \
	softofu/tests/unit/softofu_net_random \
	softofu/tests/unit/softofu_net_shared \
	softofu/tests/unit/softofu_net_wires
check_PROGRAMS += $(SOFTOFU_UNIT_TESTS)
softofu_tests_unit_softofu_net_model_SOURCES = softofu/tests/unit/softofu_net_model.c \
	softofu/tests/flows.c softofu/tests/flows.h softofu/tests/traffic.c
softofu_tests_unit_softofu_net_model_LDADD = libsoftofunet.la
softofu_tests_unit_softofu_net_parts_SOURCES = softofu/tests/unit/softofu_net_parts.c softofu/tests/traffic.c
softofu_tests_unit_softofu_net_parts_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
softofu_tests_unit_softofu_net_parts_LDADD = libsoftofunet.la
softofu_tests_unit_softofu_net_random_SOURCES = softofu/tests/unit/softofu_net_random.c softofu/tests/traffic.c
softofu_tests_unit_softofu_net_random_LDADD = libsoftofunet.la
softofu_tests_unit_softofu_net_shared_SOURCES = softofu/tests/unit/softofu_net_shared.c softofu/tests/worker.c softofu/tests/worker.h
softofu_tests_unit_softofu_net_shared_LDADD = libsoftofunet.la
softofu_tests_unit_softofu_net_wires_SOURCES = softofu/tests/unit/softofu_net_wires.c softofu/tests/worker.c softofu/tests/traffic.c
softofu_tests_unit_softofu_net_wires_LDADD = libsoftofunet.la

# Ten million packets with the smallest buffers, and once the network that must stand still: make
# soak-net SOAK_PACKETS=1000000
SOAK_PACKETS = 10000000
SOAK_TINY = buffers=1,queue=1,window=1,receive-queue=1,errors=1e-4
soak-net: softofu-nettest
	./softofu-nettest 4x4x4 $(SOAK_PACKETS) $(SOAK_TINY)
	./softofu-nettest 3x5x7 $(SOAK_PACKETS) $(SOAK_TINY)
	./softofu-nettest 5x9 $(SOAK_PACKETS) $(SOAK_TINY)
	./softofu-nettest 4x4x4 $(SOAK_PACKETS) $(SOAK_TINY),lanes=1; test $$? = 3

# Replays ten thousand damaged recordings of two programs with the address sanitizer.
EXTRA_PROGRAMS += softofu/tests/replay_checked
softofu_tests_replay_checked_SOURCES = $(softofu_replay_SOURCES) $(libsoftofugrid_la_SOURCES) $(libsoftofunet_la_SOURCES)
softofu_tests_replay_checked_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) -g -fsanitize=address,undefined -fno-sanitize-recover=all
softofu_tests_replay_checked_LDADD = $(ZLIB_LIBS) -lm -lpthread
CLEANFILES += softofu/tests/replay_checked$(EXEEXT)
DAMAGES = 10000
check-damaged: oshrun$(EXEEXT) softofu/tests/session_chain$(EXEEXT) softofu/tests/lattice_exchange$(EXEEXT) \
		softofu/tests/damaged_records$(EXEEXT) softofu/tests/replay_checked$(EXEEXT)
	for run in session_chain 'lattice_exchange 4 2304'; do \
		rm -rf damaged.records && mkdir damaged.records && \
		SOFTOFU_SHAPE=1x1x1x2 SOFTOFU_RANKS_PER_NODE=4 SOFTOFU_RECORD=damaged.records \
			./oshrun -q -n 8 softofu/tests/$$run >/dev/null && \
		ASAN_OPTIONS=detect_leaks=0:exitcode=99:allocator_may_return_null=1 softofu/tests/damaged_records \
			softofu/tests/replay_checked damaged.records $$(($(DAMAGES) / 2)) || exit 1; \
	done; rm -rf damaged.records

# A million lines for each size, receiver, marker, order and load, which no put may tear: of each
# marker, order and load 35 million. It takes half an hour.
LINES = 1000000
check-lines: oshrun$(EXEEXT) softofu/tests/whole_lines$(EXEEXT)
	for load in 0 8; do for ranks in 2 4 8; do for order in adversarial posted; do \
		echo "$$ranks ranks, SOFTOFU_ORDER=$$order, $$load processes beside them"; \
		for marker in last first; do \
			SOFTOFU_ORDER=$$order SOFTOFU_MARKER=$$marker ./oshrun -q -n $$ranks \
				softofu/tests/whole_lines $$marker $(LINES) $$load || exit 1; \
		done; \
		echo 'the same with SOFTOFU_TEAR=yes, which tears lines'; \
		SOFTOFU_ORDER=$$order SOFTOFU_TEAR=yes ./oshrun -q -n $$ranks softofu/tests/whole_lines torn 10000 $$load || exit 1; \
	done; done; done

# Builds and tests software Tofu and what it needs: the launcher, and the examples.
check-softofu: softofu oshrun$(EXEEXT) $(SOFTOFU_TESTS) $(SOFTOFU_UNIT_TESTS) $(UTOFU_EXAMPLES)
	@$(RUN_TESTS) --kinds unit,tools --only softofu $(CHECK_FLAGS)

# Builds and installs software Tofu in a tree without the rest, and runs two unit tests and an
# example there.
check-softofu-alone:
	rm -rf softofu.alone && $(SHELL) $(top_srcdir)/softofu/alone.sh $(top_srcdir) softofu.alone && \
		cd softofu.alone && ./configure -q CC='$(CC)' --prefix="$$PWD/installed" && \
		$(MAKE) && $(MAKE) install && $(MAKE) $(SOFTOFU_UNIT_TESTS) && \
		softofu/tests/unit/softofu_net_parts && softofu/tests/unit/softofu_net_model && \
		export PKG_CONFIG_PATH="$$PWD/installed/lib/pkgconfig" SOFTOFU_RUN_DIRECTORY="$$PWD" SOFTOFU_RANKS=2 && \
		$(CC) examples/utofu/put.c -o put `pkg-config --cflags --libs softofu` && \
		{ PMIX_RANK=1 SOFTOFU_RANK=1 timeout 60 ./put & PMIX_RANK=0 SOFTOFU_RANK=0 timeout 60 ./put && wait $$!; } && \
		cd .. && rm -rf softofu.alone

endif

.PHONY: check-damaged check-lines check-softofu check-softofu-alone soak-net

EXTRA_DIST += \
	softofu/tests/api.awk \
	softofu/tests/api.tsv \
	softofu/tests/mpi/chain.cc \
	softofu/tests/mpi/check.h \
	softofu/tests/mpi/fjmpi_rdma.c \
	softofu/tests/mpi/fortran_included.f \
	softofu/tests/mpi/fortran_persistent.f90 \
	softofu/tests/mpi/fortran_places.f90 \
	softofu/tests/mpi/fortran_places_f08.f90 \
	softofu/tests/mpi/fortran_plans.f90 \
	softofu/tests/mpi/fortran_plans_f08.f90 \
	softofu/tests/mpi/fortran_rdma.f90 \
	softofu/tests/mpi/launched_job.c \
	softofu/tests/mpi/messages.c \
	softofu/tests/mpi/neighbours.cc \
	softofu/tests/mpi/persistent.cc \
	softofu/tests/mpi/pingpong.c \
	softofu/tests/mpi/plans.c \
	softofu/tests/mpi/plans_requests.c \
	softofu/tests/mpi/prequests.c \
	softofu/tests/mpi/topology.c \
	softofu/tests/softofu.bats \
	softofu/tests/softofu_net.bats \
	softofu/tests/together.h
