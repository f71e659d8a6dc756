#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Spans that name no parent have the one that their thread is in: in the log, in the sums, and where transactions or labels are left out.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

record() { # record NAME [OPTION...] -- [ARGUMENT...]: the program's spans go to $tmp/NAME.txtrace.jsonl
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout 120 "$recorder" -q "${options[@]}" -o "$tmp/$name.txtrace" -- "$programs/nesting" "$@" || return
	export_log "$tmp/$name.txtrace"
}

judge() { # judge NAME PYTHON: with the log's spans, and how each came to its parent
	python3 - "$tmp/$1.txtrace.jsonl" "$2" <<-'PYTHON'
		import collections, json, sys, textwrap
		lines = [json.loads(line) for line in open(sys.argv[1])]
		spans = [line for line in lines if line["type"] == "span"]
		by_id = {(span["keyed"], span["id"]): span for span in spans}
		overlap = sum(line["on_cpu_ns"] + line.get("stolen_ns", 0) + line["runnable_ns"] + line["blocked_ns"] + line["unknown_ns"] for line in lines if line["type"] == "overlap")
		recorder = lines[-1]["recorder"]
		left_out = recorder.get("left_out", {})
		assert recorder["sent_cnt"] == recorder["received_cnt"] + recorder["lost_cnt"] and not recorder["lost_cnt"], recorder
		assert not any(recorder["anomalies"].values()), recorder

		def parent_of(span):
		    if span["parent"] == "0":
		        return None
		    return by_id[span.get("parent_keyed", False), span["parent"]]

		pairs = collections.Counter((span["label"], (parent_of(span) or {"label": None})["label"], span.get("nested", False)) for span in spans)
		exec(textwrap.dedent(sys.argv[2]))
	PYTHON
}

parents() {
	record parents -- --repeat 20 || return
	judge parents '
		expected = {
		    ("outer", None, False): 20, ("inner", "outer", True): 40, ("deep", "inner", True): 20, ("apart", None, False): 20,
		    ("in-apart", "apart", True): 20, ("zero", None, False): 20, ("root", None, False): 20, ("named", "outer", False): 20,
		    ("job", None, False): 20, ("in-job", "job", True): 20, ("order", None, False): 20, ("in-order", "order", True): 20,
		}
		assert pairs == expected, (pairs - collections.Counter(expected), collections.Counter(expected) - pairs)'
}

# All that the thread does is done in outer: so at the top level there is as much time as that took, and not a nanosecond more.
top_level() {
	judge parents '
		roots = [span for span in spans if span["parent"] == "0"]
		alone = sum(span["work_ns"] - span["detached_ns"] for span in roots) - overlap
		outer = sum(span["wall_ns"] for span in spans if span["label"] == "outer")
		assert alone == outer, (alone, outer)
		assert overlap > 0' || return
	"$reader" report --json "$tmp/parents.txtrace" >"$tmp/report.json" || return
	report=$tmp/report.json judge parents '
		import os
		exact = json.load(open(os.environ["report"]))["without_parent"]["exact"]
		detached = sum(span["detached_ns"] for span in spans)
		assert exact["work_ns"] - detached == sum(span["wall_ns"] for span in spans if span["label"] == "outer"), exact'
}

# Each sleep is in two or three spans, and counts once.
reasons() {
	"$reader" report --by reason --json "$tmp/parents.txtrace" >"$tmp/reasons.json" || return
	report=$tmp/reasons.json judge parents '
		import os
		sleep = next(row for row in json.load(open(os.environ["report"]))["rows"] if row["name"] == "sleep")
		asleep = sum(span["blocked"]["sleep"] for span in spans if span["label"] in ("deep", "in-apart"))
		assert sleep["in_spans_ns"] == asleep <= sleep["sum_ns"], (sleep, asleep)'
}

# What is left for outer itself is what neither its children nor the roots in it have.
self_time() {
	"$reader" tree --json "$tmp/parents.txtrace" >"$tmp/tree.json" || return
	report=$tmp/tree.json judge parents '
		import os
		rows = {row["label"]: row for row in json.load(open(os.environ["report"]))["rows"]}
		work = {label: sum(span["work_ns"] for span in spans if span["label"] == label) for label in rows}
		unsure = {label: row for label, row in rows.items() if row["self_is"] != "exact"}
		hidden = any(span["unknown_ns"] for span in spans) # a switch that the kernel hid: what a span had of it is not told from what its child had
		# named is begun within root, which is in outer: what it waited there is taken off outer once for root, and does not fit a second time
		waited = any(span["runnable_ns"] or span["blocked_ns"] or span.get("stolen_ns") for span in spans if span["label"] == "named")
		assert hidden or not unsure or (waited and set(unsure) == {"outer"}), json.dumps([recorder, [span for span in spans if span["lower_bound"]], unsure], indent=1)
		assert unsure or rows["inner"]["self"]["work_ns"] == work["inner"] - work["deep"]
		roots = work["apart"] + work["zero"] + work["order"] + sum(span["work_ns"] - span["detached_ns"] for span in spans if span["label"] == "job")
		mine = work["outer"] - work["inner"] - roots
		assert unsure or mine - work["root"] - work["named"] <= rows["outer"]["self"]["work_ns"] < mine, (mine, rows["outer"])
		assert sum(row["total"]["work_ns"] for row in rows.values() if row["depth"] == 0) == work["outer"] + sum(span["detached_ns"] for span in spans)'
}

sampled() {
	record sampled --sample 1/4 -- --sample || return
	judge sampled '
		cnt = collections.Counter(span["label"] for span in spans)
		assert 20 <= cnt["outer"] <= 90 and cnt["inner"] == 2 * cnt["outer"], cnt
		assert set(pairs) == {("outer", None, False), ("inner", "outer", True)}, pairs
		assert left_out["sample"] == 600 - len(spans) and left_out["no_room"] == 0, left_out'
}

sampled_ways_out() {
	record ways_out --sample 1/3 -- --repeat 60 || return
	judge ways_out '
		assert len(spans) > 100
		whole = {"outer": {"inner": 2, "named": 1}, "apart": {"in-apart": 1}, "job": {"in-job": 1}, "inner": {}, "order": {"in-order": 1}}
		for span in spans:
		    children = collections.Counter(child["label"] for child in spans if parent_of(child) is span)
		    for label, cnt in whole.get(span["label"], {}).items():
		        assert children[label] == cnt, (span, children)
		assert left_out["no_room"] == 0, left_out'
}

labelled() {
	record labelled --label outer --label in-apart --label deep -- --repeat 20 || return
	judge labelled '
		assert set(pairs) <= {("outer", None, False), ("in-apart", None, False), ("deep", "outer", True)}, pairs
		assert len(spans) == 60 and left_out["label"] > 0, (pairs, left_out)'
}

check "a span that names no parent has the one that its thread is in" parents
check "at the top level no nanosecond is counted twice" top_level
check "what was blocked in spans is no more than what was blocked" reasons
check "a parent's self is without its children" self_time
check "--sample keeps whole transactions" sampled
check "--sample: roots in other spans, detached and keyed ones decide for themselves" sampled_ways_out
check "--label: a span has the nearest parent that is recorded, and none beyond a root" labelled
finish
