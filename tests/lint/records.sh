#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What documents say of records is what the table of records says.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

documents() {
	if [ -x "$BUILD/cli/record_fields" ]; then
		python3 tests/lint/record_documents.py "$BUILD/cli/record_fields"
	else
		echo "there is no $BUILD/cli/record_fields: make units"
	fi
}

rule "docs/export.schema.json and docs/export.md have the fields of the table of records" documents
finish
