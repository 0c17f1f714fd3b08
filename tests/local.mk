# SPDX-License-Identifier: BSD-3-Clause
# The tests: programs that use the API, tests of single functions, tests of the
# tools; tests/run runs them.

# What a program without a line of its own is linked with (tests of the API, examples).
LDADD = libtorushmem.la

# Programs that are never installed need no script of libtool's in front of them, which would cost
# each PE a shell. It makes no difference to those that are: they do not link the shared library.
AM_LDFLAGS = -no-install

API_TESTS = \
	tests/api/active_sets \
	tests/api/alltoall \
	tests/api/amo \
	tests/api/amo_contention \
	tests/api/amo_domains \
	tests/api/amo_numbers \
	tests/api/barrier \
	tests/api/big \
	tests/api/broadcast \
	tests/api/environment \
	tests/api/nic \
	tests/api/nonblocking \
	tests/api/channels \
	tests/api/collect \
	tests/api/collective_large \
	tests/api/collective_sizes \
	tests/api/collective_storm \
	tests/api/concurrent \
	tests/api/contact \
	tests/api/contexts \
	tests/api/detours \
	tests/api/bounded_waits \
	tests/api/exchange \
	tests/api/faces \
	tests/api/fence_lengths \
	tests/api/fork \
	tests/api/generics \
	tests/api/global_exit \
	tests/api/globals \
	tests/api/grid \
	tests/api/heap \
	tests/api/heaps \
	tests/api/huge_pages \
	tests/api/inline \
	tests/api/inline_amo \
	tests/api/inline_contact \
	tests/api/inline_generics \
	tests/api/inline_order \
	tests/api/inline_ptr \
	tests/api/inline_rma \
	tests/api/inline_rma_sizes \
	tests/api/inline_sleeping \
	tests/api/inline_threads \
	tests/api/inline_wait \
	tests/api/large \
	tests/api/loading \
	tests/api/litmus \
	tests/api/locks \
	tests/api/many \
	tests/api/nbi \
	tests/api/neighbours_soak \
	tests/api/no_lock \
	tests/api/order \
	tests/api/plan_words \
	tests/api/plans \
	tests/api/rdma \
	tests/api/rdma_threads \
	tests/api/ptr \
	tests/api/numbers \
	tests/api/reduce \
	tests/api/reduce_bits \
	tests/api/reduce_scatter \
	tests/api/reinit \
	tests/api/remap \
	tests/api/removed \
	tests/api/rma \
	tests/api/rma_sizes \
	tests/api/scan \
	tests/api/sessions \
	tests/api/setup \
	tests/api/signals \
	tests/api/sleeping \
	tests/api/start_pes \
	tests/api/stats \
	tests/api/strided \
	tests/api/team_collectives \
	tests/api/teams \
	tests/api/threads \
	tests/api/torus_broadcast \
	tests/api/torus_plans \
	tests/api/torus_damaged \
	tests/api/torus_gather \
	tests/api/torus_teams \
	tests/api/torus_vectors \
	tests/api/vectors \
	tests/api/torus_reduce \
	tests/api/wait \
	tests/api/wait_sets
UNIT_TESTS = \
	tests/unit/block_table \
	tests/unit/blocks \
	tests/unit/categories \
	tests/unit/greeting \
	tests/unit/hooks \
	tests/unit/pages \
	tests/unit/processor \
	tests/unit/rdma_ports \
	tests/unit/server \
	tests/unit/settings \
	tests/unit/text \
	tests/unit/traces \
	tests/unit/torus_job \
	tests/unit/torus_barrier_rounds \
	tests/unit/torus_cables \
	tests/unit/torus_cabling \
	tests/unit/torus_records \
	tests/unit/torus_model \
	tests/unit/torus_disjoint_trees \
	tests/unit/torus_ring_schedule \
	tests/unit/torus_ring_allreduce \
	tests/unit/torus_detours \
	tests/unit/torus_exchange_schedule \
	tests/unit/words \
	tests/unit/torus_place \
	tests/unit/torus_routes \
	tests/unit/torus_shape \
	tests/unit/torus_slurm \
	tests/unit/torus_team_sites \
	tests/unit/torus_tni \
	tests/unit/torus_trees

