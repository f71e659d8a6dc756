#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/all_kernels.sh [NAME...]
#
# Runs the kernel tests on every kernel of kernels.table (or on the named ones), one
# after the other, and writes the results into the table of docs/kernels.md.
# Exit status 0: nothing failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
mapfile -t all < <(awk '!/^#/ && NF { print $1 }' tests/kernels/kernels.table)
names=("${@:-${all[@]}}")
[ $# -gt 0 ] || names=("${all[@]}")
status=0
for name in "${names[@]}"; do
	echo "---- $name"
	tests/kernels/run_kernel.sh "$name" | tee build/kernels.tap | grep -v '^# # MEASURED'
	! grep -q '^not ok' build/kernels.tap || status=1
done
rm -f build/kernels.tap
python3 tests/kernels/kernel_table.py docs/kernels.md
exit $status
