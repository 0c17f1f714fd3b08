#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same as torus_times_mpi.c through torch.distributed: BACKEND COLLECTIVE SIZES REPEATSxCALLS
ADDRESS. ADDRESS is one of the first host. mpirun starts it for Gloo, and oshrun for torushmem; they
say who is who."""

import os
import sys
import time

import torch
import torch.distributed as dist


def bytes_of(size):
    return int(size.rstrip('km')) << {'k': 10, 'm': 20}.get(size[-1], 0)


def runner(collective, size, me, n):
    """What runs the collective once, and what tells whether its result is right."""
    words = size // 4
    mine = torch.arange(words, dtype=torch.int32) + me
    if collective == 'broadcast':
        data = mine.clone()
        return lambda: dist.broadcast(data, 0), lambda: int(data[-1]) == words - 1
    if collective == 'reduce':
        data = mine.clone()
        return lambda: dist.all_reduce(data), lambda: True
    if collective == 'fcollect':
        parts = [torch.empty(words, dtype=torch.int32) for _ in range(n)]
        return lambda: dist.all_gather(parts, mine), lambda: int(parts[n - 1][0]) == n - 1
    raise SystemExit('torus_times_torch: no collective ' + collective)


def measure(collective, size, repeats, calls, me, n):
    took = []
    run, is_right = runner(collective, size, me, n)
    run()
    if not is_right():
        raise SystemExit('torus_times_torch: wrong result of ' + collective)
    for _ in range(repeats):
        dist.barrier()
        begun = time.monotonic()
        for _ in range(calls):
            run()
        longest = torch.tensor([time.monotonic() - begun])
        dist.all_reduce(longest, dist.ReduceOp.MAX)
        took.append(float(longest) / calls)
    if me == 0:
        print(collective, size, sorted(took)[repeats // 2], 0, 0, flush=True)


def main():
    backend, collective, sizes, times, address = sys.argv[1:]
    repeats, calls = map(int, times.split('x'))
    torch.set_num_threads(1)
    if backend == 'torushmem':
        import torushmem.torch
        torushmem.init('multiple')
        me, n = torushmem.my_pe(), torushmem.n_pes()
    else:
        me, n = int(os.environ['OMPI_COMM_WORLD_RANK']), int(os.environ['OMPI_COMM_WORLD_SIZE'])
    dist.init_process_group(backend, 'tcp://%s:29500' % address, rank=me, world_size=n)
    for size in sizes.split(','):
        measure(collective, bytes_of(size), repeats, calls, me, n)
    dist.barrier()


main()
