#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/demo.sh [SECONDS [FOLDER]]
#
# What `make demo` runs once the set-up is done: builds, starts the bank, traces it (through sudo when not root), prints the report and says where
# the log lies and what to run next. The bank is ended whatever happens.
set -u
cd "$(dirname "$0")/.." || exit 1

seconds=${1:-5}
folder=${2:-build/demo}
log=$folder/bank.txtrace

die() {
	echo "demo: $*" >&2
	exit 1
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif [ -t 0 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

[ "$(id -u)" = 0 ] || command -v sudo >/dev/null || die "tracing needs root and there is no sudo: run 'make demo' as root"

make --no-print-directory -j"$(nproc)" all programs || die "the build failed"

mkdir -p "$folder" || exit 1
rm -f "$log"

bank=
end_bank() {
	[ -z "$bank" ] || { kill -TERM "$bank" && wait "$bank"; } 2>/dev/null
	bank=
}
trap end_bank EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build/programs/bank --directory "$folder" >"$folder/bank.out" 2>&1 &
bank=$!
sleep 0.5
kill -0 "$bank" 2>/dev/null || die "the bank did not start: $(cat "$folder/bank.out")"

echo
echo "The bank runs as process $bank: tellers and clerks, accounts with locks, a journal on disk. Tracing it for $seconds s:"
echo
echo "    sudo build/txtrace-bpf -p $bank -d $seconds -o $log"
echo
as_root build/txtrace-bpf -p "$bank" -d "$seconds" -o "$log" </dev/null
status=$?
end_bank

[ $status = 0 ] || die "the bank could not be traced here: txtrace-bpf says why above (exit status $status)"
[ -r "$log" ] || as_root chown "$(id -u):$(id -g)" "$log" || die "'$log' cannot be read"

echo
echo "The log is $log ($(du -h "$log" | cut -f1)). No root is needed to look at it:"
echo
echo "    build/txtrace report $log"
echo "    build/txtrace spans $log --sort blocked -n 10"
echo "    build/txtrace export $log --format perfetto -o $folder/bank.pftrace    (open it at https://ui.perfetto.dev)"
echo "    build/txtrace --help"
