#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A process that the test started reports an error, and the test does not look at how it ended.
folder=${ASAN_OPTIONS#log_path=}
echo "ERROR: heap-use-after-free" >"${folder%%:*}.4711"
echo "ok 1 - all seems well"
