#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Spans of another provider's probes, made by sys/sdt.h: arguments of all sizes and kinds in tags, keys by thread, number, two numbers and string, parents.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
if [ ! -e /usr/include/sys/sdt.h ] && [ ! -e "/usr/include/$(uname -m)-linux-gnu/sys/sdt.h" ]; then
	echo "ok 1 - probes of other providers # SKIP no sys/sdt.h: systemtap-sdt-dev is not installed"
	echo "1..1"
	exit 0
fi
gcc -O2 -pthread -o "$tmp/arguments" $e2e/unmodified/arguments.c && gcc -O2 -Iinclude -o "$tmp/untouched" $e2e/unmodified/untouched.c || exit 1

rounds=6

# spans NAME SPAN...: records them, NAME.spans has a line for each: label tag key parent-label unfinished
spans() {
	local name=$1 span options=()
	shift
	for span; do
		options+=(--span "$span")
	done
	"$recorder" -q -o "$tmp/$name.txtrace" "${options[@]}" -- "$tmp/arguments" $rounds || fail "ended with $?" || return
	export_log "$tmp/$name.txtrace"
	jq -rs 'map(select(.type == "span")) | (map({key: .id, value: .label}) | from_entries) as $labels | sort_by(.begin_ns)[] |
		[.label, .tag, .key // "", $labels[.parent] // "", .unfinished] | join(" ")' "$tmp/$name.txtrace.jsonl" >"$tmp/$name.spans"
}

sizes() {
	local i
	spans sizes 'sizes=shop:sizes(s8,u8,s16,u16)..shop:sized(s32,u32,s64,text),tag=s8+u8+s16+u16,end-tag=s32+u32+s64+str(text)' || return
	for ((i = 0; i < rounds; i++)); do
		printf 'sizes s8=%d,u8=%d,s16=%d,u16=%d,s32=%d,u32=%d,s64=%d,text=round %d   false\n' \
			$((-i)) $((200 + i)) $((-1000 - i)) $((60000 + i)) $((-100000 - i)) $((4000000000 + i)) $((-5000000000 - i)) $i
	done | diff - "$tmp/sizes.spans"
}

# Of 700 letters without a NUL where it ends; the most that is taken is 511.
counted_strings() {
	local letters=abcdefghijklmnopqrstuvwxyz i text=
	for ((i = 0; i < 27; i++)); do text+=$letters; done
	spans note 'note=shop:note(text,length)..shop:noted,tag=str(text,length)' || return
	for i in 0 1 62 63 64 65 300 510 511 511; do echo "note text=${text:0:i}   false"; done | diff - "$tmp/note.spans"
}

# In pages that the program has given back: a literal is in its file, what could have been written since is unknown. The program has ended by then.
untouched() {
	"$recorder" -q -o "$tmp/untouched.txtrace" --span 'pass=shop:pass(literal,data,anonymous)..shop:passed,tag=str(literal)+str(data)+str(anonymous)' \
		-- "$tmp/untouched" || fail "ended with $?" || return
	export_log "$tmp/untouched.txtrace"
	jq -r 'select(.type == "span" or .type == "attribute") | "\(.label // .name) \(.tag // .value)"' "$tmp/untouched.txtrace.jsonl" >"$tmp/untouched.spans"
	diff - "$tmp/untouched.spans" <<-END
		pass literal=a literal,data=?,anonymous=?
		text a literal
		own a literal
	END
}

over_threads() {
	local i
	spans order 'order=shop:order(number,small,medium)..shop:sent(number),key=number,tag=number+small+medium' || return
	for ((i = 0; i < 4 * rounds; i++)); do
		echo "order number=$i,small=-1,medium=2   false"
	done | diff - "$tmp/order.spans" &&
		jq -e -s 'map(select(.type == "span")) | all(.tid != .end_tid)' "$tmp/order.txtrace.jsonl" >"$tmp/moved" || fail "a span ended on the thread on which it began"
}

two_numbers() {
	local i
	spans item 'item=shop:item(round,shelf)..shop:packed(shelf,round),key=round+shelf,tag=round+shelf' || return
	for ((i = 0; i < rounds; i++)); do
		echo "item round=$i,shelf=7   false"
		echo "item round=$i,shelf=8   false"
	done | diff - "$tmp/item.spans"
}

strings() {
	local i
	spans request 'request=shop:request..shop:answer,key=str(arg0)' || return
	for ((i = 0; i < rounds; i++)); do
		echo "request  $(printf 'key-%d' $i | od -An -tx1 | tr -d ' \n')  false"
	done | diff - "$tmp/request.spans"
}

# The item is found by its key, the check by the thread.
parents() {
	spans parents 'item=shop:item(round,shelf)..shop:packed(shelf,round),key=round+shelf,tag=shelf' \
		'check=shop:check(round,shelf)..shop:answer,parent=item(round+shelf)' 'order=shop:order(number)..shop:sent(number),key=number,parent=check' || return
	[ "$(grep -c '^check   item false' "$tmp/parents.spans")" = $rounds ] && [ "$(grep -c '^order' "$tmp/parents.spans")" = $((4 * rounds)) ] ||
		fail "$(cat "$tmp/parents.spans")"
}

# A step that was never ended is cut off where the next one begins, and said to be unfinished.
begun_again() {
	spans step 'step=shop:step..shop:stepped,tag=arg0' || return
	[ "$(grep -c true "$tmp/step.spans")" = $rounds ] && [ "$(grep -c false "$tmp/step.spans")" = $rounds ] || fail "$(cat "$tmp/step.spans")"
}

# … unless it is one within it, which would have an end of its own.
begun_inside() {
	spans inside 'step=shop:step..shop:stepped,again=inside' || return
	[ "$(wc -l <"$tmp/inside.spans")" = 1 ] || fail "$(cat "$tmp/inside.spans")"
}

child_of_thread() {
	spans child 'round=shop:sizes..shop:stepped' 'sized=shop:sized..shop:item,parent=round' 'request=shop:request..shop:answer,parent=thread' \
		'packed=shop:packed..shop:step,parent=thread' || return
	[ "$(grep -c '^sized   round false' "$tmp/child.spans")" = $rounds ] && [ "$(grep -c '^request   round false' "$tmp/child.spans")" = $rounds ] ||
		fail "$(cat "$tmp/child.spans")"
}

says() { # says PATTERN OPTION...
	local pattern=$1
	shift
	"$recorder" -q -o "$tmp/says.txtrace" "$@" -- "$tmp/arguments" 1 >"$tmp/words" 2>&1
	grep -qE -- "$pattern" "$tmp/words" || fail "$(cat "$tmp/words")"
}

says_once() { # says_once PATTERN OPTION...: and nothing else of what is missing
	says "$@" && [ "$(grep -c 'nothing that is mapped' "$tmp/words")" = 1 ] || fail "$(cat "$tmp/words")"
}

# listed NAME: how many arguments --list says that the probe has
listed() {
	sed -n "s/^    shop:$1(\(.*\)).*/\1/p" "$tmp/listed" | head -n 1 | grep -o 'arg[0-9]* ' | wc -l
}

# The numbers that --list prints are those that --span takes: each has the value that the program passes there, and the next one is not there.
numbers_as_listed() {
	local i name cnt lasts=() beyond=()
	"$recorder" --list "$tmp/arguments" 'shop:*' >"$tmp/listed" || return
	same "types of sizes" "$(grep -o 'shop:sizes(.*' "$tmp/listed" | grep -oE 'arg[0-9] [iu][0-9]+' | tr '\n' ' ')" "arg0 i8 arg1 u8 arg2 i16 arg3 u16 " || return
	same "types of sized" "$(grep -o 'shop:sized(.*' "$tmp/listed" | grep -oE 'arg[0-9] [iu][0-9]+' | tr '\n' ' ')" "arg0 i32 arg1 u32 arg2 i64 arg3 u64 " || return
	spans listed 'listed=shop:sizes..shop:sized,tag=arg0+arg1+arg2+arg3,end-tag=arg0+arg1+arg2+str(arg3)' || return
	for ((i = 0; i < rounds; i++)); do
		printf 'listed arg0=%d,arg1=%d,arg2=%d,arg3=%d,arg0=%d,arg1=%d,arg2=%d,arg3=round %d   false\n' \
			$((-i)) $((200 + i)) $((-1000 - i)) $((60000 + i)) $((-100000 - i)) $((4000000000 + i)) $((-5000000000 - i)) $i
	done | diff - "$tmp/listed.spans" || return
	for name in answer check item note noted order packed request sent sized sizes step stepped; do
		cnt=$(listed $name)
		[ "$cnt" = 0 ] || lasts+=("$name=shop:$name..uprobe:arguments:main,tag=arg$((cnt - 1))")
		beyond+=(--span "$name=shop:$name..uprobe:arguments:main,tag=arg$cnt")
		echo "the tag 'arg$cnt' of 'shop:$name'" >>"$tmp/wanted"
	done
	spans last "${lasts[@]}" >"$tmp/words" 2>&1 && ! grep . "$tmp/words" || return
	says 'fewer arguments' "${beyond[@]}" || return
	grep -o "the tag 'arg[0-9]*' of 'shop:[a-z]*'" "$tmp/words" | sort -u | diff - <(sort "$tmp/wanted")
}

check "arguments of all sizes, signed and not, and strings" sizes
check "strings whose length is another argument" counted_strings
check "strings that the kernel cannot copy: literals are read from the file" untouched
check "a number names a span from thread to thread" over_threads
check "two numbers name a span, in another order at its end" two_numbers
check "a string names a span, and the log has it" strings
check "a parent is found by its key" parents
check "a begin without an end is cut off by the next begin" begun_again
check "begins within a span are counted" begun_inside
check "children find their parents" child_of_thread
check "a probe that is not there is said" says "nothing that is mapped has the end 'shop:nowhere'" --span 'x=shop:item..shop:nowhere'
check "the numbers of arguments that --list prints are those that --span takes" numbers_as_listed
check "an argument that is not there is said" says "the tag 'arg9' of 'shop:item'.*fewer arguments" --span 'x=shop:item..shop:packed,tag=arg9'
check "an unknown preset is refused, and those that there are are named" \
	says "no preset 'nobody'; there is .*hotspot, .*libvirt, .*php, .*postgresql, .*python, .*ruby.*; put yours into" --preset nobody
check "a preset for another program is said in one sentence" says_once "provider 'php', which 2 spans are asked for" --preset php
finish
