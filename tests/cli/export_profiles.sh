#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: some seconds of a CPU
# pprof, Speedscope and CSV: what the log says, added up, and in the words of readers of these formats.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

check_py=$PWD/tests/cli/export_profile_check.py
trace_processor=${TRACE_PROCESSOR:-build/setup/trace_processor}
readers=${PROFILE_READERS:-build/setup/profile_readers}

compare() {
	python3 "$check_py" "$@"
}

load() { # load NAME: its exports, its report, and the folded stacks of each part
	local part
	run 0 export -o "$1.jsonl" "$1.txtrace" && run 0 export -o "$1.pb.gz" "$1.txtrace" && cp "$tmp/err" "$tmp/$1.told" &&
		run 0 export -o "$1.speedscope.json" "$1.txtrace" && run 0 export -o "$1.firefox.json" "$1.txtrace" && run 0 export -o "$1.csv" "$1.txtrace" && cp "$tmp/err" "$tmp/$1.csv.told" || return
	run 0 report --json "$1.txtrace" && cp "$tmp/out" "$tmp/$1.report" && mkdir -p "$tmp/$1" || return
	for part in on-cpu runnable blocked detached; do
		run 0 flame --folded --weight "$part" "$1.txtrace" && cp "$tmp/out" "$tmp/$1/$part.folded" || return
	done
}

# tests/cli/logs/stacks.txt says in its head how these come about.
stacks_are_below_their_spans() {
	compare pprof "$tmp/stacks.pb.gz" >"$tmp/shown" && diff - "$tmp/shown" <<-'END'
		pay span_label=pay spans=1
		pay;main;spin_[i] span_label=pay on_cpu=266
		pay;main;parse span_label=pay on_cpu=134
		pay;main;serve;read_[k] span_label=pay blocked=300
		pay;main;lock;it span_label=pay blocked=150
		pay;(no stack) span_label=pay blocked=50
		pay;ask span_label=ask on_cpu=50 spans=1
		pay;ask;main;serve;read_[k] span_label=ask blocked=66
		pay;ask;main;lock;it span_label=ask blocked=34
		time 1700000000000000000 duration 1200
		comment lower bounds, left out: 1
	END
}

speedscope_has_the_same() {
	compare speedscope "$tmp/stacks.speedscope.json" >"$tmp/shown" && grep -v '^all parts' "$tmp/shown" | diff - <(
		cat <<-'END'
			on-CPU pay;main;spin_[i] 266
			on-CPU pay;main;parse 134
			on-CPU pay;ask 50
			blocked pay;main;serve;read_[k] 300
			blocked pay;main;lock;it 150
			blocked pay;(no stack) 50
			blocked pay;ask;main;serve;read_[k] 66
			blocked pay;ask;main;lock;it 34
		END
	) && [ "$(grep -c '^all parts' "$tmp/shown")" = 8 ]
}

losses_are_told() {
	compare pprof "$tmp/export.pb.gz" | grep '^comment' >"$tmp/shown"
	diff - "$tmp/shown" <<-'END' && grep -q "records of losses and damage, left out: .*: 3$" "$tmp/export.csv.told"
		comment lost events: 12
		comment records that were not written: 7
		comment lower bounds, left out: 2
	END
}

decodes() {
	local name
	for name in made stacks export; do
		gzip -dc "$tmp/$name.pb.gz" | protoc --decode=pprof.Profile --proto_path=userspace/export pprof.proto >"$tmp/decoded" || return
		if grep -nE '^ *[0-9]+[ :]' "$tmp/decoded"; then fail "there are fields that the .proto does not have" || return; fi
	done
}

sums() { # sums NAME: "TYPE SUM" of each type, as this tree's own reader has them
	compare pprof "$tmp/$1.pb.gz" | grep -v -E '^(time|comment) ' | grep -oE '(on_cpu|runnable|blocked|detached|unknown|interrupt|spans)=[0-9]+$|[a-z_]+=[0-9]+ ?' |
		tr -d ' ' | awk -F= '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' | sort
}

trace_processor_has_the_sums() {
	node tests/cli/export_sql.mjs "$trace_processor" "$tmp/made.pb.gz" "SELECT sample_type_type || ' ' || CAST(SUM(value) AS INT) FROM __intrinsic_aggregate_sample s
		JOIN __intrinsic_aggregate_profile p ON p.id = s.aggregate_profile_id GROUP BY sample_type_type HAVING SUM(value) > 0 ORDER BY 1" \
		>"$tmp/rows" 2>"$tmp/complaints" || fail "$(cat "$tmp/complaints")" || return
	[ "$(sums made | wc -l)" = 6 ] && diff <(sums made; echo --) "$tmp/rows"
}

