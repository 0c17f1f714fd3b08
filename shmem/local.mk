# SPDX-License-Identifier: BSD-3-Clause

# The standard, a file for each chapter.
libtorushmem_la_SOURCES += shmem/active_collectives.c shmem/active_sets.c shmem/alltoall.c \
	shmem/alltoall_links.c shmem/amo.c shmem/api.h shmem/block_table.c shmem/block_table.h \
	shmem/blocks.c shmem/blocks.h shmem/broadcast.c shmem/caller.c shmem/caller.h shmem/checks.c shmem/team_collectives.c \
	shmem/collectives.h shmem/contexts.c shmem/gather.c shmem/gather.h shmem/gather_lines.c \
	shmem/gather_trees.c shmem/heap.c shmem/heap_checks.c shmem/heap_checks.h shmem/info.c \
	shmem/init.c shmem/inline.c shmem/locks.c shmem/operators.c shmem/operators.h shmem/order.c \
	shmem/other_names.c \
	shmem/reduce.c shmem/reduce.h shmem/reduce_small.c shmem/reductions.c shmem/removed.c shmem/rma.c \
	shmem/scan.c shmem/sets.c shmem/signals.c shmem/start_report.c shmem/sync.c shmem/team_handles.c \
	shmem/teams.c shmem/team_topology.c shmem/torus_faults.c shmem/word_bits.h shmem/words.c shmem/words.h
# What is beyond the standard: a folder for each part of shmemx.h, and observe for SHMEM_STATS and
# SHMEM_TRACE.
libtorushmem_la_SOURCES += shmem/exchange/exchange.c shmem/exchange/exchange.h \
	shmem/exchange/exchange_checks.c shmem/exchange/exchange_detours.c shmem/exchange/exchange_make.c \
	shmem/exchange/exchange_parts.c shmem/exchange/exchange_receive.c
libtorushmem_la_SOURCES += shmem/gpu/gpu.h shmem/gpu/gpu_collectives.c shmem/gpu/gpu_direct.c shmem/gpu/gpu_heap.c
libtorushmem_la_SOURCES += shmem/heaps/heaps.c \
	shmem/heaps/sandia_heaps.c
libtorushmem_la_SOURCES += shmem/grid/grid.c shmem/grid/grid.h shmem/grid/pack.c \
	shmem/grid/torus.c
libtorushmem_la_SOURCES += shmem/numbers/atomics.c shmem/numbers/averages.c shmem/numbers/divide.c shmem/numbers/divide.h \
	shmem/numbers/narrow.c shmem/numbers/narrow.h shmem/numbers/reduce_narrow.c \
	shmem/numbers/reduce_scatter.c
libtorushmem_la_SOURCES += shmem/observe/stats.c shmem/observe/trace_clocks.c \
	shmem/observe/trace_clocks.h shmem/observe/trace_file.c
libtorushmem_la_SOURCES += shmem/plans/nonblocking.c shmem/plans/plan_blocks.c shmem/plans/plan_broadcast.c \
	shmem/plans/plan_counts.c shmem/plans/plan_pairs.c shmem/plans/plan_scan.c shmem/plans/plan_vectors.c \
	shmem/plans/plan_words.c \
	shmem/plans/plan_edges.c shmem/plans/plan_commands.c shmem/plans/plan_kinds.c shmem/plans/plan_neighbours.c \
	shmem/plans/plan_links.c shmem/plans/plan_nic.c shmem/plans/plan_reduce.c shmem/plans/plan_rings.c \
	shmem/plans/plan_sync.c shmem/plans/plan_trees.c shmem/plans/plans.c shmem/plans/plans.h shmem/plans/plans_again.c \
	shmem/plans/requests.c shmem/plans/requests.h
libtorushmem_la_SOURCES += shmem/vectors/allgatherv.c shmem/vectors/alltoallv.c \
	shmem/vectors/gather_scatter.c shmem/vectors/vectors.c shmem/vectors/vectors.h
libtorushmem_la_SOURCES += shmem/rdma/rdma.c shmem/rdma/rdma.h shmem/rdma/rdma_buffers.c \
	shmem/rdma/rdma_events.c
