#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/bench/trust_runs.sh [PAIRS [KEEP]]
#
# Whether the verdict of `txtrace diff` can be trusted: records PAIRS pairs (default 100) of runs of the bank, which does the same in each, and a quarter as many of each
# change, under load that comes and goes; compares them in many ways (tests/cli/trust.c). KEEP: also write the figures of the runs there, as text: what
# tests/cli/runs/bank.txt.xz is. Takes about 12 minutes, on a machine that others use half an hour.
set -eu
cd "$(dirname "$0")/../.."
pairs=${1:-100} keep=${2:-/dev/null}
scratch=$(mktemp -d)
build/programs/gusts --processes 3 --mean 3 --seed 7 --directory "$scratch" &
gusts=$!
trap 'kill $gusts 2>/dev/null || true; rm -rf "$scratch"' EXIT
bank="build/programs/bank --transactions 1000 --rate 1000 --seed 1"

record() { # record NAME PAIRS OPTION...
	local name=$1 cnt=$2
	shift 2
	# shellcheck disable=SC2086
	build/txtrace-bpf -q --repeat "$cnt" -o "$scratch/$name" --base "$bank" -- $bank "$@" >"$scratch/said"
	build/cli/trust sample "$name" "$scratch/$name"/base-*.txtrace -- "$scratch/$name"/new-*.txtrace >>"$scratch/runs"
	rm -r "${scratch:?}/$name"
}

changed=$(((pairs + 3) / 4))
record same "$pairs"
record cpu $changed --checksum-us 1050
record fsync $changed --fsyncs 2
record lock-100 $changed --hold-us 100
record lock-300 $changed --hold-us 300
kill $gusts
cp "$scratch/runs" "$keep"
echo
echo "Trust: comparisons of recorded runs of the bank, under load that comes and goes"
build/cli/trust judge <"$scratch/runs" | jq -r '"  \(.set), \(.how), \(.runs_a_side) runs a side: of \(.comparisons) comparisons worse \(.worse), any change \(.any_change), " +
	"named rightly \(.named), and nothing else \(.alone), gate \(.gate); p50 of wall + 5 %: \(.naive) (one kind of transaction: \(.naive_of_one_kind))"'
