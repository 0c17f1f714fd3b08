# SPDX-License-Identifier: BSD-3-Clause
"""The last of four ranks dies, each time in another routine: all others get an exception that names it, and begin again
without it, until one is left. A folder for the stores; torch's four variables say who is who."""

import datetime
import gc
import os
import signal
import sys
import threading

import torch
import torch.distributed as dist

import torushmem as sh
import torushmem.torch

LONG = 300_000


def small(last):
    while True:
        dist.all_reduce(torch.ones(10))


def large(last):
    while True:
        work = dist.all_reduce(torch.ones(LONG), async_op=True)
        dist.all_gather([torch.empty(LONG) for _ in range(last + 1)], torch.ones(LONG))
        work.wait()


def message(last):
    dist.recv(torch.ones(1), last)


def training(last):
    """C++ code of torch waits here."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(300, 300))
    while True:
        model(torch.ones(3, 300)).sum().backward()


def lose_last(use, last, name):
    dist.all_reduce(torch.ones(10))
    if dist.get_rank() == last:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        if use is message:
            signal.pause()
    for call in (use, lambda _: dist.all_reduce(torch.ones(1)), lambda _: dist.barrier()):
        try:
            call(last)
        except RuntimeError as error:
            assert 'PE %d ' % last in str(error), error
            assert use is training or (error.pe, error.kind) == (last, 'lost'), error
        else:
            raise AssertionError('nothing was said')
    dist.destroy_process_group()
    gc.collect()
    dist.init_process_group('torushmem', init_method='file://%s/%s' % (sys.argv[1], name), rank=int(os.environ['RANK']),
                            world_size=last, timeout=datetime.timedelta(seconds=60))


def main():
    dist.init_process_group('torushmem', timeout=datetime.timedelta(seconds=60))
    size = dist.get_world_size()
    for i, use in enumerate((small, large, training, message)[:size - 1]):
        lose_last(use, size - 1 - i, 'store%d' % i)
    for length in (10, LONG):
        data = torch.ones(length)
        dist.all_reduce(data)
        assert (data == dist.get_world_size()).all()
    dist.destroy_process_group()
    sh.finalize()
    gc.collect()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith('torushmem')]
    print('went on')


main()
