#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that know where the time of their spans went, with marks in shared memory: they cannot tell the two ways apart.
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/known_answers.sh
. tests/e2e/known_answers.sh || exit
