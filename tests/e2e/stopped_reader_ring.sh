#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# runs alone: as stopped_reader.sh
# A recorder that does not get to read, with marks in shared memory: they cannot tell the two ways apart.
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/stopped_reader.sh
. tests/e2e/stopped_reader.sh || exit
