#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Several logs as one: on one clock, in one order, with ids that stay apart, and with all that was lost.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from sound
make_from small
make_from export

# Another host, with the same pids, tids and span ids. Its 7.0 s are the first one's 1.5 s.
other_host() {
	cat <<-END
		header capture_id="${1:-capture B}" boot_id="${2:-boot B}" pid=100 cpus=4 command="back" host="rack" kernel="6.1.0 x86_64" recorder="txtrace-bpf 0.1.0" options="-p 100" start_monotonic_ns=7000000000 start_realtime_ns=1763725200500000000
		thread time_ns=7000000000 pid=100 tid=100 comm="back" seed=1
		run begin_ns=7500000000 end_ns=7700000000 pid=100 tid=100 cpu=3 blocked_ns=100 left_as=blocked reason=lock syscall_nr=202 object=0x10
		wake time_ns=7800000000 pid=100 tid=100 waker_pid=90 waker_tid=91 waker_comm="irq" cpu=0
		span begin_ns=7500000000 end_ns=8500000000 pid=100 tid=100 end_tid=100 id=1 parent=9 label="serve" tag="shard=3" work_ns=1000000000 on_cpu_ns=1000000000
		loss first_ns=8500000000 last_ns=8600000000 cpu=1 span_event_cnt=2 sched_event_cnt=3
		span begin_ns=7200000000 end_ns=9000000000 pid=100 tid=100 end_tid=100 id=9 label="session" work_ns=1800000000 on_cpu_ns=1800000000
		summary time_ns=9000000000 sent_cnt=20 received_cnt=15 lost_cnt=5 begin_twice=2
	END
}
other_host | "$make_log" "$tmp/other.txtrace"

one_log() { # one_log NAME
	run 0 merge -o merged.txtrace "$1.txtrace" && [ ! -s "$tmp/err" ] || fail "it said: $(cat "$tmp/err")" || return
	run 0 dump "$1.txtrace" && cp "$tmp/out" "$tmp/before" && run 0 dump merged.txtrace && diff "$tmp/before" "$tmp/out" || return
	run 0 info --json "$1.txtrace" && jq .capture "$tmp/out" >"$tmp/before" && run 0 info --json merged.txtrace && jq .capture "$tmp/out" | diff "$tmp/before" -
}

two_hosts() {
	run 0 merge -o merged.txtrace sound.txtrace other.txtrace || return
	[ ! -s "$tmp/err" ] || fail "it said: $(cat "$tmp/err")" || return
	grep -q "^24 of 24 records, .*, are in 'merged.txtrace'$" "$tmp/out" || fail "it printed: $(cat "$tmp/out")" || return
	expects merge_hosts 0 dump merged.txtrace && run 0 verify merged.txtrace || fail "$(cat "$tmp/out")"
}

header() {
	run 0 merge -o merged.txtrace sound.txtrace other.txtrace && run 0 info --json merged.txtrace || return
	jq -e '.capture | .host == "box, rack" and .command == "bank, back" and .kernel == "6.18.5 x86_64, 6.1.0 x86_64" and .cpus == 6 and .pid == 0 and
		.start_monotonic_ns == 1000000000 and (.boot_id | startswith("626f6f742041")) and (.capture_id | startswith("636170") | not)' "$tmp/out" >/dev/null ||
		fail "$(jq -c .capture "$tmp/out")" || return
	jq -e '.losses.lost == 5 and .losses.balanced and .losses.sent == 60 and .anomalies.begin_twice == 2' "$tmp/out" >/dev/null || fail "$(jq -c .losses "$tmp/out")" || return
	run 0 merge -o other_way.txtrace other.txtrace sound.txtrace && run 0 info --json other_way.txtrace || return
	# The first log's clock; and the other one began half a second before it.
	jq -e '.capture | .start_monotonic_ns == 6500000000 and (.boot_id | startswith("626f6f742042"))' "$tmp/out" >/dev/null || fail "$(jq -c .capture "$tmp/out")"
}

ids_stay_apart() {
	run 0 merge -o merged.txtrace sound.txtrace other.txtrace && run 0 dump -k span merged.txtrace || return
	sed -E 's/.* id=([0-9]+) pid=([0-9]+) .*/\2 \1/' "$tmp/out" >"$tmp/ids"
	[ "$(wc -l <"$tmp/ids")" = 7 ] && [ "$(sort -u "$tmp/ids" | wc -l)" = 7 ] || fail "$(cat "$tmp/ids")" || return
	[ "$(grep -c '^4194404 ' "$tmp/ids")" = 2 ] || fail "$(cat "$tmp/ids")"
}

