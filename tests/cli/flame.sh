#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Flame graphs: folded stacks with the weights of the call tree, and a picture that is sound XML whatever labels hold.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from tree # its self times are those of tests/cli/tree.sh
make_from small
make_from empty

# A log of the labels that would break a picture.
printf '%s\n' '</title><script>alert(1)</script>' ']]>' '&amp;' "quote\\\" ' end" 'a;b c' '\x00\x01\x1b[31m\xff' $'\xef\xbf\xbe\xef\xbf\xbf' '\\n' '' |
	awk '{ print "span begin_ns=" NR "000 end_ns=" NR + 1 "000 pid=1 tid=1 id=" NR " label=\"" $0 "\" work_ns=1000 on_cpu_ns=1000" }
		END { print "summary time_ns=90000" }' | "$make_log" "$tmp/hostile.txtrace"

# Every weight is the sum of its part of self in the tree's JSON.
weights_are_those_of_the_tree() {
	local weight filter
	python3 tests/cli/analyses_check.py random 21 "$tmp/truth.json" | "$make_log" "$tmp/random.txtrace" || return
	for weight in wall:work_ns on-cpu:on_cpu_ns runnable:runnable_ns blocked:blocked_ns detached:detached_ns; do
		filter=${weight#*:}
		run 0 tree --json random.txtrace && jq "[.rows[].self.$filter] | add" "$tmp/out" >"$tmp/wanted" || return
		run 0 flame --folded --weight "${weight%:*}" random.txtrace && awk '{ sum += $NF } END { print sum + 0 }' "$tmp/out" >"$tmp/sum" || return
		diff "$tmp/wanted" "$tmp/sum" && [ "$(cat "$tmp/sum")" -gt 0 ] || fail "$weight" || return
	done
}

# picture LOG LABEL...: is sound, stands alone, and its frames are those of the folded stacks
picture() {
	local log=$1
	shift
	run 0 flame -o picture.svg "$log.txtrace" && [ ! -s "$tmp/out" ] && run 0 flame --folded "$log.txtrace" || return
	python3 - "$tmp/picture.svg" "$tmp/out" "$@" <<-'END'
		import sys, xml.etree.ElementTree as tree
		svg, text = tree.parse(sys.argv[1]), open(sys.argv[1], encoding="utf-8").read()
		name = "{http://www.w3.org/2000/svg}"
		frames = [(g.get("data-n"), float(g.get("data-x")), float(g.get("data-w")), int(g.get("data-d"))) for g in svg.iter(name + "g")]
		weights, total = {}, 0
		for line in open(sys.argv[2], encoding="utf-8"):
		    path, ns = line.rstrip("\n").rsplit(" ", 1)
		    frame = path.replace(";", "\n").replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}") # XML can't hold these two
		    total += int(ns)
		    while frame:
		        weights[frame] = weights.get(frame, 0) + int(ns)
		        frame = frame.rpartition("\n")[0]
		wanted = sorted((path.split("\n")[-1].replace("\\x3b", ";"), path.count("\n"), round(ns / total, 6)) for path, ns in weights.items())
		shown = sorted((n, d, round(w, 6)) for n, x, w, d in frames)
		assert shown == wanted, (shown, wanted)
		for n, x, w, d in frames: # within its parent's
		    assert d == 0 or any(p[3] == d - 1 and p[1] <= x + 1e-6 and x + w <= p[1] + p[2] + 1e-6 for p in frames), n
		for g in svg.iter(name + "g"):
		    rect, title = g.find(name + "rect"), g.find(name + "title").text
		    assert title.startswith(g.get("data-n") + ": "), title
		    assert abs(float(rect.get("width")) - 1180 * float(g.get("data-w"))) < .01
		assert text.count("<script>") == 1 and len(list(svg.iter(name + "script"))) == 1
		outside = text.replace("http://www.w3.org/2000/svg", "")
		assert "http" not in outside and "href" not in outside and "@import" not in outside
		missing = set(sys.argv[3:]) - {frame[0] for frame in frames}
		assert not missing, missing
	END
}

hostile_labels() {
	picture hostile '</title><script>alert(1)</script>' ']]>' '&amp;' "quote\" ' end" 'a;b c' '\x00\x01\e[31m\xff' '\u{fffe}\u{ffff}' '\\n' '(unknown label)' ||
		return
	! command -v xmllint >/dev/null || xmllint --noout "$tmp/picture.svg"
}

narrow_frames_are_left_out() {
	awk 'BEGIN { for (i = 0; i < 100000; i++) print "span begin_ns=" i " end_ns=" i + 1 " pid=1 tid=1 id=" i + 1 " label=\"user-" i "\" work_ns=1 on_cpu_ns=1"
		print "span begin_ns=0 end_ns=100000 pid=1 tid=2 id=200000 label=\"all\" work_ns=100000 on_cpu_ns=100000"
		print "summary time_ns=100000" }' </dev/null | "$make_log" "$tmp/labels.txtrace"
	run 0 flame -o labels.svg labels.txtrace && [ "$(grep -c '<g class' "$tmp/labels.svg")" = 1 ] || fail "$(grep -c '<g class' "$tmp/labels.svg") frames" || return
	run 0 flame --folded labels.txtrace && [ "$(wc -l <"$tmp/out")" = 100001 ]
}

nothing_there() {
	run 0 flame empty.txtrace && python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$tmp/out" && grep -q '>nothing</text>' "$tmp/out" || return
	run 0 flame --folded empty.txtrace && [ ! -s "$tmp/out" ]
}

keeps_the_log() {
	cp "$tmp/small.txtrace" "$tmp/copy" && complains "can't write 'small.txtrace': it is the log itself" flame -o small.txtrace small.txtrace &&
		cmp "$tmp/small.txtrace" "$tmp/copy"
}

check "folded stacks of a small tree" expects flame_folded 0 flame --folded tree.txtrace
check "folded, blocked time only" expects flame_blocked 0 flame --folded -w blocked tree.txtrace
check "folded, below a label" expects flame_label 0 flame --folded --label commit tree.txtrace
check "the picture of a small tree" expects flame 0 flame tree.txtrace
check "the picture's frames are those of the stacks" picture tree tx fsync
check "weights are those of the tree" weights_are_those_of_the_tree
check "labels that would break a picture" hostile_labels
check "frames that nobody could see are left out" narrow_frames_are_left_out
check "a log without spans" nothing_there
check "the log is not written over" keeps_the_log
finish
