#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tokio's telemetry as an export: what was imported comes back, and what there is no room for is told.
# TXTRACE_SAMPLES: where the samples are.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/tokiotrc
python3 tests/cli/import_tokio_files.py make "$tmp" || exit 1

round_trip() { # round_trip FORMAT FILE
	run 0 import -f tokio -o log.txtrace "$2" && run 0 export -f "$1" -o again.bin log.txtrace && cp "$tmp/err" "$tmp/said" || return
	(cd "$tmp" && python3 "$OLDPWD/tests/cli/export_tokio_check.py" "$2" again.bin) || return
	run 0 import -f tokio -o again.txtrace again.bin && run 0 verify again.txtrace
}

hex() { # hex FILE
	od -An -v -tx1 "$1" | tr -d ' \n'
}

says() { # says SENTENCE...
	diff <(printf 'txtrace: %s\n' "$@") "$tmp/said"
}

# Version 5 has no waits; version 4 has no CPU time either.
other_versions() {
	run 0 import -o log.txtrace story6.bin && run 0 export -f tokio -o five.bin log.txtrace && cp "$tmp/err" "$tmp/said" || return
	says "waits for a CPU, which versions before 6 can't tell, left out: 2" "names, tags and attributes of spans and threads, left out: 1" || return
	run 0 export -f tokio4 -o four.bin log.txtrace || return
	[[ $(hex "$tmp/five.bin") = 544f4b494f54524305000000* && $(hex "$tmp/four.bin") = 544f4b494f54524304000000* ]] || return
	python3 tests/cli/export_tokio_check.py "$tmp/story5.bin" "$tmp/five.bin" && python3 tests/cli/export_tokio_check.py "$tmp/story4.bin" "$tmp/four.bin"
}

# A log of version 4 as version 5: the CPU time of its two active periods is not known.
unknown_cpu_time() {
	run 0 import -o log.txtrace story4.bin && run 0 export -f tokio -o five.bin log.txtrace && cp "$tmp/err" "$tmp/said" || return
	says "active periods whose CPU time is not known in full, written without the unknown part: 2" \
		"names, tags and attributes of spans and threads, left out: 1"
}

# Of a log that no runtime made: spans, names and marks have no place.
any_log() {
	make_from sound && run 0 export -o out.tokiotrc sound.txtrace && cp "$tmp/err" "$tmp/said" && [ "$(head -c 8 "$tmp/out.tokiotrc")" = TOKIOTRC ] || return
	grep -q "^txtrace: spans that are no polls, left out: [0-9]*$" "$tmp/said" && run 0 import -o again.txtrace out.tokiotrc && run 0 verify again.txtrace
}

# A sample beyond the clock, deep queues, and two polls at once.
bounds() {
	"$make_log" "$tmp/bounds.txtrace" <<-TEXT || return
		header pid=1 start_monotonic_ns=1000
		thread time_ns=1000 pid=1 tid=5 comm="worker 7"
		counter time_ns=2000 pid=1 tid=5 name="global queue" value=300
		span begin_ns=3000 end_ns=9500 pid=1 tid=5 end_tid=5 id=1 label="poll" work_ns=6500 unknown_ns=6500
		span begin_ns=4000 end_ns=12000 pid=1 tid=5 end_tid=5 id=2 label="poll" work_ns=8000 unknown_ns=8000
		counter time_ns=4294967297000 pid=1 tid=5 name="global queue" value=1
		summary time_ns=4294967297000
	TEXT
	run 0 export -f tokio -o out.bin bounds.txtrace && cp "$tmp/err" "$tmp/said" || return
	[ "$(hex "$tmp/out.bin")" = "544f4b494f545243050000000401000000ff000200000007010800000007" ] ||
		fail "$(hex "$tmp/out.bin")" || return
	says "times cut to whole µs: 1" \
		"records outside the 71.6 minutes of the format, left out: export parts: 1" \
		"polls that overlap another poll of their worker, left out: 1" "depths outside 0 to 255, cut: 1"
}

check "version 4 comes back" round_trip tokio4 story4.bin
check "version 5 comes back" round_trip tokio story5.bin
check "version 6 comes back" round_trip tokio6 story6.bin
check "a worker that parks and wakes twice comes back" round_trip tokio6 twice.bin
check "the example comes back" round_trip tokio example.bin
check "a file without records comes back" round_trip tokio6 header.bin
check "a version that can tell less" other_versions
check "CPU time that is not known" unknown_cpu_time
check "a log of another program" any_log
check "what is out of bounds" bounds
if [ -d "$samples" ]; then
	for name in derived-v4:tokio4 derived-v5:tokio derived-v6:tokio6 made-v4-idle:tokio4 made-v5-idle:tokio made-v6-idle:tokio6 vector-v4:tokio4 \
		vector-v5:tokio vector-v5-idle:tokio; do
		check "sample ${name%:*} comes back" round_trip "${name#*:}" "$samples/${name%:*}.bin"
	done
else
	skip "samples" "there are none beside the tree"
fi
finish
