# SPDX-License-Identifier: BSD-2-Clause
"""
read_slices.py PID     the slice of each thread of a process in ns, one in a line; 0: the kernel does not know such a thing
"""
import ctypes
import os
import struct
import sys

SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}[os.uname().machine]
FORM = "=IIQiIQQQII"  # struct sched_attr


def slice_of(libc, tid):
    attr = ctypes.create_string_buffer(struct.calcsize(FORM))
    if libc.syscall(SCHED_GETATTR, tid, attr, len(attr), 0):
        raise OSError(ctypes.get_errno(), "sched_getattr")
    return struct.unpack(FORM, attr.raw)[5]


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    for tid in os.listdir(f"/proc/{sys.argv[1]}/task"):
        print(slice_of(libc, int(tid)))


main()
