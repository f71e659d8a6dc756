#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Processes in cgroups that are called as containerd, CRI-O, Docker and Podman call them, in PID namespaces of their own: the log says in which container and pod each
# is, and every command that reads it adds up their spans by that.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

top=
cleanup() {
	jobs -p | xargs -r kill -KILL 2>/dev/null
	wait 2>/dev/null
	[ -z "$top" ] || find "$top" -depth -type d -exec rmdir {} \; 2>/dev/null
}
trap cleanup EXIT

make_top() {
	local folder
	for folder in /sys/fs/cgroup/unified /sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup; do
		[ -w "$folder/cgroup.procs" ] && mkdir "$folder/txtrace-containers-$$" 2>/dev/null && top=$folder/txtrace-containers-$$ && return
	done
	return 1
}

id_of() { # id_of DIGIT: a container's
	printf "$1%.0s" {1..64}
}

pod=12345678-9abc-def0-1234-56789abcdef0
# name, cgroup, container, pod, spans
places="containerd kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${pod//-/_}.slice/cri-containerd-$(id_of 1).scope $(id_of 1) $pod 3
crio kubepods/besteffort/pod$pod/crio-$(id_of 2) $(id_of 2) $pod 4
docker docker/$(id_of 3) $(id_of 3) - 5
podman machine.slice/libpod-$(id_of 4).scope/container $(id_of 4) - 6
monitor machine.slice/libpod-conmon-$(id_of 5).scope - - 7
none system.slice/cron.service - - 8"

# Each is there before the recorder, but the last two: these come while it records, and move into their cgroups before they exec.
starts() { # starts NAME CGROUP SPANS
	mkdir -p "$top/$2"
	bash -c "echo \$\$ >'$top/$2/cgroup.procs' && exec unshare --pid --fork '$tmp/contained' --repeat $3 --output '$tmp/$1.truth'" &
}

is_there() { # is_there CNT: so many wait for a recorder
	[ "$(pgrep -cxf "$tmp/contained .*")" = "$1" ]
}

record_all() {
	local name cgroup spans tracer started=()
	cp "$programs/spin" "$tmp/contained"
	while read -r name cgroup _ _ spans; do
		[ "$name" != monitor ] || break
		starts "$name" "$cgroup" "$spans"
		started+=("$!")
	done <<<"$places"
	wait_for 30 is_there 4 || fail "they do not run" || return
	"$recorder" -q --exe "$tmp/contained" -o "$tmp/all.txtrace" --metrics-file "$tmp/all.prom" 2>"$tmp/said" &
	tracer=$!
	wait_for 60 is_recording $tracer || fail "it does not record: $(cat "$tmp/said")" || return
	while read -r name cgroup _ _ spans; do
		case $name in monitor | none)
			starts "$name" "$cgroup" "$spans"
			started+=("$!")
			;;
		esac
	done <<<"$places"
	wait "${started[@]}" || fail "a program ended with $?" || return
	kill -INT $tracer
	wait $tracer || fail "txtrace-bpf ended with $?: $(cat "$tmp/said")" || return
	export_log "$tmp/all.txtrace"
}

wanted_rows() { # wanted_rows COLUMN: that column of the places, and the sums of spans
	awk -v column="$1" '{ spans[$column] += $5 } END { for (name in spans) print name, spans[name] }' <<<"$places" | sort
}

reported() { # reported KEY
	"$reader" report --by "$1" --json "$tmp/all.txtrace" | jq -r '.rows[] | "\(.name // "-") \(.count)"' | sort
}

by_container_and_pod() {
	diff <(wanted_rows 3) <(reported container) && diff <(wanted_rows 4) <(reported pod)
}

# Each process says what it takes for its pid: 1, in its namespace.
inner_pids() {
	jq -s -e 'map(select(.type == "process" and .exit == false)) | length >= 6 and all(.inner_pid == 1 and .pid > 1)' "$tmp/all.txtrace.jsonl" >/dev/null ||
		fail "$(grep '"process"' "$tmp/all.txtrace.jsonl")"
}

