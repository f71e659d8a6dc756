#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok 1 - before"
kill -SEGV $$
