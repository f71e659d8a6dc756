#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Labels and names wherever they are, and however soon the program ends or writes over them.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
if ! kernel_since 5.15; then
	echo "ok 1 - labels # SKIP before Linux 5.15 a probe is not told which one it is, so labels are read later"
	echo "1..1"
	exit 0
fi

record() { # record NAME OPTION...
	local name=$1
	shift
	"$recorder" -q -f -o "$tmp/$name.txtrace" -- "$programs/labels" --output "$tmp/$name.truth" "$@" || fail "the recorder ended with $?" || return
	export_log "$tmp/$name.txtrace"
}

# What the log calls the spans, instants, attributes and counters is what was there at the mark.
names_hold() {
	record names --repeat 50 && python3 - "$tmp/names.txtrace.jsonl" <<-'END'
		import collections, json, sys
		records = [json.loads(line) for line in open(sys.argv[1])]
		found = collections.defaultdict(collections.Counter)
		for record in records:
		    if record["type"] == "span" and "key" not in record:
		        found["span"][record["label"]] += 1
		    elif record["type"] in ("instant", "attribute", "counter"):
		        found[record["type"]][record["name"]] += 1
		texts = [f"on the {place} {i}" for place in ("heap", "stack") for i in range(50)] + ["x" * 256] + [""] * 3
		for kind in ("span", "instant", "attribute", "counter"):
		    expected = collections.Counter(texts + {"instant": ["named"], "span": ["never read"], "attribute": ["text"]}.get(kind, []))
		    if found[kind] != expected:
		        sys.exit(f"{kind}: {dict(found[kind] - expected)} besides, {dict(expected - found[kind])} missing")
		untouched = next(r for r in records if r.get("label") == "never read")
		text = next(r for r in records if r["type"] == "attribute" and r["name"] == "text")
		if untouched["tag"] != "never read" or text["value"] != "never read":
		    sys.exit(f"a text in a page that nobody has touched: {untouched['tag']!r}, {text['value']!r}")
	END
}

# The recorder knows the plugin from the first process; the others end a moment after they have loaded it.
ended_at_once() {
	record ended --repeat 1 --plugin "$programs/plugin.so" --children 50 || return
	local labels
	labels=$(jq -r 'select(.type == "span" and (.key_text // "") == "") | .label' "$tmp/ended.txtrace.jsonl" | sort | uniq -c | tr -s ' ' | tr '\n' ';')
	[[ $labels == *" 51 in the plugin;"* ]] || fail "spans: $labels"
}

check "names on the heap and on the stack are those at the mark, and what cannot be read is unknown" names_hold
check "a program that loads a library and ends at once loses no label" ended_at_once
finish
