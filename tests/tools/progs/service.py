# SPDX-License-Identifier: BSD-3-Clause
"""service.py LIBRARY FOLDER RANK SIZE STARTS: a service that loads the library when other threads
run already, starts in a thread of its own by an id in a file, leaves, and starts again. The process
must then be as it was before: threads, descriptors, signal handlers, limits, environment."""
import ctypes
import os
import resource
import sys
import threading
import time

library, folder, rank, size, starts = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])


class Attr(ctypes.Structure):
    _fields_ = [
        ("rank", ctypes.c_int), ("size", ctypes.c_int), ("id", ctypes.c_void_p),
        ("all_gather", ctypes.c_void_p), ("arg", ctypes.c_void_p), ("threads", ctypes.c_int),
        ("errors", ctypes.c_int), ("silence", ctypes.c_double), ("reserved", ctypes.c_long * 7),
    ]


def state():
    with open("/proc/self/status") as status:
        signals = [line for line in status if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
    return (
        len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), signals,
        resource.getrlimit(resource.RLIMIT_NOFILE), dict(os.environ),
    )


def unique_id(shmem, number):
    made = ctypes.create_string_buffer(128)
    name = "%s/service.%d" % (folder, number)
    if rank == 0:
        assert shmem.shmemx_get_unique_id(made) == 0
        with open(name + ".new", "wb") as file:
            file.write(made.raw)
        os.rename(name + ".new", name)
        return made
    while not os.path.exists(name):
        time.sleep(0.001)
    with open(name, "rb") as file:
        return ctypes.create_string_buffer(file.read(), 128)


def job(shmem, number):
    made = unique_id(shmem, number)
    attr = Attr(rank, size, ctypes.cast(made, ctypes.c_void_p), None, None, 3)
    assert shmem.shmemx_init_attr(ctypes.byref(attr)) == 0
    word = shmem.shmem_calloc(ctypes.c_size_t(1), ctypes.c_size_t(8))
    shmem.shmem_long_p(ctypes.c_void_p(word), ctypes.c_long(100 + rank), (rank + 1) % size)
    shmem.shmem_barrier_all()
    assert ctypes.c_long.from_address(word).value == 100 + (rank - 1) % size
    shmem.shmem_finalize()


def serve():
    before = state()
    shmem = ctypes.CDLL(library)
    shmem.shmem_calloc.restype = ctypes.c_void_p
    for number in range(starts):
        job(shmem, number)
        # a thread that was joined may stand in /proc for a moment
        for _ in range(100):
            after = state()
            if after == before:
                break
            time.sleep(0.01)
        assert after == before, (number, before, after)
    print("served")


idle = threading.Event()
threading.Thread(target=idle.wait, daemon=True).start()
server = threading.Thread(target=serve)
server.start()
server.join()
