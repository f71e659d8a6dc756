#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# view --serve and open: what they serve, to whom, and what a browser makes of it.
# runs alone
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

python3 tests/cli/view_check.py random 7 | "$make_log" "$tmp/shop.txtrace" || exit
run 2 view --serve 0.0.0.0:0 shop.txtrace
[ "$(cat "$tmp/err")" = "txtrace: '0.0.0.0:0' is no address of this machine alone: give one as in 127.0.0.1:8080, or a port" ] || { echo "Bail out! $(cat "$tmp/err")"; exit 1; }
python3 tests/cli/serve_check.py "$txtrace" "$tmp/shop.txtrace" "$tmp" 2>"$tmp/err" || { echo "Bail out! $(tail -n 3 "$tmp/err")"; exit 1; }
