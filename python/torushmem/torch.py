# SPDX-License-Identifier: BSD-3-Clause
"""A backend of torch.distributed for tensors on the host:

    import torch.distributed
    import torushmem.torch

    torch.distributed.init_process_group('torushmem')

It takes the processes of the job: rank r is PE r. Tensors of torushmem.torch.empty lie in symmetric memory, and collectives
take them as they are; others are copied in pieces through a part of symmetric memory that belongs to their group.

Each group has a thread, which runs its collectives in order; small ones run at once in the calling thread if the group has
nothing to do.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import time
import weakref
from typing import Any, Callable, Optional, Sequence

import numpy as np
import torch
import torch.distributed as dist

import torushmem as sh

from . import _memory, _progress
from ._interrupts import INTERACTIVE
from ._job import at_end
from ._library import INT, POINTER, SIZE, Error, routine
from ._torch_mail import Flat, Mail, nbytes_of
from ._torch_work import Runner, Work, seconds_of

BACKEND = 'torushmem'

_NAMES = {torch.float32: 'float', torch.float64: 'double', torch.float16: 'half', torch.bfloat16: 'bfloat16',
          torch.int8: 'int8', torch.uint8: 'uint8', torch.int16: 'int16', torch.int32: 'int32', torch.int64: 'int64',
          torch.complex64: 'complexf', torch.complex128: 'complexd', torch.bool: 'uint8'}
_CODES = {'float': 0, 'double': 1, 'int8': 14, 'int16': 15, 'int32': 16, 'int64': 17, 'uint8': 18, 'complexd': 24,
          'complexf': 25, 'half': 26, 'bfloat16': 27}
_OPERATIONS = {'SUM': ('sum', 0), 'PRODUCT': ('prod', 1), 'MIN': ('min', 2), 'MAX': ('max', 3), 'BAND': ('and', 4),
               'BOR': ('or', 5), 'BXOR': ('xor', 6), 'AVG': ('avg', 7)}
_MEMBERS = [(name, getattr(dist.ReduceOp, name)) for name in _OPERATIONS if hasattr(dist.ReduceOp, name)]
# A reduction's hash is its number; to compare two takes 4 us.
_BY_HASH = {hash(member): name for name, member in _MEMBERS}
# Sums of truth values are whether any is true, products whether all are.
_OF_BOOL = {'SUM': 'BOR', 'MAX': 'BOR', 'PRODUCT': 'BAND', 'MIN': 'BAND'}

LINE = 64
GROUPS = 64             # most groups beside the world, in the life of a job
SHARE = 4 << 20         # of symmetric memory for one of them; the world has four times as much
LEAST_SHARE = 64 << 10
AT_ONCE = 64 << 10      # bytes of a collective that runs in the calling thread, if that need not see interrupts
PATIENT = 600           # seconds: with a shorter time limit nothing runs there, because nothing could end it
ROOMS = 3               # parts of a group's symmetric memory, used in turns

_query_thread = routine('shmem_query_thread', None, ctypes.POINTER(INT))
_team_sync = routine('shmem_team_sync', INT, POINTER)
_team_destroy = routine('shmem_team_destroy', None, POINTER)
_team_of_pes = routine('shmemx_team_of_pes', INT, ctypes.POINTER(INT), INT, POINTER, POINTER)
_broadcast = routine('shmem_broadcastmem', INT, POINTER, POINTER, POINTER, SIZE, INT)
_fcollect = routine('shmem_fcollectmem', INT, POINTER, POINTER, POINTER, SIZE)
_alltoallv = routine('shmemx_alltoallv', INT, *[POINTER] * 7, INT)
_reduce_scatter = routine('shmemx_reduce_scatter', INT, *[POINTER] * 3, SIZE, INT, INT)
_gather = routine('shmemx_gather', INT, *[POINTER] * 3, SIZE, INT, INT)
_scatter = routine('shmemx_scatter', INT, *[POINTER] * 3, SIZE, INT, INT)
_long_max = routine('shmem_long_max_reduce', INT, *[POINTER] * 3, SIZE)
_BYTES = _CODES['uint8']


@functools.lru_cache(maxsize=None)
def _reduction(name: str, operation: str) -> Any:
    ours = 'x' if operation == 'avg' or name in ('half', 'bfloat16') else ''
    return routine('shmem%s_%s_%s_reduce' % (ours, name, operation), INT, *[POINTER] * 3, SIZE)


@functools.lru_cache(maxsize=None)
def _reduction_of(number: int, dtype: torch.dtype) -> tuple:
    """(the library's routine, its codes of the type and of the operation, bytes of an element)"""
    name = _BY_HASH.get(number)
    if name is None:
        raise ValueError('torushmem: there is no such reduction; there are %s' % ', '.join(_OPERATIONS))
    if dtype not in _NAMES:
        raise ValueError('torushmem: no reductions of %s' % dtype)
    operation, code = _OPERATIONS[_OF_BOOL.get(name, name) if dtype is torch.bool else name]
    try:
        reduce = _reduction(_NAMES[dtype], operation)
    except Error:
        raise ValueError('torushmem: no reduction %s of %s' % (name, dtype)) from None
    return reduce, _CODES[_NAMES[dtype]], code, torch.empty(0, dtype=dtype).element_size()


def _number(opts: Any) -> int:
    return hash(opts.reduceOp) if opts is not None else hash(dist.ReduceOp.SUM)


# --- Tensors ---

def empty(*shape: Any, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """A tensor in symmetric memory: all processes of the job call it, with the same arguments. It lasts until the job
    ends, or until torushmem.torch.free."""
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    dtype = dtype or torch.get_default_dtype()
    like = torch.empty(0, dtype=torch.int16 if dtype is torch.bfloat16 else dtype).numpy()
    tensor = torch.from_numpy(sh.empty(tuple(shape), like.dtype))
    return tensor.view(dtype) if dtype is torch.bfloat16 else tensor


def zeros(*shape: Any, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """The same, of zeros."""
    tensor = empty(*shape, dtype=dtype)
    tensor.zero_()
    sh.barrier_all()
    return tensor


def free(tensor: torch.Tensor) -> None:
    """Ends a tensor of empty or zeros. All processes call it, in the same order."""
    sh.free((tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor).numpy())


def _check(tensors: Sequence[torch.Tensor]) -> None:
    for tensor in tensors:
        if not tensor.is_cpu:
            raise ValueError('torushmem: a tensor is on %s; this backend is for those on the host' % tensor.device)
        if tensor.layout is not torch.strided:
            raise ValueError('torushmem: a tensor is sparse; give dense ones')


_copy = ctypes.memmove


# --- The job ---

class _Job:
    """What all groups share: made with the first default group, by all processes."""

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self.store = store
        self._begin(store, rank, size)
        self.psyncs = sh.zeros((GROUPS + 1, 64), np.int64)
        self.mail = Mail(sh.n_pes())
        self.groups: weakref.WeakSet = weakref.WeakSet()
        self.over = threading.Event()
        self.watch = threading.Thread(target=_watch, args=(self.groups, self.over), name='torushmem limits', daemon=True)
        self.watch.start()
        self._teams: dict = {}
        self.share = SHARE
        while True:
            try:
                self.room = sh.empty((GROUPS + 4) * self.share, np.uint8)
                break
            except MemoryError:
                self.share //= 2
                if self.share < LEAST_SHARE:
                    raise

    @staticmethod
    def _begin(store: Any, rank: int, size: int) -> None:
        """As the launcher says, or else by the store that torch has."""
        if not sh.initialized() and 'PMIX_RANK' in os.environ:
            sh.init(threads='multiple')
        elif not sh.initialized():
            if rank == 0:
                store.set('torushmem/id', sh.get_unique_id())
            sh.init('multiple', rank, size, store.get('torushmem/id'), errors='return')
        level = INT()
        _query_thread(ctypes.byref(level))
        if level.value < 3:
            raise Error("torushmem: groups have threads of their own; call torushmem.init(threads='multiple') before "
                        'init_process_group, or leave it out')
        if (sh.my_pe(), sh.n_pes()) != (rank, size):
            raise Error('torushmem: this is rank %d of %d for torch, and PE %d of %d; rank and world_size must be those of '
                        'the launcher' % (rank, size, sh.my_pe(), sh.n_pes()))

    @staticmethod
    def fits(rank: int, size: int) -> bool:
        return sh.broken() is None and (sh.my_pe(), sh.n_pes()) == (rank, size)

    def renew(self, store: Any) -> None:
        """The program has destroyed its groups, and begins again. All processes have come here before anything of the
        old groups is used again."""
        _must(_team_sync(self._teams[0]), 'init_process_group')
        for group in list(self.groups):
            group.stop(Error('torushmem: this group was destroyed'))
        for index in sorted(index for index in self._teams if index):
            _team_destroy(self._teams.pop(index))
        self.store = store

    def region(self, index: int) -> tuple:
        """(address, bytes) for a group; 0 is the world."""
        base = _memory.symmetric(self.room, 'torushmem')
        return (base, 4 * self.share) if index == 0 else (base + (3 + index) * self.share, self.share)

    def team(self, index: int, pes: Sequence[int]) -> int:
        if index not in self._teams:
            made = ctypes.c_void_p()
            psync = _memory.symmetric(self.psyncs[index], 'torushmem')
            _must(_team_of_pes((INT * len(pes))(*pes), len(pes), psync, ctypes.byref(made)), 'a new group')
            self._teams[index] = made.value
        return self._teams[index]


_job: Optional[_Job] = None


def _forget_job() -> None:
    """torushmem.finalize ends it."""
    global _job
    if _job is None:
        return
    for group in list(_job.groups):
        group.stop(Error('torushmem: the job was finalized'))
    _job.mail.close()
    _job.over.set()
    _job.watch.join()
    _job = None


at_end(_forget_job)


def _watch(groups: weakref.WeakSet, over: threading.Event) -> None:
    """Nothing else can end what runs in the caller's thread too long."""
    while not over.wait(1):
        _end_if_late(groups)


def _end_if_late(groups: weakref.WeakSet) -> None:
    for group in list(groups):
        since = group.since
        if since is not None and time.monotonic() - since > group.limit:
            print('torushmem: rank %d: a call took longer than %g s, the time limit of its group' %
                  (group.rank(), group.limit), file=sys.stderr, flush=True)
            sh.global_exit(1)


def _must(status: int, what: str) -> None:
    if status:
        raise sh.broken() or Error('torushmem: %s failed with status %d' % (what, status))


# --- Groups ---

class Group(dist.ProcessGroup):
    """A group of processes: a team."""

    def __init__(self, rank: int, index: int, pes: list, limit: Any) -> None:
        super().__init__(rank, len(pes))
        self._rank, self._size, self._index, self._pes = rank, len(pes), index, pes
        # Since when the caller's thread is in the library, and how long it may be.
        self.since, self.limit = time.monotonic(), seconds_of(limit)
        _job.groups.add(self)
        self._team = _job.team(index, pes)
        self.since = None
        base, nbytes = _job.region(index)
        # Rooms are used in turns: who begins the call after next has ended the next, in which all
        # others take part, so these have read what the first one left. The third lets copies go on
        # meanwhile.
        self._room = nbytes // ROOMS // LINE * LINE
        self._rooms, self._turn = [base + i * self._room for i in range(ROOMS)], 0
        self._runner, self._copier = Runner('torushmem group'), Runner('torushmem copies')
        self._queued, self._lock = 0, threading.Lock()
        self._error: Optional[BaseException] = None
        self._note: Optional[list] = None

    # Names that torch asks for; since 2.x it gives one to each group, by which its functional
    # collectives find it.
    group_name = ''

    def _set_group_name(self, name: str) -> None:
        self.group_name = name

    def getGroupName(self) -> str:
        return self.group_name

    def getBackendName(self) -> str:
        return BACKEND

    def name(self) -> str:
        return BACKEND

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size

    # --- Running ---

    def close(self, error: BaseException) -> None:
        """Nothing goes on in it from now on."""
        self._error = self._error or error

    def stop(self, error: BaseException) -> None:
        """Ends its threads as well."""
        self.close(error)
        self._runner.stop()
        self._copier.stop()

    def _check_whole(self) -> None:
        if self._error is not None:
            raise self._error

    def _is_at_once(self, nbytes: int, opts: Any) -> bool:
        """Does the caller's thread run the collective? Newer versions of torch say whether it waits anyway. What a
        callback in the group's own thread calls cannot wait for that."""
        self._check_whole()
        return (self._queued == 0 and nbytes <= AT_ONCE and self.limit >= PATIENT and not INTERACTIVE and
                not getattr(opts, 'asyncOp', False) or self._runner.is_this_thread())

    def _run(self, what: str, call: Callable[[], None], result: Any, nbytes: int, opts: Any = None) -> Any:
        work = Work(what, result)
        with self._lock:
            at_once = self._is_at_once(nbytes, opts)
            if not at_once:
                self._queued += 1
                self._runner.put(work.begin(self.limit, self.close),
                                 functools.partial(self._run_queued, what, call, nbytes))
        if at_once:
            self.since = time.monotonic()
            try:
                self._run_noted(what, call, nbytes)
            finally:
                self.since = None
        return work.for_caller()

    def _run_noted(self, what: str, call: Callable[[], None], nbytes: int) -> None:
        note = self._note = _progress.begin(what, nbytes)
        try:
            call()
        finally:
            _progress.end(note)

    def _run_queued(self, what: str, call: Callable[[], None], nbytes: int) -> None:
        try:
            self._check_whole()
            self._run_noted(what, call, nbytes)
        except BaseException as error:
            self.close(error)
            raise
        finally:
            with self._lock:
                self._queued -= 1

    def _next_room(self) -> int:
        self._turn = (self._turn + 1) % ROOMS
        return self._rooms[self._turn]

    def _sync(self) -> None:
        _must(_team_sync(self._team), 'sync')

    def _at_same_place(self, flat: Flat, suits: bool = True) -> bool:
        """Does the tensor lie in symmetric memory, at the same place on all, and does it suit all? Then it is ready
        on all, too. All ranks get the same answer."""
        if flat.nbytes <= AT_ONCE:
            return False
        good = flat.symmetric and suits
        room = self._next_room()
        words = (ctypes.c_long * 4).from_address(room)
        words[0] = flat.address - _job.region(0)[0] if good else -1 << 62
        words[1] = -words[0]
        _must(_long_max(self._team, room + 16, room, 2), 'comparison of addresses')
        return good and words[2] == -words[3]

    def _step(self, parts: int) -> int:
        """Bytes of each of so many parts that fit into a room, in whole lines."""
        step = self._room // parts // LINE * LINE
        if not step:
            raise Error('torushmem: %d ranks need more symmetric memory; set SHMEM_SYMMETRIC_SIZE (as in 1G)' % self._size)
        return step

    def _in_pieces(self, nbytes: int, step: int, fill: Callable, call: Callable, drain: Callable) -> None:
        """Each function gets a room, and which bytes: where they begin, and how many. While one piece is on its way,
        another thread drains the piece before and fills the next."""
        count = -(-nbytes // step)
        step = -(-nbytes // (max(count, 1) * LINE)) * LINE or step
        pieces = [(self._next_room(), at, min(step, nbytes - at)) for at in range(0, nbytes, step)]
        for i, piece in enumerate(pieces):
            before, after = pieces[max(i - 1, 0):i], pieces[i + 1:i + 2]
            if i == 0:
                fill(*piece)
            copies = self._copy_meanwhile(drain, before, fill, after)
            try:
                call(*piece)
            finally:
                if copies is not None:
                    copies.wait()
            if self._note is not None:
                self._note[2] = self._note[1] * (i + 1) // len(pieces)
        for piece in pieces[-1:]:
            drain(*piece)

    def _copy_meanwhile(self, drain: Callable, before: list, fill: Callable, after: list) -> Optional[Work]:
        if not before and not after:
            return None

        def copy() -> None:
            for piece in before:
                drain(*piece)
            for piece in after:
                fill(*piece)
        work = Work('copies', None).begin(self.limit, lambda error: None)
        self._copier.put(work, copy)
        return work

    # --- Collectives ---

    def allreduce(self, tensors: list, opts: Any = None) -> Any:
        (tensor,) = tensors
        _check(tensors)
        reduce, _, _, size = _reduction_of(_number(opts), tensor.dtype)
        count = tensor.numel()
        nbytes = count * size
        if nbytes <= AT_ONCE and tensor.is_contiguous() and self._is_at_once(nbytes, opts) and not _progress.is_on():
            # The usual case of small ones, without detours.
            address, room = tensor.data_ptr(), self._next_room()
            _copy(room, address, nbytes)
            self.since = time.monotonic()
            status = reduce(self._team, room, room, count)
            self.since = None
            _must(status, 'all_reduce')
            _copy(address, room, nbytes)
            return Work('all_reduce', tensors).for_caller()
        return self._run('all_reduce', functools.partial(self._allreduce, tensor, reduce, size), tensors, nbytes, opts)

    def _allreduce(self, tensor: torch.Tensor, reduce: Callable, size: int) -> None:
        with Flat(tensor, True) as flat:
            if self._at_same_place(flat):
                _must(reduce(self._team, flat.address, flat.address, flat.nbytes // size), 'all_reduce')
                return
            self._in_pieces(flat.nbytes, self._step(1),
                            lambda room, at, nbytes: _copy(room, flat.address + at, nbytes),
                            lambda room, at, nbytes: _must(reduce(self._team, room, room, nbytes // size), 'all_reduce'),
                            lambda room, at, nbytes: _copy(flat.address + at, room, nbytes))

    def allreduce_coalesced(self, tensors: list, opts: Any = None) -> Any:
        works = [self.allreduce([tensor], opts) for tensor in tensors]
        return self._after(works, 'all_reduce', tensors) if len(works) != 1 else works[0]

    def _after(self, works: list, what: str, result: Any) -> Any:
        def wait() -> None:
            for work in works:
                work.wait()
        return self._run(what, wait, result, 0)

    def reduce(self, tensors: list, opts: Any) -> Any:
        """Only the root's tensor changes."""
        (tensor,) = tensors
        _check(tensors)
        reduce, _, _, size = _reduction_of(_number(opts), tensor.dtype)
        scratch = tensor if opts.rootRank == self._rank else tensor.clone()
        return self._run('reduce', functools.partial(self._allreduce, scratch, reduce, size), tensors, nbytes_of(tensor),
                         opts)

    def broadcast(self, tensors: list, opts: Any) -> Any:
        (tensor,) = tensors
        _check(tensors)
        return self._run('broadcast', functools.partial(self._broadcast, tensor, opts.rootRank), tensors,
                         nbytes_of(tensor), opts)

    def _broadcast(self, tensor: torch.Tensor, root: int) -> None:
        step, is_root = self._step(2), self._rank == root
        with Flat(tensor, not is_root) as flat:
            if self._at_same_place(flat):
                _must(_broadcast(self._team, flat.address, flat.address, flat.nbytes, root), 'broadcast')
                self._sync()
                return

            def call(room: int, at: int, nbytes: int) -> None:
                _must(_broadcast(self._team, room, room + step, nbytes, root), 'broadcast')
                self._sync()
            self._in_pieces(flat.nbytes, step,
                            lambda room, at, nbytes: is_root and _copy(room + step, flat.address + at, nbytes), call,
                            lambda room, at, nbytes: is_root or _copy(flat.address + at, room, nbytes))

    def allgather(self, outputs: list, inputs: list, opts: Any = None) -> Any:
        (output,), (tensor,) = outputs, inputs
        _check([*output, tensor])
        if len(output) != self._size or any(nbytes_of(out) != nbytes_of(tensor) for out in output):
            raise ValueError('torushmem: allgather: give an output like the input for each of %d ranks' % self._size)
        return self._run('all_gather', functools.partial(self._allgather, output, tensor), outputs,
                         nbytes_of(tensor) * self._size, opts)

    def _allgather_base(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> Any:
        _check([output, tensor])
        if nbytes_of(output) != self._size * nbytes_of(tensor):
            raise ValueError('torushmem: allgather: the output must be %d times as long as the input' % self._size)
        if not output.is_contiguous():
            raise ValueError('torushmem: allgather: the output must be contiguous')
        parts = list(output.view(-1).chunk(self._size)) if output.numel() else []
        return self._run('all_gather', functools.partial(self._allgather, parts, tensor), output, nbytes_of(output), opts)

    def _allgather(self, output: list, tensor: torch.Tensor) -> None:
        step = self._step(self._size + 1)
        source = self._size * step
        with Flat(tensor) as flat:
            outs = [Flat(out, True) for out in output]
            follow = all(out.address == outs[0].address + i * flat.nbytes for i, out in enumerate(outs))
            if outs and self._at_same_place(flat) and self._at_same_place(outs[0], follow):
                _must(_fcollect(self._team, outs[0].address, flat.address, flat.nbytes), 'all_gather')
                return

            def drain(room: int, at: int, nbytes: int) -> None:
                for i, out in enumerate(outs):
                    _copy(out.address + at, room + i * nbytes, nbytes)
            self._in_pieces(flat.nbytes, step,
                            lambda room, at, nbytes: _copy(room + source, flat.address + at, nbytes),
                            lambda room, at, nbytes: _must(_fcollect(self._team, room, room + source, nbytes), 'all_gather'),
                            drain)
            for out in outs:
                out.__exit__()

    def allgather_into_tensor_coalesced(self, outputs: list, inputs: list, opts: Any = None) -> Any:
        return self._after([self._allgather_base(out, tensor, opts) for out, tensor in zip(outputs, inputs)],
                           'all_gather', outputs)

    def reduce_scatter(self, outputs: list, inputs: list, opts: Any = None) -> Any:
        (output,), (blocks,) = outputs, inputs
        return self._begin_reduce_scatter(output, blocks, opts, outputs)

    def _reduce_scatter_base(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> Any:
        blocks = list(tensor.contiguous().view(-1).chunk(self._size)) if tensor.numel() else []
        return self._begin_reduce_scatter(output, blocks, opts, output)

    def reduce_scatter_tensor_coalesced(self, outputs: list, inputs: list, opts: Any = None) -> Any:
        return self._after([self._reduce_scatter_base(out, tensor, opts) for out, tensor in zip(outputs, inputs)],
                           'reduce_scatter', outputs)

    def _begin_reduce_scatter(self, output: torch.Tensor, blocks: list, opts: Any, result: Any) -> Any:
        _check([output, *blocks])
        if output.numel() and (len(blocks) != self._size or any(nbytes_of(block) != nbytes_of(output) for block in blocks)):
            raise ValueError('torushmem: reduce_scatter: give a block like the output for each of %d ranks' % self._size)
        _, *codes, size = _reduction_of(_number(opts), output.dtype)
        return self._run('reduce_scatter', functools.partial(self._reduce_scatter, output, blocks, codes, size), result,
                         nbytes_of(output) * self._size, opts)

    def _reduce_scatter(self, output: torch.Tensor, blocks: list, codes: list, size: int) -> None:
        step = self._step(self._size + 1)
        with Flat(output, True) as flat:
            ins = [Flat(block) for block in blocks]

            def fill(room: int, at: int, nbytes: int) -> None:
                for i, block in enumerate(ins):
                    _copy(room + step + i * nbytes, block.address + at, nbytes)
            self._in_pieces(flat.nbytes, step, fill,
                            lambda room, at, nbytes: _must(_reduce_scatter(self._team, room, room + step, nbytes // size,
                                                                           *codes), 'reduce_scatter'),
                            lambda room, at, nbytes: _copy(flat.address + at, room, nbytes))

    def alltoall_base(self, output: torch.Tensor, tensor: torch.Tensor, output_splits: list, input_splits: list,
                      opts: Any = None) -> Any:
        _check([output, tensor])
        if not (output.is_contiguous() and tensor.is_contiguous()):
            raise ValueError('torushmem: all_to_all: tensors must be contiguous')
        into, out_of = self._spans(output, output_splits), self._spans(tensor, input_splits)

        def call(_keep: Any = (output, tensor)) -> None:
            self._alltoall(into, out_of)
        return self._run('all_to_all', call, output, self._size * AT_ONCE, opts)

    def _spans(self, tensor: torch.Tensor, splits: list) -> list:
        """(address, bytes) of each rank's part, along the first axis."""
        rows = tensor.shape[0] if tensor.dim() else 0
        if not splits:
            if rows % self._size:
                raise ValueError('torushmem: all_to_all: %d rows for %d ranks; give sizes' % (rows, self._size))
            splits = [rows // self._size] * self._size
        if len(splits) != self._size or sum(splits) != rows:
            raise ValueError('torushmem: all_to_all: the sizes must be %d numbers with the sum %d' % (self._size, rows))
        row = nbytes_of(tensor) // rows if rows else 0
        spans, at = [], tensor.data_ptr()
        for split in splits:
            spans.append((at, split * row))
            at += split * row
        return spans

    def alltoall(self, outputs: list, inputs: list, opts: Any = None) -> Any:
        _check([*outputs, *inputs])
        if len(outputs) != self._size or len(inputs) != self._size:
            raise ValueError('torushmem: all_to_all: give an input and an output for each of %d ranks' % self._size)
        outs, ins = [Flat(out, True) for out in outputs], [Flat(tensor) for tensor in inputs]

        def call() -> None:
            self._alltoall([(out.address, out.nbytes) for out in outs], [(one.address, one.nbytes) for one in ins])
            for out in outs:
                out.__exit__()
        return self._run('all_to_all', call, outputs, self._size * AT_ONCE, opts)

    def _alltoall(self, into: list, out_of: list) -> None:
        """In rounds of so many bytes for each; the longest part of all decides how many."""
        n = self._size
        step = self._step(2 * n)
        words = SIZE * n
        room = self._next_room()
        longest = ctypes.c_long.from_address(room)
        longest.value = max(max(nbytes for _, nbytes in into), max(nbytes for _, nbytes in out_of))
        _must(_long_max(self._team, room + LINE, room, 1), 'all_to_all')
        rounds = -(-ctypes.c_long.from_address(room + LINE).value // step)
        places = words(*range(0, n * step, step))

        def counts(spans: list, at: int) -> Any:
            return words(*(min(max(nbytes - at, 0), step) for _, nbytes in spans))

        def fill(room: int, at: int, _: int) -> None:
            for i, ((address, _), nbytes) in enumerate(zip(out_of, counts(out_of, at))):
                _copy(room + (n + i) * step, address + at, nbytes)

        def call(room: int, at: int, _: int) -> None:
            _must(_alltoallv(self._team, room, room + n * step, counts(into, at), places, counts(out_of, at), places,
                             _BYTES), 'all_to_all')

        def drain(room: int, at: int, _: int) -> None:
            for i, ((address, _), nbytes) in enumerate(zip(into, counts(into, at))):
                _copy(address + at, room + i * step, nbytes)
        self._in_pieces(rounds * step, step, fill, call, drain)

    def gather(self, outputs: list, inputs: list, opts: Any) -> Any:
        (tensor,) = inputs
        output = outputs[0] if self._rank == opts.rootRank else []
        _check([*output, tensor])
        if self._rank == opts.rootRank and (len(output) != self._size or
                                            any(nbytes_of(out) != nbytes_of(tensor) for out in output)):
            raise ValueError('torushmem: gather: the root needs an output like the input for each of %d ranks' % self._size)
        return self._run('gather', functools.partial(self._gather, output, tensor, opts.rootRank), outputs,
                         nbytes_of(tensor) * self._size, opts)

    def _gather(self, output: list, tensor: torch.Tensor, root: int) -> None:
        with Flat(tensor) as flat:
            outs = [Flat(out, True) for out in output]

            def call(room: int, at: int, nbytes: int) -> None:
                _must(_gather(self._team, room, flat.address + at, nbytes, _BYTES, root), 'gather')
                self._sync()

            def drain(room: int, at: int, nbytes: int) -> None:
                for i, out in enumerate(outs):
                    _copy(out.address + at, room + i * nbytes, nbytes)
            self._in_pieces(flat.nbytes, self._step(self._size), lambda *_: None, call, drain)
            for out in outs:
                out.__exit__()

    def scatter(self, outputs: list, inputs: list, opts: Any) -> Any:
        (output,) = outputs
        blocks = inputs[0] if self._rank == opts.rootRank else []
        _check([output, *blocks])
        if self._rank == opts.rootRank and (len(blocks) != self._size or
                                            any(nbytes_of(block) != nbytes_of(output) for block in blocks)):
            raise ValueError('torushmem: scatter: the root needs a block like the output for each of %d ranks' % self._size)
        return self._run('scatter', functools.partial(self._scatter, output, blocks, opts.rootRank), outputs,
                         nbytes_of(output) * self._size, opts)

    def _scatter(self, output: torch.Tensor, blocks: list, root: int) -> None:
        with Flat(output, True) as flat:
            ins = [Flat(block) for block in blocks]

            def fill(room: int, at: int, nbytes: int) -> None:
                for i, block in enumerate(ins):
                    _copy(room + i * nbytes, block.address + at, nbytes)

            def call(room: int, at: int, nbytes: int) -> None:
                _must(_scatter(self._team, flat.address + at, room, nbytes, _BYTES, root), 'scatter')
                self._sync()
            self._in_pieces(flat.nbytes, self._step(self._size), fill, call, lambda *_: None)

    def barrier(self, opts: Any = None) -> Any:
        return self._run('barrier', self._sync, None, 0, opts)

    # --- Messages ---

    def send(self, tensors: list, to: int, tag: int = 0) -> Work:
        (tensor,) = tensors
        _check(tensors)
        self._check_whole()
        return _job.mail.send(tensor, self._pes[to], (self._index, tag), self.limit)

    def recv(self, tensors: list, source: int, tag: int = 0) -> Work:
        return self._receive(tensors, [self._pes[source]], tag)

    def recv_anysource(self, tensors: list, tag: int = 0) -> Work:
        return self._receive(tensors, list(self._pes), tag)

    def _receive(self, tensors: list, sources: list, tag: int) -> Work:
        (tensor,) = tensors
        _check(tensors)
        self._check_whole()
        return _job.mail.receive(tensor, sources, (self._index, tag), self._pes, self.limit)


# --- Making groups ---

def _world(options: Any) -> Group:
    """The group of all processes begins the job, or takes it over from the one before."""
    global _job
    if _job is not None and not _job.fits(options.group_rank, options.group_size):
        sh.finalize()
    if _job is None:
        _job = _Job(options.store, options.group_rank, options.group_size)
    else:
        _job.renew(options.store)
    # Not SHMEM_TEAM_WORLD: the program's own calls use that, in another thread.
    return Group(sh.my_pe(), 0, list(range(sh.n_pes())), options.timeout)


def _some(options: Any, pes: list) -> Group:
    """One of some processes: the first of them gives it a number, and so a part of symmetric memory."""
    if options.group_rank == 0:
        index = _job.store.add('torushmem/groups', 1)
        options.store.set('torushmem/index', str(index))
    index = int(options.store.get('torushmem/index'))
    if index > GROUPS:
        raise Error('torushmem: more than %d groups since init_process_group' % GROUPS)
    return Group(options.group_rank, index, pes, options.timeout)


def _create(options: Any, _: Any = None) -> Group:
    """What torch calls for a new group; the default group has no list of ranks."""
    pes = [int(pe) for pe in options.global_ranks_in_group]
    return _some(options, pes) if _job is not None and pes else _world(options)


def _register() -> None:
    arguments = {'extended_api': True}
    try:
        dist.Backend.register_backend(BACKEND, _create, devices=['cpu'], **arguments)
    except TypeError:  # torch before 2.0 does not know devices
        dist.Backend.register_backend(BACKEND, _create, **arguments)


_register()
