#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All measurements, in one run; ROUNDS= sets how many rounds are interleaved (default 15).
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "bench: the recorder needs root: run sudo make bench" >&2; exit 2; }
[ "${1:-}" != trust ] || exec tests/bench/trust_runs.sh
unset SUDO_UID SUDO_GID # what is measured is root's, whoever called
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT INT TERM
python3 tests/bench/measure.py --build build --scratch "$directory" --rounds "${ROUNDS:-15}" "$@"
[ $# -gt 0 ] || build/bench/attribution_speed
[ $# -gt 0 ] || tests/bench/trust_runs.sh
