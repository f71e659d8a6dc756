# SPDX-License-Identifier: BSD-2-Clause
"""hold_by_ptrace.py PID: stops the process' first thread by ptrace, says "held", and lets go when its standard input ends."""
import ctypes
import os
import sys

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, pid):
    if libc.ptrace(request, pid, None, None):
        sys.exit(f"ptrace {request:#x}: {os.strerror(ctypes.get_errno())}")


target = int(sys.argv[1])
ptrace(PTRACE_SEIZE, target)
ptrace(PTRACE_INTERRUPT, target)
if not os.WIFSTOPPED(os.waitpid(target, WALL)[1]):
    sys.exit("it does not stop")
print("held", flush=True)
sys.stdin.read()
ptrace(PTRACE_DETACH, target)
