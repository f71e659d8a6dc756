#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/kubernetes_types.sh [FOLDER]
#
# Fetches the types of Kubernetes' API into FOLDER (build/setup/kubernetes_types),
# for tests/e2e/daemon_set.sh: npm's kubernetes-models, made from the OpenAPI
# description of Kubernetes. It is checked by its hash, and nothing is installed or
# run. This is optional: without npm or a network that case is skipped. Does nothing,
# quickly, if the files are there.
set -u

folder=${1:-build/setup/kubernetes_types}
package=kubernetes-models@5.1.0
hash=a7b5c0d34639c52699fc2998879590b20d57558598fb35b219b3e5a5871aa0c0

give_up() {
	echo "set-up: no types of Kubernetes: $*; a part of tests/e2e/daemon_set.sh will be skipped" >&2
	exit 0
}

[ ! -e "$folder/package/apps/v1/DaemonSet.d.ts" ] || exit 0
command -v npm >/dev/null || give_up "there is no npm here (Debian package: npm)"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack --loglevel=error --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 $package >/dev/null 2>said) ||
	give_up "npm could not fetch $package: $(grep -m 1 . "$scratch/said")"
echo "$hash  $(echo "$scratch"/*.tgz)" | sha256sum --quiet --check - >/dev/null 2>&1 || give_up "$package is not the file that we know"
mkdir "$scratch/files" && tar -xzf "$scratch"/*.tgz -C "$scratch/files" --wildcards '*.d.ts' || give_up "$package cannot be unpacked"
mkdir -p "$folder" && rm -rf "$folder/package" && cp -r "$scratch/files/package" "$folder/new" && mv "$folder/new" "$folder/package"
