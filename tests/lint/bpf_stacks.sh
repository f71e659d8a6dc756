#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The verifier of this kernel may accept a program that older ones refuse, which count the stack in larger steps.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

deep_calls() {
	python3 tests/lint/bpf_stacks.py "build/gen/txtrace_bpf.o" 2>&1
}

# made BYTES [NAME]: an object of two functions, each with an array of so many bytes.
made() {
	clang -target bpf -mcpu=v3 -O2 -c -x c -o "$TEST_TMPDIR/made.o" - <<-END || return
		static int (*const fill)(void *, unsigned int, const void *) = (void *)4;
		__attribute__((noinline)) int inner(long at) { char bytes[$1]; fill(bytes, sizeof(bytes), (void *)at); return bytes[1]; }
		__attribute__((section("raw_tp"))) int ${2:-outer}(long *at) { char bytes[$1]; fill(bytes, sizeof(bytes), at); return inner(*at) + bytes[2]; }
	END
	python3 tests/lint/bpf_stacks.py "$TEST_TMPDIR/made.o" 2>&1
}

counts_them() {
	diff <(made 240) /dev/null
	diff <(made 264) - <<<"outer: 576 bytes of stack, at most 512: outer 288, inner 288"
}

small_frames() {
	diff <(made 40 on_sched_waking) /dev/null
	diff <(made 56 on_sched_waking) - <<<"on_sched_waking: a frame of 56 bytes, at most 48: it has to be on its caller's stack"
}

rule "no BPF program needs more stack than any kernel gives" deep_calls
rule "the stack of a program is that of all calls" counts_them
rule "a program that has to be on its caller's stack has a small frame" small_frames
finish
