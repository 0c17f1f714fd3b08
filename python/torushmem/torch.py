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

import atexit
import collections
import ctypes
import functools
import os
import queue
import sys
import threading
import time
import traceback

import numpy as np
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future

import torushmem as sh

from . import _memory
from ._library import INT, POINTER, SIZE, Error, routine

BACKEND = 'torushmem'

_NAMES = {torch.float32: 'float', torch.float64: 'double', torch.float16: 'half', torch.bfloat16: 'bfloat16',
          torch.int8: 'int8', torch.uint8: 'uint8', torch.int16: 'int16', torch.int32: 'int32', torch.int64: 'int64',
          torch.complex64: 'complexf', torch.complex128: 'complexd', torch.bool: 'uint8'}
_CODES = {'float': 0, 'double': 1, 'int8': 14, 'int16': 15, 'int32': 16, 'int64': 17, 'uint8': 18, 'complexd': 24,
          'complexf': 25, 'half': 26, 'bfloat16': 27}
_OPERATIONS = {'SUM': ('sum', 0), 'PRODUCT': ('prod', 1), 'MIN': ('min', 2), 'MAX': ('max', 3), 'BAND': ('and', 4),
               'BOR': ('or', 5), 'BXOR': ('xor', 6), 'AVG': ('avg', 7)}
_MEMBERS = [(name, getattr(dist.ReduceOp, name)) for name in _OPERATIONS if hasattr(dist.ReduceOp, name)]
# Sums of truth values are whether any is true, products whether all are.
_OF_BOOL = {'SUM': 'BOR', 'MAX': 'BOR', 'PRODUCT': 'BAND', 'MIN': 'BAND'}

LINE = 64
GROUPS = 64             # most groups beside the world, in the life of a job
SHARE = 4 << 20         # of symmetric memory for one of them; the world has four times as much
LEAST_SHARE = 64 << 10
STOP_SECONDS = 2
AT_ONCE = 64 << 10      # bytes of a collective that runs in the calling thread

_put_signal = routine('shmem_putmem_signal', None, POINTER, POINTER, SIZE, POINTER, ctypes.c_uint64, INT, INT)
_signal_fetch = routine('shmem_signal_fetch', ctypes.c_uint64, POINTER)
_set_signal = routine('shmem_uint64_atomic_set', None, POINTER, ctypes.c_uint64, INT)
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
def _reduction(name, operation):
    ours = 'x' if operation == 'avg' or name in ('half', 'bfloat16') else ''
    return routine('shmem%s_%s_%s_reduce' % (ours, name, operation), INT, *[POINTER] * 3, SIZE)


def _reduce_op(op, dtype):
    """(name of the type, name of the operation, its code)"""
    name = next((name for name, member in _MEMBERS if op == member), None)
    if name is None:
        raise ValueError('torushmem: no reduction %s; there are %s' % (op, ', '.join(_OPERATIONS)))
    if dtype is torch.bool:
        name = _OF_BOOL.get(name, name)
    if dtype not in _NAMES:
        raise ValueError('torushmem: no reductions of %s' % dtype)
    operation, code = _OPERATIONS[name]
    try:
        _reduction(_NAMES[dtype], operation)
    except Error:
        raise ValueError('torushmem: no reduction %s of %s' % (name, dtype)) from None
    return _NAMES[dtype], operation, code


# --- Tensors ---

def empty(*shape, dtype=None):
    """A tensor in symmetric memory: all processes of the job call it, with the same arguments. It lasts until the job
    ends, or until torushmem.torch.free."""
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    dtype = dtype or torch.get_default_dtype()
    like = torch.empty(0, dtype=torch.int16 if dtype is torch.bfloat16 else dtype).numpy()
    tensor = torch.from_numpy(sh.empty(tuple(shape), like.dtype))
    return tensor.view(dtype) if dtype is torch.bfloat16 else tensor


