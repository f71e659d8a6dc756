#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who is traced, with marks in shared memory: they cannot tell the two ways apart.
# runs alone: with -a, the probes of every process of the machine are set
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/targets.sh
. tests/e2e/targets.sh || exit
