#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok 1 - needs no kernel"
if [ "${FAKE_ROOT:-}" = 1 ]; then
	echo "ok 2 - needs the kernel"
else
	echo "ok 2 - needs the kernel # SKIP bpf: not root"
fi
