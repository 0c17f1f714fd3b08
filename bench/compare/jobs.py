# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job with a limit of time, leaves nothing of it behind, and sums up rounds."""
import ctypes
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """What a job leaves behind becomes this process's child, so that it can be found and ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                    found.append(int(pid))
        except (OSError, ValueError):
            continue
    return found


def end_children():
    left = children()
    while left:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        left = children()


SHM = ("vader_segment.", "sm_segment.", "ucx_shm_posix_", "mpich_shm")


def shm_files():
    return {f for f in os.listdir("/dev/shm") if f.startswith(SHM)}


def run(command, limit, output, errors, settings=None):
    """The exit status, or None if it took too long; and the seconds. Output and errors are files."""
    before = shm_files()
    began = time.monotonic()
    with open(output, "w", encoding="utf-8") as out, open(errors, "w", encoding="utf-8") as err:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                               env={**os.environ, **(settings or {})}, start_new_session=True)
        try:
            status = job.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
    seconds = time.monotonic() - began
    if status is None:
        job.terminate()  # a launcher may tidy up
        try:
            job.wait(2)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
    end_children()
    if status is None:
        for name in shm_files() - before:
            os.unlink("/dev/shm/" + name)
    return status, seconds


def quantile(values, part):
    values = sorted(values)
    place = part * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def median(values):
    return quantile(values, 0.5)
