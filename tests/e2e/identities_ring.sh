#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Processes that move between cgroups, with marks in shared memory: they cannot tell the two ways apart.
# takes long: 10 s of a CPU
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/identities.sh
. tests/e2e/identities.sh || exit