by_sql() {
	"$reader" sql --csv "$tmp/all.txtrace" "SELECT coalesce(container, '-'), count(*) FROM spans s JOIN (SELECT DISTINCT pid, container FROM processes WHERE NOT exit) p ON p.pid = s.pid GROUP BY 1" |
		tail -n +2 | tr , ' ' | sort >"$tmp/sql"
	diff <(wanted_rows 3) "$tmp/sql"
}

as_otlp() {
	"$reader" export -o "$tmp/all.otlp.jsonl" "$tmp/all.txtrace" || return
	jq -s -e 'all(.[].resourceSpans[]; .resource.attributes | any(.key == "process.vpid" and .value.intValue == "1"))' "$tmp/all.otlp.jsonl" >/dev/null || fail "they do not say that they are process 1" || return
	jq -s -r '.[].resourceSpans[] | (.resource.attributes | map({ (.key): .value.stringValue }) | add) as $of | "\($of["container.id"] // "-") \([.scopeSpans[].spans[]] | length)"' "$tmp/all.otlp.jsonl" |
		awk '{ spans[$1] += $2 } END { for (name in spans) print name, spans[name] }' | sort >"$tmp/otlp"
	diff <(wanted_rows 3) "$tmp/otlp"
}

as_metrics() {
	sed -n 's/^txtrace_span_wall_seconds_count{label="[^"]*"\(,container="\([0-9a-f]*\)"\)\{0,1\}[^}]*} /\2 /p' "$tmp/all.prom" | sed 's/^ /- /' |
		awk '{ spans[$1] += $2 } END { for (name in spans) print name, spans[name] }' | sort >"$tmp/counted"
	diff <(wanted_rows 3) "$tmp/counted" && grep -q "^txtrace_span_part_seconds_count{label=\"[a-z]*\",container=\"$(id_of 1)\",pod=\"$pod\",part=\"on_cpu\"} 3$" "$tmp/all.prom"
}

# In a container, its root of the cgroups is another one: it sees where others are relative to that.
from_a_cgroup_namespace() {
	local cgroup target
	mkdir -p "$top/docker/$(id_of 7)" "$top/recorder"
	starts relative "docker/$(id_of 7)" 3
	target=$!
	bash -c "echo \$\$ >'$top/recorder/cgroup.procs' && exec unshare --cgroup '$recorder' -q -f -o '$tmp/relative.txtrace' -p $target" 2>"$tmp/said" || fail "ended with $?: $(cat "$tmp/said")" || return
	wait $target || fail "the program ended with $?" || return
	[ "$("$reader" report --by container --json "$tmp/relative.txtrace" | jq -c '[.rows[] | [.name, .count]]')" = "[[\"$(id_of 7)\",3]]" ] || fail "$("$reader" report --by container "$tmp/relative.txtrace")"
}

# A child that comes and goes is where its parent is.
children_inherit() {
	local cgroup
	cgroup=$top/docker/$(id_of 6)
	mkdir -p "$cgroup"
	bash -c "echo \$\$ >'$cgroup/cgroup.procs' && exec '$recorder' -q -f -o '$tmp/family.txtrace' -- '$programs/family' --exec 0 --children 50 --depth 2 --spans 2" >/dev/null || return
	[ "$("$reader" report --by container --json "$tmp/family.txtrace" | jq -c '[.rows[] | [.name, .count]]')" = "[[\"$(id_of 6)\",$("$reader" sql --csv "$tmp/family.txtrace" "SELECT count(*) FROM spans" | tail -n 1)]]" ] ||
		fail "$("$reader" report --by container "$tmp/family.txtrace")"
}

if make_top; then
	check "processes in six cgroups are recorded" record_all
	check "report --by container and pod" by_container_and_pod
	check "their pids in their namespaces" inner_pids
	check "in SQL" by_sql
	check "as OTLP" as_otlp
	check "as metrics" as_metrics
	check "seen from another cgroup namespace" from_a_cgroup_namespace
	check "children are where their parents are" children_inherit
else
	number=$((number + 1))
	echo "ok $number - containers # SKIP no cgroup can be made here"
fi
finish
