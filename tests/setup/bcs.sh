#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/bcs.sh [FOLDER]
#
# Fetches npm's @mysten/bcs, the BCS library of Sui's makers, into FOLDER
# (build/setup/bcs), for tests/cli/export_sui_bcs.sh. The versions and hashes are
# those of tests/setup/bcs/package-lock.json; no script of a package is run. This
# is optional: without node, npm or a network the test is skipped with a message.
# Does nothing, quickly, if the library is there.
set -u

folder=${1:-build/setup/bcs}
from=$(dirname "$0")/bcs

give_up() {
	echo "set-up: no @mysten/bcs: $*; tests/cli/export_sui_bcs.sh will be skipped" >&2
	exit 0
}

[ -e "$folder/node_modules/@mysten/bcs/dist/index.mjs" ] && cmp -s "$from/package-lock.json" "$folder/package-lock.json" && exit 0
for tool in node npm; do
	command -v $tool >/dev/null || give_up "there is no $tool here (Debian packages: nodejs npm)"
done
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
echo "set-up: fetching @mysten/bcs (1 MB, npm)"
cp "$from/package.json" "$from/package-lock.json" "$scratch" || exit 1
(cd "$scratch" && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000 >/dev/null 2>said) ||
	give_up "npm could not fetch it: $(grep -m 1 . "$scratch/said")"
rm -rf "$folder" && mkdir -p "$folder" && cp -R "$scratch/node_modules" "$scratch/package-lock.json" "$folder/"
