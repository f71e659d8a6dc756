#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Traces of the Filecoin virtual machine as logs and back, and txtrace gas: made files with known answers, the samples beside the tree, and files that
# somebody has changed. TXTRACE_SAMPLES: where the samples are. TXTRACE_HOSTILE_FILES: how many changed ones, 10 as it is; TXTRACE_SEED: others.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/fvm
seed=${TXTRACE_SEED:-1}
count=${TXTRACE_HOSTILE_FILES:-10}
python3 tests/cli/fvm_files.py make "$tmp" || exit 1
clock="txtrace: the clock of the log is gas, not time: 1 ns stands for 1 milligas; see 'txtrace gas'"

import() { # import STATUS FILE: into log.txtrace, and its records into records
	rm -f "$tmp/log.txtrace" "$tmp/records"
	run "$1" import -o log.txtrace "$2" || return
	[ "$1" = 2 ] && return
	cp "$tmp/err" "$tmp/said_of_import"
	grep -qxF "$clock" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && "$txtrace" export -f jsonl log.txtrace >"$tmp/records" 2>"$tmp/err")
	[ "$1" = 1 ] || run 0 verify log.txtrace || fail "$(cat "$tmp/out")"
}

records() { # records TYPE JQ EXPECTED
	local found
	found=$(jq -rc "select(.type == \"$1\") | $2" "$tmp/records" | tr '\n' ' ' | sed 's/ $//')
	[ "$found" = "$3" ] || fail "$1: $found, not $3"
}

