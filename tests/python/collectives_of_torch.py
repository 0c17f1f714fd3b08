# SPDX-License-Identifier: BSD-3-Clause
"""The backend of torch.distributed: every collective against what it must give, messages, groups, and training that
gives what one process gives. A file for the store, or nothing: the environment says who is who, as torchrun has it."""

import sys

import torch
import torch.distributed as dist

import torushmem as sh
import torushmem.torch

LENGTHS = (1, 7, 1000, 300001)


def begin():
    if len(sys.argv) > 1:
        sh.init(threads='multiple')
        dist.init_process_group('torushmem', init_method='file://' + sys.argv[1], rank=sh.my_pe(),
                                world_size=sh.n_pes())
    else:
        dist.init_process_group('torushmem')
    return dist.get_rank(), dist.get_world_size()


def same(got, expected, what):
    assert got.dtype == expected.dtype and torch.equal(got, expected), (what, got, expected)


def check_reductions(me, n):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16,
                  torch.int32, torch.int64, torch.complex64, torch.complex128):
        for length in LENGTHS:
            data = (torch.arange(length) % 5 + me).to(dtype)
            dist.all_reduce(data)
            same(data, (n * (torch.arange(length) % 5) + n * (n - 1) // 2).to(dtype), (dtype, length))
    for op, expected in ((dist.ReduceOp.MAX, n), (dist.ReduceOp.MIN, 1), (dist.ReduceOp.PRODUCT,
                         int(torch.arange(1, n + 1).prod()))):
        data = torch.full((50,), me + 1)
        dist.all_reduce(data, op)
        same(data, torch.full((50,), expected), op)
    for op, expected in ((dist.ReduceOp.BOR, 2 ** n - 1), (dist.ReduceOp.BAND, 0 if n > 1 else 1),
                         (dist.ReduceOp.BXOR, 2 ** n - 1)):
        data = torch.full((50,), 1 << me)
        dist.all_reduce(data, op)
        same(data, torch.full((50,), expected), op)
    true = torch.arange(40) % n == me
    dist.all_reduce(true, dist.ReduceOp.MAX)
    same(true, torch.ones(40, dtype=torch.bool), 'truth values')
    slanted = torch.arange(12.0).reshape(3, 4).t()
    dist.all_reduce(slanted)
    same(slanted, n * torch.arange(12.0).reshape(3, 4).t(), 'a transposed tensor')
    counts = torch.arange(5_000_000.0) % 1000  # sums of whole numbers below 2^24 are exact
    long = counts + me
    work = dist.all_reduce(long, async_op=True)
    work.wait()
    same(long, n * counts + n * (n - 1) // 2, 'a long one')
    one = torch.full((4,), float(me))
    dist.reduce(one, n - 1)
    assert (one == (n * (n - 1) / 2 if me == n - 1 else me)).all()


def check_moves(me, n):
    for length in LENGTHS:
        data = torch.full((length,), float(me))
        dist.broadcast(data, n - 1)
        same(data, torch.full((length,), float(n - 1)), 'broadcast')
        mine = torch.arange(length) + 100 * me
        parts = [torch.empty(length, dtype=torch.int64) for _ in range(n)]
        dist.all_gather(parts, mine)
        for i, part in enumerate(parts):
            same(part, torch.arange(length) + 100 * i, 'all_gather')
        every = torch.empty(n * length, dtype=torch.int64)
        dist.all_gather_into_tensor(every, mine)
        same(every, torch.cat(parts), 'all_gather_into_tensor')
        block = torch.empty(length, dtype=torch.int64)
        dist.reduce_scatter_tensor(block, torch.arange(n * length) + me)
        same(block, n * (torch.arange(length) + me * length) + n * (n - 1) // 2, 'reduce_scatter_tensor')
        dist.reduce_scatter(block, [torch.full((length,), i) for i in range(n)])
        same(block, torch.full((length,), n * me), 'reduce_scatter')
        dist.gather(mine, parts if me == 1 % n else None, dst=1 % n)
        dist.scatter(block, [torch.full((length,), i) for i in range(n)] if me == 0 else None, src=0)
        same(block, torch.full((length,), me), 'scatter')
        blocks = torch.empty(n * length, dtype=torch.int64)
        dist.all_to_all_single(blocks, torch.arange(n * length) + 1000 * me)
        same(blocks, torch.cat([torch.arange(me * length, (me + 1) * length) + 1000 * i for i in range(n)]),
             'all_to_all_single')
    into = [(i + me) % 3 * 50000 + 1 for i in range(n)]
    result = torch.empty(sum(into))
    dist.all_to_all_single(result, torch.full((sum(into),), float(me)), into, into)
    same(result, torch.cat([torch.full((count,), float(i)) for i, count in enumerate(into)]), 'uneven all_to_all')
    outs = [torch.empty(3, 2) for _ in range(n)]
    dist.all_to_all(outs, [torch.full((3, 2), 10.0 * me + i) for i in range(n)])
    for i, out in enumerate(outs):
        same(out, torch.full((3, 2), 10.0 * i + me), 'all_to_all')


def check_messages(me, n):
    if n == 1:
        return
    up, down = (me + 1) % n, (me - 1) % n
    for length in LENGTHS:
        sent, came = torch.full((length,), float(me)), torch.empty(length)
        receive, send = dist.irecv(came, down), dist.isend(sent, up)
        send.wait()
        receive.wait()
        same(came, torch.full((length,), float(down)), 'messages')
    if me == 0:
        for tag in (5, 6):
            dist.send(torch.full((3,), tag), 1, tag=tag)
    if me == 1:
        came = torch.empty(3, dtype=torch.int64)
        for tag in (6, 5):
            dist.recv(came, 0, tag=tag)
            same(came, torch.full((3,), tag), 'tags')
    if me == 0:
        for _ in range(n - 1):
            came = torch.empty(1, dtype=torch.int64)
            source = dist.recv(came)
            assert came.item() == 7 * source, (source, came)
    else:
        dist.send(torch.full((1,), 7 * me), 0)


def check_groups(me, n):
    ends = sorted({0, n - 1})
    group, all_of_them = dist.new_group(ends), dist.new_group(list(range(n)))
    for _ in range(3):
        if me in ends:
            data = torch.ones(100000)
            dist.all_reduce(data, group=group)
            same(data, torch.full((100000,), float(len(ends))), 'group')
        data = torch.ones(3)
        dist.all_reduce(data, group=all_of_them)
        same(data, torch.full((3,), float(n)), 'group of all')


def check_symmetric(me, n):
    for dtype in (torch.float32, torch.bfloat16):
        data = torushmem.torch.zeros(100000, dtype=dtype)
        data += me
        dist.all_reduce(data)
        same(data, torch.full((100000,), n * (n - 1) // 2, dtype=dtype), 'symmetric')
        # Others have a tensor elsewhere.
        other = data if me else torch.ones(100000, dtype=dtype)
        data.fill_(1)
        dist.all_reduce(other)
        same(other, torch.full((100000,), n, dtype=dtype), 'here symmetric, there not')
        torushmem.torch.free(data)


def check_lifetimes(me, n):
    """Works outlive the tensors that the caller holds; results may be parameters, whatever their order in memory."""
    result = torch.empty(n * 50000)
    work = dist.all_to_all_single(result, torch.full((n * 50000,), float(me)) * 2, async_op=True)
    other = [torch.full((n * 50000,), 7.0) for _ in range(3)]
    work.wait()
    same(result, torch.arange(n).repeat_interleave(50000) * 2.0, 'a temporary')
    assert len(other) == 3
    weights = torch.nn.Parameter(torch.full((8, 6, 5, 5), float(me)).to(memory_format=torch.channels_last))
    dist.broadcast(weights, n - 1)
    assert (weights == n - 1).all()
    work = dist.all_reduce(torch.ones(100000), async_op=True)
    nested = work.get_future().then(lambda _: dist.all_reduce(torch.ones(100000), async_op=True).get_future().wait())
    same(nested.wait()[0], torch.full((100000,), float(n)), 'a collective in a callback')
    # The program's own collectives, while one of the group is under way.
    work = dist.all_reduce(torch.ones(3_000_000), async_op=True)
    for _ in range(5):
        torushmem.torch.free(torushmem.torch.zeros(1000))
    work.wait()


def check_training(me, n):
    """Each rank has its part of the data; the gradients are those of all of it."""
    def trained(model, mine, step_of):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for step in range(20):
            batch = torch.randn(12, 16, generator=torch.Generator().manual_seed(step), dtype=torch.float64)
            optimizer.zero_grad()
            step_of(model, batch[mine]).backward()
            optimizer.step()
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    def loss(model, batch):
        return (model(batch) - batch.sum(1, keepdim=True)).pow(2).mean()

    def network():
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).double()

    rows = 12 // n * n
    alone = trained(network(), slice(0, rows), loss)
    together = trained(torch.nn.parallel.DistributedDataParallel(network()), slice(me * rows // n, (me + 1) * rows // n), loss)
    assert torch.allclose(alone, together, rtol=1e-9, atol=1e-12), (alone - together).abs().max()
    bits = [torch.empty_like(together) for _ in range(n)]
    dist.all_gather(bits, together)
    for other in bits:
        same(other, together, 'weights of all ranks')


def check_mistakes(me, n):
    for words, mistake in (('needs an output like' if me == 0 else '', lambda: dist.gather(torch.ones(2),
                            [torch.ones(3)] * n if me == 0 else None) if me == 0 else None),
                           ('2 rows for' if n > 2 else '', lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2))
                            if n > 2 else None)):
        try:
            mistake()
            assert not words, 'nothing was said: ' + words
        except (ValueError, RuntimeError) as said:
            assert words and words in str(said), (words, said)


def main():
    me, n = begin()
    for check in (check_reductions, check_moves, check_messages, check_groups, check_symmetric, check_lifetimes,
                  check_training, check_mistakes):
        check(me, n)
        dist.barrier()
    dist.destroy_process_group()
    sh.finalize()


main()
