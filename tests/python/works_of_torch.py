# SPDX-License-Identifier: BSD-3-Clause
"""How works and groups of the backend of torch.distributed live and end: time limits, errors, destroy and begin again,
threads, and training beside Gloo. A folder for the stores; steps of training (40)."""

import datetime
import gc
import io
import os
import sys
import threading
import time

import torch
import torch.distributed as dist

import torushmem as sh
import torushmem.torch

LONG = 100_000  # elements of a collective that runs in the group's thread


def begin(name):
    dist.init_process_group('torushmem', init_method='file://%s/%s' % (sys.argv[1], name), rank=sh.my_pe(),
                            world_size=sh.n_pes())


def seconds(number):
    return datetime.timedelta(seconds=number)


def raises(kind, words, call):
    try:
        call()
    except kind as said:
        assert words in str(said), said
        return
    raise AssertionError('nothing was said: ' + words)


def check_works(me, n):
    data = torch.ones(LONG)
    work = dist.all_reduce(data, async_op=True)
    work.wait()
    assert work.is_completed() and work.is_success() and work.result()[0] is data and work.exception() is None
    assert work.get_future().value()[0] is data and (data == n).all()
    for length in (3, LONG):
        future = dist.all_reduce(torch.ones(length), async_op=True).get_future().then(lambda done: done.value()[0] / n)
        assert (future.wait() == 1).all()


def check_late_wait(me, n):
    """A wait that is too short is not the end of the collective."""
    if n == 1:
        return
    data, news = torch.ones(LONG), torch.zeros(1)
    if me == n - 1:
        dist.recv(news, 0)
    work = dist.all_reduce(data, async_op=True)
    if me == 0:
        raises(TimeoutError, 'all_reduce: not within 0.05 s', lambda: work.wait(seconds(0.05)))
        dist.send(news, n - 1)
    work.wait()
    assert (data == n).all()
    if me == 0:
        raises(TimeoutError, 'recv: not within 0.05 s', lambda: dist.irecv(news, n - 1).wait(seconds(0.05)))


def check_time_limit_of_group(me, n):
    """The group is of no use after it. The last rank comes when all others have given up."""
    news = torch.zeros(1)
    for length in (LONG, 3) if n > 1 else ():
        group = dist.new_group(timeout=seconds(60))
        assert group.limit == 60
        group.limit = 0.2  # torch itself takes the time limit for the making of the group
        if me == n - 1:
            for other in range(n - 1):
                dist.recv(news, other)
            try:
                dist.all_reduce(torch.ones(length), group=group)
            except TimeoutError:
                pass
            continue
        for again in (length, 1):
            raises(TimeoutError, 'all_reduce: not within 0.2 s', lambda: dist.all_reduce(torch.ones(again), group=group))
        dist.send(news, n - 1)


def check_error(me, n):
    """One that happens in the thread is raised by wait, and by the value of the future."""
    group = dist.new_group()

    def fail(*_):
        raise ValueError('on purpose')
    group._in_pieces = fail
    work = dist.all_reduce(torch.ones(LONG), group=group, async_op=True)
    raises(ValueError, 'on purpose', work.wait)
    raises(RuntimeError, 'on purpose', work.get_future().wait)
    raises(ValueError, 'on purpose', lambda: dist.all_reduce(torch.ones(1), group=group))


def check_progress(me, n):
    """A line for what takes longer than asked for."""
    lines, room = io.StringIO(), sh.zeros(1)
    wanted = ['torushmem: PE 0: %s of 0.0 MiB for 0 s' % name for name in ('all_reduce', 'reduce') if n > 1]
    sh.progress(0.05, lines)
    for _ in range(20):
        if me == n - 1:
            time.sleep(0.2)
        missing = torch.tensor([me == 0 and any(line not in lines.getvalue() for line in wanted)])
        dist.all_reduce(missing, dist.ReduceOp.MAX)
        if not missing:
            break
        if me == n - 1:
            time.sleep(0.2)
        sh.world.reduce(room, room)
    assert not missing, lines.getvalue()
    sh.progress(1e6)
    sh.free(room)


def check_begin_again(me, n):
    for again in range(3):
        assert [thread for thread in threading.enumerate() if thread.name == 'torushmem group']
        dist.destroy_process_group()
        gc.collect()
        for thread in threading.enumerate():
            if thread.name == 'torushmem group':
                thread.join(20)
                assert not thread.is_alive()
        begin('again%d' % again)
        ends = dist.new_group(sorted({0, n - 1}))
        for group in (None, ends):
            data = torch.ones(LONG)
            if group is None or me in (0, n - 1):
                dist.all_reduce(data, group=group)
                assert (data == (n if group is None else len({0, n - 1}))).all()
        del ends, group


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))


def replicated(group):
    return torch.nn.parallel.DistributedDataParallel(network(), process_group=group)


def losses(model, me, n, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    found = []
    for step in range(steps):
        batch = torch.randn(4 * n, 16, generator=torch.Generator().manual_seed(step))[4 * me:4 * me + 4]
        optimizer.zero_grad()
        loss = (model(batch) - batch.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return torch.stack(found), torch.cat([p.detach().flatten() for p in model.parameters()])


def check_beside_gloo(me, n):
    """The same losses, but for the order of sums, which two ranks do not have; the same bits on all ranks."""
    os.environ.setdefault('GLOO_SOCKET_IFNAME', 'lo')
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    gloo = dist.new_group(backend='gloo')
    ours, weights = losses(replicated(None), me, n, steps)
    theirs, _ = losses(replicated(gloo), me, n, steps)
    if n <= 2:
        assert torch.equal(ours, theirs), (ours - theirs).abs().max()
    assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-6), (ours - theirs).abs().max()
    parts = [torch.empty_like(weights) for _ in range(n)]
    dist.all_gather(parts, weights)
    for other in parts:
        assert torch.equal(other, weights)
    if torch.__version__ < '2.':  # Debian 12's torch.distributed.fsdp cannot be imported under its Python
        return
    from torch.distributed.fsdp import FullyShardedDataParallel
    ours, theirs = (losses(FullyShardedDataParallel(network(), process_group=group, device_id=torch.device('cpu')), me, n,
                           10)[0] for group in (dist.new_group(), gloo))
    assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-6), (ours - theirs).abs().max()


def check_functional(me, n):
    """Since version 2, C++ code of torch calls the group and keeps its works."""
    if torch.__version__ < '2.':
        return
    import torch.distributed._functional_collectives as functional
    for length in (3, LONG):
        world = dist.group.WORLD
        assert (functional.all_reduce(torch.ones(length), 'sum', world) == n).all()
        every = functional.all_gather_tensor(torch.full((length,), float(me)), 0, world)
        assert every.shape[0] == n * length and (every[-length:] == n - 1).all()
        assert (functional.reduce_scatter_tensor(torch.ones(n * length), 'sum', 0, world) == n).all()


def main():
    sh.init(threads='multiple')
    begin('first')
    me, n = dist.get_rank(), dist.get_world_size()
    for check in (check_works, check_late_wait, check_time_limit_of_group, check_error, check_progress, check_begin_again,
                  check_functional, check_beside_gloo):
        check(me, n)
        dist.barrier()
    dist.destroy_process_group()
    sh.finalize()


main()
