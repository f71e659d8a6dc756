#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bundle.sh: the script of the page, page/bundle.js, of its modules and of uPlot, by esbuild of exactly this version: another one writes the same in other words.
# The result is in the tree, so that the build needs neither esbuild nor a network; tests/lint/page_script.sh compares it. `make page-script` renews it.
set -eu
version=0.17.0
cd "$(dirname "$0")/page"

if [ "$(esbuild --version 2>/dev/null)" != $version ]; then
	echo "there is no esbuild $version: Debian 12 has it, and npm: npm install --global esbuild@$version" >&2
	exit 3
fi
esbuild main.js --bundle --format=esm --minify --charset=utf8 --target=es2022 --legal-comments=inline --log-level=warning
