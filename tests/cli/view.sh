#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The page for a browser, without one: what it holds against the records and the report, its size, its policy. view_browser.sh looks at it.
# takes long: 25 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

same_as_log() { # same_as_log NAME
	run 0 view -o "$1.html" "$1.txtrace" && python3 tests/cli/view_check.py compare "$txtrace" "$tmp/$1.txtrace" "$tmp/$1.html"
}

known_logs() {
	local name
	for name in blocks clean cost empty export hostile neighbours small sound stacks stolen tree waits workers; do
		make_from $name && same_as_log $name || fail "in $name" || return
	done
}

random_logs() {
	local seed
	for seed in 1 2 3 4 5; do
		python3 tests/cli/view_check.py random $seed >"$tmp/random.txt" && "$make_log" "$tmp/random.txtrace" <"$tmp/random.txt" && same_as_log random || fail "seed $seed" || return
	done
}

# 300,000 spans with as many tags, and 300,000 stays on a CPU.
large_log() {
	awk 'function noise(text, i) {
		for (i = 0; i < 9; i++) text = text int(rand() * 1e15)
		return text
	}
	BEGIN {
		print "header pid=10 cpus=2 start_monotonic_ns=1000 start_realtime_ns=1700000000000000000 command=\"large\""
		srand(7)
		for (i = 1; i <= 300000; i++) {
			begin = i * 10000
			length_ns = 100 + int(rand() * 9000)
			printf "run pid=10 tid=%d cpu=0 begin_ns=%d end_ns=%d left_as=preempted syscall_nr=-1\n", 11 + i % 3, begin, begin + length_ns
			printf "span id=%d pid=10 tid=%d end_tid=%d begin_ns=%d end_ns=%d work_ns=%d on_cpu_ns=%d label=\"label %d\" tag=\"%d,%s\"\n", i, 11 + i % 3, 11 + i % 3,
				begin, begin + length_ns, length_ns, length_ns, i % 100, i * 7919, noise()
		}
		print "summary time_ns=4000000000"
	}' >"$tmp/large.txt" && "$make_log" "$tmp/large.txtrace" <"$tmp/large.txt" || return
	same_as_log large || return
	[ "$(stat -c %s "$tmp/large.html")" -le 10000000 ] && [ "$(stat -c %s "$tmp/large.html")" -ge 7000000 ] || fail "$(stat -c %s "$tmp/large.html") bytes"
}

# Its two hashes are those of what is in it, and nothing else may run or be loaded.
policy() {
	make_from small && run 0 view -o small.html small.txtrace && python3 - "$tmp/small.html" <<-'END'
		import base64, hashlib, re, sys
		page = open(sys.argv[1], encoding="utf-8").read()
		digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
		style, script = re.search("<style>(.*?)</style>", page, re.S)[1], re.search('<script type="module">(.*?)</script>', page, re.S)[1]
		wanted = f"default-src 'none'; base-uri 'none'; form-action 'none'; script-src {digest(script)}; style-src {digest(style)}"
		assert f'<meta http-equiv="Content-Security-Policy" content="{wanted}">' in page, page[:800]
		assert not re.search("(src|href)=.(https?:|//)", page), "it wants something of the network"
	END
}

to_stdout() {
	make_from small && run 0 view -o small.html small.txtrace && run 0 view small.txtrace && cmp "$tmp/out" "$tmp/small.html"
}

a_part() {
	make_from small && run 0 view --where label=even -o part.html small.txtrace && run 0 report --json --where label=even small.txtrace &&
		diff <(python3 tests/cli/view_check.py document "$tmp/part.html" | jq .report.labels) <(jq .labels "$tmp/out")
}

refusals() {
	make_from small && cp "$tmp/small.txtrace" "$tmp/before.txtrace" || return
	run 2 view -o small.txtrace small.txtrace && grep -q "can't write 'small.txtrace': it is the log itself" "$tmp/err" && cmp "$tmp/small.txtrace" "$tmp/before.txtrace" || fail "$(cat "$tmp/err")" || return
	run 2 view -o nowhere/page.html small.txtrace && grep -q "can't write 'nowhere/page.html': No such file or directory" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 2 view -o page.html missing.txtrace && [ ! -e "$tmp/page.html" ] || fail "$(cat "$tmp/err")" || return
	! script -qec "$txtrace view $tmp/small.txtrace" /dev/null </dev/null >"$tmp/said" 2>&1 || fail "a terminal was written to" || return
	grep -q 'a page is no text for a terminal; give it a name with -o PAGE.html' "$tmp/said" || fail "$(cat "$tmp/said")"
}

# One script, though its modules are several; a name that is there twice would be an error of the browser alone.
script_is_sound() {
	make_from small && run 0 view -o small.html small.txtrace && sed -n '/<script type="module">/,/<\/script>/p' "$tmp/small.html" | sed '1s/.*<script type="module">//;$d' >"$tmp/page.mjs" && node --check "$tmp/page.mjs"
}

check "known logs: spans, segments and sums are those of the records, the report is that of \`report\`" known_logs
check "the same of random logs" random_logs
check "a page of a large log has at most 10 MB, and its sums are those of all records" large_log
check "nothing but its own script and style may run, and it needs no network" policy
check "without --output it goes to standard output" to_stdout
check "--where chooses spans as for the report" a_part
check "what cannot be written is said, and the log stays" refusals
if command -v node >/dev/null; then
	check "the modules are one sound script" script_is_sound
else
	skip "the modules are one sound script" "there is no node"
fi

colors_differ() {
	python3 tests/cli/view_colors.py userspace/cli/view/page/names.js >"$tmp/colors" || fail "$(cat "$tmp/colors")"
}
check "people who do not see all colours can tell the states apart" colors_differ
finish
