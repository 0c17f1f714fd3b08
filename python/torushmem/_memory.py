# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric memory as NumPy arrays, and what goes from PE to PE: puts, gets, signals, order."""

from __future__ import annotations

import bisect
import ctypes

import numpy as np

from . import _job
from ._job import at_end, in_job, need_job
from ._interrupts import waiting
from ._library import INT, POINTER, SIZE, routine

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Sequence, Union

    Shape = Union[int, Sequence[int]]

_malloc = waiting('shmem_align', POINTER, SIZE, SIZE)
_free = waiting('shmem_free', None, POINTER)
_ptr = routine('shmem_ptr', POINTER, POINTER, INT)
_barrier = waiting('shmem_barrier_all', None)
_put = routine('shmem_putmem', None, POINTER, POINTER, SIZE, INT)
_get = routine('shmem_getmem', None, POINTER, POINTER, SIZE, INT)
_put_nbi = routine('shmem_putmem_nbi', None, POINTER, POINTER, SIZE, INT)
_get_nbi = routine('shmem_getmem_nbi', None, POINTER, POINTER, SIZE, INT)
_put_signal = routine('shmem_putmem_signal', None, POINTER, POINTER, SIZE, POINTER, ctypes.c_uint64, INT, INT)
_strided = {(verb, size): routine('shmem_i%s%d' % (verb, 8 * size), None, POINTER, POINTER, ctypes.c_ssize_t,
                                  ctypes.c_ssize_t, SIZE, INT)
            for verb in ('put', 'get') for size in (1, 2, 4, 8, 16)}

LINE = 64
SIGNAL_SET, SIGNAL_ADD = 1, 2

# The blocks that are there: where they begin, in order; by that, where they end, and their memory.
# Other threads look here meanwhile, so the list is replaced as a whole, and a block in it has an
# end.
_begins, _ends, _arrays = [], {}, {}


# --- Allocation ---

