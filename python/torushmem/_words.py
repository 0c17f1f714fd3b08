# SPDX-License-Identifier: BSD-3-Clause
"""Words: atomics on other PEs' words, and waits for one's own. A word is an array of one element in symmetric
memory: counters[3:4], or zeros(1, int)."""

from __future__ import annotations

import ctypes
import functools
import time

import numpy as np

from . import _types
from ._job import check_whole
from ._library import INT, POINTER, SIZE, Error, routine
from ._memory import check_pe, signal_address, symmetric

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Callable

_COMPARISONS = {'==': 0, '!=': 1, '>': 2, '<=': 3, '<': 4, '>=': 5}
# How long a wait asks without a pause; what it sleeps afterwards, in seconds.
_BRISK, _PAUSE = 1e-3, 50e-6


def _word(word: np.ndarray, name: str) -> int:
    address = symmetric(word, name)
    if word.size != 1:
        raise ValueError('%s: give one element, as in words[3:4], not %d' % (name, word.size))
    return address


def _typed(name: str, dtype: np.dtype, purpose: str, result: Any, *arguments: Any) -> Any:
    try:
        return routine(name, result, *arguments)
    except Error:
        raise TypeError('%s: not for elements of type %s' % (purpose, dtype)) from None


@functools.lru_cache(maxsize=None)
def _atomic(verb: str, dtype: np.dtype) -> Any:
    name = 'atomic ' + verb
    value = _types.argument_of(dtype, name)
    floating = dtype.kind == 'f' and verb in ('add', 'fetch_add')
    called = 'shmem%s_%s_atomic_%s' % ('x' if floating else '', _types.name_of(dtype, name), verb)
    values = {'fetch': 0, 'inc': 0, 'fetch_inc': 0, 'compare_swap': 2}.get(verb, 1)
    fetches = verb.startswith('fetch') or verb in ('swap', 'compare_swap')
    return _typed(called, dtype, name, value if fetches else None, POINTER, *[value] * values, INT)


def _on_word(verb: str, word: np.ndarray, pe: int, *values: float) -> Any:
    address = _word(word, verb)
    check_pe(pe, verb)
    result = _atomic(verb, word.dtype)(address, *values, pe)
    check_whole()
    return result


class atomic:
    """Atomic operations on a word of another PE. Those whose name has fetch, swap and compare_swap return what
    the word was before."""

    @staticmethod
    def fetch(word: np.ndarray, pe: int) -> float:
        """What it is."""
        return _on_word('fetch', word, pe)

    @staticmethod
    def set(word: np.ndarray, value: float, pe: int) -> None:
        """Stores the value."""
        _on_word('set', word, pe, value)

    @staticmethod
    def add(word: np.ndarray, value: float, pe: int) -> None:
        """Adds the value."""
        _on_word('add', word, pe, value)

    @staticmethod
    def fetch_add(word: np.ndarray, value: float, pe: int) -> float:
        """Adds the value."""
        return _on_word('fetch_add', word, pe, value)

    @staticmethod
    def inc(word: np.ndarray, pe: int) -> None:
        """Adds 1."""
        _on_word('inc', word, pe)

    @staticmethod
    def fetch_inc(word: np.ndarray, pe: int) -> int:
        """Adds 1."""
        return _on_word('fetch_inc', word, pe)

    @staticmethod
    def swap(word: np.ndarray, value: float, pe: int) -> float:
        """Stores the value."""
        return _on_word('swap', word, pe, value)

    @staticmethod
    def compare_swap(word: np.ndarray, expected: int, value: int, pe: int) -> int:
        """Stores the value if the word is what is expected."""
        return _on_word('compare_swap', word, pe, expected, value)

    # Named as the routines are; "and" and "or" are words of Python.
    @staticmethod
    def bits_and(word: np.ndarray, value: int, pe: int) -> None:
        """Combines the bits of both by and."""
        _on_word('and', word, pe, value)

    @staticmethod
    def bits_or(word: np.ndarray, value: int, pe: int) -> None:
        """Combines the bits of both by or."""
        _on_word('or', word, pe, value)

    @staticmethod
    def bits_xor(word: np.ndarray, value: int, pe: int) -> None:
        """Combines the bits of both by xor."""
        _on_word('xor', word, pe, value)

    @staticmethod
    def fetch_and(word: np.ndarray, value: int, pe: int) -> int:
        """Combines the bits of both by and."""
        return _on_word('fetch_and', word, pe, value)

    @staticmethod
    def fetch_or(word: np.ndarray, value: int, pe: int) -> int:
        """Combines the bits of both by or."""
        return _on_word('fetch_or', word, pe, value)

    @staticmethod
    def fetch_xor(word: np.ndarray, value: int, pe: int) -> int:
        """Combines the bits of both by xor."""
        return _on_word('fetch_xor', word, pe, value)


