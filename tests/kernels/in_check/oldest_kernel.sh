#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The oldest kernel that is supported, in QEMU: the tests of tests/kernels/tests.table that are marked so. It is the one that differs most from
# the machine's own. Where neither build/kernels has it nor a network does, it is skipped.
exec tests/kernels/run_kernel.sh 5.10 --few
