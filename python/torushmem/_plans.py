# SPDX-License-Identifier: BSD-3-Clause
"""Plans: collectives that are prepared once and run often, also while Python computes."""

from __future__ import annotations

import ctypes

import numpy as np

from . import _types
from ._job import broken, check_whole
from ._library import INT, POINTER, SIZE, Error, routine
from ._memory import whole
from ._teams import Team, _same, world
from ._words import until

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any

_start = routine('shmemx_plan_start', None, POINTER)
_test = routine('shmemx_plan_test', INT, POINTER)
_free = routine('shmemx_plan_free', None, POINTER)
_broadcast = routine('shmemx_broadcast_init', INT, *[POINTER] * 3, SIZE, INT, INT, POINTER)
_allreduce = routine('shmemx_allreduce_init', INT, *[POINTER] * 3, SIZE, INT, INT, INT, POINTER)
_allgather = routine('shmemx_allgather_init', INT, *[POINTER] * 3, SIZE, INT, POINTER)
_alltoall = routine('shmemx_alltoall_init', INT, *[POINTER] * 3, SIZE, INT, POINTER)

EXECUTORS = {'auto': 0, 'list': 1, 'thread': 2, 'nic': 3}


def _executor(name: str) -> int:
    try:
        return EXECUTORS[name]
    except (KeyError, TypeError):
        raise ValueError('no executor %r; there are %s' % (name, ', '.join(EXECUTORS))) from None


class Plan:
    """A collective of a team over fixed arrays. All PEs of the team make it, start it and free it:

        with Plan.reduce(total, mine) as plan:
            for step in range(steps):
                plan.start()
                ...
                plan.wait()
    """

    def __init__(self, call: Any, *arguments: Any) -> None:
        made = ctypes.c_void_p()
        status = call(*arguments, ctypes.byref(made))
        if status or not made.value:
            raise broken() or Error('plan: it cannot be made (status %d)' % status)
        self._handle = made.value

    @classmethod
    def broadcast(cls, dest: np.ndarray, source: np.ndarray, root: int = 0, team: Team = world,
                  executor: str = 'auto') -> Plan:
        """dest of all PEs gets source of the root."""
        _same('broadcast', dest, source, source.size, source.size)
        return cls(_broadcast, team._handle, whole(dest, 'plan: dest'), whole(source, 'plan: source'), source.nbytes,
                   team._root(root, 'broadcast'), _executor(executor))

    @classmethod
    def reduce(cls, dest: np.ndarray, source: np.ndarray, operation: str = 'sum', team: Team = world,
               executor: str = 'auto') -> Plan:
        """dest of all PEs gets the sum (prod, min, max, and, or, xor, avg), element by element."""
        _same('reduce', dest, source, source.size, source.size)
        return cls(_allreduce, team._handle, whole(dest, 'plan: dest'), whole(source, 'plan: source'), source.size,
                   _types.code_of(source.dtype, 'reduce'), _types.operation(operation), _executor(executor))

    @classmethod
    def fcollect(cls, dest: np.ndarray, source: np.ndarray, team: Team = world, executor: str = 'auto') -> Plan:
        """dest gets the sources of all PEs, one after another."""
        _same('fcollect', dest, source, source.size * team.n_pes, source.size)
        return cls(_allgather, team._handle, whole(dest, 'plan: dest'), whole(source, 'plan: source'), source.nbytes,
                   _executor(executor))

    @classmethod
    def alltoall(cls, dest: np.ndarray, source: np.ndarray, team: Team = world, executor: str = 'auto') -> Plan:
        """source has an equal block for each PE, and dest gets one from each."""
        _same('alltoall', dest, source, source.size, source.size)
        return cls(_alltoall, team._handle, whole(dest, 'plan: dest'), whole(source, 'plan: source'),
                   source.nbytes // team.n_pes, _executor(executor))

    def _there(self) -> int:
        if self._handle is None:
            raise ValueError('plan: it was freed')
        return self._handle

    def start(self) -> None:
        """Begins a run, and returns at once."""
        _start(self._there())

    def test(self) -> bool:
        """Is the run over?"""
        over = bool(_test(self._there()))
        check_whole()
        return over

    def wait(self, timeout: float | None = None) -> None:
        """Waits until the run is over, for at most so many seconds. An interrupt ends the wait, not the run."""
        handle = self._there()
        until(lambda: _test(handle), 'plan', timeout)

    def run(self) -> None:
        """Starts, and waits."""
        self.start()
        self.wait()

    def free(self) -> None:
        """All PEs of the team call it, in the same order; `with` does it."""
        _free(self._there())
        self._handle = None

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()
