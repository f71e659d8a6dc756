#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How tests/kernels/run_kernel.sh reads a guest's console: a test that ends without
# its plan, or with a status, has failed.
set -u
number=0

# reads NAME BOOTED RESULTS WANTED: the console is the standard input; RESULTS is what is kept, WANTED the words of the cases
reads() {
	local name=$1 folder=$TEST_TMPDIR/$((number += 1)) said
	mkdir "$folder"
	said=$(awk -v name=old -v results="$folder/results" -v version="$folder/version" -v booted="$2" -f tests/kernels/read_said.awk)
	if [ "$(cat "$folder/results")" = "$3" ] && [ "$(grep -oE '^(ok|not ok)' <<<"$said" | tr '\n' ,)" = "$4" ] && grep -qx "1..$(grep -cE '^(not )?ok' <<<"$said")" <<<"$said"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		printf '%s\n%s\n' "$said" "$(cat "$folder/results")" | sed 's/^/# /'
	fi
}

reads "cases that pass, fail and are skipped" 0 'tests/a.sh 1 1 1 7' 'ok,not ok,ok,' <<'END'
@@ kernel 5.10 Debian 5.10.1
@@ begin tests/a.sh
ok 1 - first
not ok 2 - second
ok 3 - third # SKIP no disk
1..3
@@ end tests/a.sh 1 7
END
reads "a test that is killed before its first case" 0 'tests/a.sh 0 1 0 602' 'not ok,' <<'END'
@@ begin tests/a.sh
Terminated
@@ end tests/a.sh 143 602
END
reads "one that is killed between two" 0 'tests/a.sh 1 1 0 602' 'ok,not ok,' <<'END'
@@ begin tests/a.sh
ok 1 - first
@@ end tests/a.sh 143 602
END
reads "one whose cases pass, and which ends with a status" 0 'tests/a.sh 1 1 0 3' 'ok,not ok,' <<'END'
@@ begin tests/a.sh
ok 1 - first
1..1
@@ end tests/a.sh 2 3
END
reads "a guest that does not get to its end" 1 'tests/a.sh 1 1 0 0' 'ok,not ok,' <<'END'
@@ begin tests/a.sh
ok 1 - first
END
echo "1..$number"
