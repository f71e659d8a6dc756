#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Which spans go into the log, with marks in shared memory: the recorder chooses the same ones as the kernel side does.
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/span_choices.sh
. tests/e2e/span_choices.sh || exit
