#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs on probes of user code can be preempted by themselves: each works on the thread's stack, which PROBE_PROGRAM of bpf/compat.h sees to.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

without_macro() {
	grep -nHE '^SEC\("\??u(ret)?probe' bpf/*.bpf.c
}

rule "every probe's program is a PROBE_PROGRAM" without_macro
finish
