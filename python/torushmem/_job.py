# SPDX-License-Identifier: BSD-3-Clause
"""The start and the end of a job, and who is who in it."""

from __future__ import annotations

import ctypes

from ._interrupts import INTERACTIVE, waiting, watch
from ._library import INT, Error, routine

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Callable

ERRORS = {None: 0, 'end': 1, 'return': 2}
KINDS = (None, 'lost', 'silent', 'misuse', 'other')
THREADS = {'single': 0, 'funneled': 1, 'serialized': 2, 'multiple': 3}

_get_unique_id = routine('shmemx_get_unique_id', INT, ctypes.c_char_p)
_init_attr = routine('shmemx_init_attr', INT, ctypes.c_void_p)
_error = routine('shmemx_error', INT, ctypes.c_void_p)
_finalize = waiting('shmem_finalize', None)
_global_exit = routine('shmem_global_exit', None, INT)
_my_pe = routine('shmem_my_pe', INT)
_n_pes = routine('shmem_n_pes', INT)

_running = False
count = 0  # of PEs
_at_end = []
_end_watch: Callable[[], None] | None = None

ID_BYTES = 128  # SHMEMX_UNIQUE_ID_BYTES


class _Attributes(ctypes.Structure):
    """shmemx_init_attr_t"""
    _fields_ = [('rank', INT), ('size', INT), ('id', ctypes.c_char_p), ('all_gather', ctypes.c_void_p),
                ('arg', ctypes.c_void_p), ('threads', INT), ('errors', INT), ('silence', ctypes.c_double),
                ('reserved', ctypes.c_long * 7)]


class _Found(ctypes.Structure):
    """shmemx_error_t"""
    _fields_ = [('kind', INT), ('pe', INT), ('routine', ctypes.c_char_p), ('message', ctypes.c_char_p)]


def get_unique_id() -> bytes:
    """Bytes that one process makes and passes to all others, by any means; they call init with them. Who reads them
    can join the job until it has begun."""
    made = ctypes.create_string_buffer(ID_BYTES)
    if _get_unique_id(made):
        raise Error('get_unique_id: it cannot be made')
    return made.raw


def init(threads: str = 'single', rank: int | None = None, size: int | None = None,
         unique_id: bytes | None = None, errors: str | None = None, silence: float = 0) -> None:
    """Joins the job: that of the launcher or of the environment, or one of this process alone; with rank, size and
    unique_id, the job of all who have this id. threads='multiple': Python threads may call at the same time,
    'serialized': in turns, 'single' and 'funneled': one thread calls.

    errors='return': an error that would end the job, such as the loss of a PE, breaks it instead: what waits ends, and
    calls raise an Error that says what broke it. finalize then needs no other PE, and init may begin a new job.
    silence: so many seconds without an answer count as the loss of a PE. Without errors, SHMEM_ERRORS decides; under a
    launcher all errors end the job."""
    global _running, count, _end_watch
    if _running:
        return
    if threads not in THREADS:
        raise ValueError('init: threads=%r: there are %s' % (threads, ', '.join(THREADS)))
    if (rank is None) != (unique_id is None) or (size is None) != (unique_id is None):
        raise ValueError('init: give rank, size and unique_id, or none of them')
    if errors not in ERRORS:
        raise ValueError("init: errors=%r: give 'end' or 'return'" % (errors,))
    if not 0 <= silence <= 100000:
        raise ValueError('init: silence=%r: give seconds from 0 to 100000' % (silence,))
    level = THREADS['multiple' if INTERACTIVE else threads]
    attributes = _Attributes(threads=level, errors=ERRORS[errors], silence=silence)
    if unique_id is not None:
        _check_id(rank, size, unique_id)
        attributes.rank, attributes.size, attributes.id = rank, size, bytes(unique_id)
    _end_watch = watch()
    if _init_attr(ctypes.byref(attributes)):
        _stop_watch()
        raise broken() or Error('init: the library cannot start')
    _running, count = True, _n_pes()


def _stop_watch() -> None:
    global _end_watch
    stop, _end_watch = _end_watch, None
    if stop is not None:
        stop()


def _check_id(rank: int, size: int, unique_id: bytes) -> None:
    if len(unique_id) != ID_BYTES:
        raise ValueError('init: unique_id: it has %d bytes; get_unique_id makes %d' % (len(unique_id), ID_BYTES))
    if not 0 <= rank < size:
        raise ValueError('init: rank=%r, size=%r: ranks are 0 to size - 1' % (rank, size))


def broken() -> Error | None:
    """What broke the job, or None."""
    found = _Found()
    if not _error(ctypes.byref(found)):
        return None
    return Error(found.message.decode(errors='replace'), KINDS[found.kind], found.pe if found.pe >= 0 else None)


def check_whole() -> None:
    """For routines without a status."""
    if _error(None):
        raise broken()


def finalize() -> None:
    """Leaves the job, with all PEs. Arrays in symmetric memory are gone. A program that just ends does the
    same, unless it ends by an exception: that ends the job."""
    global _running, count
    if not _running:
        return
    for forget in _at_end:
        forget()
    _running, count = False, 0
    _finalize()
    _stop_watch()


def initialized() -> bool:
    """Has init been called, and finalize not since?"""
    return _running


def global_exit(status: int = 1) -> None:
    """Ends the whole job at once."""
    need_job('global_exit')
    _global_exit(status)


def need_job(name: str) -> None:
    if not _running:
        raise Error('%s: call torushmem.init() first' % name)


def in_job(call: Callable, name: str, help: str, result: type | None = None) -> Callable:
    """The routine, for jobs that are running."""
    def checked():
        if not _running:
            need_job(name)
        value = call()
        if result is None and _error(None):
            raise broken()
        return value
    checked.__name__, checked.__qualname__, checked.__doc__ = name, name, help
    checked.__code__ = checked.__code__.replace(co_name=name)  # for tracebacks, and lines about interrupts
    checked.__annotations__ = {'return': result}
    return checked


my_pe = in_job(_my_pe, 'my_pe', "This PE's number.", int)
n_pes = in_job(_n_pes, 'n_pes', 'How many PEs the job has.', int)


def at_end(forget: Callable[[], None]) -> None:
    _at_end.append(forget)