said() { # said SENTENCE...: all that the import said, but for the clock
	diff <([ $# = 0 ] || printf 'txtrace: %s\n' "$@") <(grep -vxF "$clock" "$tmp/said_of_import" | grep -v "the order of charges")
}

gas() { # gas OPTION: what it printed is what is on standard input
	run "${2:-0}" gas "$1" log.txtrace || return
	diff "$tmp/out" -
}

spans_of_example() {
	gas --spans <<-'TEXT'
		Span[Root, self: {sum=38,864, OnChainMessage=38,864}, total: {sum=38,873, OnChainMessage=38,864, OnBlockLink=5, wasm_exec=4, OnBlockOpen=0}]
		Span[1-Call(103->f07::15), self: {sum=7, OnBlockLink=5, wasm_exec=2, OnBlockOpen=0}, total: {sum=9, OnBlockLink=5, wasm_exec=4, OnBlockOpen=0}]
		Span[2-Span(load), self: {sum=3, wasm_exec=3, OnBlockOpen=0}, total: {sum=3, wasm_exec=3, OnBlockOpen=0}]
		Span[3-Call(7->f0105::2), self: {sum=3, wasm_exec=3}, total: {sum=3, wasm_exec=3}]
	TEXT
}

# The worked example of the format's description, and the same in the words of the machine itself.
example() {
	import 0 example.txt && spans_of_example || return
	gas --folded <<-'TEXT' || return
		Root;103->f07::15;7->f0105::2;wasm_exec 2001
		Root;103->f07::15;OnBlockLink 4500
		Root;103->f07::15;OnBlockOpen 999
		Root;103->f07::15;wasm_exec 1500
		Root;OnChainMessage 38864000
	TEXT
	records span '[.id, .parent, .label, .tag, .begin_ns, .end_ns, .nested // false]' \
		'["4","2","Send","to=f0105,method=2",38866499,38868500,false] ["3","2","load","",38865500,38868500,true] ["2","1","Send","to=f07,method=15",38864000,38873000,false] ["1","0","Root","",0,38873000,false]' || return
	records attribute 'select(.span == "2" and (.name | startswith("gas"))) | [.name, .value]' \
		'["gas.wasm_exec",1500] ["gas.OnBlockOpen",999] ["gas.OnBlockLink",4500] ["gas self",6999] ["gas total",9000] ["gas_limit",9]'
}

machine() {
	import 0 machine.txt && spans_of_example && said || return
	records attribute 'select(.span == "2" or .span == "4") | select(.name | startswith("gas") | not) | [.span, .name, .value]' \
		'["4","from","7"] ["4","to","f0105"] ["4","method",2] ["4","value","0.0"] ["4","params","Some(IpldBlock { codec: 51, data: [844200] })"] ["4","code","bafk105"] ["4","read_only",true] ["4","return","NotFound"] ["4","error","no \"such\"\n😀 \\ actor"] ["4","elapsed_ns",2000000] ["2","from","103"] ["2","to","f07"] ["2","method",15] ["2","value","1.5"] ["2","params","RawBytes { bytes: [132, 66] }"] ["2","code","bafk7"] ["2","exit_code",16] ["2","elapsed_ns",2000]' || return
	# as text of the workbench it says the same
	run 0 export -f fvm -o again.txt log.txtrace && [ ! -s "$tmp/err" ] && run 0 import -o log.txtrace again.txt && spans_of_example &&
		grep -qxF 'CallError { reason: "no \"such\"\n😀 \\ actor", errno: NotFound }' "$tmp/again.txt"
}

broken() {
	import 0 broken.txt && said "lines that are no known event, left out: 1" "ends of label spans that are not open, left out: 1" \
		"returns without a call, left out: 1" "calls that never returned, unfinished spans: 1" "label spans that never ended, unfinished: 1" || return
	gas --spans <<-'TEXT' || return
		Span[Root, self: {sum=2, a=2}, total: {sum=2, a=2, b=0}]
		Span[1-Span(x), self: {sum=0, b=0, a=0}, total: {sum=0}]
		Span[2-Span(x), self: {sum=0, a=0}, total: {sum=0, a=0}]
		Span[3-Call(1->f02::3), self: {sum=0, b=0}, total: {sum=0, b=0}]
	TEXT
	run 0 gas --json log.txtrace || return
	[ "$(jq -c '[.labels.x, (.spans[] | [.self_milligas, .total_milligas, .closed])]' "$tmp/out")" = \
		'[{"count":2,"unclosed":1,"milligas":120},[1010,1110,true],[110,0,false],[10,10,true],[100,100,false]]' ] || fail "$(cat "$tmp/out")" || return
	import 1 bad.txt && gas --folded 1 <<-'TEXT' || return
		Root;103->f07::15;7->f0105::2;wasm_exec 2001
		Root;103->f07::15;OnBlockLink 4500
		Root;103->f07::15;wasm_exec 1500
		Root;OnChainMessage 38864000
	TEXT
	said "'bad.txt', byte 302: the event Log can't be read, and is left out" "'bad.txt', byte 324: the event Call can't be read, and is left out" \
		"'bad.txt', byte 353: the event GasCharge can't be read, and is left out"
}

# Events SpanBegin and SpanEnd: ids are implied, and their clock is their own.
timed() {
	import 0 spans.txt && said "second ends of spans, left out: 1" "ends of spans that never began, left out: 1" "spans that never ended, unfinished: 1" \
		"spans whose parent had not begun: 1" || return
	run 0 gas --json log.txtrace || return
	[ "$(jq -c '[.timed, [.spans[] | select(.kind == "timed") | [.number, .name, .parent, .begin_ns, .end_ns]]]' "$tmp/out")" = \
		'[{"Send":{"count":1,"unclosed":0,"ns":400},"load":{"count":1,"unclosed":1,"ns":50}},[[1,"Send",null,100,500],[2,"load",null,300,null],[3,"load",1,600,650]]]' ] ||
		fail "$(cat "$tmp/out")"
}

# lotus: totals count, which are not the sums of their parts; an order is not known; what is missing is null.
lotus() {
	local file
	for file in list state alone; do
		import 0 $file.json && gas --folded <<-'TEXT' || fail $file || return
			f0103->f07::15;OnChainMessage 1228
			f0103->f07::15;OnDeleteActor -500
			f0103->f07::15;f07->f0105::2;wasm_exec 3
		TEXT
		said "charges whose total is not the sum of their parts; the total counts: 1" "negative charges, for which the clock stands still: 1" || return
		grep -q "^txtrace: the order of charges, calls, and lines of the log within one call is not known" "$tmp/said_of_import" || return
		records instant 'select(.name | startswith("Log") or startswith("Ipld")) | [.span, .name]' \
			'["2","Log { msg: \"SpanStart:x\" }"] ["2","Log { msg: \"a \\\"quote\\\"\" }"] ["2","Ipld { op: Get, cid: Cid(bafkblock), size: 5 }"]' || return
	done
	import 0 list.json && run 0 gas --json log.txtrace || return
	[ "$(jq -c '[.order_known, (.spans[] | [.name, .exit_code, .self_milligas, .total_milligas, .elapsed_ns])]' "$tmp/out")" = \
		'[false,["f0103->f07::15",0,728000,731000,40],["f07->f0105::2",16,3000,3000,0],["->::0",null,0,0,0]]' ] || fail "$(cat "$tmp/out")" || return
	import 2 nothing.json && grep -q "there is no execution trace in it" "$tmp/err" || return
	import 1 cut.json && grep -q "^txtrace: 'cut.json', byte [0-9]*: the JSON is cut off; what follows in this file is not read$" "$tmp/said_of_import" &&
		grep -q '"id":"1".*"unfinished":false' "$tmp/records" || return
	import 1 no_json.json && grep -q "^txtrace: 'no_json.json', byte [0-9]*: this is no JSON; " "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 1 deep.json && grep -q "calls are nested more than 1,000 deep" "$tmp/said_of_import" || return
	run 2 import -o log.txtrace example.txt list.json && grep -q "import one at a time" "$tmp/err"
}

# The unit is gas: other commands say so, and gas is shown with three decimals.
unit() {
	import 0 example.txt && run 0 gas log.txtrace || return
	! grep -q " ns\| ms\| µs\| s$" "$tmp/out" || return
	diff "$tmp/out" - <<-'TEXT' || return
		charge          count  other gas     %  compute gas      %   total gas      %
		OnBlockLink         1      0.500  33.3        4.000    0.0       4.500    0.0
		OnBlockOpen         1      0.000   0.0        0.999    0.0       0.999    0.0
		OnChainMessage      1      1.000  66.7   38,863.000  100.0  38,864.000  100.0
		wasm_exec           2      0.000   0.0        3.501    0.0       3.501    0.0
		total               5      1.500         38,871.500         38,873.000

		call          count  never returned  self gas  total gas
		103->f07::15      1               0     6.999      9.000
		7->f0105::2       1               0     2.001      2.001

		label span  count  never ended    gas
		load            1            0  3.000
	TEXT
	run 0 tree log.txtrace && grep -q "^txtrace: 'log.txtrace' counts gas, not time: read each ns as 1 milligas, or see 'txtrace gas'$" "$tmp/err" || return
	"$make_log" "$tmp/other.txtrace" <<<"header pid=7" && run 2 gas other.txtrace && grep -q "is no imported trace of the Filecoin virtual machine" "$tmp/err" || return
	run 2 gas --folded --json log.txtrace
}

# The tables as --by, --columns, --sort and --csv want them. A range of the log, and some of its spans, are only what they are.
tables() {
	import 0 example.txt && run 0 gas --by call --columns call,self,total --sort -total log.txtrace || return
	diff "$tmp/out" - <<-'TEXT' || return
		unknown program (pid 1)

		call          self gas  total gas
		7->f0105::2      2.001      2.001
		103->f07::15     6.999      9.000

		events  45 sent, 45 received, 0 lost
	TEXT
	run 0 gas --csv log.txtrace && diff "$tmp/out" - <<-'TEXT' || return
		charge,count,other_milligas,other_percent,compute_milligas,compute_percent,total_milligas,total_percent
		OnBlockLink,1,500,33.3333,4000,0.0102903,4500,0.0115762
		OnBlockOpen,1,0,0,999,0.00257001,999,0.00256991
		OnChainMessage,1,1000,66.6667,38863000,99.9781,38864000,99.9768
		wasm_exec,2,0,0,3501,0.0090066,3501,0.00900625
	TEXT
	run 0 gas --by label log.txtrace && diff "$tmp/out" - <<-'TEXT' || return
		label span  count  never ended    gas
		load            1            0  3.000
	TEXT
	run 0 gas --by call --csv --where 'label=load' log.txtrace && diff "$tmp/out" - <<<"call,count,unclosed,self_milligas,total_milligas" || return
	run 0 gas --by label --csv --where 'label=load' log.txtrace && grep -qx 'load,1,0,3000' "$tmp/out" || return
	run 2 gas --by call --json log.txtrace && run 2 gas --by call --folded log.txtrace && grep -q '^txtrace: --by chooses a table; ' "$tmp/err" || return
	run 2 gas --columns nothing log.txtrace && run 2 gas --csv --folded log.txtrace &&
		grep -qx 'txtrace: --folded, --spans and a table of columns are different outputs; give one of them' "$tmp/err"
}

# A log of a program: what spans kept for themselves is charged, so that calls fold as a flame graph of time.
native() {
	"$make_log" "$tmp/native.txtrace" <<-TEXT || return
		header pid=7 start_monotonic_ns=1000 start_realtime_ns=1700000000000001000
		span begin_ns=1200 end_ns=2000 pid=7 tid=8 end_tid=8 id=3 parent=2 label="a \"b\"" work_ns=800 on_cpu_ns=500 lock_ns=300
		span begin_ns=1200 end_ns=2500 pid=7 tid=8 end_tid=8 id=2 parent=1 label="Send" tag="to=f07,method=15" work_ns=1300 on_cpu_ns=700 lock_ns=300 runnable_ns=300
		span begin_ns=2500 end_ns=2500 pid=7 tid=8 end_tid=8 id=4 parent=1 label="point"
		span begin_ns=1000 end_ns=3000 pid=7 tid=8 end_tid=8 id=1 flags=root label="Send" work_ns=2000 on_cpu_ns=1400 lock_ns=300 runnable_ns=300
		loss first_ns=2500 last_ns=2600 span_event_cnt=2
		summary time_ns=3000
	TEXT
	run 0 export -o native.trace.txt native.txtrace || fail "$(cat "$tmp/err")" || return
	diff "$tmp/native.trace.txt" - <<-'TEXT' || return
		Call { from: 0, to: Address("f00"), method: 0, params: None, value: TokenAmount(0.0), gas_limit: 0, read_only: false }
		Call { from: 0, to: Address("f07"), method: 15, params: None, value: TokenAmount(0.0), gas_limit: 0, read_only: false }
		Log { msg: "SpanStart:a 'b'" }
		GasCharge { name: "on_cpu", compute_milli: 500, other_milli: 0 }
		GasCharge { name: "blocked_lock", compute_milli: 300, other_milli: 0 }
		Log { msg: "SpanEnd:a 'b'" }
		GasCharge { name: "on_cpu", compute_milli: 200, other_milli: 0 }
		GasCharge { name: "runnable", compute_milli: 300, other_milli: 0 }
		CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }
		Log { msg: "SpanStart:point" }
		Log { msg: "SpanEnd:point" }
		GasCharge { name: "on_cpu", compute_milli: 700, other_milli: 0 }
		CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }
	TEXT
	diff "$tmp/err" - <<-'TEXT' || return
		txtrace: the unit of the file is gas: 1 milligas stands for 1 ns
		txtrace: labels with characters of control, replaced, or without a label, called 'unknown': 4
		txtrace: records of losses and damage, left out: readers of the file can't know of them: 1
	TEXT
	import 0 native.trace.txt && gas --folded <<-'TEXT'
		Root;0->f00::0;0->f07::15;blocked_lock 300
		Root;0->f00::0;0->f07::15;on_cpu 700
		Root;0->f00::0;0->f07::15;runnable 300
		Root;0->f00::0;on_cpu 700
	TEXT
}

