# SPDX-License-Identifier: BSD-3-Clause
"""What calls take more than in C, and the import more than that of NumPy: the least of many, in the
thread's own time. Run it by oshrun, or alone: one PE."""

import time

import numpy as np

begun = time.thread_time()
import torushmem as sh  # noqa: E402
print('import: %.0f ms' % (1e3 * (time.thread_time() - begun)))
from torushmem import _memory, _teams  # noqa: E402


def least(call):
    """In microseconds."""
    took = []
    for _ in range(30):
        begun = time.thread_time()
        for _ in range(100):
            call()
        took.append(1e6 / 100 * (time.thread_time() - begun))
    return min(took)


sh.init()
a, b, signal = sh.zeros(64), sh.zeros(64), sh.zeros(1, np.uint64)
to, source = a.ctypes.data, b.ctypes.data
reduce = _teams._reduction(a.dtype, 'sum')
put = least(lambda: _memory._put(to, source, a.nbytes, 0))
for name, inside, call in (
        ('put', put, lambda: sh.put(a, b, 0)), ('put of a part', put, lambda: sh.put(a[3:9], b[3:9], 0)),
        ('put_signal', put, lambda: sh.put_signal(a, b, signal, 1, 0)),
        ('reduce', least(lambda: reduce(1, to, source, 64)), lambda: sh.world.reduce(a, b))):
    print('%s: %.2f us more than in C' % (name, least(call) - inside))
