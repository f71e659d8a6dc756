#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Recorders under load are killed with SIGKILL, 60 of them (make check-all: 200), at random moments: their targets run on, and what they leave is a log that lacks the last
# second at most, and says so. SEED= repeats the moments of a run, as far as the machine does.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# In memory, if we may: how long somebody else's fsync holds up a disk is nobody's to say.
scratch=$tmp/scratch
mkdir "$scratch"
trap 'mountpoint -q "$scratch" && umount "$scratch"' EXIT
mount -t tmpfs -o size=512m none "$scratch" 2>/dev/null

python3 $e2e/kill_recorders.py --build "$BUILD" --programs "$programs" --scratch "$scratch" --kills "${TXTRACE_KILLS:-60}" --busy-option=--rotate-size=64K ${SEED:+--seed "$SEED"}
