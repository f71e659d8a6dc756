#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --top: the recorder and the live view on one terminal, for as long as somebody watches.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
command -v tmux >/dev/null || {
	echo "ok 1 - top while recording # SKIP there is no tmux: Debian's tmux is not installed"
	echo "1..1"
	exit 0
}

"$recorder" -q -o "$tmp/old.txtrace" -- "$programs/spin" --repeat 2 >/dev/null 2>&1

# on_terminal COMMAND: in a terminal of its own, of a server of its own, as the one before may still be ending; its exit status is in $tmp/status
terminals=0
on_terminal() {
	rm -f "$tmp/status"
	socket=$tmp/tmux.$((++terminals))
	LC_ALL=C.UTF-8 tmux -S "$socket" -f /dev/null new-session -d -x 100 -y 30 "TERM=screen-256color $1; echo \$? >'$tmp/new'; mv '$tmp/new' '$tmp/status'; sleep 1000"
}

screen() {
	LC_ALL=C.UTF-8 tmux -S "$socket" capture-pane -p -J
}

shows() { # shows TEXT
	wait_for 60 screen_has "$1" || fail "the screen lacks: $1" "$(screen)"
}

screen_has() {
	screen | grep -qF "$1"
}

ends_with() { # ends_with STATUS
	wait_for 60 test -e "$tmp/status" || fail "it does not end: $(screen)" || return
	[ "$(cat "$tmp/status")" = "$1" ] || fail "the status is $(cat "$tmp/status"), not $1: $(screen)"
}

done_with_terminal() {
	LC_ALL=C.UTF-8 tmux -S "$socket" kill-server 2>/dev/null
}

start_bank() {
	"$programs/bank" --threads 2 --rate 100 >"$tmp/bank.out" &
	bank=$!
}

watched() { # watched NAME: it shows the bank's spans while they are recorded
	start_bank
	cp "$tmp/old.txtrace" "$tmp/$1.txtrace.partial" && touch -d 2020-01-01 "$tmp/$1.txtrace.partial" # of a recorder that was killed
	on_terminal "'$recorder' --top -o '$tmp/$1.txtrace' -p $bank"
	shows "transfer" && shows "recording, " && shows "q quit"
}

# The page stays as it is, and has more afterwards.
pauses() {
	local before
	LC_ALL=C.UTF-8 tmux -S "$socket" send-keys p
	shows "paused, " && before=$(screen | sed -n 2p) && sleep 2.5 && [ "$(screen | sed -n 2p)" = "$before" ] || fail "before: $before" "$(screen)" || return
	LC_ALL=C.UTF-8 tmux -S "$socket" send-keys p
	shows "recording, " && wait_for 60 has_other_count "$before" || fail "it stays as it was: $before"
}

has_other_count() { # has_other_count LINE
	[ "$(screen | sed -n 2p)" != "$1" ]
}

# Until the user leaves the view. The recorder's words come behind it.
view_ends_the_recording() {
	watched quit || return
	pauses || return
	LC_ALL=C.UTF-8 tmux -S "$socket" send-keys q
	ends_with 0 && screen_has "0 lost" && "$reader" verify "$tmp/quit.txtrace" >/dev/null
	local status=$?
	kill $bank && wait $bank 2>/dev/null
	done_with_terminal
	return $status
}

# The program ends: the view says so, and stays.
program_ends() {
	watched gone || return
	kill $bank && wait $bank 2>/dev/null
	shows "ended, " && LC_ALL=C.UTF-8 tmux -S "$socket" send-keys q && ends_with 0 && "$reader" verify "$tmp/gone.txtrace" >/dev/null
	local status=$?
	done_with_terminal
	return $status
}

signal_ends_it() {
	watched signalled || return
	local pane
	pane=$(LC_ALL=C.UTF-8 tmux -S "$socket" list-panes -F '#{pane_pid}')
	pkill -TERM -o -P "$pane" && ends_with 0 && "$reader" verify "$tmp/signalled.txtrace" >/dev/null
	local status=$?
	kill $bank && wait $bank 2>/dev/null
	done_with_terminal
	return $status
}

# Under sudo the view is the user's.
view_has_no_privilege() {
	local status viewer
	start_bank
	mkdir -p "$tmp/mine" && chown 65534:65534 "$tmp/mine"
	on_terminal "SUDO_UID=65534 SUDO_GID=65534 '$recorder' --top -o '$tmp/mine/log.txtrace' -p $bank"
	shows "transfer" && viewer=$(pgrep -f "^txtrace top -- $tmp/mine/log.txtrace") &&
		[ "$(sed -n 's/^Uid:\t//p;s/^Gid:\t//p;s/^CapEff:\t//p' "/proc/$viewer/status" | tr '\t\n' '  ')" = "65534 65534 65534 65534 65534 65534 65534 65534 0000000000000000 " ] ||
		fail "$(screen)" "$(cat "/proc/$viewer/status")"
	status=$?
	LC_ALL=C.UTF-8 tmux -S "$socket" send-keys q
	[ $status = 0 ] && ends_with 0
	status=$?
	kill $bank && wait $bank 2>/dev/null
	done_with_terminal
	return $status
}

nothing_to_record() {
	on_terminal "'$recorder' --top -o '$tmp/none.txtrace' -p 4194303"
	ends_with 2 && screen_has "4194303"
	local status=$?
	done_with_terminal
	return $status
}

no_terminal() {
	"$recorder" --top -o "$tmp/no.txtrace" -p $$ </dev/null >"$tmp/out" 2>"$tmp/err"
	[ $? = 2 ] && grep -qF "the output is no terminal; record without --top" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	! "$recorder" --top -- true 2>"$tmp/err" && grep -qF -- "--top needs the terminal" "$tmp/err" || fail "$(cat "$tmp/err")"
}

check "the end of the view ends the recording, and its log is whole" view_ends_the_recording
check "the end of the program is shown" program_ends
check "SIGTERM ends both" signal_ends_it
check "under sudo the view is the user's, without a privilege" view_has_no_privilege
check "what cannot be recorded is told, with its status" nothing_to_record
check "without a terminal, or with a command, it says so" no_terminal
finish
