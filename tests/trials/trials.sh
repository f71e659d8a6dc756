#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/trials/trials.sh [--markdown FILE] [--rounds N] [PROGRAM...]
#
# Records real programs, and prints txtrace's figures next to independent ones: for each release. All of them, or those that are named. No time decides
# anything: what is compared exactly are counts.
# Needs root. Sources (Redis, nginx, memcached) come from Debian's archive and are built in build/trials. Exit status 1: a count that has to be equal is not.
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "trials: the recorder needs root: run sudo make trials" >&2; exit 2; }
unset SUDO_UID SUDO_GID # what is measured is root's, whoever called
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT INT TERM
chmod 755 "$directory"
python3 tests/trials/run_trials.py --build build --scratch "$directory" "$@"
