#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the commands print with --json follows docs/commands.schema.json.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

follows_schema() {
	local name made=()
	for name in "$@"; do
		make_from "$name" && made+=("$tmp/$name.txtrace") || return
	done
	python3 tests/cli/schema_check.py "$txtrace" docs/commands.schema.json "$tmp/gas.txtrace" "${made[@]}"
}

python3 tests/cli/fvm_files.py make "$tmp" && run 0 import -o gas.txtrace example.txt || exit

if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>"$tmp/no"; then
	check "with spans, losses and anomalies" follows_schema small sound
	check "with waits, threads and neighbours" follows_schema waits workers neighbours
	check "with children, costs and stacks" follows_schema tree cost stacks blocks stolen
	check "of hostile logs, and of empty ones" follows_schema hostile broken empty
else
	skip "JSON follows its schema" "there is no python3-jsonschema here"
fi
finish
