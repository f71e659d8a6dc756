#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The page in a real browser: its figures, clicks, keys, filters and searches, hostile labels; and the console stays silent.
# takes long: 20 s of a CPU
# runs alone
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit
if ! command -v chromium >/dev/null; then
	skip "view_browser" "there is no chromium"
	finish
	exit
fi

make_page() { # make_page NAME: of tests/cli/logs, or of NAME.txt
	[ -e "$tmp/$1.txt" ] || cp "$logs/$1.txt" "$tmp/$1.txt"
	"$make_log" "$tmp/$1.txtrace" <"$tmp/$1.txt" && run 0 view -o "$1.html" "$1.txtrace" && run 0 report --json "$1.txtrace" && mv "$tmp/out" "$tmp/$1.json"
}

python3 tests/cli/view_check.py random 7 >"$tmp/shop.txt"
for number in 1 2 3 4; do echo "header pid=$number command=\"<b>x</b>\"
thread time_ns=1000 pid=$number tid=$number comm=\"<i>thread\"
span id=1 pid=$number tid=$number end_tid=$number begin_ns=1000 end_ns=900000 work_ns=899000 on_cpu_ns=899000 label=\"<img src=x onerror=window.hacked=1>\" tag=\"</script><script>window.hacked=1</script>\"
attribute time_ns=2000 span=1 pid=$number tid=$number value_type=string name=\"<svg onload=window.hacked=1>\" value=\"javascript:window.hacked=1\"
span id=2 pid=$number tid=$number end_tid=$number begin_ns=1000 end_ns=800000 work_ns=799000 on_cpu_ns=799000 label=\"__proto__\" tag=\"constructor\"
span id=3 pid=$number tid=$number end_tid=$number begin_ns=1000 end_ns=18446744073709551615 work_ns=18446744073709550615 on_cpu_ns=18446744073709550615 label=\"toString\"
summary time_ns=950000" | if [ $number = 1 ]; then cat; else sed 1d; fi; done >"$tmp/strange.txt"
sed "s/^summary.*/loss first_ns=320000 last_ns=360000 cpu=0 sched_event_cnt=3\nsummary time_ns=600000 sent_cnt=12 received_cnt=9 lost_cnt=3/" "$logs/stolen.txt" >"$tmp/stolen.txt"
for name in shop strange empty small stolen; do
	make_page $name >"$tmp/said" 2>&1 || { echo "Bail out! the page of $name: $(cat "$tmp/said")"; exit 1; }
done
"$BUILD/txtrace" view --from 100ms --to 200ms -o "$tmp/part.html" "$tmp/shop.txtrace" >"$tmp/said" 2>&1
"$BUILD/txtrace" diff -o "$tmp/sides.html" "$tmp/shop.txtrace" -- "$tmp/strange.txtrace" >"$tmp/said" 2>&1
python3 tests/cli/view_browser.py "$tmp" 2>"$tmp/err" || { echo "Bail out! $(tail -n 3 "$tmp/err")"; exit 1; }
