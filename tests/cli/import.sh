# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# For the tests of imports, which source this instead of cli.sh.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

import_log() { # import_log STATUS ARGUMENT...: into log.txtrace
	local status=$1
	shift
	rm -f "$tmp/log.txtrace" "$tmp/records"
	run "$status" import -o log.txtrace "$@" || return
	[ "$status" = 2 ] || cp "$tmp/err" "$tmp/said_of_import"
}

import() { # import STATUS ARGUMENT...: into log.txtrace, and its records into records
	import_log "$@" || return
	[ "$1" = 2 ] || (cd "$tmp" && "$txtrace" export -f jsonl log.txtrace >"$tmp/records" 2>"$tmp/err") || [ "$1" = 1 ]
}

records() { # records TYPE JQ EXPECTED: what jq makes of the records of this type, in one line
	local found
	found=$(jq -rc "select(.type == \"$1\") | $2" "$tmp/records" | tr '\n' ' ' | sed 's/ $//')
	[ "$found" = "$3" ] || fail "$1: $found, not $3"
}
