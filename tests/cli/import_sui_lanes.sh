#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sui's transaction trace, with a text that says which objects each transaction takes: contention per object.
# TXTRACE_SAMPLES: where the samples are.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/sui
python3 tests/cli/import_sui_files.py make "$tmp" || exit 1

import() { # import STATUS ARGUMENT...
	local status=$1
	shift
	run "$status" import -f sui -o log.txtrace "$@"
}

# lanes FILE LANES EXPECTED [GOLDEN]: contention per object; the trace comes back as if nothing were known of objects
lanes() {
	local file=$1
	import 0 --lanes "$2" "$file" && run 0 verify log.txtrace && run 0 export -f jsonl log.txtrace && cp "$tmp/out" "$tmp/lanes.jsonl" || return
	shift 2
	run 0 workers --json log.txtrace && cp "$tmp/out" "$tmp/workers.json" && run 0 export -f chrome -o lanes.json log.txtrace || return
	python3 tests/cli/import_sui_lanes_check.py "$1" "$tmp/lanes.jsonl" "$tmp/workers.json" "$tmp/lanes.json" "${@:2}" || return
	run 0 report --by track --label object log.txtrace && grep -q "^spans .* tracks" "$tmp/out"
}

# Of two.bin, 1 executes from 100 to 600 us, 2 from 200 to 70700, and 3 from 700 on, without an end.
own_lanes() {
	{
		echo "# by hand"
		printf '01%.0s' {1..32}
		echo " 0xa 0xb # both"
		echo "8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR  0xb"
		printf '03%.0s' {1..32}
		printf ' 0xb\t0xc\r\n\n'
		printf 'ff%.0s' {1..32}
	} >"$tmp/lanes.txt"
	cat >"$tmp/wanted.json" <<-'END'
		{"0xa": {"executions": 1, "sum_ns": 500000, "busy_ns": 500000, "max_overlap": 1},
		 "0xb": {"executions": 2, "sum_ns": 71000000, "busy_ns": 70600000, "max_overlap": 2},
		 "0xc": {"executions": 0, "sum_ns": 0, "busy_ns": 0, "max_overlap": 0}}
	END
	lanes two.bin lanes.txt "$tmp/wanted.json" || return
	[ "$(jq -c 'select(.name == "0xb") | .value' "$tmp/lanes.jsonl" | tr '\n' ' ')" = "1 2 1 2 1 0 " ] || fail "$(grep '"0xb"' "$tmp/lanes.jsonl")" || return
	run 0 export -f sui2 -o again.bin log.txtrace && [ ! -s "$tmp/err" ] && cmp "$tmp/two.bin" "$tmp/again.bin"
}

bad_lanes() {
	printf '01%.0s' {1..32} >"$tmp/bad.txt" && echo " 0xa" >>"$tmp/bad.txt" && cat "$tmp/bad.txt" "$tmp/bad.txt" >"$tmp/twice.txt" && echo "0xab 0xa" >>"$tmp/bad.txt"
	import 2 --lanes bad.txt two.bin && grep -q "'bad.txt', line 2: '0xab' is no digest of 64 hex digits or in base58$" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	import 2 --lanes twice.txt two.bin && grep -q "'twice.txt', line 2: the transaction '0101[01]*' has a line before$" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	import 2 --lanes none.txt two.bin && grep -q "can't read 'none.txt': No such file" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	printf 'z%.0s' {1..44} >"$tmp/bad.txt" # more than 32 bytes
	import 2 --lanes bad.txt two.bin && grep -q "line 1: 'zz[z]*' is no digest" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	printf 'TOKIOTRC\005\0\0\0' >"$tmp/tokio.bin"
	run 2 import --lanes lanes.txt -o other.txtrace tokio.bin || return
	grep -q -e "--lanes is for the format sui, and this is tokio$" "$tmp/err" || fail "$(cat "$tmp/err")"
}

check "objects of transactions" own_lanes
check "lanes that can't be read" bad_lanes
if [ -d "$samples" ]; then
	check "sample lanes" lanes "$samples/four-variant.bin" "$samples/lanes.txt" "$samples/four-variant.lanes.expected.json"
	echo null >"$tmp/null.json"
	check "sample of Sui's own picture" lanes "$samples/chrome-input.bin" "$samples/chrome-lanes.txt" "$tmp/null.json" "$samples/chrome-golden.json"
else
	skip "samples" "there are none beside the tree"
fi
finish
