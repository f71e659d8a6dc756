#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Which spans go into the log: whole transactions or none of them, only some labels, only long ones; all that is left out is counted.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

rounds=300

# record NAME [OPTION...]: the bank, for two seconds; its marks go to $tmp/NAME.txtrace.jsonl
record() {
	local name=$1
	shift
	timeout 600 "$recorder" -q -d 2 "$@" -o "$tmp/$name.txtrace" -- "$programs/bank" >/dev/null || [ $? -lt 124 ] || return
	export_log "$tmp/$name.txtrace"
}

judge() { # judge NAME PYTHON...: with spans, marks and left_out of the log
	python3 - "$tmp/$1.txtrace.jsonl" "$2" <<-'PYTHON'
		import json, sys, textwrap
		lines = [json.loads(line) for line in open(sys.argv[1])]
		spans = [line for line in lines if line["type"] == "span"]
		ids = {span["id"] for span in spans if not span["keyed"]}
		marks = [line for line in lines if line["type"] in ("attribute", "instant", "stay", "link") and not line.get("keyed")]
		recorder = lines[-1]["recorder"]
		left_out = recorder.get("left_out", {})
		assert recorder["sent_cnt"] == recorder["received_cnt"] + recorder["lost_cnt"], recorder
		assert not recorder["anomalies"]["imbalance"] and not recorder["anomalies"]["clock_mismatch"], recorder
		exec(textwrap.dedent(sys.argv[2]))
	PYTHON
}

sampled() {
	record sampled --sample 1/5 || return
	judge sampled '
		roots = [span for span in spans if span["parent"] == "0" and not span["keyed"]]
		children = [span for span in spans if span["parent"] != "0" and not span["unfinished"]]
		assert roots and children, "nothing is there"
		lost = [child for child in children if child["parent"] not in ids]
		assert not lost, f"{len(lost)} children without their parent: {lost[:2]}"
		transfers = {span["id"] for span in roots if span["label"] == "transfer" and not span["unfinished"]}
		whole = {span["parent"] for span in children if span["label"] == "validate"}
		assert transfers <= whole, f"{len(transfers - whole)} of {len(transfers)} transfers lack a child"
		assert left_out["sample"] > len(spans), left_out
		assert left_out["mark"] > 0 and left_out["label"] == 0 and left_out["no_room"] == 0, left_out
		assert all(recorder["anomalies"][name] == 0 for name in ("end_unknown", "enter_unknown", "exit_unknown")), recorder'
}

labelled() {
	record labelled --label 'transfer' --label 'cle*' || return
	judge labelled '
		labels = {span["label"] for span in spans}
		assert labels and labels <= {"transfer", "clear", "clearing house"}, labels
		assert "transfer" in labels and "clear" in labels, labels
		assert all(span["parent"] in ids or span["parent"] == "0" or span["unfinished"] for span in spans), "a parent is not there"
		assert left_out["label"] > 0 and left_out["sample"] == 0, left_out
		assert not any(mark["type"] == "stay" and mark["span"] not in ids for mark in marks), "a stay in nothing"'
}

long_ones() {
	record long --min-duration 1ms || return
	judge long '
		assert spans and all(span["wall_ns"] >= 1000000 or span["unfinished"] for span in spans), "a short one is there"
		assert left_out["short"] > 0 and left_out["sample"] == 0 and left_out["label"] == 0, left_out
		assert not any(mark["type"] in ("attribute", "stay") and mark["span"] not in ids for mark in marks), "a mark of nothing"'
}

said() {
	"$reader" report "$tmp/sampled.txtrace" >"$tmp/report" && grep -q "; 1 of 5 transactions" "$tmp/report" && grep -q "^filtered .* spans not sampled" "$tmp/report" &&
		"$reader" info "$tmp/labelled.txtrace" | grep -q "^scope .*only some labels"
}

foretold() {
	timeout 600 "$recorder" -q --sample 1/4 -o "$tmp/foretold.txtrace" -- "$programs/random" --wait-traced 200 --spans 300 --seed 5 --output "$tmp/foretold.truth" || return
	export_log "$tmp/foretold.txtrace" && python3 $e2e/check_sample.py 4 "$tmp/foretold.truth" "$tmp/foretold.txtrace.jsonl"
}

# Without a scheduler all that is sent is of spans, and of threads that come and go: were spans left out by the recorder, each would have been sent twice, its begin and its end.
decided_early() {
	timeout 600 "$recorder" --marks probe -q --sched off "${@:2}" -o "$tmp/early.$1.txtrace" -- "$programs/probe_loop" --mode begin-end --rate 20000 --seconds 2 >/dev/null &&
		export_log "$tmp/early.$1.txtrace" || return
	judge "early.$1" '
		cnt = left_out["label"] + left_out["sample"]
		assert cnt > 1000 and recorder["sent_cnt"] < cnt, (recorder["sent_cnt"], left_out)'
}

# By other threads, twice under one key, and again: what is there of the wanted ones is what is there of them when all are recorded. The recorder would count
# 21 marks a round that are left out, one for each event; the kernel side counts enters, exits and ends, too.
keyed_labels() {
	local label
	for label in '*' wanted; do
		timeout 600 "$recorder" -q --sched off --label "$label" -o "$tmp/keyed.txtrace" -- "$programs/keyed_labels" --rounds $rounds >"$tmp/keyed.said" || return
		export_log "$tmp/keyed.txtrace" || return
		jq -rs 'map(select(.type == "span" and .label == "wanted")) | map("\(.key_text) \(.unfinished)") | sort[]' "$tmp/keyed.txtrace.jsonl" >"$tmp/keyed.$label"
	done
	grep -qx "wanted=$(grep -c . "$tmp/keyed.wanted") whole=$(grep -c false "$tmp/keyed.wanted") cut=$(grep -c true "$tmp/keyed.wanted")" "$tmp/keyed.said" ||
		fail "$(cat "$tmp/keyed.said"), and not: $(sort "$tmp/keyed.wanted" | cut -d- -f1 | uniq -c)" || return
	diff "$tmp/keyed.*" "$tmp/keyed.wanted" || return
	judge keyed '
		assert {span["label"] for span in spans} == {"wanted"}, spans[0]
		assert not any(recorder["anomalies"][name] for name in ("end_unknown", "enter_unknown", "exit_unknown", "exit_unentered", "mark_unknown")), recorder
		assert left_out["label"] == 24 * '$rounds', left_out
		assert left_out["mark"] > 21 * '$rounds', left_out'
}

refused() {
	local value
	for value in 0 1/0 x 2/3 -1 ""; do
		! "$recorder" --sample "$value" -p 1 2>"$tmp/complaint" || return
		grep -q "takes a rate, as in 1/100" "$tmp/complaint" || fail "$value: $(cat "$tmp/complaint")" || return
	done
}

check "--sample: a transaction is there with all its children, or not at all" sampled
check "--sample: which ones is known from ids and keys: these, whole and exact, and no others" foretold
check "--sample: what is left out is not even sent" decided_early sample --sample 1/100
check "--label: what is left out is not even sent" decided_early label --label none
check "--label: keyed spans of other labels are not even sent, and what else has their keys is as it was" keyed_labels
check "--label: only these, and every parent is there" labelled
check "--min-duration: only long ones, and nothing of the others" long_ones
check "reports and info say so" said
check "a sample that is none is refused" refused
finish
