# SPDX-License-Identifier: BSD-3-Clause
"""Types of elements: NumPy's, and the library's names and codes for them."""

from __future__ import annotations

import ctypes

import numpy as np

# Of NumPy: the library's name of the type, its code in shmemx_type_t, C's type of an argument.
_TYPES = {
    'float32': ('float', 0, ctypes.c_float),
    'float64': ('double', 1, ctypes.c_double),
    'int8': ('int8', 14, ctypes.c_int8),
    'int16': ('int16', 15, ctypes.c_int16),
    'int32': ('int32', 16, ctypes.c_int32),
    'int64': ('int64', 17, ctypes.c_int64),
    'uint8': ('uint8', 18, ctypes.c_uint8),
    'uint16': ('uint16', 19, ctypes.c_uint16),
    'uint32': ('uint32', 20, ctypes.c_uint32),
    'uint64': ('uint64', 21, ctypes.c_uint64),
    'complex128': ('complexd', 24, None),
    'complex64': ('complexf', 25, None),
    'float16': ('half', 26, None),
}

OPERATIONS = {'sum': 0, 'prod': 1, 'min': 2, 'max': 3, 'and': 4, 'or': 5, 'xor': 6, 'avg': 7}

_by_dtype = {np.dtype(name): row for name, row in _TYPES.items()}


def of(dtype: np.dtype, purpose: str) -> tuple:
    """(name, code, C's type); purpose: the routine that asks, for the message."""
    try:
        return _by_dtype[dtype]
    except KeyError:
        raise TypeError('%s: no type of elements %s; there are %s' % (purpose, dtype, ', '.join(_TYPES))) from None


def name_of(dtype: np.dtype, purpose: str) -> str:
    return of(dtype, purpose)[0]


def code_of(dtype: np.dtype, purpose: str) -> int:
    return of(dtype, purpose)[1]


def argument_of(dtype: np.dtype, purpose: str) -> type:
    """C's type for one value of it as an argument."""
    argument = of(dtype, purpose)[2]
    if argument is None:
        raise TypeError('%s: not for elements of type %s' % (purpose, dtype))
    return argument


def operation(name: str) -> int:
    try:
        return OPERATIONS[name]
    except (KeyError, TypeError):
        raise ValueError('no operation %r; there are %s' % (name, ', '.join(OPERATIONS))) from None