# Another capture of the same boot has its clock and CPUs, and pids of its own.
same_boot() {
	other_host "capture C" "boot A" | "$make_log" "$tmp/same_boot.txtrace"
	run 0 merge -o merged.txtrace sound.txtrace same_boot.txtrace && run 0 dump -k run merged.txtrace &&
		grep -q '^run begin_ns=7500000000 end_ns=7700000000 tid=4194404 pid=4194404 cpu=3 ' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 info --json merged.txtrace && jq -e .capture.cpus==2 "$tmp/out"
}

# Two halves of a capture, as slices make them: the ids are the same, and so is the summary.
one_capture() {
	run 0 slice --to 2s -o first.txtrace sound.txtrace && run 0 slice --from 2s -o second.txtrace sound.txtrace && run 0 merge -o merged.txtrace first.txtrace second.txtrace || return
	run 0 dump -k span merged.txtrace && ! grep -q pid=4194404 "$tmp/out" || fail "pids are moved" || return
	run 0 info --json merged.txtrace && jq -e '.losses.sent == 40 and .capture.pid == 100 and .capture.command == "bank"' "$tmp/out" >/dev/null || fail "$(cat "$tmp/out")" || return
	run 0 dump merged.txtrace && [ "$(grep -c '^summary' "$tmp/out")" = 1 ] && tail -n 1 "$tmp/out" | grep -q '^summary time_ns=6000000000 sent_cnt=40 '
}

# In the order of the wall clock; of one log the order stays, though a checkpoint stands before its time.
in_order() {
	run 0 merge -o merged.txtrace sound.txtrace other.txtrace && run 0 dump merged.txtrace && grep -v '^open_span\|^loss\|^summary' "$tmp/out" |
		sed -E 's/.*(end_ns|time_ns)=([0-9]+).*/\2/' >"$tmp/times" && sort -nc "$tmp/times"
}

no_summary() {
	sed 's/^summary.*/abort/' "$logs/sound.txt" | "$make_log" "$tmp/crashed.txtrace"
	run 1 merge -o merged.txtrace crashed.txtrace.partial other.txtrace && grep -q "^txtrace: 'crashed.txtrace.partial' has no summary" "$tmp/err" || return
	run 1 dump merged.txtrace && [ "$(wc -l <"$tmp/out")" = 23 ] && ! grep -q '^summary' "$tmp/out"
}

damaged() {
	local at
	"$make_log" "$tmp/damaged.txtrace" none <"$logs/sound.txt"
	at=$(grep -abo commit "$tmp/damaged.txtrace" | head -n 1 | cut -d: -f1)
	printf '\xee' | dd of="$tmp/damaged.txtrace" bs=1 seek="$at" conv=notrunc status=none
	run 1 merge -o merged.txtrace damaged.txtrace other.txtrace && grep -q "^txtrace: 'damaged.txtrace' is damaged at byte .* with 6 records are skipped$" "$tmp/err" || return
	run 1 info --json merged.txtrace && jq -e '.damage.parts == 1 and .records.span == 5 and .records.summary == 1' "$tmp/out" >/dev/null || fail "$(cat "$tmp/out")"
}

clock_was_set() {
	other_host | sed '3a anchor monotonic_ns=7700000000 realtime_ns=1763725204200000000' | "$make_log" "$tmp/stepped.txtrace"
	run 0 merge -o merged.txtrace sound.txtrace stepped.txtrace || return
	[ "$(cat "$tmp/err")" = "txtrace: the wall clock of 'stepped.txtrace' was set forward by 3.00 s while it was recorded: its times are those of the clock before that" ] ||
		fail "it said: $(cat "$tmp/err")" || return
	run 0 dump merged.txtrace && diff "$expected/merge_hosts.txt" "$tmp/out"
}

before_boot() {
	other_host | sed 's/start_realtime_ns=[0-9]*/start_realtime_ns=1763725190000000000/' | "$make_log" "$tmp/old.txtrace"
	complains "can't merge 'old.txtrace': it began before the machine of 'sound.txtrace' was booted; give the older one first" \
		merge -o merged2.txtrace sound.txtrace old.txtrace && [ ! -e "$tmp/merged2.txtrace" ] && run 0 merge -o merged2.txtrace old.txtrace sound.txtrace
}

