#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/cross_build.sh NAME
#
# Builds the programs for the kernel NAME of kernels.table if it has another
# architecture: with this machine's tools and that architecture's packages, which
# fetch.sh has fetched, into build/MACHINE-linux-gnu.
set -eu
cd "$(dirname "$0")/../.."
read -r _ arch _ < <(grep "^$1 " tests/kernels/kernels.table)
case $arch in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
[ "$machine" != "$(uname -m)" ] || exit 0
MAKEFLAGS='' make --no-print-directory -j"${JOBS:-$(nproc)}" CROSS_COMPILE="$machine-linux-gnu-" SYSROOT="build/kernels/root-$arch" all programs
