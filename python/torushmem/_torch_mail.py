# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two processes, for torch.distributed's send and recv."""

from __future__ import annotations

import atexit
import collections
import ctypes
import threading
import time
from typing import Any, Callable, Optional, Sequence

import numpy as np
import torch

import torushmem as sh

from . import _memory
from ._library import INT, POINTER, SIZE, routine
from ._torch_work import STOP_SECONDS, Work

_put_signal = routine('shmem_putmem_signal', None, POINTER, POINTER, SIZE, POINTER, ctypes.c_uint64, INT, INT)
_signal_fetch = routine('shmem_signal_fetch', ctypes.c_uint64, POINTER)
_set_signal = routine('shmem_uint64_atomic_set', None, POINTER, ctypes.c_uint64, INT)
_copy = ctypes.memmove

LINE = 64


def nbytes_of(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


class Flat:
    """A tensor as bytes at an address. Use it with `with`: one whose elements do not lie one after another is copied,
    and copied back if it is a result."""

    def __init__(self, tensor: torch.Tensor, result: bool = False) -> None:
        # Results may be parameters, which torch lets nobody else write.
        self._tensor, self._result = tensor.detach() if result else tensor, result
        self._dense = self._tensor if tensor.is_contiguous() else self._tensor.contiguous()
        self.address, self.nbytes = self._dense.data_ptr(), nbytes_of(tensor)
        self.symmetric = self.nbytes > 0 and _memory.contains(self.address, self.nbytes)

    def __enter__(self) -> Flat:
        return self

    def __exit__(self, *_: object) -> None:
        if self._result and self._dense is not self._tensor:
            self._tensor.copy_(self._dense)


SLOTS = 2
HEADER = 4 * 8  # group, tag, bytes of the message, position of the piece
MAIL_SHARE = 64 << 20  # of symmetric memory, at most; a pair of PEs has at most this much:
MOST_PIECE, LEAST_PIECE = 256 << 10, 1 << 10
_BRISK, _PAUSE, _LONG = 1e-3, 50e-6, 1.0  # seconds without news until it pauses, and until the thread ends


class Mail:
    """Messages between two processes. Each has an inbox with two slots from each other one. A message goes in pieces; a
    piece goes when its slot is free, and its number follows it as a signal. The receiver gives the number back when it
    has copied the piece. A thread does all that, while anything is under way."""

    def __init__(self, n: int) -> None:
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
        self._ended = []  # works, which call what others wrote: outside of the lock
        self._piece = np.empty(self._slot, np.uint8)
        self._inbox_at = _memory.symmetric(self._inbox, 'torushmem')
        self._come_at = _memory.symmetric(self._come, 'torushmem')
        self._taken_at = _memory.symmetric(self._taken, 'torushmem')
        atexit.register(self.close)

    def send(self, tensor: torch.Tensor, to: int, key: tuple, limit: float) -> Work:
        """key: the number of the group, and the tag."""
        work = Work('send', [tensor])
        sending = [work, Flat(tensor), 0, key]
        work.begin(limit, lambda error: self._forget(self._sends[to], sending))
        with self._lock:
            self._sends[to].append(sending)
            self._wake()
        return work

    def receive(self, tensor: torch.Tensor, sources: Sequence[int], key: tuple, pes: Sequence[int],
                limit: float) -> Work:
        """From one of the sources. pes: those of the group."""
        work = Work('recv', [tensor])
        receive = (work, tensor, sources, key, pes)
        work.begin(limit, lambda error: self._forget(self._receives, receive))
        with self._lock:
            # What came before is first, also if it has not come whole.
            early = next((one for one in self._early if one.source in sources and one.key == key), None)
            if early is None:
                self._receives.append(receive)
            else:
                self._early.remove(early)
                early.give_to(receive, self._ended)
            self._wake()
        return work

    def _forget(self, waiting: Any, one: Any) -> None:
        """What came too late does not come at all, unless a part of it is under way."""
        with self._lock:
            if one in waiting and not (isinstance(one, list) and one[2]):
                waiting.remove(one)

    def fail(self, error: BaseException) -> None:
        """Ends all that is under way."""
        with self._lock:
            works = [one[0] for waiting in (*self._sends, self._receives) for one in waiting]
            works += [coming.work for coming in self._coming if coming is not None and coming.work is not None]
            for waiting in (*self._sends, self._receives):
                waiting.clear()
            self._coming = [None] * len(self._coming)
        for work in works:
            work.end(error)

    def close(self) -> None:
        """Ends the thread: Python's threads may not be within torch when Python ends."""
        atexit.unregister(self.close)
        with self._lock:
            self._ending, thread = True, self._thread
            self._lock.notify()
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_SECONDS)

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name='torushmem messages', daemon=True)
            self._thread.start()
        self._lock.notify()

    def _end_works(self) -> None:
        while self._ended:
            work, call = self._ended.pop(0)
            work.run(call)

    def _busy(self) -> bool:
        return bool(self._receives or any(self._sends) or any(self._coming) or self._ended)

    def _serve(self) -> None:
        news = time.monotonic()
        while True:
            with self._lock:
                while not self._busy() and not self._ending:
                    if not self._lock.wait(_LONG) and not self._busy():
                        self._thread = None
                        return
                    news = time.monotonic()
                if self._ending:
                    return
                error = sh.broken()
                if error is None and self._advance():
                    news = time.monotonic()
            if error is not None:
                self.fail(error)
            self._end_works()
            if time.monotonic() - news > _BRISK:
                time.sleep(_PAUSE)

    def _advance(self) -> bool:
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

    def _wants(self, source: int) -> bool:
        return self._coming[source] is not None or any(source in receive[2] for receive in self._receives)

    def _send_piece(self, to: int, sending: list) -> bool:
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

    def _take_piece(self, source: int) -> None:
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

    def _begin(self, source: int, key: tuple, total: int) -> Any:
        receive = self._find(source, key)
        if receive is None:
            early = _Early(source, key, total)
            self._early.append(early)
            return early
        return _Coming(receive, source, total)

    def _find(self, source: int, key: tuple) -> Optional[tuple]:
        for i, receive in enumerate(self._receives):
            if source in receive[2] and receive[3] == key:
                return self._receives.pop(i)
        return None


