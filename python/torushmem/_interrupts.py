# SPDX-License-Identifier: BSD-3-Clause
"""What an interrupt (Ctrl-C) does while a call waits in the C library for other PEs. Python raises KeyboardInterrupt only when
such a call returns.

In a notebook and at Python's prompt another thread makes these calls, so that the interrupt ends the wait, and the session
goes on. A program makes them itself, which is faster; there KeyboardInterrupt comes when the call returns, and a
second interrupt ends the process.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import os
import queue
import signal
import sys
import threading
import time

from ._library import routine

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Callable

# Notebooks and IPython have the second name, Python's own prompt the first.
INTERACTIVE = hasattr(sys, 'ps1') or hasattr(builtins, '__IPYTHON__')
_GRACE = 0.25  # seconds, twice, in which Python would have raised KeyboardInterrupt


# --- Sessions ---

class _Caller:
    """A thread that makes calls one after another. It starts with the first."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._started = False

    def __call__(self, call: Callable, *arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return call(*arguments)
        if not self._started:
            threading.Thread(target=self._serve, name='torushmem calls', daemon=True).start()
            self._started = True
        over, result = threading.Lock(), []
        over.acquire()
        self._calls.put((call, arguments, result, over))
        over.acquire()
        return result[0]

    def _serve(self) -> None:
        while True:
            call, arguments, result, over = self._calls.get()
            result.append(call(*arguments))
            over.release()
            del arguments


_caller = _Caller()


def waiting(name: str, result: Any, *arguments: Any) -> Any:
    """A routine of the library that waits for other PEs. One that an interrupt left goes on, and the next follows it."""
    call = routine(name, result, *arguments)
    return functools.partial(_caller, call) if INTERACTIVE else call


# --- Programs ---

def watch() -> Callable[[], None] | None:
    """Ends the process after two interrupts that the main thread does not see. Returns what ends that; None: the program does
    something else with interrupts."""
    if (INTERACTIVE or threading.current_thread() is not threading.main_thread() or
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        return None
    end, other = os.pipe()
    os.set_blocking(other, False)
    before = signal.set_wakeup_fd(other, warn_on_full_buffer=False)
    if before >= 0:  # asyncio's
        signal.set_wakeup_fd(before)
        os.close(end)
        os.close(other)
        return None
    os.register_at_fork(after_in_child=lambda: _give_up(other))  # its interrupts are its own
    thread = threading.Thread(target=_serve_interrupts, args=(end,), name='torushmem interrupts', daemon=True)
    thread.start()

    def stop() -> None:
        _give_up(other)
        os.write(other, b'\0')
        thread.join(1)
        os.close(end)
        os.close(other)
    return stop


def _give_up(other: int) -> None:
    """The program may have set another one meanwhile."""
    if threading.current_thread() is threading.main_thread():
        now = signal.set_wakeup_fd(-1)
        if now != other:
            signal.set_wakeup_fd(now)


def _serve_interrupts(end: int) -> None:
    told = None
    while True:
        for number in os.read(end, 100):
            if number == 0:
                return
            if number == signal.SIGINT and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                told = _tell_or_end(told)


def _main_in_library() -> tuple | None:
    """Where the main thread is in this package, if it is there."""
    frame = sys._current_frames().get(threading.main_thread().ident)
    if frame is None or not frame.f_globals.get('__name__', '').startswith('torushmem.'):
        return None
    return frame.f_code.co_name, id(frame), frame.f_lasti


def _tell_or_end(told: tuple | None) -> tuple | None:
    """A thread that runs Python code gets the exception at once. One that is in a call may get it when the call returns, so
    only the second interrupt of a call ends the process."""
    time.sleep(_GRACE)
    place = _main_in_library()
    time.sleep(_GRACE)
    if place is None or place != _main_in_library():
        return None
    if place != told:
        print('torushmem: interrupted in %s, which waits for other PEs; interrupt again to end this process' % place[0],
              file=sys.stderr, flush=True)
        return place
    libc = ctypes.CDLL(None)
    libc.signal(int(signal.SIGINT), None)  # SIG_DFL; Python sets it in the main thread alone
    os.kill(os.getpid(), signal.SIGINT)
    return place
