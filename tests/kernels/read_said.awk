# SPDX-License-Identifier: BSD-2-Clause
# Converts a guest's console to TAP of one test, with a case for each case in the
# guest. name: of the kernel; booted: 0 if the guest reached its end; results and
# version: files to write, see run_kernel.sh.
{ last[NR % 20] = $0 }
/^.*@@ kernel / { sub(/^.*@@ kernel /, ""); print >version; next }
/^@@ begin / { test = $3; passed = failed = skipped = planned = 0; next }
/^@@ end / {
	if (planned != passed + failed + skipped) { failed++; print "not ok " ++n " - " name ": " test ": its plan says " planned " cases" }
	else if (!planned || ($4 && !failed)) { failed++; print "not ok " ++n " - " name ": " test ": it ended with " $4 " after " $5 " s" }
	print test, passed, failed, skipped, $5 >results
	test = ""
	next
}
test == "" { next }
/^1\.\.[0-9]+/ { split($1, ends, /\.\./); planned = ends[2]; next }
/^(not )?ok / {
	word = $1 == "ok" ? "ok" : "not ok"
	if (/# SKIP/) skipped++; else if (word == "ok") passed++; else failed++
	line = $0; sub(/^(not )?ok [0-9]+ - /, "", line)
	short = test; sub(/.*\//, "", short)
	print word " " ++n " - " name ": " short ": " line
	next
}
/^#/ { print }
END {
	if (booted != 0) {
		print "not ok " ++n " - " name ": the guest gets to its end"
		if (test != "") print test, passed, failed + 1, skipped, 0 >results
		for (i = NR > 20 ? NR - 19 : 1; i <= NR; i++) print "# " last[i % 20]
	}
	print "1.." n + 0
}
