#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a real tracer that knows nothing of txtrace sees: bpftrace attaches to every probe of a running program, reads the arguments, and goes; the program
# is untraced, traced, and untraced again.
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh" || exit

name="bpftrace sees the right arguments"
as_root=
if ! has bpftrace; then
	skip "$name" "there is no bpftrace (package bpftrace)"
	finish
fi
if [ "$(id -u)" != 0 ]; then
	if ! sudo -n true 2>/dev/null; then
		skip "$name" "bpf: bpftrace needs root"
		finish
	fi
	as_root="sudo -n"
fi
if ! $as_root bpftrace -e 'BEGIN { exit(); }' >"$scratch/can_trace" 2>&1; then
	skip "$name" "bpf: bpftrace does not work here: $(tail -n 1 "$scratch/can_trace")"
	finish
fi

# wait_for FILE LINE: until the file's last line is that.
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ "$(tail -n 1 "$1" 2>/dev/null)" != "$2" ] || return 0
		sleep 0.1
	done
	echo "'$2' did not come; the last line is '$(tail -n 1 "$1")'"
	return 1
}

# Rounds are counted from when the first and the last one of these are attached, and so are those between them: bpftrace 0.17 begins with the last one.
script() { # script PROGRAM
	local probe="usdt:$1:txtrace"
	cat <<-END
		$probe:begin { @begun = 1; printf("begin(%lx, %s, %lx)\n", arg0, str(arg1), arg2); }
		$probe:begin_detached { printf("begin_detached(%lx, %s, %lx)\n", arg0, str(arg1), arg2); }
		$probe:enter { printf("enter(%lx)\n", arg0); }
		$probe:exit { printf("exit(%lx)\n", arg0); }
		$probe:tag { printf("tag(%lx, %s)\n", arg0, str(arg1)); }
		$probe:attr / arg2 == 5 / { printf("attr(%lx, %s, %d, %s)\n", arg0, str(arg1), arg2, str(arg3)); }
		$probe:attr / arg2 != 5 / { printf("attr(%lx, %s, %d, %lx)\n", arg0, str(arg1), arg2, arg3); }
		$probe:event { printf("event(%lx, %s)\n", arg0, str(arg1)); }
		$probe:counter { printf("counter(%s, %d)\n", str(arg0), arg1); }
		$probe:link { printf("link(%lx, %lx, %s)\n", arg0, arg1, str(arg2)); }
		$probe:key_begin { printf("key_begin(%s, %s, %d)\n", str(arg0), str(arg1), arg2); }
		$probe:key_enter { printf("key_enter(%s, %d)\n", str(arg0), arg1); }
		$probe:key_exit { printf("key_exit(%s, %d)\n", str(arg0), arg1); }
		$probe:key_event { printf("key_event(%s, %d, %s)\n", str(arg0), arg1, str(arg2)); }
		$probe:end { printf("end(%lx)\n", arg0); }
		$probe:key_end { printf("key_end(%s, %d)\n", str(arg0), arg1); if (@begun) { @rounds++; if (@rounds == 40) { exit(); } } }
	END
}

expected_round='begin(#1, request, 0)
begin_detached(#2, queued, #1)
enter(#2)
exit(#2)
link(#2, #1, part-of)
end(#2)
tag(#1, shard=3)
attr(#1, user, 5, somebody)
attr(#1, delta, 2, fffffffffffffff9)
attr(#1, load, 4, 3fe0000000000000)
event(#1, retry)
counter(queue, -5)
key_begin(transaction, digest, 6)
key_enter(digest, 6)
key_exit(digest, 6)
key_event(digest, 6, enqueued)
key_end(digest, 6)
end(#1)'

# The last whole round of what bpftrace printed, its two ids as #1 and #2. Ids are arguments of many hexadecimal digits, but an attribute's value is none.
whole_round() {
	awk -F '[(, )]+' '
		/^begin\(/ { before = round; round = ""; delete number; count = 0 }
		{
			line = $0
			for (i = 2; i <= 3 && i < NF; i++) {
				if ($i !~ /^[0-9a-f]+$/ || length($i) <= 8) continue
				if (!($i in number)) number[$i] = ++count
				sub($i, "#" number[$i], line)
			}
			if ($1 == "begin_detached" && $4 in number) sub($4, "#" number[$4], line)
			round = round line "\n"
		}
		END { printf "%s", before }' "$1"
}

trace() { # trace PID PROGRAM
	script "$2" >"$scratch/script.bt"
	$as_root env BPFTRACE_PERF_RB_PAGES=1024 timeout 120 bpftrace -q -p "$1" "$scratch/script.bt" >"$scratch/trace" 2>"$scratch/errors" || {
		cat "$scratch/errors"
		return 1
	}
}

sees_the_arguments() {
	same "$expected_round" "$(whole_round "$scratch/trace")" ||
		{ cut -d '(' -f 1 "$scratch/trace" | sort | uniq -c && tail -n 30 "$scratch/trace" "$scratch/errors" && return 1; }
}

for compiler in gcc clang++; do
	language=c
	case $compiler in *++) language=c++ ;; esac
	program=$scratch/peer_target
	check "the traced program is built with $compiler" "$compiler" -x $language -O2 -Iinclude $here/peer_target.c -o "$program"
	rm -f "$scratch/input" && mkfifo "$scratch/input"
	# On one CPU: bpftrace has a buffer for each, and when it reads the exit() in one, it leaves what is still in the others.
	taskset -c "$(awk '/^Cpus_allowed_list/ { split($2, cpus, /[-,]/); print cpus[1] }' /proc/self/status)" "$program" <"$scratch/input" >"$scratch/states" &
	target=$!
	exec {input}>"$scratch/input"
	check "before, it is untraced" wait_for "$scratch/states" untraced
	check "bpftrace attaches to every probe and gets 40 rounds" trace $target "$program"
	check "it saw the right arguments of every probe" sees_the_arguments
	check "afterwards, the program is untraced again" wait_for "$scratch/states" untraced
	check "it was untraced, traced, untraced" same "untraced traced untraced" "$(tr '\n' ' ' <"$scratch/states" | sed 's/ $//')"
	exec {input}>&-
	wait $target
	check "no argument was evaluated while nobody traced" same "0 wrong" "$(tail -n 1 "$scratch/states")"
done

finish
