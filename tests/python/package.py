# SPDX-License-Identifier: BSD-3-Clause
"""The package torushmem: arrays, puts and gets of all shapes, words, collectives, plans, grids, and what it says of
mistakes. For any number of PEs, on any path."""

import inspect

import numpy as np

import torushmem as sh

TYPES = ('float32', 'float64', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'complex64',
         'complex128', 'float16')


def neighbours():
    me, n = sh.my_pe(), sh.n_pes()
    return me, n, (me + 1) % n, (me - 1) % n


def check_memory():
    me, _, up, down = neighbours()
    a = sh.zeros((5, 6))
    block = np.arange(12.0).reshape(3, 4)
    sh.put(a[1:4, 1:5], block + me, up)
    sh.put(a[:, 5], 7, up)
    sh.put(a[0, 0:5:2], [1, 2, 3], up)
    sh.barrier_all()
    expected = np.zeros((5, 6))
    expected[1:4, 1:5], expected[:, 5], expected[0, 0:5:2] = block + down, 7, [1, 2, 3]
    assert np.array_equal(a, expected), a
    assert np.array_equal(sh.get(a[1:4, 1:5], up), block + me)
    assert np.array_equal(sh.get(a[::-1, 1], up), [0, 8 + me, 4 + me, me, 0])
    assert sh.get(a[3, 5, ...], up) == 7
    into = np.full((5, 12), -1.0)
    sh.get(a, up, out=into[:, ::2])
    assert np.array_equal(into[:, 1::2], np.full((5, 6), -1.0)) and np.array_equal(into[:, ::2], sh.get(a, up))
    sh.barrier_all()
    row = np.full(6, float(me))
    sh.put_nbi(a[2], row, up)
    sh.quiet()
    sh.barrier_all()
    assert (a[2] == down).all()
    there = sh.at_pe(a, up)
    if there is not None:
        assert (there[2] == me).all()
    empty = sh.empty((0, 3))
    sh.put(empty, empty, up)
    assert sh.is_symmetric(a[3:]) and not sh.is_symmetric(row)
    for array in (empty, a):
        sh.free(array)
    wide = sh.array(np.arange(8).reshape(2, 4) + me)
    assert wide.dtype == np.int64 and sh.get(wide, up)[1, 3] == 7 + up
    sh.free(wide)


def check_words():
    me, n, up, down = neighbours()
    words, signals, data = sh.zeros(4, int), sh.zeros(2, np.uint64), sh.zeros(3, np.int32)
    before = sh.atomic.fetch_add(words[1:2], 2, 0)
    assert before % 2 == 0 and before < 2 * n
    sh.barrier_all()
    assert sh.get(words, 0)[1] == 2 * n
    sh.put_signal(data, np.array([1, 2, me], np.int32), signals[1:2], 5, up)
    assert sh.signal_wait_until(signals[1:2], '>=', 5, timeout=60) == 5
    assert list(data) == [1, 2, down]
    sh.put(words[2:3], me + 1, up)
    assert sh.wait_until_any(words[2:4], '>', 0, timeout=60) == 0
    sh.wait_until_all(words[2:3], '==', down + 1, timeout=60)
    sh.barrier_all()
    assert sh.atomic.swap(words[3:4], 10 + me, up) == 0
    sh.barrier_all()
    assert words[3] == 10 + down
    sh.barrier_all()
    assert sh.atomic.compare_swap(words[3:4], 10 + me, 20, up) == 10 + me
    sh.barrier_all()
    real = sh.zeros(1)
    sh.atomic.add(real, 0.5, 0)
    sh.barrier_all()
    assert sh.atomic.fetch(real, 0) == 0.5 * n
    try:
        sh.wait_until(words[0:1], '==', 99, timeout=0.02)
        assert False, 'no timeout'
    except TimeoutError:
        pass
    sh.barrier_all()
    for array in (words, signals, data, real):
        sh.free(array)


