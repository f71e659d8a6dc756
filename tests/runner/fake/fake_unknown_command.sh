#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A check that is misspelled and is not the last one.
is_right() {
	smae 1 2
	true
}

is_right >"$TEST_TMPDIR/said" 2>&1 && echo "ok 1 - right"
echo 1..1
