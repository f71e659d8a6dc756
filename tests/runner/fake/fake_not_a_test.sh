# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Not executable: tests would source it.
echo "ok 1 - this must not run"
