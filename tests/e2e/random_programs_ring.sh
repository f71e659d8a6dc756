#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random programs, with marks in shared memory: they cannot tell the two ways apart.
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/random_programs.sh
. tests/e2e/random_programs.sh || exit