class _Early:
    """A message that came before anyone asked for it."""

    def __init__(self, source: int, key: tuple, total: int) -> None:
        self.source, self.key, self._total, self._complete, self._receive = source, key, total, False, None
        self.work = None
        self._data = np.empty(max(total, 1), np.uint8)
        self.address = self._data.ctypes.data

    def end(self, ended: list) -> None:
        self._complete = True
        if self._receive is not None:
            self.give_to(self._receive, ended)

    def give_to(self, receive: tuple, ended: list) -> None:
        self._receive, self.work = receive, receive[0]
        if self._complete:
            coming = _Coming(receive, self.source, self._total)
            _copy(coming.address, self.address, self._total)
            coming.end(ended)


class _Coming:
    """A message that comes into its tensor."""

    def __init__(self, receive: tuple, source: int, total: int) -> None:
        self.work, tensor, _, _, pes = receive
        self._flat, self._error = Flat(tensor, True), None
        self.work._source = pes.index(source)
        self.address = self._flat.address
        if total != self._flat.nbytes:
            self._error = ValueError('torushmem: recv: the message has %d bytes, and the tensor %d' %
                                     (total, self._flat.nbytes))
            self._room = np.empty(max(total, 1), np.uint8)
            self.address = self._room.ctypes.data

    def end(self, ended: list) -> None:
        ended.append((self.work, self._finish))

    def _finish(self) -> None:
        if self._error is not None:
            raise self._error
        self._flat.__exit__()
