#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Leaves a process behind; the runner ends it with the test.
sleep 1000 &
echo $! >"$FAKE_NOTES/leftover.pid"
echo "ok 1 - leaves a process behind"