# Not tests: what the time of a job on hosts is measured with.
ON_HOSTS = tests/cluster/bare_pmix tests/cluster/contexts tests/cluster/faces tests/cluster/faults tests/cluster/hops \
	tests/cluster/overlap tests/cluster/pair tests/cluster/phases tests/cluster/plain_sockets tests/cluster/survivor tests/cluster/teams tests/cluster/torus_times \
	tests/cluster/traffic

# Not a test: what tests/run asks about UCX.
ABOUT_UCX = tests/lib/ucx_protocols

# The tests of memory on GPUs: tests/gpu/run. The stand-in for CUDA's driver is for these alone.
GPU_TESTS = tests/gpu/amo tests/gpu/collectives tests/gpu/first tests/gpu/kernels tests/gpu/memory tests/gpu/rma \
	tests/gpu/signals tests/gpu/speed tests/gpu/stand_in tests/gpu/start tests/gpu/wait
check_LTLIBRARIES = tests/gpu/soft/libcuda.la
tests_gpu_soft_libcuda_la_SOURCES = tests/gpu/soft/copies.c tests/gpu/soft/devices.c tests/gpu/soft/ipc.c \
	tests/gpu/soft/kernels.c tests/gpu/soft/memory.c tests/gpu/soft/soft.h tests/gpu/soft/streams.c
tests_gpu_soft_libcuda_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -Wno-missing-prototypes
tests_gpu_soft_libcuda_la_LDFLAGS = -shared -rpath /nowhere -version-info 1
tests_gpu_soft_libcuda_la_LIBADD = -lpthread
tests_gpu_stand_in_SOURCES = tests/gpu/stand_in.c tests/gpu/device.h
tests_gpu_stand_in_LDADD = -ldl
tests_gpu_memory_LDADD = libtorushmem.la -ldl -lpthread
tests_gpu_start_LDADD = libtorushmem.la -ldl
tests_gpu_kernels_SOURCES = tests/gpu/kernels.c tests/gpu/device.h comms/gpu/driver.c comms/gpu/driver.h \
	comms/gpu/kernels.c comms/gpu/kernels.h comms/gpu/kernels_text.c
tests_gpu_kernels_LDADD = -ldl -lpthread -lm

# The clock of software Tofu, which times plans of comms/torus.
if WITH_SOFTOFU
check_PROGRAMS += tests/unit/tofu_plan_times
tests_unit_tofu_plan_times_SOURCES = tests/unit/tofu_plan_times.c softofu/tests/flows.c softofu/tests/flows.h \
	softofu/tests/traffic.c
tests_unit_tofu_plan_times_LDADD = libsoftofunet.la libtorusthink.la
endif

check_PROGRAMS += $(API_TESTS) $(UNIT_TESTS) $(ON_HOSTS) $(ABOUT_UCX) $(GPU_TESTS)
tests_lib_ucx_protocols_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS)
tests_lib_ucx_protocols_LDADD = $(UCX_LIBS)
tests_cluster_bare_pmix_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_cluster_faces_SOURCES = tests/cluster/faces.c tests/cluster/torus_times.h
tests_cluster_faults_SOURCES = tests/cluster/faults.c tests/cluster/torus_times.h
tests_cluster_overlap_SOURCES = tests/cluster/overlap.c tests/cluster/torus_times.h
tests_cluster_plain_sockets_SOURCES = tests/cluster/plain_sockets.c tests/cluster/torus_times.h
tests_cluster_torus_times_SOURCES = tests/cluster/torus_times.c tests/cluster/torus_times.h
tests_cluster_bare_pmix_LDADD = $(PMIX_LIBS)
tests/api/no_lock.$(OBJEXT): AM_CPPFLAGS += $(UCX_CFLAGS)
tests_api_no_lock_LDADD = libtorushmem.la -ldl
tests_api_numbers_LDADD = libtorushmem.la -lm
tests_unit_block_table_SOURCES = tests/unit/block_table.c shmem/block_table.c shmem/block_table.h shmem/blocks.c shmem/blocks.h
tests_unit_block_table_LDADD =
tests_unit_blocks_SOURCES = tests/unit/blocks.c shmem/blocks.c shmem/blocks.h
tests_unit_blocks_LDADD =
tests_unit_categories_SOURCES = tests/unit/categories.c comms/observe/categories.c comms/observe/counters.h
tests_unit_categories_LDADD =
# The routines that shmemx.h and shmemx_typed.h declare. tests/conformance/check-api finds them in
# the same way, and compares them with what the library exports; so a declaration that is written in
# another way does not go unseen.
tests/unit/extensions.def: $(srcdir)/include/shmemx.h include/shmemx_typed.h
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)sed -n -e '/^SHMEMX_OVERLOAD/d' -e 's/^[A-Za-z_].*[ *]\(shmemx_[a-z_0-9]*\)(.*/EXTENSION(\1)/p' \
		$(srcdir)/include/shmemx.h include/shmemx_typed.h >$@.new && mv $@.new $@
