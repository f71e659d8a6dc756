#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The script of the page that is in the tree is what its modules make.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit
made=$(mktemp)
trap 'rm -f "$made"' EXIT
userspace/cli/view/bundle.sh >"$made" 2>"$made.said"
if [ $? = 3 ]; then
	echo "ok 1 - page_script # SKIP $(cat "$made.said")"
	echo "1..1"
	rm -f "$made.said"
	exit 0
fi

is_made_of_its_modules() {
	cat "$made.said"
	cmp "$made" userspace/cli/view/page/bundle.js 2>&1 || echo "make page-script renews it"
}

rule "userspace/cli/view/page/bundle.js is made of the modules beside it" is_made_of_its_modules
rm -f "$made.said"
finish
