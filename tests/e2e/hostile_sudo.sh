#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who may run the recorder through sudo reaches no file by it that the user
# could not reach alone: whatever path the user names is opened, made, renamed
# and removed with the user's own rights. Each case is an attack that worked
# once, or what must go on working.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

loop=
tracer=
place=$(mktemp -d) # nobody may look into the tests' own folder
chmod 755 "$place"
trap 'kill -KILL $loop $tracer 2>/dev/null; wait 2>/dev/null; rm -rf "$place"' EXIT
install -m 755 "$programs/probe_loop" "$place/"

# A user of the machine with a second group, if we may make one and there is
# sudo; else its numbers alone stand for sudo.
user=txtrace-$$
has_sudo=
if command -v sudo >/dev/null && [ -d /etc/sudoers.d ] && groupadd "$user-team" 2>/dev/null && useradd -M -G "$user-team" "$user" 2>/dev/null; then
	has_sudo=yes
	echo "$user ALL=(root) NOPASSWD: $place/txtrace-bpf, $place/env" >"/etc/sudoers.d/$user"
	chmod 440 "/etc/sudoers.d/$user"
	trap 'kill -KILL $loop $tracer 2>/dev/null; wait 2>/dev/null; rm -rf "$place"; rm -f "/etc/sudoers.d/$user"; userdel "$user"; groupdel "$user-team"' EXIT
fi
uid=65534
gid=65534
[ -z "$has_sudo" ] || { uid=$(id -u "$user") && gid=$(id -g "$user"); }

install -m 755 "$recorder" "$place/txtrace-bpf"
mkdir "$place/theirs" && chown "$uid:$gid" "$place/theirs" && chmod 700 "$place/theirs"
mkdir -m 755 "$place/roots" && mkdir -m 700 "$place/closed" && mkdir -m 1777 "$place/sticky"
theirs=$place/theirs

# as_caller ARGUMENT...: the recorder as this user has it through sudo.
as_numbers() {
	(cd "$place" && SUDO_UID=$uid SUDO_GID=$gid "$recorder_path" "$@")
}
as_sudo() {
	(cd "$place" && setpriv --reuid "$uid" --regid "$gid" --init-groups sudo -n "$place/txtrace-bpf" "$@")
}
recorder_path=$place/txtrace-bpf
as_caller=as_numbers

refused() { # refused PATTERN ARGUMENT...: it does not start, and says why in one sentence
	local pattern=$1 status
	shift
	$as_caller "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	[ $status = 2 ] || fail "the status is $status" || return
	[ "$(wc -l <"$tmp/err")" = 1 ] && grep -qE "^txtrace-bpf: .*($pattern)" "$tmp/err"
}

secret() { # secret PATH: a file of root's
	rm -f "$1" && echo "--root:secret" >"$1" && chmod 600 "$1"
}

is_untouched() { # is_untouched PATH
	ls -ln "$1"
	[ "$(stat -c '%u %g %a' "$1")" = "0 0 600" ] && [ "$(cat "$1")" = "--root:secret" ]
}

# ---- what is written ----

stream_follows_no_link() {
	secret "$place/roots/shadow" && ln -sf "$place/roots/shadow" "$theirs/stream"
	$as_caller -q --stream "$theirs/stream" -o "$theirs/a.txtrace" -- true || fail "it ended with $?" || return
	is_untouched "$place/roots/shadow" || return
	[ ! -L "$theirs/stream" ] && [ -s "$theirs/stream" ] && [ "$(stat -c '%u %g %a' "$theirs/stream")" = "$uid $gid 600" ]
}

# Not through a link in the middle, either: it is the directory's rights that count.
stream_stays_out() {
	secret "$place/roots/stream" && ln -sfn "$place/roots" "$theirs/way"
	refused 'stream.*Permission denied to the user who called sudo' -q --stream "$theirs/way/stream" -o "$theirs/b.txtrace" -- true || return
	is_untouched "$place/roots/stream"
}

stream_takes_no_file() {
	secret "$place/sticky/stream"
	refused 'stream.*not permitted to the user who called sudo' -q --stream "$place/sticky/stream" -o "$theirs/b.txtrace" -- true || return
	is_untouched "$place/sticky/stream"
}

log_is_not_made_in_roots_directory() {
	local directory
	for directory in roots closed; do
		refused 'log.*Permission denied to the user who called sudo' -q -o "$place/$directory/ld.so.preload" -- true || return
		[ -z "$(find "$place/$directory" -name 'ld.so*')" ] || fail "it was made" || return
	done
	refused 'log.*Permission denied' -q -o "$theirs/way/ld.so.preload" -- true
}

