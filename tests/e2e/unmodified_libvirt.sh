#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's libvirt 9 as it is, by --preset libvirt: a daemon of our own with nobody's rights, and virsh. Both sides have a span for each call, and as many of each
# procedure as virsh was told to make.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program libvirtd libvirt-daemon
need_program virsh libvirt-clients

rounds=7
home=$(mktemp -d /tmp/txtrace-libvirt.XXXXXX) # not in $tmp, which is root's alone; and the path of a socket has to be short
daemon=
client=
trap 'exec 8>&-; kill $client $daemon 2>/dev/null; wait; rm -rf "$home"' EXIT

as_nobody=(env -i PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR="$home/run" XDG_CONFIG_HOME="$home/config" XDG_CACHE_HOME="$home/cache"
	setpriv --reuid nobody --regid nogroup --clear-groups)

start_both() {
	mkdir "$home/run" "$home/config" "$home/cache"
	printf '%s\n' 'listen_tls = 0' 'listen_tcp = 0' "unix_sock_dir = \"$home/run\"" 'auth_unix_rw = "none"' 'auth_unix_ro = "none"' >"$home/daemon.conf"
	chown -R nobody "$home"
	mkfifo "$tmp/commands"
	"${as_nobody[@]}" libvirtd -f "$home/daemon.conf" -p "$home/run/pid" >"$tmp/daemon.said" 2>&1 &
	daemon=$!
	wait_for 60 test -S "$home/run/libvirt-sock" || fail "no daemon: $(cat "$tmp/daemon.said")" || return
	"${as_nobody[@]}" virsh -c "test+unix:///default?socket=$home/run/libvirt-sock" <"$tmp/commands" >"$tmp/client.said" 2>&1 &
	client=$!
	exec 8>"$tmp/commands"
	echo list >&8
	wait_for 60 grep -q running "$tmp/client.said" || fail "no client: $(cat "$tmp/client.said" "$tmp/daemon.said")"
}

calls() { # calls LABEL PROCEDURE
	spans_of both "$1" "(.tag | test(\"procedure=$2,\")) and (.unfinished | not)"
}

# A list is one call for all domains, and one for the state of each: there is one.
as_many_as_told() {
	local i side
	start_both || return
	begin_recording both --preset libvirt -p "$daemon,$client" || return
	for ((i = 0; i < rounds; i++)); do echo list >&8; done
	echo nodeinfo >&8
	echo quit >&8
	wait $client || fail "virsh ended with $?: $(cat "$tmp/client.said")" || return
	end_recording both || return
	for side in rpc-client rpc-server; do
		same "lists, $side" "$(calls $side 273)" $rounds && same "states of a domain, $side" "$(calls $side 212)" $rounds &&
			same "infos of the node, $side" "$(calls $side 6)" 1 || return
	done
	is_whole both || return
	same "processes with calls" "$(jq -s 'map(select(.type == "span") | "\(.label) \(.pid)") | unique | length' "$tmp/both.txtrace.jsonl")" 2
}

# Each call has its serial, and the daemon has it while the client waits for it.
one_within_the_other() {
	jq -e -s 'map(select(.type == "span" and (.unfinished | not))) |
		(map(select(.label == "rpc-server") | {key: (.tag | sub(".*,procedure"; "procedure")), value: .}) | from_entries) as $server |
		map(select(.label == "rpc-client")) | length > 0 and all($server[.tag | sub(".*,procedure"; "procedure")] as $there |
			$there and .begin_ns < $there.begin_ns and .end_ns > $there.begin_ns)' "$tmp/both.txtrace.jsonl" >"$tmp/within" ||
		fail "$(jq -c 'select(.type == "span") | [.label, .tag, .begin_ns, .end_ns]' "$tmp/both.txtrace.jsonl")"
}

check "a daemon and its client: a span for each call on both sides" as_many_as_told
check "the daemon has each call while its client waits" one_within_the_other
finish