tests/unit/categories.$(OBJEXT): tests/unit/extensions.def
CLEANFILES += tests/unit/extensions.def
tests_unit_greeting_SOURCES = tests/unit/greeting.c rte/host/greeting.c \
	rte/host/greeting.h
tests_unit_greeting_LDADD =
tests_unit_hooks_SOURCES = tests/unit/hooks.c comms/net/ucx/filter/ucx_hooks.c \
	comms/net/ucx/filter/ucx_hooks.h
tests_unit_hooks_LDADD =
tests_unit_hooks_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,relro,-z,now
tests_unit_pages_LDADD = librtebase.la
tests_unit_processor_LDADD = -lpthread
tests_unit_rdma_ports_LDADD = librtebase.la
tests_unit_server_SOURCES = tests/unit/server.c comms/net/server.c comms/net/server.h
tests_unit_server_LDADD = librtebase.la -lpthread
tests_unit_settings_LDADD = librtebase.la
tests_unit_text_LDADD = librtebase.la
tests_unit_traces_LDADD = librtebase.la
tests_unit_torus_job_LDADD = libtorusthink.la
tests_unit_words_SOURCES = tests/unit/words.c shmem/words.c shmem/words.h
tests_unit_words_LDADD =
tests_unit_torus_barrier_rounds_LDADD = libtorusthink.la
tests_unit_torus_records_SOURCES = tests/unit/torus_records.c tools/torusplan/records.c tools/torusplan/records.h
tests_unit_torus_records_LDADD = librtebase.la
tests_unit_torus_cabling_LDADD = libtorusthink.la
tests_unit_torus_model_LDADD = libtorusthink.la
tests_unit_torus_disjoint_trees_LDADD = libtorusthink.la
tests_unit_torus_ring_schedule_LDADD = libtorusthink.la
tests_unit_torus_ring_allreduce_LDADD = libtorusthink.la
tests_unit_torus_detours_LDADD = libtorusthink.la
tests_unit_torus_exchange_schedule_LDADD = libtorusthink.la
tests_unit_torus_place_LDADD = libtorusthink.la
tests_unit_torus_cables_LDADD = libtorusthink.la
tests_unit_torus_routes_LDADD = libtorusthink.la
tests_unit_torus_shape_LDADD = libtorusthink.la
tests_unit_torus_slurm_LDADD = libtorusthink.la
tests_unit_torus_team_sites_LDADD = libtorusthink.la
tests_unit_torus_tni_LDADD = libtorusthink.la -lm
tests_unit_torus_trees_LDADD = libtorusthink.la

