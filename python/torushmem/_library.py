# SPDX-License-Identifier: BSD-3-Clause
"""The C library: where it is, and the types of its routines."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Iterator

SONAME = 'libtorushmem.so.0'

INT, LONG, SIZE, POINTER = ctypes.c_int, ctypes.c_long, ctypes.c_size_t, ctypes.c_void_p


class Error(RuntimeError):
    """Something that torushmem cannot do: the text says what, and what to do. If it is what broke the job (see
    torushmem.init), kind is 'lost', 'silent', 'misuse' or 'other', and pe is the PE at fault, or None."""

    def __init__(self, text: str, kind: str | None = None, pe: int | None = None) -> None:
        super().__init__(text)
        self.kind, self.pe = kind, pe


def _candidates() -> Iterator[str]:
    """Where the library may be, the surest place first; the last one starts a program."""
    named = os.environ.get('TORUSHMEM_LIBRARY')
    if named:
        yield named
        return
    yield SONAME
    import glob, shutil, subprocess  # they take a few ms, and are seldom needed
    # make install puts this file into PREFIX/share/torushmem/python/torushmem.
    above = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))
    yield from glob.glob(os.path.join(above, 'lib*', SONAME)) + glob.glob(os.path.join(above, 'lib', '*', SONAME))
    oshcc = shutil.which('oshcc')
    if oshcc:
        said = subprocess.run([oshcc, '--showme:libdirs'], capture_output=True, text=True, check=False)
        for folder in said.stdout.split():
            yield os.path.join(folder, SONAME)


def _load() -> ctypes.CDLL:
    """The global data of the interpreter is not for other PEs, and its threads, such as torch's, may run already: the
    library must not move it to shared memory when it is loaded."""
    problem, setting = None, 'SHMEM_SHARE_GLOBALS'
    asked = setting in os.environ
    os.environ.setdefault(setting, 'no')
    try:
        for path in _candidates():
            try:
                return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            except OSError as error:
                problem = error
    finally:
        if not asked:
            del os.environ[setting]
    raise ImportError('torushmem: the C library cannot be loaded (%s); install libtorushmem0, or let '
                      'TORUSHMEM_LIBRARY name the file %s' % (problem, SONAME))


library = _load()


def routine(name: str, result: Any, *arguments: Any) -> Any:
    """A routine of the library. While it runs, other threads of Python run, too."""
    try:
        found = getattr(library, name)
    except AttributeError:
        raise Error('%s is not in this version of the C library' % name) from None
    found.restype, found.argtypes = result, arguments
    return found


def text(name: str, *arguments: Any) -> Any:
    return routine(name, ctypes.c_char_p, *arguments)
