# SPDX-License-Identifier: BSD-3-Clause

# start.c brings all rooms up. Each uses those above it.
libtorushmem_la_SOURCES += comms/start.c
# core: what a put passes, but for the operation itself, and the contract for networks.
libtorushmem_la_SOURCES += comms/core/awaited.h comms/core/brought.c comms/core/brought.h \
	comms/core/comms.c comms/core/comms.h comms/core/copy.c comms/core/copy.h comms/core/device.h comms/core/futex.h \
	comms/core/globals.c comms/core/globals.h comms/core/group.h \
	comms/core/memory.c comms/core/memory.h comms/core/near.c comms/core/near.h comms/core/network.h \
	comms/core/operations.h comms/core/peers.c comms/core/peers.h comms/core/private_copies.c comms/core/private_copies.h comms/core/processor.h \
	comms/core/regions.c comms/core/regions.h comms/core/sanitizer.h comms/core/sessions.h comms/core/symmetric_checks.c \
	comms/core/system.h comms/core/wake.c
# nodes: which PEs share a node, and where nodes are in the torus.
libtorushmem_la_SOURCES += comms/nodes/costs.c comms/nodes/costs.h comms/nodes/find_torus.c comms/nodes/find_torus.h \
	comms/nodes/job_torus.c comms/nodes/job_torus.h comms/nodes/levels.c comms/nodes/levels.h \
	comms/nodes/nodes.c comms/nodes/nodes.h
# observe: counters, traces, link loads, cables.
libtorushmem_la_SOURCES += comms/observe/cables.c comms/observe/cables.h \
	comms/observe/categories.c comms/observe/counters.c comms/observe/counters.h \
	comms/observe/links.c comms/observe/links.h comms/observe/trace.c comms/observe/trace.h
# ops: the operations.
libtorushmem_la_SOURCES += comms/ops/buffers.c comms/ops/buffers.h comms/ops/calls.c \
	comms/ops/carry.c comms/ops/carry.h comms/ops/completion_numbers.c comms/ops/completion_numbers.h \
	comms/ops/fault.c comms/ops/fault.h comms/ops/notify.c comms/ops/notify.h comms/ops/ops.c \
	comms/ops/ops.h comms/ops/reorder.c comms/ops/reorder.h comms/ops/target.c comms/ops/target.h \
	comms/ops/update.c comms/ops/update.h
# wait: spinning, sleeping, waking; events; hang reports.
libtorushmem_la_SOURCES += comms/wait/contention.c comms/wait/contention.h comms/wait/deadlock.c \
	comms/wait/deadlock.h comms/wait/hang.c comms/wait/hang.h comms/wait/hang_report.c \
	comms/wait/hang_text.c comms/wait/lists.c comms/wait/lists.h comms/wait/wait.c comms/wait/wait.h \
	comms/wait/writers.c comms/wait/writers.h comms/wait/writers_processes.c
# net: which network a job uses.
libtorushmem_la_SOURCES += comms/networks.def comms/net/failure.c comms/net/failure.h \
	comms/net/networks.c comms/net/networks.h comms/net/server.c comms/net/server.h comms/net/sockets.c comms/net/sockets.h
# groups: topology of a team, and its barriers.
libtorushmem_la_SOURCES += comms/groups/groups.c comms/groups/groups.h comms/groups/numa.c \
	comms/groups/numa.h comms/groups/topology.c comms/groups/topology.h \
	comms/groups/topology_faults.c comms/groups/torus_barrier.c comms/groups/torus_barrier.h
# rdma: memory that is not symmetric, and events.
libtorushmem_la_SOURCES += comms/rdma/events.c comms/rdma/events.h comms/rdma/transfers.c \
	comms/rdma/transfers.h
# collectives: collectives between nodes of a torus.
libtorushmem_la_SOURCES += comms/collectives/ring_inside.h comms/collectives/torus_allgather.c \
	comms/collectives/torus_allgather.h comms/collectives/torus_allreduce.c \
	comms/collectives/torus_allreduce.h comms/collectives/torus_alltoall.c \
	comms/collectives/torus_lines_allreduce.c comms/collectives/torus_lines_allreduce.h \
	comms/collectives/torus_alltoall.h comms/collectives/torus_links_alltoall.c \
	comms/collectives/torus_links_alltoall.h comms/collectives/torus_ring_plan.c \
	comms/collectives/torus_stream.c comms/collectives/torus_stream.h \
	comms/collectives/tree_collective.c comms/collectives/tree_collective.h \
	comms/collectives/tree_inside.h comms/collectives/tree_up.c
# gpu: symmetric memory on GPUs.
libtorushmem_la_SOURCES += comms/gpu/driver.c comms/gpu/driver.def comms/gpu/driver.h comms/gpu/gpu.c \
	comms/gpu/gpu.h comms/gpu/gpu_inside.h comms/gpu/gpu_ops.c comms/gpu/gpu_reach.c comms/gpu/gpu_start.c \
	comms/gpu/kernels.c comms/gpu/kernels.h comms/gpu/kernels_text.c comms/gpu/parcels.c
# plans: command lists of plans, and the thread that moves them.
libtorushmem_la_SOURCES += comms/plans/commands.c comms/plans/commands.h comms/plans/executor.c \
	comms/plans/list_pool.c comms/plans/offload.c comms/plans/offload.h

include comms/net/cables/local.mk
include comms/net/ofi/local.mk
include comms/net/tofu/local.mk
include comms/net/ucx/local.mk
