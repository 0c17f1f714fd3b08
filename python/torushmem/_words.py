# SPDX-License-Identifier: BSD-3-Clause
"""Words: atomics on other PEs' words, and waits for one's own. A word is an array of one element in symmetric
memory: counters[3:4], or zeros(1, int)."""

import ctypes
import functools
import time

from . import _types
from ._library import INT, POINTER, SIZE, Error, routine
from ._memory import check_pe, signal_address, symmetric

_COMPARISONS = {'==': 0, '!=': 1, '>': 2, '<=': 3, '<': 4, '>=': 5}
# How long a wait asks without a pause; what it sleeps afterwards, in seconds.
_BRISK, _PAUSE = 1e-3, 50e-6


def _word(word, name):
    address = symmetric(word, name)
    if word.size != 1:
        raise ValueError('%s: give one element, as in words[3:4], not %d' % (name, word.size))
    return address


def _typed(name, dtype, purpose, result, *arguments):
    try:
        return routine(name, result, *arguments)
    except Error:
        raise TypeError('%s: not for elements of type %s' % (purpose, dtype)) from None


@functools.lru_cache(maxsize=None)
def _atomic(verb, dtype):
    name = 'atomic ' + verb
    value = _types.argument_of(dtype, name)
    floating = dtype.kind == 'f' and verb in ('add', 'fetch_add')
    called = 'shmem%s_%s_atomic_%s' % ('x' if floating else '', _types.name_of(dtype, name), verb)
    values = {'fetch': 0, 'inc': 0, 'fetch_inc': 0, 'compare_swap': 2}.get(verb, 1)
    fetches = verb.startswith('fetch') or verb in ('swap', 'compare_swap')
    return _typed(called, dtype, name, value if fetches else None, POINTER, *[value] * values, INT)


def _on_word(verb, word, pe, *values):
    address = _word(word, verb)
    check_pe(pe, verb)
    return _atomic(verb, word.dtype)(address, *values, pe)


class atomic:
    """Atomic operations on a word of another PE. Those whose name has fetch, swap and compare_swap return what
    the word was before."""

    @staticmethod
    def fetch(word, pe):
        return _on_word('fetch', word, pe)

    @staticmethod
    def set(word, value, pe):
        _on_word('set', word, pe, value)

    @staticmethod
    def add(word, value, pe):
        _on_word('add', word, pe, value)

    @staticmethod
    def fetch_add(word, value, pe):
        return _on_word('fetch_add', word, pe, value)

    @staticmethod
    def inc(word, pe):
        _on_word('inc', word, pe)

    @staticmethod
    def fetch_inc(word, pe):
        return _on_word('fetch_inc', word, pe)

    @staticmethod
    def swap(word, value, pe):
        return _on_word('swap', word, pe, value)

    @staticmethod
    def compare_swap(word, expected, value, pe):
        return _on_word('compare_swap', word, pe, expected, value)

    # Named as the routines are; "and" and "or" are words of Python.
    @staticmethod
    def bits_and(word, value, pe):
        _on_word('and', word, pe, value)

    @staticmethod
    def bits_or(word, value, pe):
        _on_word('or', word, pe, value)

    @staticmethod
    def bits_xor(word, value, pe):
        _on_word('xor', word, pe, value)

    @staticmethod
    def fetch_and(word, value, pe):
        return _on_word('fetch_and', word, pe, value)

    @staticmethod
    def fetch_or(word, value, pe):
        return _on_word('fetch_or', word, pe, value)

    @staticmethod
    def fetch_xor(word, value, pe):
        return _on_word('fetch_xor', word, pe, value)


# --- Waiting ---

def comparison(text):
    try:
        return _COMPARISONS[text]
    except (KeyError, TypeError):
        raise ValueError('no comparison %r; there are %s' % (text, ' '.join(_COMPARISONS))) from None


def until(is_over, what, timeout):
    """Asks until it is over. Between two questions Python runs what an interrupt (Ctrl-C) asks for."""
    begun = time.monotonic()
    for _ in range(200):
        if is_over():
            return
    while not is_over():
        waited = time.monotonic() - begun
        if timeout is not None and waited > timeout:
            raise TimeoutError('%s: not within %g s' % (what, timeout))
        if waited > _BRISK:
            time.sleep(_PAUSE)


@functools.lru_cache(maxsize=None)
def _test(dtype):
    return _typed('shmem_%s_test' % _types.name_of(dtype, 'wait_until'), dtype, 'wait_until', INT, POINTER, INT,
                  _types.argument_of(dtype, 'wait_until'))


@functools.lru_cache(maxsize=None)
def _test_any(dtype):
    return _typed('shmem_%s_test_any' % _types.name_of(dtype, 'wait_until_any'), dtype, 'wait_until_any', SIZE, POINTER,
                  SIZE, POINTER, INT, _types.argument_of(dtype, 'wait_until_any'))


def test(word, compare, value):
    """Is the word of this PE == (!=, >, <=, <, >=) value?"""
    return bool(_test(word.dtype)(_word(word, 'test'), comparison(compare), value))


def wait_until(word, compare, value, timeout=None):
    """Waits until a word of this PE is == (!=, >, <=, <, >=) value, for at most so many seconds; raises
    TimeoutError then. An interrupt ends it."""
    ask, address, code = _test(word.dtype), _word(word, 'wait_until'), comparison(compare)
    until(lambda: ask(address, code, value), 'wait_until', timeout)


def wait_until_any(words, compare, value, timeout=None):
    """Waits until one of the words (an array whose elements lie one after another) is so. Returns its index."""
    address, code, count = symmetric(words, 'wait_until_any'), comparison(compare), words.size
    if not words.flags.c_contiguous or words.ndim != 1 or not count:
        raise ValueError('wait_until_any: give a row of words that lie one after another')
    ask, found = _test_any(words.dtype), [0]

    def is_over():
        found[0] = ask(address, count, None, code, value)
        return found[0] < count
    until(is_over, 'wait_until_any', timeout)
    return found[0]


def wait_until_all(words, compare, value, timeout=None):
    """Waits until all words are so."""
    for word in words.reshape(-1, 1):
        wait_until(word, compare, value, timeout)


_signal_fetch = routine('shmem_signal_fetch', ctypes.c_uint64, POINTER)


def signal_fetch(signal):
    """The value of a signal of this PE."""
    return _signal_fetch(signal_address(signal, 'signal_fetch'))


def signal_wait_until(signal, compare, value, timeout=None):
    """As wait_until. Returns the signal's value."""
    signal_address(signal, 'signal_wait_until')
    wait_until(signal, compare, value, timeout)
    return signal_fetch(signal)