of_merged() {
	run 0 merge -o merged.txtrace sound.txtrace other.txtrace && run 0 merge -o again.txtrace merged.txtrace || return
	complains "can't merge 'merged.txtrace': it has numbers of processes, threads or CPUs that Linux does not have, as merged logs do; merge the original logs instead" \
		merge -o again2.txtrace merged.txtrace small.txtrace && [ ! -e "$tmp/again2.txtrace" ]
}

# asks REALTIME: the front asks the back, whose 7.0 s are the front's 1.0 s by a clock that says REALTIME ns after it. The request is sent at 1.100 s, dealt with
# from 1.130 to 1.160 s, and the answer is there by 1.200 s.
asks() {
	"$make_log" "$tmp/front.txtrace" <<-'END' || return
		header capture_id="front" boot_id="boot F" pid=10 cpus=1 command="front" host="one" start_monotonic_ns=1000000000 start_realtime_ns=1763725200000000000
		attribute time_ns=1100000000 pid=10 tid=10 span=2 name="traceparent.sent" value_type=string value="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		span begin_ns=1090000000 end_ns=1200000000 pid=10 tid=10 end_tid=10 id=2 parent=1 label="call" work_ns=110000000 on_cpu_ns=110000000
		span begin_ns=1050000000 end_ns=1300000000 pid=10 tid=10 end_tid=10 id=1 label="front" work_ns=250000000 on_cpu_ns=250000000
		summary time_ns=2000000000 sent_cnt=5 received_cnt=5
	END
	"$make_log" "$tmp/back.txtrace" <<-END
		header capture_id="back" boot_id="boot B" pid=10 cpus=1 command="back" host="two" start_monotonic_ns=7000000000 start_realtime_ns=$((1763725200000000000 + $1))
		attribute time_ns=7131000000 pid=10 tid=10 span=1 name="traceparent" value_type=string value="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		span begin_ns=7130000000 end_ns=7160000000 pid=10 tid=10 end_tid=10 id=1 label="back" work_ns=30000000 on_cpu_ns=30000000
		summary time_ns=8000000000 sent_cnt=3 received_cnt=3
	END
}

# goes_by NS SENTENCE BEGIN: NS as for asks; what is said of the back's clock, and when its span then began
goes_by() {
	asks "$1" && run 0 merge -o asked.txtrace front.txtrace back.txtrace && [ ! -s "$tmp/err" ] && grep -qxF "'back.txtrace': $2" "$tmp/out" || fail "$(cat "$tmp/out" "$tmp/err")" || return
	run 0 show --json asked.txtrace 4bf92f3577b34da6a3ce929d0e0e4736 || return
	[ "$(jq -c '[.spans[] | [.depth, .span.label]]' "$tmp/out")" = '[[0,"front"],[1,"call"],[2,"back"]]' ] && [ "$(jq .spans[2].span.begin_ns "$tmp/out")" = "$3" ] ||
		fail "$(jq -c '[.spans[] | [.depth, .span.label, .span.begin_ns]]' "$tmp/out")"
}

clocks_that_may_be_right() {
	goes_by 0 "its times are at most 40.0 ms too early and at most 30.0 ms too late, by 1 request" 1130000000 &&
		goes_by 20000000 "its times are at most 20.0 ms too early and at most 50.0 ms too late, by 1 request" 1150000000
}

clocks_that_are_wrong() {
	goes_by 300000000 "its clock was wrong, so its times were moved back by 295 ms; now they are at most 35.0 ms too early and at most 35.0 ms too late, by 1 request" 1135000000 &&
		goes_by -300000000 "its clock was wrong, so its times were moved forward by 305 ms; now they are at most 35.0 ms too early and at most 35.0 ms too late, by 1 request" 1135000000
}

# The other way round, the first log's clock is the one that holds.
asked_first() {
	asks 300000000 && run 0 merge -o asked.txtrace back.txtrace front.txtrace || return
	grep -qxF "'front.txtrace': its clock was wrong, so its times were moved forward by 295 ms; now they are at most 35.0 ms too early and at most 35.0 ms too late, by 1 request" "$tmp/out" ||
		fail "$(cat "$tmp/out")"
}