EXTRA_DIST += \
	docs/cluster-figures.md \
	docs/constants.md \
	docs/platforms \
	docs/platforms.md \
	tests/blocks \
	tests/builds \
	tests/checked \
	tests/litmus \
	tests/api/litmus.def \
	tests/cluster/agent \
	tests/cluster/cluster \
	tests/cluster/cluster.bats \
	tests/cluster/choices \
	tests/cluster/discover.bats \
	tests/cluster/faces.bats \
	tests/cluster/start.bats \
	tests/cluster/failures.bats \
	tests/cluster/faults.bats \
	tests/cluster/figures \
	tests/cluster/hidden \
	tests/cluster/inside \
	tests/cluster/kill-rounds \
	tests/cluster/start-kills \
	tests/cluster/network.awk \
	tests/cluster/slurm \
	tests/cluster/torch-table \
	tests/cluster/torus-bench \
	tests/cluster/torus_times_mpi.c \
	tests/cluster/torus_times_torch.py \
	tests/python/collectives_of_torch.py \
	tests/python/costs.py \
	tests/python/lost_ranks.py \
	tests/python/package.py \
	tests/python/works_of_torch.py \
	tests/tools/python.bats \
	tests/cluster/stencils.bats \
	tests/cluster/team_cables.bats \
	tests/cluster/torch.bats \
	tests/cluster/trees.bats \
	tests/cluster/observing.bats \
	tests/cluster/own_cables.bats \
	tests/cluster/own_failures.bats \
	tests/conformance/additions.tsv \
	tests/conformance/check-api \
	tests/conformance/make-page \
	tests/conformance/make-profiler \
	tests/conformance/openshmem-1.6.tsv \
	tests/distros/inside \
	tests/distros/machine \
	tests/distros/packages \
	tests/distros/page.awk \
	tests/distros/run \
	tests/rdma/checks \
	tests/rdma/events.c \
	tests/rdma/first \
	tests/rdma/inside \
	tests/rdma/run \
	tests/gpu/carry \
	tests/gpu/gpu.h \
	tests/gpu/run \
	tests/lib/cluster.bash \
	tests/lib/cxx.bash \
	tests/lib/bats.sh \
	tests/lib/boxes.h \
	tests/lib/vectors.h \
	tests/lib/built.bash \
	tests/lib/check.h \
	tests/lib/huge.h \
	tests/lib/left.sh \
	tests/lib/on_terminal \
	tests/lib/page_blocks.py \
	tests/lib/plan.sh \
	tests/lib/shapes.h \
	tests/lib/steps.h \
	tests/lib/stops.h \
	tests/lib/tori.h \
	tests/lib/types.h \
	tests/lib/unit.h \
	tests/lib/wrong_sum.c \
	tests/run \
	tests/survive \
	tests/suppressions/tsan.supp \
	tests/suppressions/valgrind.supp \
	tests/words.tsv \
	tests/tools/blocks.bats \
	tests/tools/conformance.bats \
	tests/tools/cxx.bats \
	tests/tools/hpp.bats \
	tests/tools/crash.c \
	tests/tools/crashes.bats \
	tests/tools/deadlock.c tests/tools/right-programs \
	tests/tools/deadlocks.bats \
	tests/tools/libfabric.bats \
	tests/tools/litmus.bats \
	tests/tools/manuals.bats \
	tests/tools/distros.bats \
	tests/tools/rdma.bats \
	tests/tools/examples.bats \
	tests/tools/guide.bats \
	tests/tools/gpu.bats \
	tests/tools/gpu_mistake.c \
	tests/tools/hang.c \
	tests/tools/inline.bats \
	tests/tools/hangs.bats \
	tests/tools/processors.bats \
	tests/tools/node_shapes.c \
	tests/tools/node_shapes.bats \
	tests/tools/mistake.c \
	tests/tools/mistake.h \
	tests/tools/mistake_extensions.c \
	tests/tools/mistakes.bats \
	tests/tools/besieged.c tests/tools/progs/record.c tests/tools/progs/socket_functions.c \
	tests/tools/progs/by_id.c tests/tools/progs/ends.c tests/tools/progs/refuse.c tests/tools/progs/service.py tests/tools/progs/start tests/tools/without_launcher.bats \
	tests/tools/errors_return.bats tests/tools/progs/by_id.c tests/tools/progs/ends.c tests/tools/progs/errors_return.c tests/tools/progs/late_stores.c tests/tools/progs/left_behind.c tests/tools/progs/service.py tests/tools/progs/start tests/tools/without_launcher.bats \
	tests/tools/strangers tests/tools/strangers.bats \
	tests/tools/mismatch.c \
	tests/tools/mismatches.bats \
	tests/tools/programs.bats \
	tests/tools/progs/buckets.cc \
	tests/tools/progs/histogram.c \
	tests/tools/progs/old_style.c \
	tests/tools/progs/owners.cc \
	tests/tools/progs/plans.cc \
	tests/tools/progs/rod.c \
	tests/tools/torus.bats \
	tests/tools/torus/fabric.c \
	tests/tools/torus/where.c \
	tests/tools/torus/teams.c \
	tests/tools/torus/timed.c \
	tests/tools/scale.bats \
	tests/tools/breakdown.bats \
	tests/tools/serial_ucx.bats tests/tools/serial_ucx.c \
	tests/tools/stats.bats tests/tools/structure.bats \
	tests/tools/tofu.bats \
	tests/tools/tools.bats \
	tests/tools/traces.bats \
	tests/tools/trees.bats \
	tests/tools/unordered.c \
	tests/tools/unordered.bats \
	tests/tools/scale/fake_size.c \
	tests/tools/scale/neighbours.c