def check_bits():
    up = neighbours()[2]
    word = sh.full(1, 20, np.uint64)
    for verb, value, result in (('bits_or', 3, 23), ('bits_xor', 1, 22), ('bits_and', 6, 6)):
        getattr(sh.atomic, verb)(word, value, up)
        sh.barrier_all()
        assert word[0] == result, (verb, word)
        sh.barrier_all()
    sh.free(word)


def check_collectives(team):
    me, n = team.my_pe, team.n_pes
    for dtype in TYPES:
        source, dest = sh.full(5, me + 1, dtype), sh.empty(5, dtype)
        team.reduce(dest, source)
        assert (dest == n * (n + 1) // 2).all(), (dtype, dest)
        blocks, mine = sh.full(2 * n, me + 1, dtype), sh.empty(2, dtype)
        if not dtype.startswith('complex'):
            team.reduce(dest, source, 'max')
            assert (dest == n).all(), (dtype, dest)
            team.reduce_scatter(mine, blocks)
            assert (mine == n * (n + 1) // 2).all(), (dtype, mine)
        with sh.Plan.reduce(dest, source, team=team) as plan:
            for _ in range(3):
                dest.fill(0)
                team.sync()
                plan.start()
                plan.wait(timeout=60)
                assert (dest == n * (n + 1) // 2).all(), (dtype, dest)
        for array in (source, dest, blocks, mine):
            sh.free(array)
    source, every = sh.array(np.arange(3.0) + 10 * me), sh.zeros(3 * n)
    expected = (np.arange(3.0) + 10 * np.arange(n)[:, None]).ravel()
    team.fcollect(every, source)
    assert np.array_equal(every, expected)
    every[:] = 0
    team.gather(every, source, root=n - 1)
    assert np.array_equal(every, expected if me == n - 1 else 0 * expected)
    team.sync()
    team.broadcast(every[:3], source, root=n - 1)
    assert np.array_equal(every[:3], np.arange(3.0) + 10 * (n - 1))
    team.scan(every[:3], source)
    assert np.array_equal(every[:3], np.arange(3.0) * (me + 1) + 10 * (me * (me + 1) // 2))
    sent, came = sh.array(np.arange(2.0 * n) + 100 * me), sh.zeros(2 * n)
    team.alltoall(came, sent)
    assert np.array_equal(came, (np.arange(2.0) + 2 * me + 100 * np.arange(n)[:, None]).ravel())
    team.alltoallv(came, sent, [1] * n, [1] * n)
    assert np.array_equal(came[:n], me + 100.0 * np.arange(n))
    team.allgatherv(came, sent, [1] * n)
    assert np.array_equal(came[:n], 100.0 * np.arange(n))
    team.scatter(came[:2], sent, root=0)
    assert np.array_equal(came[:2], 2.0 * me + np.arange(2))
    assert sh.sum_all(0.5) == 0.5 * sh.n_pes()
    for array in (source, every, sent, came):
        sh.free(array)


def check_teams():
    world = sh.world
    assert (world.my_pe, world.n_pes) == (sh.my_pe(), sh.n_pes())
    odd = world.split(0, 2, (world.n_pes + 1) // 2)
    assert (odd is None) == (world.my_pe % 2 == 1)
    if odd is not None:
        assert odd.pe_in(world, odd.my_pe) == world.my_pe
        with odd:
            odd.sync()
    row, column = world.split_2d(2)
    assert row.n_pes <= 2 and column.n_pes <= (world.n_pes + 1) // 2
    for team in (row, column):
        team.destroy()


def check_grids():
    me, n, up, down = neighbours()
    with sh.Grid((0, 1), wraps=(True, False)) as grid:
        assert grid.sizes == (n, 1) and grid.neighbour(1) is None
        assert grid.pe(*grid.coordinates()) == grid.my_pe
        me, up, down = grid.my_pe, grid.neighbour(0), grid.neighbour(0, -1)
        field = np.zeros((5, 6, 2))
        with sh.Halo(grid, field) as halo:
            for step in range(4):
                field[1:-1, 1:-1] = me + 10 * step
                halo.exchange()
                assert (field[-1, 1:-1] == up + 10 * step).all() and (field[0, 1:-1] == down + 10 * step).all()
                assert (field[:, 0] == 0).all() and (field[:, -1] == 0).all()
    torus = sh.torus()
    assert torus.hops(0, 0) == 0 and len(torus.coordinates(n - 1)) == len(torus.sizes)
    drawing = str(torus.draw())
    assert drawing.startswith('<svg ') and drawing.count('<circle') == np.prod(torus.sizes)


def check_mistakes():
    """Each gets an exception whose text has these words, and the job goes on."""
    n = sh.n_pes()
    a, w, z = sh.zeros(4), sh.zeros(1, int), sh.zeros(1, complex)
    for words, mistake in (
            ('not in symmetric memory', lambda: sh.put(np.zeros(3), 1, 0)),
            ('the job has PEs 0 to %d' % (n - 1), lambda: sh.put(a, 1, n)),
            ('the job has PEs', lambda: sh.get(a, -1)),
            ('broadcast', lambda: sh.put(a, [1.0, 2.0], 0)),
            ('convert by astype', lambda: sh.put(a[:2], np.array([1j, 2]), 0)),
            ('out has', lambda: sh.get(a, 0, out=np.zeros(3))),
            ('it is free already', lambda: sh.free(a[1:])),
            ('room for 2 elements', lambda: sh.world.reduce(a[:2], a)),
            ('no operation', lambda: sh.world.reduce(a, a, 'mean')),
            ('no and of elements', lambda: sh.world.reduce(a, a, 'and')),
            ('one after another', lambda: sh.world.reduce(a[:2], a[::2])),
            ('root 99', lambda: sh.world.broadcast(a, a, root=99)),
            ('give one element', lambda: sh.atomic.add(a, 1, 0)),
            ('no comparison', lambda: sh.wait_until(w, '=', 1)),
            ('not for elements of type float64', lambda: sh.wait_until(a[:1], '==', 1)),
            ('not for elements of type complex', lambda: sh.atomic.fetch(z, 0)),
            ('type uint64', lambda: sh.put_signal(a, np.zeros(4), a[:1], 1, 0)),
            ('set SHMEM_SYMMETRIC_SIZE', lambda: sh.empty(1 << 40)),
            ('Python objects', lambda: sh.empty(3, object)),
            ('must divide the %d PEs of the team' % n, lambda: sh.Grid((n + 1,))),
            ('no executor', lambda: sh.Plan.reduce(a, a, executor='gpu'))):
        try:
            mistake()
        except (ValueError, TypeError, MemoryError) as said:
            assert words in str(said), (words, said)
        else:
            assert False, 'nothing was said: ' + words
    for array in (a, w, z):
        sh.free(array)


def check_help():
    """Every public thing says what it does, and of what types its arguments and results are."""
    for name in sh.__all__:
        thing = getattr(sh, name)
        members = [(name, thing)] if callable(thing) else []
        if inspect.isclass(thing):
            members += [(name + '.' + inner, member) for inner, member in inspect.getmembers(thing, callable)
                        if not inner.startswith('_')]
        for where, member in members:
            assert inspect.getdoc(member), 'no help for ' + where
            if inspect.isclass(member) or inspect.isbuiltin(member) or isinstance(member, type(dict.get)):
                continue
            hints, wanted = member.__annotations__, inspect.signature(member).parameters
            missing = [one for one in [*wanted, 'return'] if one not in hints and one not in ('self', 'cls')]
            assert not missing, (where, missing)


def main():
    check_help()
    try:
        sh.my_pe()
        assert False, 'a PE without a job'
    except sh.Error as said:
        assert 'call torushmem.init() first' in str(said)
    sh.init()
    check_memory()
    check_words()
    check_bits()
    check_collectives(sh.world)
    check_teams()
    check_grids()
    check_mistakes()
    sh.finalize()


main()
