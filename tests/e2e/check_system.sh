#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# txtrace-bpf --check: what it says is so. As root, as nobody, with fewer capabilities, where bpf(2) is filtered, in namespaces, without BTF.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

outside=$(mktemp -d) # nobody may look into the tests' own folder
chmod 755 "$outside"
cp "$recorder" "$outside/txtrace-bpf"
chmod 755 "$outside/txtrace-bpf"
trap 'rm -rf "$outside"' EXIT

# verdict STATUS JQ-FILTER COMMAND...: its --check --json ends with this status, and the filter holds
verdict() {
	local wanted=$1 filter=$2 status
	shift 2
	(cd "$outside" && "$@" ./txtrace-bpf --check --json >"$tmp/check.json" 2>"$tmp/err" </dev/null)
	status=$?
	[ $status = "$wanted" ] || fail "the status is $status: $(cat "$tmp/check.json" "$tmp/err")" || return
	jq -e "(.works == ($wanted == 0)) and (([.rows[] | select(.verdict == \"missing\")] | length) == 0) == .works" "$tmp/check.json" >/dev/null ||
		fail "the status is not what the rows say: $(cat "$tmp/check.json")" || return
	jq -e "[.rows[] | {(.subject): .}] | add | $filter" "$tmp/check.json" >/dev/null || fail "$(cat "$tmp/check.json")"
}

follows_its_schema() {
	"$recorder" --check --json >"$tmp/check.json"
	python3 -c 'import json, jsonschema, sys
schema, document = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(document, schema)
document["rows"][0]["verdict"] = "surprise"
assert not jsonschema.Draft202012Validator(schema).is_valid(document)' docs/check.schema.json "$tmp/check.json"
}

# Recording agrees with --check: it works, or it is refused.
recording_agrees() { # recording_agrees STATUS COMMAND...
	local wanted=$1 status
	shift
	(cd "$outside" && "$@" ./txtrace-bpf -q -o "$tmp/agrees.txtrace" -- true >"$tmp/out" 2>"$tmp/err")
	status=$?
	[ $status = "$wanted" ] || fail "the status is $status: $(cat "$tmp/err")"
}

both() { # both STATUS FILTER COMMAND...
	local status=$1 filter=$2
	shift 2
	verdict "$status" "$filter" "$@" && recording_agrees "$status" "$@"
}

{ echo '#!/usr/bin/env python3' && cat $e2e/without_bpf.py; } >"$outside/without_bpf"
chmod 755 "$outside/without_bpf"

a_line_each() {
	"$recorder" --check >"$tmp/out" || return
	cat "$tmp/out"
	[ "$(grep -cE '^(ok|limited) ' "$tmp/out")" -ge 12 ] && ! grep -qE '^(missing|unknown)' "$tmp/out" && tail -n 1 "$tmp/out" | grep -qx 'recording works here'
}

says_2() { # says_2 SENTENCE ARGUMENT...
	local sentence=$1
	shift
	"$recorder" "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? = 2 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = "txtrace-bpf: $sentence" ] || fail "$(cat "$tmp/out" "$tmp/err")"
}

full_disk() {
	"$recorder" --check >/dev/full 2>"$tmp/err"
	[ $? = 2 ] && grep -q 'cannot write' "$tmp/err"
}

check "root: everything is asked, and works" both 0 '."BPF programs".verdict == "ok" and ."ring buffers".verdict == "ok" and .capabilities.verdict == "ok"' env
check "a line for each, and what follows" a_line_each
check "nobody: what is missing, and what could not be asked" \
	both 2 '.capabilities.verdict == "missing" and ."BPF programs".verdict == "missing" and .uprobe_multi.verdict == "unknown" and .BTF.verdict == "ok"' \
	setpriv --reuid 65534 --regid 65534 --clear-groups
check "without CAP_BPF and CAP_SYS_ADMIN" both 2 '.capabilities.found == "no CAP_SYS_ADMIN, no CAP_BPF"' \
	setpriv --bounding-set -sys_admin,-bpf --inh-caps -sys_admin,-bpf
if "$recorder" --check --json | jq -e '.rows[] | select(.subject == "uprobe_multi") | .found | startswith("all")' >/dev/null; then
	check "with CAP_BPF and CAP_PERFMON alone it works, with less" \
		both 0 '.capabilities.verdict == "limited" and .timing.verdict == "limited" and ."process memory".verdict == "limited"' \
		setpriv --bounding-set -all,+bpf,+perfmon --inh-caps -all
else
	check "CAP_BPF and CAP_PERFMON are not enough here" verdict 2 '.capabilities.verdict == "missing"' setpriv --bounding-set -all,+bpf,+perfmon --inh-caps -all
fi
check "where a filter keeps bpf(2) away" both 2 '."BPF programs".verdict == "missing" and (."BPF programs".advice | contains("seccomp"))' ./without_bpf
if unshare --mount --pid --fork true 2>/dev/null; then
	check "in a PID namespace" both 2 '.namespaces.verdict == "missing" and (.namespaces.advice | contains("--pid=host"))' unshare --pid --fork --mount-proc
	check "without BTF" both 2 '.BTF.verdict == "missing"' unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh
fi
if unshare --user --map-root-user true 2>/dev/null; then
	check "in a user namespace" both 2 '.namespaces.verdict == "missing" and ."BPF programs".verdict == "missing"' unshare --user --map-root-user
fi
check "a disk that is full" full_disk
if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
	check "its JSON follows its schema" follows_its_schema
fi
check "nothing is traced meanwhile" says_2 "--check traces nothing; give it neither a process nor a command" --check -- true
check "--json alone" says_2 "--json needs --check; for a log use txtrace report --json" --json -p 1
finish
