# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM for Python: symmetric memory as NumPy arrays, on one machine, a cluster or a torus.

    import torushmem as sh

    sh.init()
    a = sh.zeros(4, int)
    sh.put(a[0:1], sh.my_pe(), (sh.my_pe() + 1) % sh.n_pes())
    sh.barrier_all()
    print(sh.my_pe(), 'got', a[0])

Start it by "oshrun -n 4 python3 program.py", or by mpirun, srun, prterun. Every routine says in an exception what is
wrong with its arguments; a job that cannot go on ends as a whole, with one line.
"""

from ._grids import Drawing, Grid, Halo, Torus, torus
from ._job import broken, finalize, get_unique_id, global_exit, init, initialized, my_pe, n_pes
from ._library import Error
from ._memory import (array, at_pe, barrier_all, empty, fence, free, full, get, get_nbi, is_symmetric, put, put_nbi,
                      put_signal, quiet, sync_all, zeros)
from ._plans import Plan
from ._progress import progress
from ._teams import Team, shared, sum_all, world
from ._words import atomic, signal_fetch, signal_wait_until, test, wait_until, wait_until_all, wait_until_any

__version__ = '0.2.0'

__all__ = ['Drawing', 'Error', 'Grid', 'Halo', 'Plan', 'Team', 'Torus', 'array', 'at_pe', 'atomic',
           'barrier_all', 'broken', 'empty', 'fence', 'finalize', 'free', 'full', 'get', 'get_nbi', 'get_unique_id',
           'global_exit', 'init', 'initialized', 'is_symmetric', 'my_pe', 'n_pes', 'progress', 'put',
           'put_nbi', 'put_signal', 'quiet', 'shared', 'signal_fetch', 'signal_wait_until', 'sum_all',
           'sync_all', 'test', 'torus', 'wait_until', 'wait_until_all', 'wait_until_any', 'world', 'zeros']
