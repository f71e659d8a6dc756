#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program whose cgroup gets a twentieth of a CPU: that it is held back is told from waiting for a CPU, and is as long as the cgroup's own count says.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

group=
for controller in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
	if [ -e $controller/cgroup.procs ] && mkdir "$controller/txtrace-test-$$" 2>/dev/null; then
		group=$controller/txtrace-test-$$
		trap 'rmdir "$group"' EXIT
		break
	fi
done

# A millisecond in twenty: the program uses its share up a hundred times. It is held back when it next returns to user mode, which on a busy machine may be after
# the next period has begun; then the group counts a period, and no time.
limit_group() {
	if [ -e "$group/cpu.cfs_quota_us" ]; then
		echo 20000 >"$group/cpu.cfs_period_us" && echo 1000 >"$group/cpu.cfs_quota_us"
	else
		echo "1000 20000" >"$group/cpu.max"
	fi 2>/dev/null
}

if [ -z "$group" ] || ! limit_group; then
	echo "ok 1 - throttled # SKIP no cgroup with a limit of CPU time can be made here"
	echo "1..1"
	exit 0
fi

# trace NAME FOLDER-OF-CGROUP
trace() {
	local spinner
	(
		echo $BASHPID >"$2/cgroup.procs"
		exec "$programs/spin" --wait-traced 200 --repeat 20 --note "$2/cpu.stat" --output "$tmp/$1.truth"
	) &
	spinner=$!
	"$recorder" -q -p $spinner -o "$tmp/$1.txtrace" && wait $spinner && export_log "$tmp/$1.txtrace"
}

# The program has noted the group's count before its first span and after its last. It stops when the thread may go on, ours when it has a CPU. The two begin with
# different readings of the clock: at most 20 us apart each time.
as_long_as_the_group_says() {
	python3 - "$tmp/limited.txtrace.jsonl" "$tmp/limited.truth" <<-'END'
		import json, sys
		def noted(when):
		    fields = dict(line.split() for line in open(f"{sys.argv[2]}.{when}"))
		    return int(fields["throttled_time"]) if "throttled_time" in fields else 1000 * int(fields["throttled_usec"]), int(fields["nr_throttled"])
		(before_ns, before_cnt), (after_ns, after_cnt) = noted("before"), noted("after")
		group, group_cnt = after_ns - before_ns, after_cnt - before_cnt
		records = [json.loads(line) for line in open(sys.argv[1])]
		ours = sum(run["blocked_ns"] for before, run in zip(*[[r for r in records if r["type"] == "run"][i:] for i in (0, 1)])
		           if before.get("reason") == "throttled" or before["left_as"] != "blocked")  # it may be held back while it waits for a CPU
		spans = [record for record in records if record["type"] == "span"]
		in_spans = sum(span["blocked"]["throttled"] for span in spans)
		print(f"ours {ours}, in spans {in_spans}, the group's {group} in {group_cnt} periods")
		sys.exit(not (group > 0 and ours >= group - 20_000 * group_cnt and 0 < in_spans <= ours))
	END
}

# It was on a CPU for as long as the switches say that a second recorder has seen (without one: as its CPU clock says).
computes_the_same() {
	local account
	account_so_far || fail "the scheduler's account cannot be had" || return
	PYTHONPATH=$e2e python3 - "$tmp/limited.txtrace.jsonl" "$tmp/limited.truth" "${account[@]}" <<-'END'
		import json, sys
		import sched_account

		def by_account(account, truth):
		    expected = sched_account.expect(account, truth["stays"])
		    return None if expected.hidden else (expected.on_cpu_ns[0] - 1000, expected.on_cpu_ns[1] + 1000)

		def by_clock(truth):
		    slack = max(50_000, 0.01 * truth["cpu_ns"][1]) + 50_000 * (truth["nvcsw"][1] + truth["nivcsw"][1])
		    return truth["cpu_ns"][0] - slack, truth["cpu_ns"][1] + truth["stolen_ns"][1] + slack

		spans = {r["id"]: r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "span"}
		truths = [json.loads(line) for line in open(sys.argv[2])]
		stays = [stay for truth in truths for stay in truth["stays"]]
		account = None
		if len(sys.argv) > 3:
		    account = sched_account.Account(sys.argv[4], {stay["tid"] for stay in stays}, min(stay["begin_ns"] for stay in stays))
		compared = 0
		for truth in truths:
		    span, bounds = spans[truth["id"]], by_account(account, truth) if account else by_clock(truth)
		    # the switches do not say what a hypervisor took meanwhile
		    had_ns = span["on_cpu_ns"] + (span.get("stolen_ns", 0) if account else 0)
		    if bounds and not bounds[0] - span["unknown_ns"] <= had_ns <= bounds[1]:
		        sys.exit(f"span {truth['id']}: {had_ns} ns on a CPU, not {bounds}")
		    if span["blocked_ns"] != span["blocked"]["throttled"]:
		        sys.exit(f"span {truth['id']} never slept: {span['blocked']}")
		    compared += bounds is not None
		print(compared, "of", len(truths), "spans compared")
		sys.exit(compared < len(truths) / 2)
	END
}

is_not_throttled() {
	trace free "$(dirname "$group")" || return
	! grep -q '"throttled":[1-9]' "$tmp/free.txtrace.jsonl"
}

check "a program with a twentieth of a CPU is traced" trace limited "$group"
check "it is held back for as long as its group says" as_long_as_the_group_says
check "it computes as long as ever, and sleeps for no other reason" computes_the_same
check "without a limit nobody is held back" is_not_throttled
finish
