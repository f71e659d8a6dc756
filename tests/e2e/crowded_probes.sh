#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Threads that take the CPU from each other within one probe: no program may write into what another one has on its stack (kernels since 6.13 that can be
# preempted there). Each span is in the log, under its own label, and ends.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

check "threads that interrupt each other in a probe: every span is its own" holds launch crowd crowd
finish
