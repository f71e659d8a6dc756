#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A function that no other file of userspace/ calls is static, or dead. Tests may call functions that nothing else calls. Generated code is exempt.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

# unneeded NM-OUTPUT: "file.o function", of those that no other object and no test names
unneeded() {
	local words
	words=$(files 'tests/*.c' 'tests/*.h' | xargs grep -ohE '\b[a-z][a-z0-9_]+\b' | sort -u)
	awk 'NF < 2 { next }
		$(NF - 1) == "U" { needed[$NF] = 1 } $(NF - 1) == "T" { file[$NF] = $1; sub(/.*:([^:]*\.o):.*/, "&", file[$NF]) }
		END { for (name in file) if (!(name in needed) && name != "main" && name !~ /^txtrace_|__/) print name, file[name] }' "$1" |
		sort | join -v 1 - <(echo "$words") | sed -E 's/^([^ ]*) .*[:\/]([^:\/]*)\.o:.*/\2.c: \1() is called by no other file/'
}

dead_functions() {
	local listing=$TEST_TMPDIR/symbols
	nm -A "$BUILD/libpure.a" "$BUILD/librecord.a" "$BUILD"/userspace/main/*.o >"$listing" 2>/dev/null
	grep -q ' T ' "$listing" || { echo "nm knows no function of $BUILD: it is not built" && return; }
	unneeded "$listing"
}

rule "each function that is not static is called by another file" dead_functions
finish
