#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs on probes of user code can be preempted by themselves: each works on the thread's stack, see bpf/compat.h.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

stacks() {
	find bpf -name '*.bpf.c' -exec awk '
		FNR == 1 { name = "" }
		/^SEC\("\??u(ret)?probe/ { name = FILENAME ":" FNR; said = 0 }
		name && /compat_use_thread_stack\(\);/ { said = 1 }
		/^}/ && name { if (!said) print name ": a probe'\''s program without compat_use_thread_stack()"; name = "" }' {} +
}

rule "every probe's program works on the thread's stack" stacks
finish
