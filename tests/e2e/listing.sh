#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What --list finds by a pattern, in files and in processes: probes by name and by provider, functions by symbol and by C++ name.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit

# lists PATTERN SUBJECT: into $tmp/list, the lines of probes and functions alone
lists() {
	"$recorder" --list "$2" "$1" >"$tmp/listed" 2>"$tmp/list.err" || fail "it ended with $?: $(cat "$tmp/list.err")" || return
	sed -n 's/^    //p' "$tmp/listed" >"$tmp/list"
}

functions_of_a_file() {
	lists 'mid*' "$programs/calls" && diff - "$tmp/list" <<-END || return
		calls:middle
	END
	[ "$(head -n 1 "$tmp/listed")" = "$programs/calls" ] || fail "$(cat "$tmp/listed")" || return
	lists 'calls:[mo][iu]*e*' "$programs/calls" && diff - "$tmp/list" <<-END
		calls:middle
		calls:outer
	END
}

probes_of_a_file() {
	lists 'be[g]in' "$programs/spin" && [ "$(cat "$tmp/list")" = txtrace:begin ] || fail "$(cat "$tmp/list")" || return
	lists 'txtrace:en[dt]*' "$programs/spin" && diff - "$tmp/list" <<-END
		txtrace:end
		txtrace:enter
	END
}

functions_of_a_process() {
	sleep 100 &
	local pid=$! status
	wait_for 20 grep -qs libc "/proc/$pid/maps" && lists 'libc:pthread_mutex_loc*' $pid
	status=$?
	kill $pid
	wait $pid 2>/dev/null
	[ $status = 0 ] && grep -qx 'libc:pthread_mutex_lock' "$tmp/list" && ! grep -qv '^libc:pthread_mutex_loc' "$tmp/list"
}

cxx_names() {
	printf 'namespace bank { int move(int a) { return a + 1; } }\nint main(int c, char **) { return bank::move(c) - 2; }\n' >"$tmp/bank.cc"
	"${CXX:-g++}" -O0 -o "$tmp/bank" "$tmp/bank.cc" || return
	lists 'bank::*' "$tmp/bank" && [ "$(cat "$tmp/list")" = 'bank:_ZN4bank4moveEi  bank::move(int)' ] || fail "$(cat "$tmp/list")"
}

rust_names() {
	cat >"$tmp/names.c" <<-'END'
		__attribute__((noinline)) int v0(void) __asm__("_RNvCs1234_7mycrate3pay");
		__attribute__((noinline)) int legacy(void) __asm__("_ZN7mycrate4fund17h0123456789abcdefE");
		int v0(void) { return 1; }
		int legacy(void) { return 2; }
		int main(void) { return v0() + legacy() - 3; }
	END
	"${CC:-gcc}" -O0 -o "$tmp/names" "$tmp/names.c" || return
	lists 'mycrate::*' "$tmp/names" && diff - "$tmp/list" <<-END
		names:_RNvCs1234_7mycrate3pay  mycrate::pay
		names:_ZN7mycrate4fund17h0123456789abcdefE  mycrate::fund
	END
}

# Two probes with names that go together are proposed as a span, unless there is a preset for them: that is known to be right.
proposals() {
	cat >"$tmp/pair.c" <<-END
		#include <sys/sdt.h>
		int main(void) { DTRACE_PROBE(PROVIDER, call__entry); DTRACE_PROBE(PROVIDER, call__return); return 0; }
	END
	"${CC:-gcc}" -DPROVIDER=shop -o "$tmp/shop" "$tmp/pair.c" && "${CC:-gcc}" -DPROVIDER=python -o "$tmp/python" "$tmp/pair.c" || return
	"$recorder" --list "$tmp/shop" >"$tmp/listed" && grep -qF "  spans from two of its probes: --span 'LABEL=shop:call__entry..shop:call__return'" "$tmp/listed" || fail "$(cat "$tmp/listed")" || return
	"$recorder" --list "$tmp/python" >"$tmp/listed" && grep -q -- '--preset python' "$tmp/listed" && ! grep -q 'two of its probes' "$tmp/listed" || fail "$(cat "$tmp/listed")"
}

nothing_matches() {
	"$recorder" --list "$programs/calls" 'no_such_*' >"$tmp/listed" 2>&1
	[ $? = 2 ] && [ "$(cat "$tmp/listed")" = "txtrace-bpf: no probe and no function of $programs/calls matches 'no_such_*'" ] ||
		fail "$(cat "$tmp/listed")" || return
	"$recorder" 'stray' >"$tmp/listed" 2>&1
	[ $? = 2 ] && grep -q "unexpected argument 'stray'" "$tmp/listed"
}

as_root_of_a_namespace() {
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user "$@"
}

# Root of a namespace that an unprivileged user has made: there is nobody else, and so no other user for the process that reads the file.
where_root_is_alone() {
	cp "$recorder" "$tmp/recorder"
	as_root_of_a_namespace "$tmp/recorder" --list "$programs/calls" 'mid*' >"$tmp/listed" 2>"$tmp/list.err" || fail "it ended with $?: $(cat "$tmp/list.err")" || return
	grep -qx '    calls:middle' "$tmp/listed" || fail "$(cat "$tmp/listed")"
}

check "the functions of a file that match" functions_of_a_file
check "its probes" probes_of_a_file
check "those of a process, by the library" functions_of_a_process
check "C++ functions, as people write them" cxx_names
if nm "$recorder" 2>/dev/null | grep -q ' rust_demangle_callback$'; then
	check "Rust functions, of both kinds, without the hash" rust_names
else
	number=$((number + 1))
	echo "ok $number - Rust functions # SKIP the recorder is built without libiberty"
fi
check "nothing that matches is said" nothing_matches
if [ -e /usr/include/sys/sdt.h ] || [ -e "/usr/include/$(uname -m)-linux-gnu/sys/sdt.h" ]; then
	check "what is proposed for two probes" proposals
else
	number=$((number + 1))
	echo "ok $number - what is proposed for two probes # SKIP no sys/sdt.h: systemtap-sdt-dev is not installed"
fi
if as_root_of_a_namespace true 2>/dev/null; then
	check "in a user namespace that has root alone" where_root_is_alone
else
	number=$((number + 1))
	echo "ok $number - in a user namespace that has root alone # SKIP no such namespace can be made here"
fi
finish
