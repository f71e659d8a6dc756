#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the commands print about logs whose every record is known.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from small
make_from empty
make_from clean

# make_log reads what dump prints: nothing may be missing in it, whatever compresses the batches.
dump_is_whole() {
	local codec
	for codec in none zstd lz4; do
		make_from small "$codec" && run 0 dump small.txtrace || return
		cp "$tmp/out" "$tmp/first"
		{ grep '^header' "$logs/small.txt" && cat "$tmp/first"; } | "$make_log" "$tmp/again.txtrace" || return
		run 0 dump again.txtrace && diff "$tmp/first" "$tmp/out" || return
	done
}

# How large the file is, is the encoder's business.
expects_but_size() { # as expects, of text with a line "size"
	local name=$1
	shift
	run "$@" || return
	sed -E 's/^(size +)[0-9.]+ [KMi]*B, ([0-9]+ records); .*/\1\2/; s/("file_bytes": )[0-9]+/\10/' -i "$tmp/out"
	same "$tmp/out" "$expected/$name.txt"
}

check "report: wall and split of every label, lower bounds apart, losses" expects report 0 report small.txtrace
check "report: a clean log says 0 lost" expects report_clean 0 report clean.txtrace
check "report: only some labels" expects report_label 0 report -l 't[x]' small.txtrace
check "report: the first labels" expects report_limit 0 report -n 1 small.txtrace
check "report: a log without spans" expects report_empty 0 report empty.txtrace
check "report: JSON" expects report_json 0 report --json small.txtrace
check "spans: the slowest" expects spans 0 spans small.txtrace
check "spans: those that waited longest for the disk" expects spans_disk 0 spans -s disk -n 2 small.txtrace
check "spans: the first ones with a label" expects spans_begin 0 spans --sort begin --limit 3 --label tx small.txtrace
check "spans: none" expects spans_none 0 spans empty.txtrace
check "spans: JSON" expects spans_json 0 spans --json -n 2 --sort lock small.txtrace
check "info" expects_but_size info 0 info small.txtrace
check "info: JSON" expects_but_size info_json 0 info --json small.txtrace
check "dump: every record with every field" expects dump 0 dump small.txtrace
check "dump: some kinds" expects dump_kinds 0 dump -k wake -k summary small.txtrace
check "dump: some lines" expects dump_limit 0 dump -n 2 small.txtrace
check "dump: what it prints is the whole log" dump_is_whole
finish
