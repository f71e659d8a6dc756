# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced by the tests of the library. A case is `check NAME COMMAND...`: it holds when the command succeeds; what the command printed is shown if it
# does not.

set -u
export LC_ALL=C
unset LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR

tmp=$TEST_TMPDIR
library_headers="include/txtrace/log_record.h include/txtrace/log.h"
number=0

check() { # check NAME COMMAND...
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$tmp/said" | cut -c 1-400 | head -n 60
	fi
}

skip() { # skip NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

finish() {
	echo "1..$number"
}

fail() {
	echo "$*"
	return 1
}

has() {
	command -v "$1" >/dev/null
}

# The functions that the headers declare, sorted.
declared() {
	sed -nE 's/^[a-z].*[ *](txtrace_[a-z0-9_]+)\(.*/\1/p' $library_headers | sort
}

# Everything that a program or another object can see in the static library FILE.
visible() { # visible FILE [NM]
	"${2:-nm}" -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort
}
