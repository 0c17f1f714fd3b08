# SPDX-License-Identifier: BSD-3-Clause

# The standard, a file for each chapter.
libtorushmem_la_SOURCES += shmem/active_collectives.c shmem/active_sets.c shmem/alltoall.c shmem/alltoall_links.c \
	shmem/amo.c shmem/api.h shmem/block_table.c shmem/block_table.h shmem/blocks.c shmem/blocks.h shmem/broadcast.c shmem/checks.c \
	shmem/collectives.c shmem/collectives.h shmem/contexts.c shmem/gather.c shmem/gather.h shmem/gather_lines.c shmem/topologies.c \
	shmem/gather_trees.c shmem/torus_faults.c \
	shmem/heap.c shmem/heap_checks.c shmem/heap_checks.h shmem/info.c shmem/init.c shmem/inline.c shmem/locks.c shmem/operators.c shmem/operators.h \
	shmem/order.c shmem/reduce.c shmem/reduce.h shmem/reduce_small.c shmem/reductions.c \
	shmem/removed.c shmem/rma.c shmem/scan.c shmem/sets.c shmem/signals.c shmem/start_report.c shmem/sync.c \
	shmem/team_handles.c shmem/teams.c shmem/words.c shmem/words.h
# What is beyond the standard: shmemx.h, statistics, traces.
libtorushmem_la_SOURCES += shmem/ext/exchange.c shmem/ext/exchange.h \
	shmem/ext/exchange_checks.c shmem/ext/exchange_detours.c shmem/ext/exchange_make.c \
	shmem/ext/exchange_parts.c shmem/ext/exchange_receive.c \
	shmem/ext/grid.c shmem/ext/grid.h shmem/ext/pack.c shmem/ext/plan_blocks.c \
	shmem/ext/plan_broadcast.c shmem/ext/plan_nic.c shmem/ext/plan_edges.c shmem/ext/plan_make.c \
	shmem/ext/plan_neighbours.c shmem/ext/plan_reduce.c shmem/ext/plan_rings.c shmem/ext/plan_trees.c shmem/ext/plans.c shmem/ext/plans_again.c \
	shmem/ext/plans.h shmem/ext/rdma.c shmem/ext/rdma.h shmem/ext/rdma_buffers.c \
	shmem/ext/rdma_events.c shmem/ext/stats.c shmem/ext/torus.c shmem/ext/trace_file.c \
	shmem/ext/trace_clocks.c shmem/ext/trace_clocks.h
