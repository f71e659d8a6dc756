#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok 1 - before"
echo "this went to stderr" >&2
exit 3
