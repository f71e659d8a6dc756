#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok 1 - right"
echo "not ok 2 - wrong"
echo "# expected 4"
exit 1