def empty(shape: Shape, dtype: Any = float) -> np.ndarray:
    """An array in symmetric memory, with any content. All PEs call it, with the same arguments."""
    global _begins
    need_job('empty')
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError('empty: elements of type %s are Python objects, which other PEs cannot use' % dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if count < 0 or np.any(np.less(shape, 0)):
        raise ValueError('empty: shape %s: no length may be negative' % (shape,))
    nbytes = max(count * dtype.itemsize, 1)
    address = _malloc(LINE, nbytes)
    if not address:
        _job.check_whole()
        raise MemoryError('empty: the symmetric heap has no %d bytes left; set SHMEM_SYMMETRIC_SIZE (as in 4G) '
                          'before the job' % nbytes)
    memory = (ctypes.c_char * nbytes).from_address(address)
    array = np.frombuffer(memory, dtype, count).reshape(shape)
    _ends[address], _arrays[address] = address + nbytes, memory
    _begins = sorted([*_begins, address])
    return array


def zeros(shape: Shape, dtype: Any = float) -> np.ndarray:
    """The same, of zeros."""
    array = empty(shape, dtype)
    array.fill(0)
    barrier_all()
    return array


def full(shape: Shape, value: Any, dtype: Any = None) -> np.ndarray:
    """The same, of one value."""
    array = empty(shape, np.asarray(value).dtype if dtype is None else dtype)
    array.fill(value)
    barrier_all()
    return array


def array(values: Any, dtype: Any = None) -> np.ndarray:
    """The same, with these values, which may differ from PE to PE; shape and type may not."""
    values = np.asarray(values, dtype)
    result = empty(values.shape, values.dtype)
    result[...] = values
    barrier_all()
    return result


def free(array: np.ndarray) -> None:
    """Ends an array of empty, zeros, full or array. All PEs call it, in the same order. Nothing may use the
    array or a part of it afterwards."""
    global _begins
    address = _address(array)
    if address not in _arrays:
        raise ValueError('free: this is no array from torushmem.empty and the like, or it is free already')
    _begins = [begin for begin in _begins if begin != address]
    del _ends[address], _arrays[address]
    _free(address)


def forget_all() -> None:
    """The library has freed all."""
    global _begins
    _begins = []
    _ends.clear()
    _arrays.clear()


at_end(forget_all)


# --- Addresses ---

_at, _buffer = ctypes.addressof, ctypes.c_char.from_buffer
_UINT64 = np.dtype(np.uint64)


def _dense(array: np.ndarray) -> int | None:
    """Where it begins, if its elements lie one after another, else None."""
    try:
        return _at(_buffer(array))  # this takes a quarter of the time, and refuses arrays that are not so
    except (TypeError, ValueError, BufferError):  # also empty ones, those that cannot be written, and dates
        return array.__array_interface__['data'][0] if array.flags.c_contiguous else None


def _address(array: np.ndarray) -> int:
    try:
        return _at(_buffer(array))
    except (TypeError, ValueError, BufferError):
        return array.__array_interface__['data'][0]


def _block(address: int) -> int | None:
    """Where the block begins that contains the address; None if there is none."""
    begins = _begins
    at = bisect.bisect_right(begins, address) - 1
    return begins[at] if at >= 0 and address < _ends.get(begins[at], 0) else None


def is_symmetric(array: np.ndarray) -> bool:
    """Does the array lie in symmetric memory?"""
    return _block(_address(array)) is not None


def contains(address: int, nbytes: int) -> bool:
    """Does a block of symmetric memory contain these bytes?"""
    begin = _block(address)
    return begin is not None and address + nbytes <= _ends[begin]


def symmetric(array: np.ndarray, name: str) -> int:
    """Its address, if it lies in symmetric memory."""
    try:
        address = _address(array)
    except AttributeError:
        raise TypeError('%s: give an array, not %s' % (name, type(array).__name__)) from None
    if _block(address) is None:
        raise ValueError('%s: this array is not in symmetric memory; make it by torushmem.empty, zeros, full or '
                         'array' % name)
    return address


def whole(array: np.ndarray, name: str) -> int:
    """The same for an array whose elements lie one after another."""
    address = symmetric(array, name)
    if not array.flags.c_contiguous:
        raise ValueError('%s: the elements of this array do not lie one after another; use a whole array or rows '
                         'of it' % name)
    return address


def check_pe(pe: int, name: str) -> None:
    if not 0 <= pe < _job.count:
        raise ValueError('%s: pe %r: the job has PEs 0 to %d' % (name, pe, _job.count - 1))


def at_pe(array: np.ndarray, pe: int) -> np.ndarray | None:
    """The array of another PE of this node, for loads and stores; None if that is on another node. Nothing may
    use it after free."""
    check_pe(pe, 'at_pe')
    address = symmetric(array, 'at_pe')
    begin = _block(address)
    there = _ptr(begin, pe)
    if not there:
        return None
    memory = (ctypes.c_char * (_ends[begin] - begin)).from_address(there)
    return np.ndarray(array.shape, array.dtype, memory, address - begin, array.strides)


# --- Puts and gets ---

def _values(value: Any, target: np.ndarray, name: str) -> np.ndarray:
    """The value as an array of the target's type and shape; numbers and small arrays are spread over it."""
    values = np.asarray(value)
    if values.dtype != target.dtype:
        if not isinstance(value, (bool, int, float, complex)) and not np.can_cast(values.dtype, target.dtype, 'safe'):
            raise TypeError('%s: elements are of type %s here and %s there; convert by astype' %
                            (name, values.dtype, target.dtype))
        values = values.astype(target.dtype)
    if values.shape != target.shape:
        values = np.broadcast_to(values, target.shape)
    return values if values.flags.c_contiguous else np.ascontiguousarray(values)


def _move(verb: str, block: Any, remote: np.ndarray, local: np.ndarray, pe: int) -> None:
    """Rows of arrays of equal shape. remote: in symmetric memory; block moves bytes that lie together."""
    here, there = _dense(local), _dense(remote)
    if here is not None and there is not None:
        block(*((there, here) if verb == 'put' else (here, there)), remote.nbytes, pe)
        return
    if remote.ndim > 1:
        for i in range(len(remote)):
            _move(verb, block, remote[i], local[i], pe)
        return
    _move_row(verb, remote, local, pe)


def _move_row(verb: str, remote: np.ndarray, local: np.ndarray, pe: int) -> None:
    size = remote.itemsize
    strides = remote.strides[0], local.strides[0]
    if (verb, size) not in _strided or any(stride % size or stride <= 0 for stride in strides):
        move = _put if verb == 'put' else _get
        for i in range(len(remote)):
            here, there = _address(local[i:i + 1]), _address(remote[i:i + 1])
            move(*((there, here) if verb == 'put' else (here, there)), size, pe)
        return
    remote_stride, local_stride = (stride // size for stride in strides)
    here, there = _address(local), _address(remote)
    if verb == 'put':
        _strided[verb, size](there, here, remote_stride, local_stride, len(remote), pe)
    else:
        _strided[verb, size](here, there, local_stride, remote_stride, len(remote), pe)


def put(dest: np.ndarray, value: Any, pe: int) -> None:
    """Writes value to the place of dest on another PE. dest: an array in symmetric memory, or any part of one.
    value: an array of its shape, or a number for all of it. On return value may change; the data is there after
    a barrier or quiet."""
    symmetric(dest, 'put: dest')
    check_pe(pe, 'put')
    if dest.size:
        _move('put', _put, dest, _values(value, dest, 'put'), pe)


def get(source: np.ndarray, pe: int, out: np.ndarray | None = None) -> np.ndarray:
    """Reads the place of source on another PE. Returns an array of its own, or out."""
    symmetric(source, 'get: source')
    check_pe(pe, 'get')
    if out is None:
        out = np.empty(source.shape, source.dtype)
    elif out.shape != source.shape or out.dtype != source.dtype:
        raise ValueError('get: out has %s of %s, and source %s of %s' %
                         (out.shape, out.dtype, source.shape, source.dtype))
    if source.size:
        _move('get', _get, source, out, pe)
        _job.check_whole()
    return out


def _same_block(name: str, one: np.ndarray, other: np.ndarray) -> tuple[int, int]:
    """Where they begin, if they are equally long and of the same type."""
    if one.nbytes != other.nbytes or one.dtype != other.dtype:
        raise ValueError('%s: %s of %s here and %s of %s there' %
                         (name, one.shape, one.dtype, other.shape, other.dtype))
    here, there = _dense(one), _dense(other)
    if here is None or there is None:
        raise ValueError('%s: only for arrays whose elements lie one after another' % name)
    return here, there


def put_nbi(dest: np.ndarray, source: np.ndarray, pe: int) -> None:
    """Starts a put of an array, which may not change until quiet."""
    symmetric(dest, 'put_nbi: dest')
    check_pe(pe, 'put_nbi')
    here, there = _same_block('put_nbi', source, dest)
    _put_nbi(there, here, dest.nbytes, pe)


def get_nbi(out: np.ndarray, source: np.ndarray, pe: int) -> None:
    """Starts a get; out has the data after quiet."""
    symmetric(source, 'get_nbi: source')
    check_pe(pe, 'get_nbi')
    here, there = _same_block('get_nbi', out, source)
    _get_nbi(here, there, source.nbytes, pe)


def put_signal(dest: np.ndarray, source: np.ndarray, signal: np.ndarray, value: int, pe: int,
               add: bool = False) -> None:
    """Puts, and then sets the signal on that PE to value, or adds it. signal: one element of type uint64."""
    symmetric(dest, 'put_signal: dest')
    check_pe(pe, 'put_signal')
    here, there = _same_block('put_signal', source, dest)
    _put_signal(there, here, dest.nbytes, signal_address(signal, 'put_signal: signal'), value,
                SIGNAL_ADD if add else SIGNAL_SET, pe)


def signal_address(signal: np.ndarray, name: str) -> int:
    address = symmetric(signal, name)
    if signal.size != 1 or signal.dtype != _UINT64:
        raise TypeError('%s: give one element of type uint64, as in signals[3:4]' % name)
    return address


# --- Order ---

fence = in_job(routine('shmem_fence', None), 'fence', 'Puts before it arrive before those after it, at each PE.')
quiet = in_job(waiting('shmem_quiet', None), 'quiet', 'Waits until all puts of this PE have arrived.')
barrier_all = in_job(_barrier, 'barrier_all', 'Waits for all PEs, and for what they have put.')
sync_all = in_job(waiting('shmem_sync_all', None), 'sync_all', 'Waits for all PEs.')
