# SPDX-License-Identifier: BSD-3-Clause
libtorushmem_la_SOURCES += shmem/api.h shmem/init.c shmem/info.c shmem/heap.c shmem/blocks.c shmem/blocks.h \
	shmem/rma.c shmem/amo.c shmem/signals.c shmem/order.c shmem/sync.c shmem/collectives.c shmem/collectives.h \
	shmem/broadcast.c shmem/gather.c shmem/alltoall.c shmem/scan.c shmem/reduce.c shmem/reduce.h shmem/reduce_small.c shmem/reductions.c shmem/checks.c shmem/active_sets.c shmem/active_collectives.c shmem/sets.c shmem/team_handles.c shmem/operators.c shmem/operators.h shmem/teams.c shmem/contexts.c shmem/exchange.c shmem/exchange.h shmem/exchange_make.c shmem/pack.c shmem/grid.c shmem/grid.h shmem/torus.c shmem/locks.c shmem/removed.c
libtorushmem_la_SOURCES += shmem/stats.c shmem/trace.c
libtorushmem_la_SOURCES += shmem/grounds.c shmem/rdma.c
libtorushmem_la_SOURCES += shmem/plans.c shmem/plans.h shmem/plan_make.c shmem/plan_trees.c shmem/plan_broadcast.c shmem/plan_reduce.c \
	shmem/plan_blocks.c shmem/plan_card.c shmem/plan_edges.c shmem/plan_neighbours.c shmem/words.c shmem/words.h
