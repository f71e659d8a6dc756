#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Whether the verdict can be trusted, on kept figures of recorded runs: 320 of the bank under load that comes and goes, and 40 pairs each with 5 % more CPU work, one
# more fsync, a longer critical section. How they were recorded: tests/bench/trust_runs.sh. What is printed is in docs/ci.md, of more comparisons.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh

trust=$BUILD/cli/trust
each=300 changed=30
case $BUILD in */sanitize-*) each=12 changed=6 ;; esac # there it is about memory

python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' tests/cli/runs/bank.txt.xz >"$tmp/all"
awk -v to="$tmp" '$1 == "set" { name = $2 } { print > (to "/set." name) }' "$tmp/all"

judged() { # judged SET EACH N CONDITION
	"$trust" judge "$2" "$3" <"$tmp/set.$1" >"$tmp/$1.json" || return
	cat "$tmp/$1.json"
	jq -e "$4" "$tmp/$1.json" >"$tmp/held"
}

no_false_alarms() {
	judged same $each 10 ".comparisons == $each and .worse <= .comparisons / 100 and .any_change <= .comparisons / 100 and .gate <= .comparisons / 100 and .naive > .comparisons / 4"
}

found() { # found SET
	judged "$1" $changed 16 ".comparisons == $changed and .worse >= 0.95 * .comparisons and .named >= 0.95 * .comparisons and .gate >= 0.95 * .comparisons"
}

check "the same program under changing load: false alarms in at most 1 % of $each comparisons, where medians of wall time cry wolf" no_false_alarms
check "5 % more CPU work is found, and named" found cpu
check "one more fsync is found, and named" found fsync
check "a longer critical section is found, and named" found lock
finish