def zeros(*shape, dtype=None):
    """The same, of zeros."""
    tensor = empty(*shape, dtype=dtype)
    tensor.zero_()
    sh.barrier_all()
    return tensor


def free(tensor):
    """Ends a tensor of empty or zeros. All processes call it, in the same order."""
    sh.free((tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor).numpy())


def _check(tensors):
    for tensor in tensors:
        if tensor.device.type != 'cpu':
            raise ValueError('torushmem: a tensor is on %s; this backend is for those on the host' % tensor.device)
        if tensor.is_sparse:
            raise ValueError('torushmem: a tensor is sparse; give dense ones')


def _bytes(tensor):
    return tensor.numel() * tensor.element_size()


class _Flat:
    """A tensor as bytes at an address. Use it with `with`: one whose elements do not lie one after another is copied,
    and copied back if it is a result."""

    def __init__(self, tensor, result=False):
        # Results may be parameters, which torch lets nobody else write.
        self._tensor, self._result = tensor.detach(), result
        self._dense = tensor if tensor.is_contiguous() else tensor.contiguous()
        self.address, self.nbytes = self._dense.data_ptr(), _bytes(tensor)
        self.symmetric = self.nbytes > 0 and _memory.contains(self.address, self.nbytes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._result and self._dense is not self._tensor:
            self._tensor.copy_(self._dense)


_copy = ctypes.memmove


# --- Messages ---

SLOTS = 2
HEADER = 4 * 8  # group, tag, bytes of the message, position of the piece
MAIL_SHARE = 64 << 20  # of symmetric memory, at most; a pair of PEs has at most this much:
MOST_PIECE, LEAST_PIECE = 256 << 10, 1 << 10
_BRISK, _PAUSE = 1e-3, 50e-6


class _Mail:
    """Messages between two processes. Each has an inbox with two slots from each other one. A message goes in pieces; a
    piece goes when its slot is free, and its number follows it as a signal. The receiver gives the number back when it
    has copied the piece. A thread does all that, while anything is under way."""

    def __init__(self, n):
        self._me = sh.my_pe()
        self._slot = min(max(MAIL_SHARE // n // SLOTS, LEAST_PIECE), MOST_PIECE) // LINE * LINE
        self._inbox = sh.empty((n, SLOTS, self._slot), np.uint8)
        self._come, self._taken = sh.zeros(n, np.uint64), sh.zeros(n, np.uint64)
        self._sent, self._read = [0] * n, [0] * n
        self._sends = [collections.deque() for _ in range(n)]
        self._receives, self._early = [], collections.deque()
        self._coming = [None] * n  # the message whose pieces come from each
        self._lock = threading.Condition()
        self._thread, self._ending = None, False
        self._ended = []  # tasks, which call what others wrote: outside of the lock
        self._piece = np.empty(self._slot, np.uint8)
        self._inbox_at = _memory.symmetric(self._inbox, 'torushmem')
        self._come_at = _memory.symmetric(self._come, 'torushmem')
        self._taken_at = _memory.symmetric(self._taken, 'torushmem')

    def send(self, tensor, to, group, tag):
        task = _Task([tensor])
        with self._lock:
            self._sends[to].append([task, _Flat(tensor), 0, (group, tag)])
            self._wake()
        return _Message(task)

    def receive(self, tensor, sources, group, tag, pes):
        message, key = _Message(_Task([tensor])), (group, tag)
        receive = (message, tensor, sources, key, pes)
        with self._lock:
            # What came before is first, also if it has not come whole.
            early = next((one for one in self._early if one.source in sources and one.key == key), None)
            if early is None:
                self._receives.append(receive)
            else:
                self._early.remove(early)
                early.give_to(receive, self._ended)
            self._wake()
        return message

    def _wake(self):
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name='torushmem messages', daemon=True)
            self._thread.start()
            atexit.register(self._stop)
        self._lock.notify()

    def _end_tasks(self):
        while self._ended:
            task, call = self._ended.pop(0)
            task.run_alone(call)

    def _stop(self):
        with self._lock:
            self._ending = True
            self._lock.notify()
        self._thread.join(STOP_SECONDS)

    def _busy(self):
        return self._receives or any(self._sends) or any(self._coming) or self._ended

    def _serve(self):
        idle = time.monotonic()
        while True:
            with self._lock:
                while not self._busy() and not self._ending:
                    self._lock.wait()
                    idle = time.monotonic()
                if self._ending:
                    return
                if self._advance():
                    idle = time.monotonic()
            self._end_tasks()
            if time.monotonic() - idle > _BRISK:
                time.sleep(_PAUSE)

    def _advance(self):
        moved = False
        for to, waiting in enumerate(self._sends):
            while waiting and self._send_piece(to, waiting[0]):
                moved = True
                if waiting[0][2] is None:
                    self._ended.append((waiting.popleft()[0], lambda: None))
        for source in range(len(self._read)):
            # Of a source that nobody receives from, messages stay where they are, and it waits.
            while self._wants(source) and self._read[source] < _signal_fetch(self._come_at + 8 * source):
                self._take_piece(source)
                moved = True
        return moved

    def _wants(self, source):
        return self._coming[source] is not None or any(source in receive[2] for receive in self._receives)

    def _send_piece(self, to, sending):
        _, flat, at, (group, tag) = sending
        if self._sent[to] - _signal_fetch(self._taken_at + 8 * to) >= SLOTS:
            return False
        nbytes = min(flat.nbytes - at, self._slot - HEADER)
        self._piece[:HEADER].view(np.int64)[:] = group, tag, flat.nbytes, at
        piece = self._piece.ctypes.data
        _copy(piece + HEADER, flat.address + at, nbytes)
        place = self._inbox_at + (self._me * SLOTS + self._sent[to] % SLOTS) * self._slot
        self._sent[to] += 1
        _put_signal(place, piece, HEADER + nbytes, self._come_at + 8 * self._me, self._sent[to], _memory.SIGNAL_SET, to)
        sending[2] = at + nbytes if at + nbytes < flat.nbytes else None
        return True

    def _take_piece(self, source):
        slot = self._inbox[source, self._read[source] % SLOTS]
        group, tag, total, at = map(int, slot[:HEADER].view(np.int64))
        nbytes = min(total - at, self._slot - HEADER)
        if at == 0:
            self._coming[source] = self._begin(source, (group, tag), total)
        message = self._coming[source]
        _copy(message.address + at, slot.ctypes.data + HEADER, nbytes)
        self._read[source] += 1
        _set_signal(self._taken_at + 8 * self._me, self._read[source], source)
        if at + nbytes >= total:
            self._coming[source] = None
            message.end(self._ended)

    def _begin(self, source, key, total):
        found = self._find(source, key)
        if found is None:
            early = _Early(source, key, total)
            self._early.append(early)
            return early
        return _Coming(found, source, total)

    def _find(self, source, key):
        for i, receive in enumerate(self._receives):
            if source in receive[2] and receive[3] == key:
                return self._receives.pop(i)
        return None


class _Early:
    """A message that came before anyone asked for it."""

    def __init__(self, source, key, total):
        self.source, self.key, self._total, self._complete, self._receive = source, key, total, False, None
        self._data = np.empty(max(total, 1), np.uint8)
        self.address = self._data.ctypes.data

    def end(self, ended):
        self._complete = True
        if self._receive is not None:
            self.give_to(self._receive, ended)

    def give_to(self, receive, ended):
        self._receive = receive
        if self._complete:
            coming = _Coming(receive, self.source, self._total)
            _copy(coming.address, self.address, self._total)
            coming.end(ended)


class _Coming:
    def __init__(self, receive, source, total):
        self._message, tensor, _, _, pes = receive
        self._flat, self._error = _Flat(tensor, True), None
        self._message._source = pes.index(source)
        self.address = self._flat.address
        if total != self._flat.nbytes:
            self._error = ValueError('torushmem: recv: the message has %d bytes, and the tensor %d' %
                                     (total, self._flat.nbytes))
            self._room = np.empty(max(total, 1), np.uint8)
            self.address = self._room.ctypes.data

    def end(self, ended):
        ended.append((self._message._task, self._finish))

    def _finish(self):
        self._message._error = self._error
        if self._error is None:
            self._flat.__exit__()


# --- The job ---

class _Job:
    """What all groups share: made with the first group, by all processes."""

    def __init__(self, store, rank, size):
        self.store = store
        self._begin(store, rank, size)
        self.psyncs = sh.zeros((GROUPS + 1, 64), np.int64)
        self.mail = _Mail(sh.n_pes())
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
    def _begin(store, rank, size):
        """As the launcher says, or else by the store that torch has."""
        if not sh.initialized() and 'PMIX_RANK' in os.environ:
            sh.init(threads='multiple')
        elif not sh.initialized():
            if rank == 0:
                store.set('torushmem/id', sh.get_unique_id())
            sh.init('multiple', rank, size, store.get('torushmem/id'))
        level = INT()
        _query_thread(ctypes.byref(level))
        if level.value < 3:
            raise Error("torushmem: groups have threads of their own; call torushmem.init(threads='multiple') before "
                        'init_process_group, or leave it out')
        if (sh.my_pe(), sh.n_pes()) != (rank, size):
            raise Error('torushmem: this is rank %d of %d for torch, and PE %d of %d; rank and world_size must be those of '
                        'the launcher' % (rank, size, sh.my_pe(), sh.n_pes()))

    def region(self, index):
        """(address, bytes) for a group; 0 is the world."""
        base = _memory.symmetric(self.room, 'torushmem')
        return (base, 4 * self.share) if index == 0 else (base + (3 + index) * self.share, self.share)

    def psync(self, index):
        return _memory.symmetric(self.psyncs[index], 'torushmem')


_job = None


# --- Work ---

class _Task:
    """What a thread runs, and the future of its result. The work that torch gets is made from the future: torch's C++ code
    keeps works longer than their Python objects."""

    def __init__(self, result):
        self._result, self.future = result, torch.futures.Future()

    def run(self, call):
        call()
        self.future.set_result(self._result)

    def run_alone(self, call):
        """In a thread of its own, from which nobody gets an exception: torch's works do not pass them on. The other
        ranks cannot go on without this one, so the job ends."""
        try:
            self.run(call)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            sh.global_exit(1)


class _Message(dist.Work if hasattr(dist, 'Work') else torch._C._distributed_c10d.Work):
    """The work of a send or a receive, which only Python code waits for."""

    def __init__(self, task):
        super().__init__()
        self._task, self._source, self._error = task, -1, None

    def is_completed(self):
        return self._task.future.done()

    def wait(self, timeout=None):
        self._task.future.wait()
        if self._error is not None:
            raise self._error
        return True

    def _source_rank(self):
        return self._source

    source_rank = _source_rank

    def get_future(self):
        return self._task.future


class Group(dist.ProcessGroup):
    """A group of processes: a team."""

    def __init__(self, rank, size, team, index, pes):
        super().__init__(rank, size)
        self._rank, self._size, self._team, self._index, self._pes = rank, size, team, index, pes
        base, nbytes = _job.region(index)
        # Two halves, used in turns: who begins the call after next has ended the next, in which all
        # others take part, so these have read what the first one left.
        self._half = nbytes // 2 // LINE * LINE
        self._halves, self._turn = (base, base + self._half), 0
        self._todo, self._queued, self._lock = queue.SimpleQueue(), 0, threading.Lock()
        self._thread = None

    # Names that torch asks for.
    def getBackendName(self):
        return BACKEND

    def name(self):
        return BACKEND

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    # --- Running ---

    def _serve(self):
        while True:
            job = self._todo.get()
            if job is None:
                return
            task, call = job
            task.run_alone(call)
            del job, task, call
            with self._lock:
                self._queued -= 1

    def _stop(self):
        """When Python ends: its threads may not be within torch then."""
        self._todo.put(None)
        self._thread.join(STOP_SECONDS)

    def _run(self, call, result, nbytes):
        task = _Task(result)
        # What is called by a callback in this group's own thread cannot wait for that.
        own = self._thread is not None and threading.get_ident() == self._thread.ident
        with self._lock:
            at_once = own or (self._queued == 0 and nbytes <= AT_ONCE)
            if not at_once:
                self._queued += 1
                if self._thread is None:
                    self._thread = threading.Thread(target=self._serve, name='torushmem group', daemon=True)
                    self._thread.start()
                    atexit.register(self._stop)
        if at_once:
            task.run(call)
        else:
            self._todo.put((task, call))
        return _create_work_from_future(task.future)

    def _next_half(self):
        self._turn ^= 1
        return self._halves[self._turn]

    def _must(self, status, what):
        if status:
            raise Error('torushmem: %s failed with status %d' % (what, status))

    def _sync(self):
        self._must(_team_sync(self._team), 'sync')

    def _at_same_place(self, flat, suits=True):
        """Does the tensor lie in symmetric memory, at the same place on all, and does it suit all? Then it is ready
        on all, too. All ranks get the same answer."""
        if flat.nbytes <= AT_ONCE:
            return False
        good = flat.symmetric and suits
        half = self._next_half()
        words = (ctypes.c_long * 4).from_address(half)
        words[0] = flat.address - _job.region(0)[0] if good else -1 << 62
        words[1] = -words[0]
        self._must(_long_max(self._team, half + 16, half, 2), 'comparison of addresses')
        return good and words[2] == -words[3]

    def _step(self, parts):
        """Bytes of each of so many parts that fit into a half, in whole lines."""
        step = self._half // parts // LINE * LINE
        if not step:
            raise Error('torushmem: %d ranks need more symmetric memory; set SHMEM_SYMMETRIC_SIZE (as in 1G)' % self._size)
        return step

    # --- Collectives ---

    def allreduce(self, tensors, opts=None):
        _check(tensors)
        (tensor,) = tensors
        name, operation, _ = _reduce_op(opts.reduceOp if opts is not None else dist.ReduceOp.SUM, tensor.dtype)
        call = functools.partial(self._allreduce, tensor, _reduction(name, operation))
        return self._run(call, tensors, _bytes(tensor))

    def _allreduce(self, tensor, reduce):
        size = tensor.element_size()
        with _Flat(tensor, True) as flat:
            if self._at_same_place(flat):
                self._must(reduce(self._team, flat.address, flat.address, flat.nbytes // size), 'allreduce')
                return
            for at in range(0, flat.nbytes, self._half):
                nbytes, half = min(self._half, flat.nbytes - at), self._next_half()
                _copy(half, flat.address + at, nbytes)
                self._must(reduce(self._team, half, half, nbytes // size), 'allreduce')
                _copy(flat.address + at, half, nbytes)

    def allreduce_coalesced(self, tensors, opts=None):
        works = [self.allreduce([tensor], opts) for tensor in tensors]
        return self._run(lambda: [work.wait() for work in works], tensors, 0) if len(works) != 1 else works[0]

    def reduce(self, tensors, opts):
        """Only the root's tensor changes."""
        _check(tensors)
        (tensor,) = tensors
        name, operation, _ = _reduce_op(opts.reduceOp, tensor.dtype)
        scratch = tensor if opts.rootRank == self._rank else tensor.clone()
        return self._run(functools.partial(self._allreduce, scratch, _reduction(name, operation)), tensors,
                         _bytes(tensor))

    def broadcast(self, tensors, opts):
        _check(tensors)
        (tensor,) = tensors
        return self._run(functools.partial(self._broadcast, tensor, opts.rootRank), tensors, _bytes(tensor))

    def _broadcast(self, tensor, root):
        step = self._step(2)
        with _Flat(tensor, self._rank != root) as flat:
            if self._at_same_place(flat):
                self._must(_broadcast(self._team, flat.address, flat.address, flat.nbytes, root), 'broadcast')
                self._sync()
                return
            for at in range(0, flat.nbytes, step):
                nbytes, half = min(step, flat.nbytes - at), self._next_half()
                if self._rank == root:
                    _copy(half + step, flat.address + at, nbytes)
                self._must(_broadcast(self._team, half, half + step, nbytes, root), 'broadcast')
                if self._rank != root:
                    _copy(flat.address + at, half, nbytes)
                self._sync()

    def allgather(self, outputs, inputs, opts=None):
        (output,), (tensor,) = outputs, inputs
        _check([*output, tensor])
        if len(output) != self._size or any(_bytes(out) != _bytes(tensor) for out in output):
            raise ValueError('torushmem: allgather: give an output like the input for each of %d ranks' % self._size)
        return self._run(functools.partial(self._allgather, output, tensor), outputs, _bytes(tensor) * self._size)

    def _allgather_base(self, output, tensor, opts=None):
        _check([output, tensor])
        if _bytes(output) != self._size * _bytes(tensor):
            raise ValueError('torushmem: allgather: the output must be %d times as long as the input' % self._size)
        if not output.is_contiguous():
            raise ValueError('torushmem: allgather: the output must be contiguous')
        parts = list(output.view(-1).chunk(self._size)) if output.numel() else []
        return self._run(functools.partial(self._allgather, parts, tensor), output, _bytes(output))

    def _allgather(self, output, tensor):
        step = self._step(self._size + 1)
        with _Flat(tensor) as flat:
            outs = [_Flat(out, True) for out in output]
            follow = all(out.address == outs[0].address + i * flat.nbytes for i, out in enumerate(outs))
            if outs and self._at_same_place(flat) and self._at_same_place(outs[0], follow):
                self._must(_fcollect(self._team, outs[0].address, flat.address, flat.nbytes), 'allgather')
                return
            for at in range(0, flat.nbytes, step):
                nbytes, half = min(step, flat.nbytes - at), self._next_half()
                source = half + self._size * step
                _copy(source, flat.address + at, nbytes)
                self._must(_fcollect(self._team, half, source, nbytes), 'allgather')
                for i, out in enumerate(outs):
                    _copy(out.address + at, half + i * nbytes, nbytes)
            for out in outs:
                out.__exit__()

    def allgather_into_tensor_coalesced(self, outputs, inputs, opts=None):
        works = [self._allgather_base(out, tensor) for out, tensor in zip(outputs, inputs)]
        return self._run(lambda: [work.wait() for work in works], outputs, 0)

    def reduce_scatter(self, outputs, inputs, opts=None):
        (output,), (blocks,) = outputs, inputs
        return self._begin_reduce_scatter(output, blocks, opts, outputs)

    def _reduce_scatter_base(self, output, tensor, opts=None):
        blocks = list(tensor.contiguous().view(-1).chunk(self._size)) if tensor.numel() else []
        return self._begin_reduce_scatter(output, blocks, opts, output)

    def _begin_reduce_scatter(self, output, blocks, opts, result):
        _check([output, *blocks])
        if output.numel() and (len(blocks) != self._size or any(_bytes(block) != _bytes(output) for block in blocks)):
            raise ValueError('torushmem: reduce_scatter: give a block like the output for each of %d ranks' % self._size)
        how = _reduce_op(opts.reduceOp if opts is not None else dist.ReduceOp.SUM, output.dtype)
        return self._run(functools.partial(self._reduce_scatter, output, blocks, how), result,
                         _bytes(output) * self._size)

    def _reduce_scatter(self, output, blocks, how):
        name, _, code = how
        size = output.element_size()
        step = self._step(self._size + 1)
        with _Flat(output, True) as flat:
            ins = [_Flat(block) for block in blocks]
            for at in range(0, flat.nbytes, step):
                nbytes, half = min(step, flat.nbytes - at), self._next_half()
                for i, block in enumerate(ins):
                    _copy(half + step + i * nbytes, block.address + at, nbytes)
                self._must(_reduce_scatter(self._team, half, half + step, nbytes // size, _CODES[name], code),
                           'reduce_scatter')
                _copy(flat.address + at, half, nbytes)

    def alltoall_base(self, output, tensor, output_splits, input_splits, opts=None):
        _check([output, tensor])
        if not (output.is_contiguous() and tensor.is_contiguous()):
            raise ValueError('torushmem: all_to_all: tensors must be contiguous')
        into, out_of = self._spans(output, output_splits), self._spans(tensor, input_splits)

        def call(_keep=(output, tensor)):
            self._alltoall(into, out_of)
        return self._run(call, output, self._size * AT_ONCE)

    def _spans(self, tensor, splits):
        """(address, bytes) of each rank's part, along the first axis."""
        rows = tensor.shape[0] if tensor.dim() else 0
        if not splits:
            if rows % self._size:
                raise ValueError('torushmem: all_to_all: %d rows for %d ranks; give sizes' % (rows, self._size))
            splits = [rows // self._size] * self._size
        if len(splits) != self._size or sum(splits) != rows:
            raise ValueError('torushmem: all_to_all: the sizes must be %d numbers with the sum %d' % (self._size, rows))
        row = _bytes(tensor) // rows if rows else 0
        spans, at = [], tensor.data_ptr()
        for split in splits:
            spans.append((at, split * row))
            at += split * row
        return spans

    def alltoall(self, outputs, inputs, opts=None):
        _check([*outputs, *inputs])
        if len(outputs) != self._size or len(inputs) != self._size:
            raise ValueError('torushmem: all_to_all: give an input and an output for each of %d ranks' % self._size)
        outs, ins = [_Flat(out, True) for out in outputs], [_Flat(tensor) for tensor in inputs]

        def call():
            self._alltoall([(out.address, out.nbytes) for out in outs], [(one.address, one.nbytes) for one in ins])
            for out in outs:
                out.__exit__()
        return self._run(call, outputs, self._size * AT_ONCE)

    def _alltoall(self, into, out_of):
        """In rounds of so many bytes for each; the longest part of all decides how many."""
        n = self._size
        step = self._step(2 * n)
        words = SIZE * n
        half = self._next_half()
        longest = ctypes.c_long.from_address(half)
        longest.value = max(max(nbytes for _, nbytes in into), max(nbytes for _, nbytes in out_of))
        self._must(_long_max(self._team, half + LINE, half, 1), 'all_to_all')
        rounds = -(-ctypes.c_long.from_address(half + LINE).value // step)
        places = words(*range(0, n * step, step))
        for at in range(0, rounds * step, step):
            half = self._next_half()
            source = half + n * step
            sent = words(*(min(max(nbytes - at, 0), step) for _, nbytes in out_of))
            come = words(*(min(max(nbytes - at, 0), step) for _, nbytes in into))
            for i, (address, _) in enumerate(out_of):
                _copy(source + i * step, address + at, sent[i])
            self._must(_alltoallv(self._team, half, source, come, places, sent, places, _BYTES), 'all_to_all')
            for i, (address, _) in enumerate(into):
                _copy(address + at, half + i * step, come[i])

    def gather(self, outputs, inputs, opts):
        (tensor,) = inputs
        output = outputs[0] if self._rank == opts.rootRank else []
        _check([*output, tensor])
        if self._rank == opts.rootRank and (len(output) != self._size or
                                            any(_bytes(out) != _bytes(tensor) for out in output)):
            raise ValueError('torushmem: gather: the root needs an output like the input for each of %d ranks' % self._size)
        return self._run(functools.partial(self._gather, output, tensor, opts.rootRank), outputs,
                         _bytes(tensor) * self._size)

    def _gather(self, output, tensor, root):
        step = self._step(self._size)
        with _Flat(tensor) as flat:
            outs = [_Flat(out, True) for out in output]
            for at in range(0, flat.nbytes, step):
                nbytes, half = min(step, flat.nbytes - at), self._next_half()
                self._must(_gather(self._team, half, flat.address + at, nbytes, _BYTES, root), 'gather')
                for i, out in enumerate(outs):
                    _copy(out.address + at, half + i * nbytes, nbytes)
                self._sync()
            for out in outs:
                out.__exit__()

    def scatter(self, outputs, inputs, opts):
        (output,) = outputs
        blocks = inputs[0] if self._rank == opts.rootRank else []
        _check([output, *blocks])
        if self._rank == opts.rootRank and (len(blocks) != self._size or
                                            any(_bytes(block) != _bytes(output) for block in blocks)):
            raise ValueError('torushmem: scatter: the root needs a block like the output for each of %d ranks' % self._size)
        return self._run(functools.partial(self._scatter, output, blocks, opts.rootRank), outputs,
                         _bytes(output) * self._size)

    def _scatter(self, output, blocks, root):
        step = self._step(self._size)
        with _Flat(output, True) as flat:
            ins = [_Flat(block) for block in blocks]
            for at in range(0, flat.nbytes, step):
                nbytes, half = min(step, flat.nbytes - at), self._next_half()
                for i, block in enumerate(ins):
                    _copy(half + i * nbytes, block.address + at, nbytes)
                self._must(_scatter(self._team, flat.address + at, half, nbytes, _BYTES, root), 'scatter')
                self._sync()

    def barrier(self, opts=None):
        return self._run(self._sync, None, 0)

    # --- Messages ---

    def send(self, tensors, to, tag=0):
        (tensor,) = tensors
        _check(tensors)
        return _job.mail.send(tensor, self._pes[to], self._index, tag)

    def recv(self, tensors, source, tag=0):
        (tensor,) = tensors
        _check(tensors)
        return _job.mail.receive(tensor, [self._pes[source]], self._index, tag, self._pes)

    def recv_anysource(self, tensors, tag=0):
        (tensor,) = tensors
        _check(tensors)
        return _job.mail.receive(tensor, list(self._pes), self._index, tag, self._pes)


# --- Groups ---

def _team_of(pes, index):
    team = ctypes.c_void_p()
    if _team_of_pes((INT * len(pes))(*pes), len(pes), _job.psync(index), ctypes.byref(team)):
        raise Error('torushmem: there are too many teams')
    return team.value


def _world(options):
    """The group of all processes begins the job."""
    global _job
    if _job is None:
        _job = _Job(options.store, options.group_rank, options.group_size)
        # Not SHMEM_TEAM_WORLD: the program's own calls use that, in another thread.
        pes = list(range(sh.n_pes()))
        return Group(sh.my_pe(), sh.n_pes(), _team_of(pes, 0), 0, pes)
    return _some(options, list(range(sh.n_pes())))


def _some(options, pes):
    """One of some processes: the first of them gives it a number, and so a part of symmetric memory."""
    if options.group_rank == 0:
        index = _job.store.add('torushmem/groups', 1)
        options.store.set('torushmem/index', str(index))
    index = int(options.store.get('torushmem/index'))
    if index > GROUPS:
        raise Error('torushmem: more than %d groups in the life of a job' % GROUPS)
    return Group(options.group_rank, len(pes), _team_of(pes, index), index, pes)


def _create(options, _=None):
    """What torch calls for a new group."""
    pes = [int(pe) for pe in options.global_ranks_in_group]
    if _job is None or not pes:
        return _world(options)
    return _some(options, pes)


def _register():
    arguments = {'extended_api': True}
    try:
        dist.Backend.register_backend(BACKEND, _create, devices=['cpu'], **arguments)
    except TypeError:  # torch before 2.0 does not know devices
        dist.Backend.register_backend(BACKEND, _create, **arguments)


_register()
