# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced after e2e.sh: a recorder that runs beside the test, and what its log says of a label.
# shellcheck disable=SC2154 # e2e.sh sets tmp, recorder, reader

# need_program COMMAND PACKAGE: or skips the test.
need_program() {
	command -v "$1" >/dev/null && return
	echo "ok 1 - $(basename "$0" .sh) # SKIP there is no $1: Debian's $2 is not installed"
	echo "1..1"
	exit 0
}

has_begun() { # has_begun STREAM: or ended
	[ -s "$1" ] || ! runs "$tracer"
}

begin_recording() { # begin_recording NAME OPTION...: in $tracer, until it records
	local name=$1
	shift
	"$recorder" -q -o "$tmp/$name.txtrace" --stream "$tmp/$name.stream" "$@" >"$tmp/$name.err" 2>&1 &
	tracer=$!
	wait_for 60 has_begun "$tmp/$name.stream"
	runs "$tracer" && [ -s "$tmp/$name.stream" ] || fail "the recorder does not record: $(cat "$tmp/$name.err")"
}

end_recording() { # end_recording NAME
	kill -INT "$tracer"
	wait "$tracer" || fail "the recorder ended with $?: $(cat "$tmp/$1.err")" || return
	export_log "$tmp/$1.txtrace"
}

# The log as far as it is written.
has_span() { # has_span NAME LABEL
	"$reader" export "$tmp/$1.txtrace.partial" --format jsonl 2>/dev/null | grep -q "\"type\":\"span\".*\"label\":\"$2\""
}

spans_of() { # spans_of NAME LABEL [CONDITION]
	jq -s "map(select(.type == \"span\" and .label == \"$2\" and (${3-true}))) | length" "$tmp/$1.txtrace.jsonl"
}

same() { # same WHAT IS WANTED
	[ -n "$3" ] && [ "$2" = "$3" ] || fail "$1: $2 instead of $3"
}

# Whatever the program was: nothing was lost, nothing does not add up.
is_whole() { # is_whole NAME
	same losses "$(jq -s 'map(select(.type == "loss")) | length' "$tmp/$1.txtrace.jsonl")" 0 &&
		same "ledgers out of balance" "$(jq -s 'map(select(.type == "span" and (.lower_bound | not) and
			.on_cpu_ns + (.stolen_ns // 0) + .runnable_ns + .blocked_ns + .detached_ns + .unknown_ns != .work_ns)) | length' "$tmp/$1.txtrace.jsonl")" 0
}