# CHECK_FLAGS goes to tests/run: make check CHECK_FLAGS='--only rma --paths local'. So many runs at
# once: make check TEST_JOBS=1
TEST_JOBS = 2
RUN_TESTS = $(SHELL) $(top_srcdir)/tests/run --build '$(abs_top_builddir)'

check-local: check-layers check-rooms check-atomics check-format check-order
	@$(RUN_TESTS) --jobs $(TEST_JOBS) $(CHECK_FLAGS)

# All that the tests need, without running them.
check-programs: all
	@$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS) $(check_LTLIBRARIES)

check-long: check-programs
	@$(RUN_TESTS) --long $(CHECK_FLAGS)

# The collectives of shmemx.h on every number of PEs from 1 to 8, of which many are odd, and over
# every path that needs no root, and along tori; about ten minutes.
check-collectives: check-programs
	@$(RUN_TESTS) --kinds api --only reduce_scatter,vectors,nonblocking,numbers,reduce_bits,plan_words,plans \
		--pes 1,2,3,4,5,6,7,8 --paths local,check,ucx-tcp,ucx-shm,mixed,mixed3,split,ofi,tofu-few,cables-ring \
		$(CHECK_FLAGS)

# The litmus programs of docs/memory-model.md, a million runs of each on every path; takes hours:
# make check-litmus LITMUS=100000 LITMUS_PATHS=local,tofu
LITMUS = 1000000
LITMUS_PATHS = local,ucx-tcp,ucx-rma,ucx-shm,mixed,split,check,check-tcp,ofi,cables-ring,tofu,tofu-mixed,tofu-errors,tofu-odd
check-litmus: all
	@$(top_srcdir)/tests/litmus --build . --runs $(LITMUS) --paths $(LITMUS_PATHS)

# What could go wrong once in a while, many times over: make check-soak SOAK=1000
SOAK = 200
check-soak: check-programs
	@$(RUN_TESTS) --kinds api --only concurrent,threads,locks,contexts,collective_storm --repeat $(SOAK) $(CHECK_FLAGS)

# Every test of the API on four paths, twenty at a time, until some 10,000 jobs have run; none may
# be called stuck: make check-load PASSES=1
PASSES = 23
check-load: check-programs
	@for pass in $$(seq $(PASSES)); do \
		echo "=== pass $$pass of $(PASSES)"; \
		$(RUN_TESTS) --kinds api --jobs 20 --paths local,ucx-tcp,mixed,tofu $(CHECK_FLAGS) || exit; \
	done

# Iterations of every pattern of neighbour exchange, on every path: make
# check-neighbours ROUNDS=100000
ROUNDS = 1000000
check-neighbours: check-programs
	@TEST_ROUNDS=$(ROUNDS) $(RUN_TESTS) --long --kinds api --only neighbours_soak $(CHECK_FLAGS)

# Every call that PEs make together, and every case in which one of them can fail to do its
# part, on each of these paths.
MISTAKES = local,ucx-tcp,tofu
check-mistakes: all
	@MISTAKE_PATHS='$(MISTAKES)' $(RUN_TESTS) --kinds tools --only mismatches $(CHECK_FLAGS)

# The tests of the API with SHMEM_CHECK, which is to find no fault with them.
check-checked: check-programs
	@$(RUN_TESTS) --kinds api --paths check,check-tcp $(CHECK_FLAGS)

# At least 95 % of the communication is hidden between two hosts, whose processors are to have
# nothing else to do; takes root.
check-hidden: all
	@$(SHELL) $(top_srcdir)/tests/cluster/hidden '$(abs_top_builddir)'

