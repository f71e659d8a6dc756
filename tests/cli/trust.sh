#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Whether the verdict can be trusted, on kept figures of recorded runs: 200 of the bank under load that comes and goes, and 25 pairs each with 5 % more CPU work, one
# more fsync, a critical section that is 100 and 300 us longer. How they were recorded: tests/bench/trust_runs.sh. What it prints is in docs/ci.md, of more comparisons.
# takes long: 20 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

trust=$BUILD/cli/trust
each=150 changed=20
case $BUILD in */sanitize-*) each=6 changed=4 ;; esac # there it is about memory

python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' tests/cli/runs/bank.txt.xz >"$tmp/all"
awk -v to="$tmp" '$1 == "set" { name = $2 } { print > (to "/set." name) }' "$tmp/all"

# Two at a time: the same program beside all changes.
"$trust" judge $each 10 <"$tmp/set.same" >"$tmp/same.json" &
same=$!
for set in fsync lock-100 lock-300; do
	"$trust" judge $changed 10 <"$tmp/set.$set" >"$tmp/$set.json"
done
"$trust" judge $changed 16 <"$tmp/set.cpu" >"$tmp/cpu.json"
wait $same

# Twice as many as EACH: in turn, and drawn. That any figure at all is told as changed, whoever's, is to happen in 1 % of comparisons in the mean; these overlap.
no_false_alarms() {
	cat "$tmp/same.json"
	jq -es "[.[].comparisons] == [$each, $each] and ([.[].worse] | add) <= 2 * $each / 100 and ([.[].gate] | add) <= 2 * $each / 100
		and ([.[].any_change] | add) <= 2 * 2 * $each / 100 and all(.naive > .comparisons / 4)" "$tmp/same.json" >"$tmp/held"
}

found() { # found SET
	cat "$tmp/$1.json"
	jq -e ".comparisons == $changed and .worse >= 0.95 * .comparisons and .named >= 0.95 * .comparisons and .gate >= 0.95 * .comparisons" "$tmp/$1.json" >"$tmp/held"
}

check "the same program under changing load: false alarms in at most 1 % of $((2 * each)) comparisons, where medians of wall time cry wolf" no_false_alarms
check "5 % more CPU work is found, and named" found cpu
check "one more fsync is found, and named" found fsync
check "a critical section that is 100 us longer is found, and named where it is held and where it is waited for" found lock-100
check "300 us longer" found lock-300
finish
