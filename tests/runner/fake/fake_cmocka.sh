#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What cmocka prints for two groups; it calls a skipped test "not ok".
cat <<END
1..3
ok 1 - adds
# SKIP there is no disk
not ok 2 # SKIP needs_a_disk
ok 3 - subtracts
# ok - group
1..1
ok 1 - multiplies
# ok - group
END