# All tests of the API over software Tofu, in boxes of several shapes, and its own:
# make check-tofu TOFU=tofu-odd
TOFU = tofu,tofu-mixed,tofu-mixed4,tofu-errors,tofu-odd,tofu-holes
check-tofu: check-programs
	@$(RUN_TESTS) --kinds api --paths '$(TOFU)' $(CHECK_FLAGS)
	@$(RUN_TESTS) --kinds tools --only tofu $(CHECK_FLAGS)

# Teams that work at once on hosts cabled as a torus, one of them slow, for longer and on 2x2x2 and
# 3x3x3 hosts too; takes root.
check-teams: check-programs
	@TEST_TEAMS=3x3,2x2x2,3x3x3 TEST_ROUNDS=20 $(RUN_TESTS) --kinds cluster --only trees $(CHECK_FLAGS)

# Every collective on hosts cabled as a torus, up to 27 of them, meshes, several PEs to a host, 0 B
# to 64 MiB; takes root and half an hour. In parts: make check-torus-hosts TORUS_HOSTS=torus4x4
# CHECK_FLAGS='--only reduce,torus_reduce'
TORUS_HOSTS = torus2,torus5,torus3mx2:2,torus3x2x2m,torus4x4,torus3x3:3,torus3x3x3
TORUS_COLLECTIVES = active_sets,alltoall,barrier,broadcast,collect,collective,concurrent,grid,plans,reduce,scan,teams,torus_gather
check-torus-hosts: check-programs
	@$(RUN_TESTS) --kinds api --long --paths '$(TORUS_HOSTS)' --only '$(TORUS_COLLECTIVES)' $(CHECK_FLAGS)

# On hosts made of namespaces, which takes root: make check-cluster CLUSTER=torus3x3
CLUSTER = hosts2,hosts4,hosts8,hosts2x2,hosts4x2,hosts8x2,torus2x2x2,own4
check-cluster: check-programs
	@if why=`$(SHELL) $(top_srcdir)/tests/cluster/cluster able 2>&1`; then \
		$(RUN_TESTS) --kinds api,cluster --paths '$(CLUSTER)' $(CHECK_FLAGS); \
	else \
		echo "$$why"; echo '0 passed, 0 failed, 1 skipped'; \
	fi

# On hosts whose every cable is a network of its own, and what they send over the network that joins
# all hosts, which no message may take; takes root and twenty minutes: make check-cables CABLES=own6
CABLES = own3,own4,own4:2,own6,own2d:2,own2x2,own3x3
check-cables: check-programs
	@$(RUN_TESTS) --kinds api --paths '$(CABLES)' $(CHECK_FLAGS)

# Jobs that survive: 300 of which a PE is killed or stopped, and 100 starts in one process after a
# loss, over four paths; takes half an hour: make check-survive SURVIVE='--rounds 20 --paths local'.
# On hosts with own cables, as root: make check-survive SURVIVE='--rounds 24 --paths own3'
check-survive: check-programs
	@$(top_srcdir)/tests/survive --build '$(abs_top_builddir)' $(SURVIVE)

# The tests of the API, started by sh and environment variables alone; takes ten minutes. On hosts,
# which takes root: make check-start START_PATHS=hosts4,own4
START_PATHS = local,ucx-tcp,mixed,ofi
check-start: check-programs
	@$(RUN_TESTS) --kinds api --start env --paths '$(START_PATHS)' $(CHECK_FLAGS)

# Each in a build tree of its own, below this one, with the same configure options.
check-asan check-ubsan check-tsan check-valgrind:
	@MAKE='$(MAKE)' $(SHELL) $(top_srcdir)/tests/checked '$(abs_top_builddir)' $(@:check-%=%) --jobs $(TEST_JOBS) $(CHECK_FLAGS)

# With every compiler of this machine, none of which may warn, and with flags that others build by
# (takes half an hour): make check-builds BUILDS='clang-19 lto'
check-builds:
	@$(SHELL) $(top_srcdir)/tests/builds '$(abs_top_builddir)' $(BUILDS)

distclean-local:
	rm -rf checked builds

.PHONY: check-asan check-builds check-cables check-checked check-cluster check-collectives \
	check-hidden check-litmus check-load check-long check-mistakes check-neighbours \
	check-programs check-soak check-start check-survive check-teams check-tofu \
	check-torus-hosts check-tsan check-ubsan check-valgrind
