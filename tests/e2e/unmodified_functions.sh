#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Spans of functions of programs without a mark: nested, recursive, left by return, longjmp, exception, tail call and pthread_exit. The program's own result is
# what it is untraced.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf

functions=calls:outer,middle,leaf,recurse
jumps=calls:catcher,between,thrower,after,first,second,last_words

# traces NAME PROGRAM-PATH OPTION... -- ARGUMENT...: launched; its output is its truth.
traces() {
	local name=$1 program=$2 options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$recorder" -q --ring-size 64M -o "$tmp/$name.txtrace" "${options[@]}" -- "$program" "$@" >"$tmp/$name.truth" || fail "ended with $?" || return
	export_log "$tmp/$name.txtrace"
	python3 $e2e/unmodified/check_calls.py "$tmp/$name.truth" "$tmp/$name.txtrace.jsonl"
}

calls() { # calls NAME HOW
	traces "$1" "$programs/calls" --func $functions --func $jumps --func-returns "$2" -- 20
}

cxx_traces() { # cxx_traces NAME HOW PATTERN
	traces "$1" "$tmp/exceptions" --func "exceptions:$3" --func-returns "$2" --
}

same_as_by_name() {
	traces glob "$programs/calls" --func 'calls:[omlr][ueai][tdac][edfu]*' --func $jumps -- 7
}

refuses() { # refuses PATTERN OPTION...: before anything is traced
	local pattern=$1
	shift
	"$recorder" -q -o "$tmp/refused.txtrace" "$@" -- "$programs/calls" 1 >"$tmp/refused" 2>&1 && fail "it was accepted" && return
	grep -qE -- "$pattern" "$tmp/refused" || fail "$(cat "$tmp/refused")"
}

warns() { # warns PATTERN OPTION...: and goes on
	local pattern=$1
	shift
	"$recorder" -q -o "$tmp/warned.txtrace" "$@" -- "$programs/calls" 1 >"$tmp/warned" 2>&1 || fail "it ended with $?" || return
	grep -qE -- "$pattern" "$tmp/warned" || fail "$(cat "$tmp/warned")"
}

said_once() {
	warns 'more than 3' --func 'calls:*' --func-limit 3 || return
	! grep -q 'nothing that is mapped' "$tmp/warned" || fail "$(cat "$tmp/warned")"
}

# Entry and return of a function as the ends of a span, with its arguments and its result.
by_entry_and_return() {
	"$recorder" -q -o "$tmp/entry.txtrace" --span 'call=uprobe:calls:outer..uretprobe:calls:outer,tag=x:arg0,end-tag=result:retval' \
		-- "$programs/calls" 4 >"$tmp/out" || fail "ended with $?" || return
	export_log "$tmp/entry.txtrace"
	jq -r 'select(.type == "span") | .tag' "$tmp/entry.txtrace.jsonl" >"$tmp/tags"
	diff - "$tmp/tags" <<-END
		x=0,result=9
		x=1,result=24
		x=2,result=36
		x=3,result=48
	END
}

# A jump through a register is no way out that can be found: who is told to hook returns sees the end.
ends_by_a_jump() {
	local how
	for how in exits hook; do
		"$recorder" -o "$tmp/jump.txtrace" --func first_instructions:jumping --func-returns $how -- "$programs/first_instructions" jumping 100 >"$tmp/out" 2>"$tmp/$how" ||
			fail "ended with $?" || return
		export_log "$tmp/jump.txtrace" && grep -c '"type":"span".*"lower_bound":true' "$tmp/jump.txtrace.jsonl" >>"$tmp/$how.cut"
	done
	[ "$(cat "$tmp/exits.cut" "$tmp/hook.cut" | tr '\n' ' ')" = "100 0 " ] || fail "lower bounds: $(cat "$tmp"/*.cut)" || return
	grep -q "the ends of most calls of 'jumping' were missed.*--func-returns hook" "$tmp/exits" && ! grep 'were missed' "$tmp/hook" || fail "$(cat "$tmp/exits")"
}

# A name that is several functions, and a plain one beside it. The chooser runs once; spans of it would be nobody's calls.
several_functions() {
	cat >"$tmp/several.c" <<-'END'
		static int one(int a) { return a + 1; }
		static int (*choose(void))(int) { return one; }
		int pick(int a) __attribute__((ifunc("choose")));
		__attribute__((noinline)) int plain(int a) { return pick(a) + 1; }
		int main(int argc, char **argv) { (void)argv; return plain(argc) - 3; }
	END
	"${CC:-gcc}" -O1 -o "$tmp/several" "$tmp/several.c" || return
	"$recorder" -o "$tmp/several.txtrace" --func several:pick --func several:plain -- "$tmp/several" >"$tmp/out" 2>"$tmp/warned" || fail "ended with $?: $(cat "$tmp/warned")" || return
	[ "$(grep -c "'several:pick' is several functions, of which each program chooses one when it starts (an IFUNC)" "$tmp/warned")" = 1 ] || fail "$(cat "$tmp/warned")" || return
	export_log "$tmp/several.txtrace" && same "spans of plain" "$(grep -c '"type":"span".*"label":"plain"' "$tmp/several.txtrace.jsonl")" 1 &&
		same "spans of others" "$(grep '"type":"span"' "$tmp/several.txtrace.jsonl" | grep -vc '"label":"plain"')" 0
	"$recorder" --list "$tmp/several" 'p[il]*' >"$tmp/listed" && diff - "$tmp/listed" <<-END
		$tmp/several
		    several:pick  (an IFUNC: each program chooses one of several when it starts)
		    several:plain
	END
}

check "functions, their returns hooked" calls hook hook
check "functions, their ways out probed" calls exits exits
check "functions, however it is best here" calls auto auto
check "a pattern means the functions that it matches" same_as_by_name
check "a function's entry and return make a span, with argument and result" by_entry_and_return
if command -v g++ >/dev/null && g++ -O2 -o "$tmp/exceptions" $e2e/unmodified/exceptions.cc; then
	check "methods, templates and overloads by their C++ names, exceptions pass" cxx_traces cxx exits 'bank::move<long>,bank::Account::*'
	check "no return is hooked by itself where there are exceptions" cxx_traces cxx_auto auto 'bank::*'
else
	number=$((number + 1))
	echo "ok $number - C++ # SKIP no g++"
fi
check "a pattern that means too much is refused, and said" said_once
check "a function that ends by a jump through a register" ends_by_a_jump
check "a costly pattern is warned of" warns 'each call of one costs' --func 'calls:*'
check "a file that is not there is said, and which one may be meant" warns "functions of 'cals': no mapped file has this name, did you mean 'calls'?" \
	--func cals:work
check "a function that is not there is said" warns "'calls:nowhere': nothing that is mapped has it" --func calls:nowhere
if command -v "${CC:-gcc}" >/dev/null; then
	check "a name that is several functions is not traced, and said" several_functions
else
	number=$((number + 1))
	echo "ok $number - a name that is several functions # SKIP no compiler"
fi
check "bad text is refused where it is bad" refuses "at character 8, 'work..y:z': expected ':'|expected" --span 'label=work..y:z'
finish
