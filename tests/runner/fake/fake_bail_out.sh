#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok 1 - before"
echo "Bail out! no more disk"
