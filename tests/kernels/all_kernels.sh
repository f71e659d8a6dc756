#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/all_kernels.sh [NAME...]
#
# Runs the kernel tests on every kernel of kernels.table (or on the named ones), and
# writes the results into the table of docs/kernels.md. KERNEL_JOBS=2: two kernels at
# a time (default: one). Exit status 0: nothing failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
mapfile -t all < <(awk '!/^#/ && NF { print $1 }' tests/kernels/kernels.table)
names=("${@:-${all[@]}}")
[ $# -gt 0 ] || names=("${all[@]}")
status=0
mkdir -p build/kernels

# One after the other: they share folders.
for name in "${names[@]}"; do
	echo "---- $name: what it needs"
	tests/kernels/fetch.sh "$name" >/dev/null 2>&1 && tests/kernels/cross_build.sh "$name" >/dev/null 2>&1
done
echo "---- running them"
printf '%s\n' "${names[@]}" | xargs -P "${KERNEL_JOBS:-1}" -I '{}' sh -c 'tests/kernels/run_kernel.sh {} >build/kernels/{}.tap; grep -v "^# # MEASURED" build/kernels/{}.tap'
for name in "${names[@]}"; do
	grep -q '^1\.\.' "build/kernels/$name.tap" && ! grep -q '^not ok' "build/kernels/$name.tap" || status=1
done
python3 tests/kernels/kernel_table.py docs/kernels.md
exit $status
