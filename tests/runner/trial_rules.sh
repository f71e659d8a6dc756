#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The table of `make trials` and how it marks sources, without any of the programs:
# a figure that has to be equal and is not is marked as different, and marks that do
# not fit a source are refused, not skipped.
set -u
export PYTHONDONTWRITEBYTECODE=1
number=0

check() { # check NAME; the test is read from stdin
	number=$((number + 1))
	if { echo "import sys; sys.path.insert(0, 'tests/trials')" && cat; } | python3 - >"$TEST_TMPDIR/said" 2>&1; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		sed 's/^/# /' "$TEST_TMPDIR/said"
	fi
}

check "counts that have to be equal, and are not, differ; times never do" <<'END'
from trial_table import Table, difference, time_text
assert [time_text(ns) for ns in (7, 1400, 99960, 999600, 1234e9)] == ["7 ns", "1.4 us", "100 us", "1,000 us", "1,234 s"]
table = Table()
table.row("same", 5, 5, must_equal=True)
table.row("far", 1000000, 5, "ns")
table.row("near", 6, 5)
assert table.differing == 0
table.row("other", 6, 5, must_equal=True)
table.holds("it is so", False, "")
table.at_most("part", 11, 10, "")
assert (table.differing, table.rows) == (3, 6)
assert difference(6, 5, "count") == "+1" and difference(5, 5, "count") == "equal"
assert difference(110, 100, "ns") == "+10.0 %" and difference(None, 1, "ns") == "-" and difference(1, 0, "ns") == "-"
END

check "percentiles are values, the smallest that so many per cent do not exceed" <<'END'
from trial_table import percentile
values = list(range(1, 101))
assert [percentile(values, percent) for percent in (50, 90, 99, 100)] == [50, 90, 99, 100]
assert percentile([7], 50) == 7 and percentile([], 50) is None and percentile([1, 2], 50) == 1
END

mkdir "$TEST_TMPDIR/source"
cat >"$TEST_TMPDIR/source/a.c" <<'END'
#include <stdio.h>
int work(int n);
int work(int n,
	int m)
{
	return n;
}
END

check "marks go into functions, before and behind lines" <<END
from trial_sources import Marker
Marker("$TEST_TMPDIR/source").apply("""# a remark
file a.c
after #include <stdio.h>
add #include "txtrace.h"
in int work(
add 	TXTRACE_SPAN("work");
before return n;
add 	TXTRACE_EVENT(0, "returns");
""")
lines = open("$TEST_TMPDIR/source/a.c").read().split("\n")
assert lines[1] == '#include "txtrace.h"', lines
assert lines[lines.index("{") + 1:lines.index("}")] == ['\tTXTRACE_SPAN("work");', '\tTXTRACE_EVENT(0, "returns");', "\treturn n;"], lines
END

check "marks for another version are refused" <<END
from trial_sources import Marker, TrialError
for marks in ("file a.c\nin int play(\nadd x\n", "file a.c\nafter nothing;\nadd x\n"):
	try:
		Marker("$TEST_TMPDIR/source").apply(marks)
	except TrialError as error:
		assert "for another version" in str(error)
	else:
		raise AssertionError(marks)
END

echo "1..$number"