pprof_format_has_the_sums() {
	node tests/cli/export_pprof.mjs "$readers" "$tmp/made.pb.gz" >"$tmp/rows" || return
	[ "$(grep -c ' nanoseconds ' "$tmp/rows")" = 7 ] && diff <(sums made) <(awk '$3 > 0 { print $1, $3 }' "$tmp/rows" | sort)
}

follows_schema() {
	python3 - "$readers/speedscope.schema.json" "$tmp"/*.speedscope.json <<-'END'
		import json, jsonschema, sys
		schema, *profiles = [json.load(open(path, encoding="utf-8")) for path in sys.argv[1:]]
		for profile in profiles:
		    jsonschema.validate(profile, schema)
		assert len(profiles) == 5
	END
}

# Quotes, commas, line ends, bytes: RFC 4180.
csv_is_quoted() {
	"$make_log" "$tmp/quotes.txtrace" <<-'END' || return
		header pid=1 cpus=1 start_monotonic_ns=1
		span begin_ns=10 end_ns=20 pid=1 tid=2 end_tid=2 id=1 label="a \"b\", c" tag="\x0d\n" key="\xff" flags=keyed work_ns=10 on_cpu_ns=4 poll_ns=6
		summary time_ns=30
	END
	run 0 export -o quotes.csv quotes.txtrace && tail -n 1 "$tmp/quotes.csv" | diff - <(
		printf '%s\r\n' '1,0,1,2,2,"a ""b"", c","␍␊","�",10,20,10,10,4,0,0,0,0,0,0,0,0,0,0,0,6,0,0,0,0,0,0,0,0,0,1,0'
	)
}

# A name that ends as two formats do is of the more exact one.
suffixes() {
	run 0 export -o x.speedscope.json made.txtrace && grep -q speedscope.app "$tmp/x.speedscope.json" && run 0 export -o x.json made.txtrace &&
		grep -q traceEvents "$tmp/x.json"
}

for name in stacks tree export; do make_from $name; done
compare make 1 | "$make_log" "$tmp/made.txtrace"
for name in made stacks tree export; do check "$name is exported to all of them" load $name; done
check "pprof: stacks of code stand below the spans" stacks_are_below_their_spans
check "speedscope: the same" speedscope_has_the_same
for name in made tree; do
	check "pprof: $name weighs what flame's folded stacks do" compare folded "$tmp/$name.pb.gz" "$tmp/$name"
	check "speedscope: so it does" compare folded "$tmp/$name.speedscope.json" "$tmp/$name"
done
check "pprof: sums over labels and reasons are those of report" compare sums "$tmp/made.pb.gz" "$tmp/made.report"
for name in made tree export; do check "speedscope: the spans of each thread of $name" compare threads "$tmp/$name.speedscope.json" "$tmp/$name.jsonl"; done
for name in made tree export; do check "firefox: every span of $name, its ledger, states, stacks" compare firefox "$tmp/$name.firefox.json" "$tmp/$name.jsonl"; done
check "losses are told" losses_are_told
for name in made tree export; do check "csv: every span of $name with all fields" compare csv "$tmp/$name.csv" "$tmp/$name.jsonl"; done
check "csv is quoted" csv_is_quoted
check "the more exact suffix counts" suffixes
if command -v protoc >/dev/null; then
	check "protoc decodes pprof" decodes
else
	skip "protoc decodes pprof" "there is no protoc here (protobuf-compiler)"
fi
if command -v node >/dev/null && [ -e "$trace_processor/trace_processor.wasm" ]; then
	check "perfetto's engine reads pprof and has its sums" trace_processor_has_the_sums
else
	skip "perfetto's engine reads pprof" "there is no node, or no trace_processor in $trace_processor; tests/setup/trace_processor.sh fetches it"
fi
if command -v node >/dev/null && [ -e "$readers/pprof_format.mjs" ]; then
	check "npm's pprof-format has the same sums" pprof_format_has_the_sums
else
	skip "npm's pprof-format has the same sums" "there is no node, or nothing in $readers; tests/setup/profile_readers.sh fetches it"
fi
if [ -e "$readers/speedscope.schema.json" ] && python3 -c 'import jsonschema' 2>"$tmp/no"; then
	check "speedscope's own schema holds" follows_schema
else
	skip "speedscope's own schema holds" "there is no python3-jsonschema, or nothing in $readers; tests/setup/profile_readers.sh fetches it"
fi
finish
