# SPDX-License-Identifier: BSD-3-Clause
"""Works of torch.distributed, which its calls return, and the threads that run them."""

from __future__ import annotations

import datetime
import queue
import sys
import threading
import time
import weakref
from typing import Any, Callable, Optional

import torch

try:
    from torch._C._distributed_c10d import _create_work_from_future
    from torch._C._distributed_c10d import Work as _TorchWork
except ImportError as error:
    raise ImportError('torushmem.torch: torch %s lacks what the backend needs (%s); its tests have run with 1.13 and 2.6' %
                      (torch.__version__, error)) from None

STOP_SECONDS = 2
_NO_LIMIT = threading.TIMEOUT_MAX
_futures = threading.Lock()


def seconds_of(limit: Any) -> float:
    """Of a timedelta, a number of seconds, or torch's values for no limit: None and 0."""
    if isinstance(limit, datetime.timedelta):
        limit = limit.total_seconds()
    return limit if limit and limit > 0 else _NO_LIMIT


class Work(_TorchWork):
    """A collective or a message that is under way or over."""

    def __init__(self, what: str, result: Any) -> None:
        """One that is over, unless begin follows."""
        super().__init__()
        self._what, self._result = what, result
        self._over, self._error, self._future, self._base, self._source = True, None, None, None, -1

    def begin(self, limit: float, when_late: Callable[[BaseException], None]) -> Work:
        """It is under way from now on, for so many seconds; when_late learns of it if it takes longer."""
        self._begun, self._limit, self._when_late = time.monotonic(), limit, when_late
        self._gate = threading.Lock()
        self._gate.acquire()
        self._over = False
        return self

    # --- For the thread that runs it ---

    def run(self, call: Callable[[], None]) -> None:
        error = None
        try:
            call()
        except BaseException as raised:
            error = raised
        self.end(error)

    def end(self, error: Optional[BaseException] = None) -> None:
        with _futures:
            if self._over:
                return
            self._error, self._over = error, True
        self._gate.release()
        if self._base is not None:
            self._base.set_result(None)

    # --- For who waits ---

    def wait(self, timeout: Any = None) -> bool:
        """Waits for the end, for at most so long; raises TimeoutError then, or the error that ended it. The time limit
        of the group counts from the call on. An interrupt ends the wait."""
        if not self._over:
            self._wait(seconds_of(timeout))
        if self._error is not None:
            raise self._error
        return True

    def _wait(self, seconds: float) -> None:
        left = self._begun + self._limit - time.monotonic()
        if self._gate.acquire(timeout=max(min(seconds, left, _NO_LIMIT), 0)):
            self._gate.release()
            return
        late = TimeoutError('torushmem: %s: not within %g s' % (self._what, min(seconds, self._limit)))
        if left <= seconds:
            self._when_late(late)
        raise late

    def is_completed(self) -> bool:
        return self._over

    def is_success(self) -> bool:
        return self._over and self._error is None

    def exception(self) -> Optional[BaseException]:
        return self._error

    def result(self) -> list:
        """Its tensors."""
        return self._result

    def synchronize(self) -> None:
        self.wait()

    def source_rank(self) -> int:
        """The rank that a message came from."""
        return self._source

    _source_rank = source_rank

    def get_future(self) -> torch.futures.Future:
        """The future of its tensors; that of a work that fails raises the error."""
        with _futures:
            if self._future is not None:
                return self._future
            base = torch.futures.Future()
            if self._over and self._error is None:
                self._future = base
            else:
                self._future = base.then(self._value)
            over = self._over
            self._base = None if over else base
        if over:
            base.set_result(self._result)
        return self._future

    def _value(self, _: torch.futures.Future) -> Any:
        if self._error is not None:
            raise self._error
        return self._result

    def for_caller(self) -> Any:
        """The work as the caller of this package can have it. C++ code of torch keeps works longer than Python objects
        live, so it gets one of C++, made from the future. Code of others, and torch's functions for programs, are in
        Python."""
        frame: Any = sys._getframe(1)
        name = __name__
        while frame is not None and name.startswith('torushmem.'):
            name, frame = frame.f_globals.get('__name__', ''), frame.f_back
        if frame is None and name.startswith('torushmem.'):  # a thread of C++
            name = 'torch.'
        if name == 'torch.distributed.distributed_c10d' or not name.startswith('torch.'):
            return self
        return _create_work_from_future(self.get_future())


# --- Threads ---

class Runner:
    """A thread that runs works in order. It starts with the first, and ends with the runner or with Python."""

    def __init__(self, name: str) -> None:
        self._name, self._todo = name, queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def put(self, work: Work, call: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=_serve, args=(self._todo,), name=self._name, daemon=True)
            self._thread.start()
            self._end = weakref.finalize(self, _stop, self._todo, self._thread)
        self._todo.put((work, call))

    def stop(self) -> None:
        """Ends it when all is done that was put before."""
        if self._thread is not None:
            self._end()

    def is_this_thread(self) -> bool:
        return self._thread is not None and threading.get_ident() == self._thread.ident


def _serve(todo: queue.SimpleQueue) -> None:
    while True:
        item = todo.get()
        if item is None:
            return
        work, call = item
        work.run(call)
        del item, work, call


def _stop(todo: queue.SimpleQueue, thread: threading.Thread) -> None:
    """Python's threads may not be within torch when Python ends."""
    todo.put(None)
    if thread is not threading.current_thread():
        thread.join(STOP_SECONDS)
