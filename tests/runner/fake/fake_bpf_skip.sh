#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "ok 1 - needs no kernel"
echo "ok 2 - needs the kernel # SKIP bpf: not root"
