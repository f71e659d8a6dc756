#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that are not where they seem to be: in containers with roots, users and pids of their own, deleted, replaced; and plugins that come later.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

others=()
root=
cleanup() {
	kill -KILL "${others[@]}" 2>/dev/null
	wait 2>/dev/null
	[ -z "$root" ] || rm -rf "$root"
}
trap cleanup EXIT

counts() { # counts LOG LABEL NUMBER
	local cnt
	cnt=$(grep '"type":"span"' "$1.jsonl" | grep -c "\"label\":\"$2\"")
	[ "$cnt" = "$3" ] || fail "$cnt spans are called $2, not $3; all: $(jq -r 'select(.type == "span") | "\(.pid) \(.label)"' "$1.jsonl" | sort | uniq -c | tr '\n' ';')"
}

# What the process line of that pid says: process_field LOG PID FIELD
process_field() {
	python3 - "$1.jsonl" "$2" "$3" <<'EOF'
import json, sys
found = [r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "process" and r["pid"] == int(sys.argv[2]) and not r["exit"]]
print(found[-1][sys.argv[3]] if found else "")
EOF
}

# A root with nothing in it but the program and what it is linked with.
make_root() {
	local library
	root=$(mktemp -d) && mkdir -p "$root/proc" "$root/out" && cp "$programs/spin" "$programs/family" "$root/" || return
	for library in $(ldd "$programs/spin" | grep -o '/[^ ]*'); do
		mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library" || return
	done
	chmod 755 "$root" && chmod 777 "$root/out"
}

# The container's first process, once it runs the program: its pid as we see it.
pid_of() { # pid_of NAME
	local pid
	pid=$(pgrep -P "$outer" -x "$1") && [ -n "$(head -c 1 "/proc/$pid/maps")" ] && echo "$pid"
}

in_a_container() { # in_a_container PROGRAM ARGUMENT...
	unshare --mount --pid --user --map-root-user --fork --root="$root" --mount-proc "$@" &
	others+=("$!")
	outer=$!
}

# A program there does not see the recorder, so it is told when that records.
container() {
	local pid tracer
	make_root || return
	in_a_container /spin --repeat 5 --output /out/truth --go /out/go
	wait_for 20 pid_of spin >/dev/null || fail "the container does not begin" || return
	pid=$(pid_of spin)
	"$recorder" -q -o "$tmp/container.txtrace" -p "$pid" &
	tracer=$!
	others+=("$tracer")
	wait_for 60 test -e "$TXTRACE_TESTS_READY/$tracer" || fail "the tracer does not record" || return
	touch "$root/out/go"
	wait $tracer || fail "the tracer ended with $?" || return
	wait $outer || return
	export_log "$tmp/container.txtrace"
	counts "$tmp/container.txtrace" spin 5 || return
	[ "$(process_field "$tmp/container.txtrace" "$pid" inner_pid)" = "$(sed -n 's/.*"pid":\([0-9]*\),.*/\1/p' "$root/out/truth" | head -n 1)" ] ||
		fail "the log has not the pid that the process knows" || return
	[ "$(process_field "$tmp/container.txtrace" "$pid" inner_pid)" != "$pid" ] || fail "it is in no PID namespace of its own" || return
	[ "$(basename "$(process_field "$tmp/container.txtrace" "$pid" exe)")" = spin ] || fail "the log has not its executable"
}

container_by_exe() {
	rm -f "$root/out/truth"
	"$recorder" --messages json -o "$tmp/inside.txtrace" --exe "$root/family" >"$tmp/inside.out" 2>"$tmp/inside.err" &
	local tracer=$!
	others+=("$tracer")
	wait_for 20 grep -qs '"event":"start","message":"recording"' "$tmp/inside.err" || return
	in_a_container /family --wait-traced 0 --children 10 --exec 1 --spans 3
	wait $outer || return
	kill -INT $tracer && wait $tracer || return
	export_log "$tmp/inside.txtrace"
	counts "$tmp/inside.txtrace" child 30
}

lists_both_pids() {
	in_a_container /spin --wait-traced 200 --output /out/listed
	wait_for 20 pid_of spin >/dev/null || return
	local pid
	pid=$(pid_of spin)
	"$recorder" --list "$pid" >"$tmp/list.out" || return
	kill "$pid"
	cat "$tmp/list.out"
	grep -q "^process $pid (spin), which is 1 to itself" "$tmp/list.out" && grep -q 'txtrace:begin$' "$tmp/list.out"
}

deleted() {
	cp "$programs/spin" "$tmp/deleted"
	"$tmp/deleted" --repeat 5 --output "$tmp/gone.truth" &
	others+=("$!")
	local pid=$!
	wait_for 20 test -e "$tmp/gone.truth"
	rm "$tmp/deleted"
	"$recorder" -q -o "$tmp/gone.txtrace" -p $pid && wait $pid && export_log "$tmp/gone.txtrace" && compare gone
}

# Another program has its name by now, which must be neither read nor probed.
replaced() {
	cp "$programs/spin" "$tmp/replaced"
	"$tmp/replaced" --repeat 5 --output "$tmp/new.truth" &
	others+=("$!")
	local pid=$!
	wait_for 20 test -e "$tmp/new.truth"
	cp "$programs/lock" "$tmp/replaced.new" && mv "$tmp/replaced.new" "$tmp/replaced"
	"$recorder" -q -o "$tmp/new.txtrace" -p $pid && wait $pid && export_log "$tmp/new.txtrace" && compare new
}

# --exe means those that were started before the file was replaced, too.
replaced_by_exe() {
	cp "$programs/spin" "$tmp/upgraded"
	"$tmp/upgraded" --repeat 5 --output "$tmp/old.truth" &
	others+=("$!")
	local pid=$!
	wait_for 20 test -e "$tmp/old.truth"
	cp "$programs/spin" "$tmp/upgraded.new" && mv "$tmp/upgraded.new" "$tmp/upgraded"
	"$recorder" -q -o "$tmp/old.txtrace" --exe "$tmp/upgraded" &
	local tracer=$!
	others+=("$tracer")
	wait $pid || fail "the program ended with $?" || return
	kill -INT $tracer && wait $tracer || return
	export_log "$tmp/old.txtrace" && compare old
}

# Five plugins, each a file of its own, which wait until they are traced; for how long is printed. Each is loaded where the one before was, and has another label at
# the same address.
plugins() {
	for i in 0 1 2 3 4; do LC_ALL=C sed "s/in the plugin/in the plug#$i/" "$programs/plugin.so" >"$tmp/plugin$i.so"; done
	"$recorder" -q -o "$tmp/plugins.txtrace" -- "$programs/plugin_host" --repeat 5 --plugin "$tmp/plugin%d.so" --output "$tmp/plugins.truth" || return
	export_log "$tmp/plugins.txtrace"
	for i in 0 1 2 3 4; do counts "$tmp/plugins.txtrace" "in the plug#$i" 100 || return; done
	jq -s '"traced after \(map(.waited_ns / 1000000) | tostring) ms"' "$tmp/plugins.truth"
	[ "$(jq -s 'map(select(.waited_ns != null)) | length' "$tmp/plugins.truth")" = 5 ]
}

check "a container with a root, users and pids of its own, by its pid: both pids are told" container
check "a container by the executable's path outside" container_by_exe
check "--list of a process in a container has both pids" lists_both_pids
check "an executable that was deleted" deleted
check "an executable that was replaced by another program" replaced
check "--exe: a process that runs the file that was there before" replaced_by_exe
check "plugins that are loaded later are traced" plugins
finish