# --- Waiting ---

def comparison(text: str) -> int:
    try:
        return _COMPARISONS[text]
    except (KeyError, TypeError):
        raise ValueError('no comparison %r; there are %s' % (text, ' '.join(_COMPARISONS))) from None


def until(is_over: Callable[[], Any], what: str, timeout: float | None) -> None:
    """Asks until it is over. Between two questions Python runs what an interrupt (Ctrl-C) asks for. In a broken job the
    library says that all is over."""
    begun = time.monotonic()
    asked = 0
    while not is_over():
        asked += 1
        if asked <= 200:
            continue
        waited = time.monotonic() - begun
        if timeout is not None and waited > timeout:
            raise TimeoutError('%s: not within %g s' % (what, timeout))
        if waited > _BRISK:
            time.sleep(_PAUSE)
    check_whole()


@functools.lru_cache(maxsize=None)
def _test(dtype: np.dtype) -> Any:
    return _typed('shmem_%s_test' % _types.name_of(dtype, 'wait_until'), dtype, 'wait_until', INT, POINTER, INT,
                  _types.argument_of(dtype, 'wait_until'))


@functools.lru_cache(maxsize=None)
def _test_any(dtype: np.dtype) -> Any:
    return _typed('shmem_%s_test_any' % _types.name_of(dtype, 'wait_until_any'), dtype, 'wait_until_any', SIZE, POINTER,
                  SIZE, POINTER, INT, _types.argument_of(dtype, 'wait_until_any'))


def test(word: np.ndarray, compare: str, value: float) -> bool:
    """Is the word of this PE == (!=, >, <=, <, >=) value?"""
    result = bool(_test(word.dtype)(_word(word, 'test'), comparison(compare), value))
    check_whole()
    return result


def wait_until(word: np.ndarray, compare: str, value: float, timeout: float | None = None) -> None:
    """Waits until a word of this PE is == (!=, >, <=, <, >=) value, for at most so many seconds; raises
    TimeoutError then. An interrupt ends it."""
    ask, address, code = _test(word.dtype), _word(word, 'wait_until'), comparison(compare)
    until(lambda: ask(address, code, value), 'wait_until', timeout)


def wait_until_any(words: np.ndarray, compare: str, value: float, timeout: float | None = None) -> int:
    """Waits until one of the words (an array whose elements lie one after another) is so. Returns its index."""
    address, code, count = symmetric(words, 'wait_until_any'), comparison(compare), words.size
    if not words.flags.c_contiguous or words.ndim != 1 or not count:
        raise ValueError('wait_until_any: give a row of words that lie one after another')
    ask, found = _test_any(words.dtype), [0]

    def is_over() -> bool:
        found[0] = ask(address, count, None, code, value)
        check_whole()
        return found[0] < count
    until(is_over, 'wait_until_any', timeout)
    return found[0]


def wait_until_all(words: np.ndarray, compare: str, value: float, timeout: float | None = None) -> None:
    """Waits until all words are so."""
    for word in words.reshape(-1, 1):
        wait_until(word, compare, value, timeout)


_signal_fetch = routine('shmem_signal_fetch', ctypes.c_uint64, POINTER)


def signal_fetch(signal: np.ndarray) -> int:
    """The value of a signal of this PE."""
    return _signal_fetch(signal_address(signal, 'signal_fetch: signal'))


def signal_wait_until(signal: np.ndarray, compare: str, value: int, timeout: float | None = None) -> int:
    """As wait_until. Returns the signal's value."""
    signal_address(signal, 'signal_wait_until: signal')
    wait_until(signal, compare, value, timeout)
    return signal_fetch(signal)

