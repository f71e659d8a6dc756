#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The kernel tests on the oldest kernel that is supported, in QEMU. All kernels: make check-kernels.
exec tests/kernels/run_kernel.sh 5.10 --few