# The back works for longer than the span that asked it: nobody waited for the answer, so only the request's order counts. It was sent at 1.100 s and dealt
# with from 1.130 s on.
unanswered() {
	asks 0 && "$make_log" "$tmp/back.txtrace" <<-'END' || return
		header capture_id="back" boot_id="boot B" pid=10 cpus=1 command="back" host="two" start_monotonic_ns=7000000000 start_realtime_ns=1763725200000000000
		attribute time_ns=7131000000 pid=10 tid=10 span=1 name="traceparent" value_type=string value="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		span begin_ns=7130000000 end_ns=7560000000 pid=10 tid=10 end_tid=10 id=1 label="back" work_ns=430000000 on_cpu_ns=430000000
		summary time_ns=8000000000 sent_cnt=3 received_cnt=3
	END
	run 0 merge -o asked.txtrace front.txtrace back.txtrace && grep -qxF "'back.txtrace': its times are at most 30.0 ms too late, by 1 request; how much too early is not known" "$tmp/out" ||
		fail "$(cat "$tmp/out")" || return
	run 0 merge -o asked.txtrace back.txtrace front.txtrace && grep -qxF "'front.txtrace': its times are at most 30.0 ms too early, by 1 request; how much too late is not known" "$tmp/out" ||
		fail "$(cat "$tmp/out")"
}

contradicting() {
	asks 0 && "$make_log" "$tmp/back.txtrace" <<-'END' || return
		header capture_id="back" boot_id="boot B" pid=10 cpus=1 command="back" host="two" start_monotonic_ns=7000000000 start_realtime_ns=1763725200000000000
		attribute time_ns=7131000000 pid=10 tid=10 span=1 name="traceparent" value_type=string value="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		attribute time_ns=7950000000 pid=10 tid=10 span=2 name="traceparent" value_type=string value="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		span begin_ns=7130000000 end_ns=7160000000 pid=10 tid=10 end_tid=10 id=1 label="back" work_ns=30000000 on_cpu_ns=30000000
		span begin_ns=7010000000 end_ns=7020000000 pid=10 tid=10 end_tid=10 id=2 label="before it was asked" work_ns=10000000 on_cpu_ns=10000000
		summary time_ns=8000000000 sent_cnt=3 received_cnt=3
	END
	run 0 merge -o asked.txtrace front.txtrace back.txtrace && ! grep -q "^'back.txtrace'" "$tmp/out" || fail "$(cat "$tmp/out")" || return
	[ "$(cat "$tmp/err")" = "txtrace: the requests between these logs contradict each other, as when a clock was set meanwhile: their times go by the wall clocks" ] ||
		fail "it said: $(cat "$tmp/err")"
}

many() {
	local names=() i
	for i in {1..40}; do
		other_host "capture $i" "boot $i" | "$make_log" "$tmp/many$i.txtrace"
		names+=("many$i.txtrace")
	done
	run 0 merge -o merged.txtrace "${names[@]}" && run 0 info --json merged.txtrace || return
	jq -e '.records.span == 80 and .losses.sent == 800 and .losses.lost == 200 and .capture.cpus == 160' "$tmp/out" >/dev/null || fail "$(cat "$tmp/out")" || return
	run 0 dump -k span merged.txtrace && [ "$(sed -E 's/.* id=([0-9]+) pid=([0-9]+) .*/\2 \1/' "$tmp/out" | sort -u | wc -l)" = 80 ]
}

check "one log: that log" one_log sound
check "one log with every kind of record: that log" one_log small
check "one log with strings that are no text: that log" one_log export
check "two hosts: times, order, pids and CPUs" two_hosts
check "the header names both, and losses and summaries are added up" header
check "spans with the same pid and id stay apart" ids_stay_apart
check "two captures of one boot" same_boot
check "two files of one capture" one_capture
check "what comes out is in order" in_order
check "where one did not end cleanly, neither does the result" no_summary
check "damage of one is told of the result" damaged
check "a wall clock that was set" clock_was_set
check "a log that is older than the first one's machine" before_boot
check "a merged log can't be merged again" of_merged
check "many logs" many
check "two hosts: how wrong their clocks can be, by a request between them" clocks_that_may_be_right
check "a clock that was wrong is corrected" clocks_that_are_wrong
check "the first log's clock is the one that holds" asked_first
check "a request for whose answer nobody waited" unanswered
check "requests that contradict each other" contradicting
check "a log that is given twice" complains "'./other.txtrace' is given twice" merge -o x sound.txtrace other.txtrace ./other.txtrace
check "a log that is not there" complains "can't read 'absent': there is no such file" merge -o x sound.txtrace absent
finish