# An older log of root's is neither renamed nor removed, and no crashed one of root's is taken.
logs_of_root_stay() {
	"$recorder" -q -o "$place/sticky/app.txtrace" -- true || return
	refused 'log' -q -o "$place/sticky/app.txtrace" -- true
	[ "$(stat -c %u "$place/sticky/app.txtrace")" = 0 ] || fail "root's log was renamed" || return
	mv "$place/sticky/app.txtrace" "$place/sticky/old.000001.txtrace"
	$as_caller -q --keep 1 -o "$place/sticky/old.txtrace" -- true
	ls -ln "$place/sticky"
	[ "$(stat -c %u "$place/sticky/old.000001.txtrace")" = 0 ]
}

metrics_stay_out() {
	secret "$place/roots/metrics"
	$as_caller -q --metrics-file "$place/roots/metrics" -o "$theirs/c.txtrace" -- true 2>"$tmp/err" || fail "it ended with $?" || return
	cat "$tmp/err"
	grep -q "metrics.*Permission denied to the user who called sudo" "$tmp/err" && is_untouched "$place/roots/metrics"
}

device_is_not_opened() {
	mknod "$place/device" c 1 3 && chmod 600 "$place/device"
	refused 'Permission denied' -q -o "$place/device" -- true && refused 'Permission denied' -q --stream "$place/device" -o "$theirs/d.txtrace" -- true
}

runs_stay_out() {
	refused 'Permission denied to the user who called sudo' --repeat 1 -o "$place/roots/runs" -- true && [ ! -e "$place/roots/runs" ]
}

# ---- what is read ----

# Not a byte of it is said, nor whether there is such a file.
reads_nothing_closed() {
	secret "$place/closed/shadow" && secret "$place/roots/shadow"
	local path
	for path in "$place/roots/shadow" "$place/closed/shadow" "$place/closed/none"; do
		refused "Permission denied" --config "$path" -o "$theirs/e.txtrace" -- true || return
		refused "Permission denied" --preset "$path" -o "$theirs/e.txtrace" -- true || return
		refused "Permission denied" --list "$path" || return
		refused "Permission denied" --exe "$place/closed/shadow" -o "$theirs/e.txtrace" -d 1 || return
	done
}

# ---- a pipe ----

# Who may write to the directory puts a pipe where the log is to be.
unread_pipe_is_refused() {
	mkfifo -m 666 "$theirs/pipe" && chown "$uid:$gid" "$theirs/pipe"
	refused "log.*that pipe has no reader" -q -o "$theirs/pipe" -- true || return
	refused "stream.*that pipe has no reader" -q -o "$theirs/f.txtrace" --stream "$theirs/pipe" -- true || return
	$as_caller -q -o "$theirs/f.txtrace" --metrics-file "$theirs/pipe" -- true 2>"$tmp/err" || fail "it ended with $?" || return
	cat "$tmp/err"
	grep -q "metrics.*that pipe has no reader" "$tmp/err"
}

read_pipe_is_written() {
	(cat <"$theirs/pipe" >"$tmp/piped.txtrace") &
	local reader_pid=$!
	sleep 0.2
	$as_caller -q -o "$theirs/pipe" -- "$place/probe_loop" --iterations 1000 >"$tmp/out" || fail "it ended with $?" || return
	wait $reader_pid
	"$reader" report "$tmp/piped.txtrace" | grep '^loop'
}

# ---- what goes on ----

