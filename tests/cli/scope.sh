#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a capture was told to leave out is said wherever its log is shown: no number that is missing looks like a zero.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_limited() { # make_limited NAME OPTIONS
	"$make_log" "$tmp/$1.txtrace" <<-END
		header pid=1 cpus=1 command="bank" options="attached, 2 rings$2" start_monotonic_ns=5
		span begin_ns=10 end_ns=1010 pid=1 tid=2 end_tid=2 id=1 label="pay" work_ns=1000 on_cpu_ns=400 runnable_ns=100 lock_ns=500
		cost time_ns=2000 since_ns=5 event="begin" event_cnt=1 timed_event_cnt=1 timed_run_cnt=1 timed_run_ns=500 entry=trap entry_ps=600000 empty_run_ps=20000 calibration_cnt=256
		cost time_ns=2000 since_ns=5 event="end" event_cnt=1 timed_event_cnt=1 timed_run_cnt=1 timed_run_ns=500 entry=trap entry_ps=600000 empty_run_ps=20000 calibration_cnt=256
		cost time_ns=2000 since_ns=5 event_cnt=2 cpu_ns=5 ring_bytes=64
		summary time_ns=2000 sent_cnt=2 received_cnt=2 left_out_sample=198 left_out_label=3 left_out_short=4 left_out_mark=500
	END
}

make_limited whole ""
make_limited ledger ", --sched ledger"
make_limited off ", --sched off"
make_limited chosen ", --sample 1/100, --min-duration 5000000ns, --flight, --label a*, --label b"
make_limited odd ", --label x, --sched off, --sample 1/7"

says() { # says NAME TEXT COMMAND...
	local name=$1 text=$2
	shift 2
	run 0 "$@" "$name.txtrace" && grep -qF -- "$text" "$tmp/out" || fail "$(head -n 5 "$tmp/out")"
}

says_not() { # says_not NAME TEXT COMMAND...
	local name=$1 text=$2
	shift 2
	run 0 "$@" "$name.txtrace" && ! grep -qF -- "$text" "$tmp/out" || fail "$(head -n 5 "$tmp/out")"
}

json() { # json NAME FILTER
	run 0 info --json "$1.txtrace" && jq -e "$2" "$tmp/out" >/dev/null || fail "$(jq -c '[.capture.scope, .cost.is_whole]' "$tmp/out")"
}

every_view() {
	for view in report "report --cost" blocked blame neighbours tree workers; do
		# shellcheck disable=SC2086
		says ledger "; no timeline (--sched ledger)" $view || fail "txtrace $view" || return
	done
}

waits_are_unknown() {
	says ledger "who waited is not known" blocked && says off "who waited is not known" blame && says whole "no thread waited" blocked && says whole "no span waited" blame
}

cost_is_at_least() {
	says ledger "at least 2.16 µs" report --cost && says chosen "at least 2.16 µs" info && says_not whole "at least" report --cost && says_not off "at least" info &&
		json ledger '.cost.is_whole == false' && json whole '.cost.is_whole' && json off '.cost.is_whole'
}

check "the title of every view says that there is no timeline" every_view
check "and that there are no ledgers" says off "; no timeline, no ledgers (--sched off)" report
check "all of it is in info" says chosen "1 of 100 transactions; only some labels; only spans of 5.00 ms and more; from a flight recorder" info
check "a capture that lacks nothing says nothing" says_not whole "scope" info
check "for programs" json chosen '.capture.scope == {has_timeline: true, has_ledgers: true, sample_rate: 100, min_duration_ns: 5000000, has_all_labels: false, is_flight: true}'
check "a label that looks like an option is a label" json odd '.capture.scope | .has_timeline and .has_ledgers and .sample_rate == 1 and .has_all_labels == false'
check "what was left out is counted" says chosen "filtered" report
check "who waited is not known without a timeline" waits_are_unknown
check "what tracing cost is at least that, where programs ran that sent nothing" cost_is_at_least
finish
