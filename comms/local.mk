# SPDX-License-Identifier: BSD-3-Clause

# start.c brings all rooms up. Each uses those above it.
libtorushmem_la_SOURCES += comms/start.c
# core: what a put passes, but for the operation itself.
libtorushmem_la_SOURCES += comms/core/symmetric_checks.c comms/core/comms.h comms/core/copy.c \
	comms/core/copy.h comms/core/futex.h comms/core/globals.c comms/core/globals.h \
	comms/core/memory.c comms/core/memory.h comms/core/near.c comms/core/near.h comms/core/peers.c \
	comms/core/peers.h comms/core/processor.h comms/core/sanitizer.h comms/core/state.c \
	comms/core/system.h comms/core/wake.c
# topology: which PEs share a node, and where nodes are in the torus.
libtorushmem_la_SOURCES += comms/topology/find_torus.c comms/topology/find_torus.h comms/topology/group.h comms/topology/job_torus.c \
	comms/topology/job_torus.h comms/topology/levels.c comms/topology/levels.h comms/topology/nodes.c \
	comms/topology/nodes.h
# observe: counters, traces, link loads, cables.
libtorushmem_la_SOURCES += comms/observe/cables.c comms/observe/cables.h \
	comms/observe/categories.c comms/observe/counters.c comms/observe/counters.h \
	comms/observe/links.c comms/observe/links.h comms/observe/trace.c comms/observe/trace.h
# ops: the operations.
libtorushmem_la_SOURCES += comms/ops/buffers.c comms/ops/buffers.h comms/ops/calls.c \
	comms/ops/fault.c comms/ops/fault.h comms/ops/completion_numbers.c comms/ops/completion_numbers.h \
	comms/ops/carry.c comms/ops/carry.h comms/ops/notify.c comms/ops/notify.h comms/ops/target.c comms/ops/target.h \
	comms/ops/ops.c comms/ops/ops.h comms/ops/reorder.c comms/ops/reorder.h
# wait: spinning, sleeping, waking; events; hang reports.
libtorushmem_la_SOURCES += comms/wait/contention.c comms/wait/contention.h comms/wait/deadlock.c \
	comms/wait/deadlock.h comms/wait/hang.c comms/wait/hang.h comms/wait/hang_report.c \
	comms/wait/hang_text.c \
	comms/wait/lists.c comms/wait/lists.h comms/wait/wait.c comms/wait/wait.h \
	comms/wait/writers.c comms/wait/writers.h comms/wait/writers_processes.c
# net: the contract for networks.
libtorushmem_la_SOURCES += comms/networks.def comms/net/network.h comms/net/networks.c comms/net/networks.h \
	comms/net/sessions.h comms/net/sockets.c comms/net/sockets.h
# groups: topology of a team, and its barriers.
libtorushmem_la_SOURCES += comms/groups/groups.c comms/groups/groups.h comms/groups/numa.c \
	comms/groups/numa.h comms/groups/topology.c comms/groups/topology.h comms/groups/topology_faults.c \
	comms/groups/torus_barrier.c comms/groups/torus_barrier.h
# rdma: memory that is not symmetric, and events.
libtorushmem_la_SOURCES += comms/rdma/events.c comms/rdma/events.h comms/rdma/transfers.c \
	comms/rdma/transfers.h
# coll: collectives between nodes, and command lists of plans.
libtorushmem_la_SOURCES += comms/coll/commands.c comms/coll/commands.h comms/coll/executor.c \
	comms/coll/list_pool.c comms/coll/offload.c comms/coll/offload.h comms/coll/torus_allgather.c \
	comms/coll/torus_allgather.h comms/coll/torus_allreduce.c comms/coll/torus_allreduce.h \
	comms/coll/ring_inside.h comms/coll/torus_ring_plan.c \
	comms/coll/torus_alltoall.c comms/coll/torus_alltoall.h comms/coll/torus_links_alltoall.c \
	comms/coll/torus_links_alltoall.h comms/coll/torus_stream.c comms/coll/torus_stream.h comms/coll/tree_collective.c \
	comms/coll/tree_collective.h comms/coll/tree_inside.h comms/coll/tree_up.c

include comms/net/ofi/local.mk
include comms/net/tofu/local.mk
include comms/net/ucx/local.mk