all_is_theirs() {
	rm -rf "${theirs:?}"/* && printf 'keep = 3\n' >"$theirs/conf" && printf 'span a=uprobe:libc:getpid..uretprobe:libc:getpid\n' >"$theirs/preset"
	chmod 600 "$theirs"/*
	chown "$uid:$gid" "$theirs"/*
	$as_caller -q --config "$theirs/conf" --preset "$theirs/preset" --stream "$theirs/stream" --metrics-file "$theirs/metrics" --rotate-size 16K --compress none \
		-o "$theirs/app.txtrace" -- "$place/probe_loop" --mode tagged --iterations 300000 >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")" || return
	ls -ln "$theirs"
	[ "$(find "$theirs" -name 'app*.txtrace' | wc -l)" = 3 ] && [ -s "$theirs/stream" ] && [ -s "$theirs/metrics" ] || return
	[ -z "$(find "$theirs" ! -uid "$uid" -o ! -gid "$gid")" ] && [ "$(stat -c %a "$theirs/app.txtrace")" = 600 ]
}

reads_options_again() {
	printf 'keep = 3\n' >"$theirs/conf" && rm -f "$theirs"/app*
	$as_caller --config "$theirs/conf" -o "$theirs/app.txtrace" -- "$place/probe_loop" --mode tagged --seconds 6 >"$tmp/out" 2>"$tmp/err" &
	wait_for 20 test -s "$theirs/app.txtrace.partial" || fail "it does not record: $(cat "$tmp/err")" || return
	tracer=$(pgrep -f -o "^[^ ]*txtrace-bpf --config $theirs/conf")
	printf 'keep = 2\n' >"$theirs/conf"
	wait_for 20 grep -q '^Seccomp:.2' "/proc/$tracer/status"
	kill -HUP "$tracer"
	wait_for 20 grep -q 'the options were read again' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	secret "$theirs/conf" && kill -HUP "$tracer"
	wait_for 20 grep -q 'stay as they were: .*Permission denied' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	wait $!
	rm -f "$theirs/conf"
	tracer=
}

dumps_to_a_file() {
	$as_caller -q --flight 4M --trigger exit -o "$theirs/flight.txtrace" -- "$place/probe_loop" --iterations 1000 >"$tmp/out" || fail "it ended with $?" || return
	[ "$(stat -c '%u %a' "$theirs/flight.txtrace")" = "$uid 600" ]
}

runs_are_theirs() {
	$as_caller --repeat 2 -o "$theirs/runs" -- "$place/probe_loop" --iterations 10 >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")" || return
	ls -ln "$theirs/runs"
	[ "$(find "$theirs/runs" -name 'new-*.txtrace' | wc -l)" = 2 ] && [ -z "$(find "$theirs/runs" ! -uid "$uid")" ]
}

# The second group counts, and what root alone may is not lacking.
group_counts() {
	mkdir -p "$place/team" && chown "0:$user-team" "$place/team" && chmod 770 "$place/team"
	$as_caller -q -o "$place/team/app.txtrace" -- true || fail "it ended with $?" || return
	[ "$(stat -c %u "$place/team/app.txtrace")" = "$uid" ]
}

# The recorder's threads have the user's rights where files are written, and no
# capability to get others.
threads_have_little() {
	$as_caller -q -o "$theirs/caps.txtrace" -- "$place/probe_loop" --mode tagged --seconds 6 >"$tmp/out" 2>"$tmp/err" &
	wait_for 20 test -s "$theirs/caps.txtrace.partial" || fail "it does not record" || return
	tracer=$(pgrep -f -o "^[^ ]*txtrace-bpf -q -o $theirs/caps")
	wait_for 20 grep -q '^Seccomp:.2' "/proc/$tracer/status" || return
	local task status caps theirs_cnt=0
	for task in "/proc/$tracer/task"/*; do
		status=$(cat "$task/status" 2>/dev/null) || continue # one that has ended meanwhile
		caps=$(sed -n 's/^CapPrm:\t//p' <<<"$status")
		if [ "$(awk '/^Uid:/ { print $5 }' <<<"$status")" = "$uid" ]; then
			theirs_cnt=$((theirs_cnt + 1))
			[ "$((16#$caps))" = 0 ] || fail "a thread with the user's rights has capabilities: $caps" || return
		else # CAP_CHOWN 0, CAP_DAC_OVERRIDE 1, CAP_FOWNER 3, CAP_SETGID 6, CAP_SETUID 7
			[ "$((16#$caps & 0xcb))" = 0 ] || fail "a thread may change owners or users: $caps" || return
		fi
	done
	wait $!
	tracer=
	[ $theirs_cnt = 2 ] || fail "$theirs_cnt threads have the user's rights"
}

sudo_ids_that_are_none() {
	SUDO_UID=12x SUDO_GID=5 "$recorder" -q -o "$tmp/x.txtrace" -- true 2>"$tmp/err"
	[ $? = 2 ] && grep -q SUDO_UID "$tmp/err" && [ ! -e "$tmp/x.txtrace" ]
}

attacks() { # attacks HOW: as_numbers, as_sudo
	as_caller=$1
	local how=${1#as_}
	check "$how: --stream follows no link, truncates nothing and gives nothing away" stream_follows_no_link
	check "$how: --stream through a link to root's directory" stream_stays_out
	check "$how: no log in root's directory" log_is_not_made_in_roots_directory
	check "$how: no option, preset or program is read that the user may not read" reads_nothing_closed
	check "$how: what the user may, works: options, presets, stream, metrics, rotation, retention" all_is_theirs
	check "$how: options are read again with the user's rights" reads_options_again
	check "$how: the threads that write have the user's rights alone" threads_have_little
}

if [ -n "$has_sudo" ]; then
	attacks as_sudo
	check "sudo: the user's other groups count" group_counts
	rm -rf "${place:?}"/{theirs,roots,closed,sticky}/*
fi
attacks as_numbers
check "--stream over root's file in a sticky directory" stream_takes_no_file
check "root's logs are neither renamed nor removed" logs_of_root_stay
check "no metrics over root's file" metrics_stay_out
check "a device that is not the user's" device_is_not_opened
check "no directory of runs in root's directory" runs_stay_out
check "a pipe that nobody reads is refused at once" unread_pipe_is_refused
check "a pipe that is read is written to" read_pipe_is_written
check "a flight recorder's file" dumps_to_a_file
check "runs, one after the other" runs_are_theirs
check "SUDO_UID that is no number is refused" sudo_ids_that_are_none
finish