sample() { # sample NAME: its figures; its spans and stacks, where they are there
	import 0 "$samples/$1" && run 0 gas --json log.txtrace && cp "$tmp/out" "$tmp/gas.json" || return
	python3 tests/cli/fvm_check.py "$samples/$1.expected.json" "$tmp/gas.json" "$tmp/records" >"$tmp/differences" || fail "$(head -n 3 "$tmp/differences")" || return
	[ ! -e "$samples/$1.spans.txt" ] || gas --spans <"$samples/$1.spans.txt" || return
	[ ! -e "$samples/$1.folded.txt" ] || gas --folded <"$samples/$1.folded.txt" || return
	run 0 export -f fvm -o again.txt log.txtrace || return
	[ "$1" != workbench.trace.txt ] || cmp "$tmp/again.txt" "$samples/$1" || return
	# what comes back has the same spans and amounts, but for a root where there was none, and a return that has no call
	[ ! -e "$samples/$1.spans.txt" ] || [ "$1" = broken.trace.txt ] || { run 0 import -o log.txtrace again.txt && gas --spans <"$samples/$1.spans.txt"; }
}

# Whatever the file holds, the import ends with a status of its own, and what it wrote is a log that can be shown.
hostile() {
	local file status
	rm -rf "$tmp/hostile"
	python3 tests/cli/fvm_files.py mutate "$seed" "$count" "$tmp/hostile" "$@" || return
	for file in "$tmp"/hostile/*; do
		timeout 20 "$txtrace" import -f fvm -o "$tmp/hostile.txtrace" "$file" >/dev/null 2>"$tmp/err"
		status=$?
		case $status in
		0 | 1) ;;
		2) continue ;;
		*) fail "$(basename "$file") of seed $seed: status $status: $(head -n 5 "$tmp/err")" || return ;;
		esac
		"$txtrace" verify "$tmp/hostile.txtrace" >"$tmp/out" 2>&1
		[ $? = $status ] || fail "$(basename "$file") of seed $seed: $(cat "$tmp/out")" || return
		"$txtrace" gas --json "$tmp/hostile.txtrace" >"$tmp/out" 2>"$tmp/err"
		[ $? = $status ] || fail "$(basename "$file") of seed $seed: gas: $(cat "$tmp/err")" || return
	done
}

check "the example of the description" example
check "the words of the machine itself" machine
check "what does not match" broken
check "spans with a clock of their own" timed
check "lotus' JSON" lotus
check "the unit is gas" unit
check "tables of columns" tables
check "a log of a program" native
check "$count changed files, seed $seed" hostile "$tmp"/{example,machine,broken,spans}.txt "$tmp"/{list,state}.json
if [ -d "$samples" ]; then
	for name in example.trace.txt workbench.trace.txt fvm.trace.txt fvm-2022.trace.txt broken.trace.txt span1566.trace.txt lotus-fvm.json lotus-2025.json \
		real-aborted.json real-large.json real-multisig.json real-nested-sends.json real-paych-collect.json; do
		check "sample $name" sample $name
	done
else
	skip "samples" "there are none beside the tree"
fi
finish
