# SPDX-License-Identifier: BSD-2-Clause
"""spawn_as.py PID COMMAND...: runs COMMAND as a child with this pid, which nobody has any more (clone3 with set_tid), and exits with its status."""
import ctypes
import os
import signal
import struct
import sys

CLONE3 = 435
libc = ctypes.CDLL(None, use_errno=True)

set_tid = ctypes.c_int(int(sys.argv[1]))
# struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup
arguments = ctypes.create_string_buffer(struct.pack("<11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(set_tid), 1, 0))
child = libc.syscall(CLONE3, arguments, 88)
if child < 0:
    sys.exit(f"no process with the pid {sys.argv[1]}: {os.strerror(ctypes.get_errno())}")
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status))
