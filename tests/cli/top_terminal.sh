#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The live view on a terminal.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

command -v tmux >/dev/null || {
	skip "top on a terminal" "there is no tmux: Debian's tmux is not installed"
	finish
	exit 0
}
python3 tests/cli/top_log.py >"$tmp/top.txt" && "$make_log" "$tmp/top.txtrace" <"$tmp/top.txt" || exit
python3 tests/cli/top_terminal.py "$txtrace" "$tmp/top.txtrace" "$tmp"
