# SPDX-License-Identifier: BSD-3-Clause
"""Teams of PEs, and their collectives."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from . import _memory, _types
from ._job import broken
from ._interrupts import waiting
from ._library import INT, LONG, POINTER, SIZE, Error, routine
from ._memory import whole

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Sequence

_n_pes = routine('shmem_team_n_pes', INT, POINTER)
_my_pe = routine('shmem_team_my_pe', INT, POINTER)
_translate = routine('shmem_team_translate_pe', INT, POINTER, INT, POINTER)
_split_strided = waiting('shmem_team_split_strided', INT, POINTER, INT, INT, INT, POINTER, LONG, POINTER)
_split_2d = waiting('shmem_team_split_2d', INT, POINTER, INT, POINTER, LONG, POINTER, POINTER, LONG, POINTER)
_destroy = waiting('shmem_team_destroy', None, POINTER)
_sync = waiting('shmem_team_sync', INT, POINTER)
_broadcast = waiting('shmem_broadcastmem', INT, POINTER, POINTER, POINTER, SIZE, INT)
_fcollect = waiting('shmem_fcollectmem', INT, POINTER, POINTER, POINTER, SIZE)
_collect = waiting('shmem_collectmem', INT, POINTER, POINTER, POINTER, SIZE)
_alltoall = waiting('shmem_alltoallmem', INT, POINTER, POINTER, POINTER, SIZE)
_reduce_scatter = waiting('shmemx_reduce_scatter', INT, POINTER, POINTER, POINTER, SIZE, INT, INT)
_gather = waiting('shmemx_gather', INT, POINTER, POINTER, POINTER, SIZE, INT, INT)
_scatter = waiting('shmemx_scatter', INT, POINTER, POINTER, POINTER, SIZE, INT, INT)
_allgatherv = waiting('shmemx_allgatherv', INT, POINTER, POINTER, POINTER, POINTER, POINTER, INT)
_alltoallv = waiting('shmemx_alltoallv', INT, POINTER, POINTER, POINTER, *[POINTER] * 4, INT)
_BYTES = 18  # SHMEMX_UINT8


@functools.lru_cache(maxsize=None)
def _reduction(dtype: np.dtype, operation: str) -> Any:
    _types.operation(operation)
    name = _types.name_of(dtype, 'reduce')
    ours = 'x' if operation == 'avg' or name == 'half' else ''
    try:
        return waiting('shmem%s_%s_%s_reduce' % (ours, name, operation), INT, POINTER, POINTER, POINTER, SIZE)
    except Error:
        raise TypeError('reduce: no %s of elements of type %s' % (operation, dtype)) from None


@functools.lru_cache(maxsize=None)
def _scan(dtype: np.dtype, inclusive: bool) -> Any:
    name = 'shmem_%s_sum_%sscan' % (_types.name_of(dtype, 'scan'), 'in' if inclusive else 'ex')
    try:
        return waiting(name, INT, POINTER, POINTER, POINTER, SIZE)
    except Error:
        raise TypeError('scan: not for elements of type %s' % dtype) from None


def _succeed(status: int, name: str) -> None:
    if status:
        raise broken() or Error('%s: it failed with status %d' % (name, status))


def _sizes(values: list[int]) -> Any:
    return (SIZE * len(values))(*values)


def _same(name: str, dest: np.ndarray, source: np.ndarray, dest_count: int, source_count: int) -> None:
    """Counts of elements that a collective needs."""
    if dest.dtype != source.dtype:
        raise TypeError('%s: dest has elements of type %s, and source of %s' % (name, dest.dtype, source.dtype))
    if dest.size < dest_count:
        raise ValueError('%s: dest has room for %d elements; %d arrive' % (name, dest.size, dest_count))
    if source.size < source_count:
        raise ValueError('%s: source has %d elements; %d are sent' % (name, source.size, source_count))


class Team:
    """Some of the PEs, numbered from 0. Collectives are called by all of them; arrays lie in symmetric memory,
    and their elements one after another."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    # --- Who is in it ---

    @property
    def n_pes(self) -> int:
        """How many PEs it has."""
        return _n_pes(self._handle)

    @property
    def my_pe(self) -> int:
        """This PE's number in the team."""
        return _my_pe(self._handle)

    def pe_in(self, other: Team, pe: int) -> int | None:
        """The number that a PE of this team has in another; None if it is not there."""
        there = _translate(self._handle, pe, other._handle)
        return None if there < 0 else there

    def __repr__(self) -> str:
        return 'Team(PE %d of %d)' % (self.my_pe, self.n_pes)

    # --- Others from it ---

    def split(self, start: int, stride: int, size: int) -> Team | None:
        """The team of so many PEs of this one, from start on, each stride further. All PEs of this team call it;
        those that are not in the new one get None."""
        made = ctypes.c_void_p()
        _succeed(_split_strided(self._handle, start, stride, size, None, 0, ctypes.byref(made)), 'split')
        return Team(made.value) if made.value else None

    def split_2d(self, columns: int) -> tuple[Team, Team]:
        """The teams of this PE's row and of its column, if the PEs stand in rows of so many."""
        row, column = ctypes.c_void_p(), ctypes.c_void_p()
        _succeed(_split_2d(self._handle, columns, None, 0, ctypes.byref(row), None, 0, ctypes.byref(column)),
                 'split_2d')
        return Team(row.value), Team(column.value)

    def destroy(self) -> None:
        """All PEs of the team call it; it is used no more."""
        _destroy(self._handle)
        self._handle = None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    # --- Collectives ---
    #
    # The library may write to dest of a PE as soon as another PE calls, so all PEs synchronise
    # first. ready=True leaves that out: the program has made sure that dest is ready on all.

    def _make_ready(self, ready: bool) -> None:
        if not ready:
            self.sync()

    def sync(self) -> None:
        """Waits for all PEs of the team."""
        _succeed(_sync(self._handle), 'sync')

    def _root(self, root: int, name: str) -> int:
        if not 0 <= root < self.n_pes:
            raise ValueError('%s: root %r: the team has PEs 0 to %d' % (name, root, self.n_pes - 1))
        return root

    def broadcast(self, dest: np.ndarray, source: np.ndarray, root: int = 0, ready: bool = False) -> None:
        """dest of all PEs gets source of the root."""
        _same('broadcast', dest, source, source.size, source.size)
        self._make_ready(ready)
        _succeed(_broadcast(self._handle, whole(dest, 'broadcast: dest'), whole(source, 'broadcast: source'),
                            source.nbytes, self._root(root, 'broadcast')), 'broadcast')

    def reduce(self, dest: np.ndarray, source: np.ndarray, operation: str = 'sum', ready: bool = False) -> None:
        """dest of all PEs gets the sum (prod, min, max, and, or, xor, avg), element by element. dest may be
        source."""
        _same('reduce', dest, source, source.size, source.size)
        call = _reduction(source.dtype, operation)
        self._make_ready(ready)
        _succeed(call(self._handle, whole(dest, 'reduce: dest'), whole(source, 'reduce: source'), source.size),
                 'reduce')

    def scan(self, dest: np.ndarray, source: np.ndarray, inclusive: bool = True, ready: bool = False) -> None:
        """dest gets the sums over this PE and all before it; inclusive=False: over those before it."""
        _same('scan', dest, source, source.size, source.size)
        call = _scan(source.dtype, inclusive)
        self._make_ready(ready)
        _succeed(call(self._handle, whole(dest, 'scan: dest'), whole(source, 'scan: source'), source.size), 'scan')

    def fcollect(self, dest: np.ndarray, source: np.ndarray, ready: bool = False) -> None:
        """dest gets the sources of all PEs, one after another; they have the same length."""
        _same('fcollect', dest, source, source.size * self.n_pes, source.size)
        self._make_ready(ready)
        _succeed(_fcollect(self._handle, whole(dest, 'fcollect: dest'), whole(source, 'fcollect: source'),
                           source.nbytes), 'fcollect')

    def collect(self, dest: np.ndarray, source: np.ndarray, ready: bool = False) -> None:
        """The same, of any lengths."""
        _same('collect', dest, source, source.size, source.size)
        self._make_ready(ready)
        _succeed(_collect(self._handle, whole(dest, 'collect: dest'), whole(source, 'collect: source'),
                          source.nbytes), 'collect')

    def alltoall(self, dest: np.ndarray, source: np.ndarray, ready: bool = False) -> None:
        """source has an equal block for each PE, and dest gets one from each."""
        n = self.n_pes
        if source.size % n:
            raise ValueError('alltoall: source has %d elements, which %d PEs cannot share' % (source.size, n))
        _same('alltoall', dest, source, source.size, source.size)
        self._make_ready(ready)
        _succeed(_alltoall(self._handle, whole(dest, 'alltoall: dest'), whole(source, 'alltoall: source'),
                           source.nbytes // n), 'alltoall')

    def reduce_scatter(self, dest: np.ndarray, source: np.ndarray, operation: str = 'sum', ready: bool = False) -> None:
        """source has an equal block for each PE; dest gets this PE's block of their sum (or other reduction)."""
        _same('reduce_scatter', dest, source, dest.size, dest.size * self.n_pes)
        _reduction(source.dtype, operation)
        self._make_ready(ready)
        _succeed(_reduce_scatter(self._handle, whole(dest, 'reduce_scatter: dest'),
                                 whole(source, 'reduce_scatter: source'), dest.size,
                                 _types.code_of(source.dtype, 'reduce_scatter'), _types.operation(operation)),
                 'reduce_scatter')

    def gather(self, dest: np.ndarray, source: np.ndarray, root: int = 0, ready: bool = False) -> None:
        """dest of the root gets the sources of all PEs."""
        _same('gather', dest, source, source.size * self.n_pes if self.my_pe == root else 0, source.size)
        self._make_ready(ready)
        _succeed(_gather(self._handle, whole(dest, 'gather: dest'), whole(source, 'gather: source'), source.nbytes,
                         _BYTES, self._root(root, 'gather')), 'gather')

    def scatter(self, dest: np.ndarray, source: np.ndarray, root: int = 0, ready: bool = False) -> None:
        """dest gets this PE's block of the root's source."""
        _same('scatter', dest, source, dest.size, dest.size * self.n_pes if self.my_pe == root else 0)
        self._make_ready(ready)
        _succeed(_scatter(self._handle, whole(dest, 'scatter: dest'), whole(source, 'scatter: source'), dest.nbytes,
                          _BYTES, self._root(root, 'scatter')), 'scatter')

    def _counts(self, counts: Sequence[int], itemsize: int, name: str) -> Any:
        if len(counts) != self.n_pes or min(counts) < 0:
            raise ValueError('%s: give a count of elements for each of the %d PEs' % (name, self.n_pes))
        return _sizes([int(count) * itemsize for count in counts])

    def allgatherv(self, dest: np.ndarray, source: np.ndarray, counts: Sequence[int], ready: bool = False) -> None:
        """dest gets the sources of all PEs, whose lengths are counts, one after another."""
        _same('allgatherv', dest, source, sum(counts), counts[self.my_pe])
        self._make_ready(ready)
        _succeed(_allgatherv(self._handle, whole(dest, 'allgatherv: dest'), whole(source, 'allgatherv: source'),
                             self._counts(counts, source.itemsize, 'allgatherv'), None, _BYTES), 'allgatherv')

    def alltoallv(self, dest: np.ndarray, source: np.ndarray, dest_counts: Sequence[int], source_counts: Sequence[int],
                  ready: bool = False) -> None:
        """source has a block for each PE, of source_counts; dest gets one from each, of dest_counts."""
        _same('alltoallv', dest, source, sum(dest_counts), sum(source_counts))
        self._make_ready(ready)
        _succeed(_alltoallv(self._handle, whole(dest, 'alltoallv: dest'), whole(source, 'alltoallv: source'),
                            self._counts(dest_counts, source.itemsize, 'alltoallv'), None,
                            self._counts(source_counts, source.itemsize, 'alltoallv'), None, _BYTES), 'alltoallv')


world, shared = Team(1), Team(2)


def sum_all(value: float, operation: str = 'sum') -> float:
    """The sum of one number of each PE, as a number: for norms, counts and times. All PEs call it."""
    mine = np.asarray(value)
    room = _memory.empty(2, mine.dtype)
    room[0] = mine
    world.reduce(room[1:], room[:1], operation)
    result = room[1].item()
    _memory.free(room)
    return result
