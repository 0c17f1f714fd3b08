# SPDX-License-Identifier: BSD-3-Clause
"""A line for each collective that takes long, on request."""

from __future__ import annotations

import functools
import sys
import threading
import time

from . import _job

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Callable, TextIO

_NAMES = ('sync', 'broadcast', 'reduce', 'scan', 'fcollect', 'collect', 'alltoall', 'reduce_scatter', 'gather',
          'scatter', 'allgatherv', 'alltoallv')

_every: float | None = None
_file: TextIO | None = None
_under_way: dict[int, list] = {}


def progress(every: float = 1.0, file: TextIO | None = None) -> None:
    """From now on, a collective of this process that takes longer prints a line each so many seconds: how much of it is
    done, if it goes in pieces, and since when it runs. On stderr, or into a file. Collectives of torch do it, too."""
    global _every, _file
    if not every > 0:
        raise ValueError('progress: every=%r: give seconds' % every)
    first, _every, _file = _every is None, every, file
    if not first:
        return
    from ._teams import Team
    for name in _NAMES:
        setattr(Team, name, _noted(getattr(Team, name), name))
    threading.Thread(target=_report, name='torushmem progress', daemon=True).start()


def is_on() -> bool:
    return _every is not None


def _noted(call: Callable, name: str) -> Callable:
    @functools.wraps(call)
    def noted(team: Any, *arguments: Any, **others: Any) -> None:
        nbytes = arguments[1].nbytes if len(arguments) > 1 else 0
        note = begin(name, nbytes)
        try:
            call(team, *arguments, **others)
        finally:
            end(note)
    return noted


def begin(what: str, nbytes: int) -> list | None:
    """A collective begins in this thread; its third item is how many bytes are done."""
    if _every is None or threading.get_ident() in _under_way:
        return None
    note = [what, nbytes, 0, time.monotonic(), threading.get_ident()]
    _under_way[note[4]] = note
    return note


def end(note: list | None) -> None:
    if note is not None:
        del _under_way[note[4]]


def _report() -> None:
    while True:
        time.sleep(_every)
        for what, nbytes, done, begun, _ in list(_under_way.values()):
            seconds = time.monotonic() - begun
            if seconds >= _every:
                share = ', %d %% done' % (100 * done // nbytes) if done else ''
                print('torushmem: PE %d: %s of %.1f MiB for %.0f s%s' %
                      (_job._my_pe(), what, nbytes / (1 << 20), seconds, share), file=_file or sys.stderr, flush=True)
