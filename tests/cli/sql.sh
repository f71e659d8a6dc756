#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The log in SQL: the same as the other commands say, for all logs of this folder and all golden ones; and nothing but reading.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh

for name in sound small blocks waits export hostile cost stacks neighbours tree; do make_from $name; done
python3 tests/cli/make_run.py --run 1 --spans 60 | "$make_log" "$tmp/shop.txtrace"
compare=$PWD/tests/cli/sql_check.py
golden=$PWD/tests/golden
export TXTRACE=$txtrace

against() { # against WHAT LOG...
	local what=$1 log
	shift
	for log in "$@"; do
		(cd "$tmp" && python3 "$compare" "$what" "$log") || fail "$what of $log" || return
	done
}

answers() { # answers STATUS QUERY ROWS: of sound.txtrace, in JSON
	run "$1" sql --json sound.txtrace "$2" || return
	[ "$(jq -c . "$tmp/out")" = "$3" ] || fail "it says $(jq -c . "$tmp/out")"
}

known_rows() {
	answers 0 "SELECT label, count(*) AS cnt, sum(disk_ns) AS disk_ns FROM spans GROUP BY label" \
		'[{"label":"audit","cnt":1,"disk_ns":0},{"label":"commit","cnt":1,"disk_ns":400000000},{"label":"session","cnt":1,"disk_ns":0},{"label":"transfer","cnt":2,"disk_ns":400000000}]' &&
		answers 0 "SELECT id, parent, tag FROM spans WHERE label = 'audit'" '[{"id":"4","parent":null,"tag":null}]' &&
		answers 0 "SELECT name, value FROM attributes" '[{"name":"bytes","value":4096},{"name":"path","value":"/var/lib/bank"}]' &&
		answers 0 "SELECT value FROM counters" '[{"value":-3}]' &&
		answers 0 "SELECT id FROM spans WHERE id IN (1, 4)" '[{"id":"1"},{"id":"4"}]' &&
		answers 0 "SELECT \"from\", \"to\" FROM links" '[{"from":"3","to":"1"}]'
}

as_table() {
	run 0 sql sound.txtrace "SELECT id, label, wall_ns, tag FROM spans WHERE wall_ns >= 1000000000 ORDER BY wall_ns DESC, id LIMIT 2" || return
	diff - "$tmp/out" <<'TABLE'
id  label        wall_ns  tag
9   session   4500000000  NULL
1   transfer  1000000000  shard=3,kind=write
TABLE
}

# What is not known has no characters, an empty text has quotes; and no byte of a program reaches a terminal as it is.
as_csv() {
	run 0 sql --csv sound.txtrace "SELECT id, tag, '' AS empty, char(27) || '[31m' AS red, 'a \"b\"' AS quoted, x'00ff' AS blob FROM spans WHERE id IN (1, 4)" || return
	diff - "$tmp/out" <<'CSV'
id,tag,empty,red,quoted,blob
1,"shard=3,kind=write","",\e[31m,"a ""b""",x'00ff'
4,,"",\e[31m,"a ""b""",x'00ff'
CSV
}

hostile_text() {
	local format
	for format in --csv --json ""; do
		# shellcheck disable=SC2086 # an option or none
		run 0 sql $format hostile.txtrace "SELECT label, tag, key FROM spans" || return
		! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$tmp/out" || fail "a control character came through $format" || return
		iconv -f UTF-8 -t UTF-8 "$tmp/out" >/dev/null || fail "it is no UTF-8: $format" || return
	done
}

# Nothing of this runs, no file is made, and the sentence says what can be done.
only_reads() {
	local query before after
	before=$(ls -A "$tmp" | grep -vxE 'out|err|said')
	for query in "ATTACH 'made' AS made" "CREATE TABLE made(x)" "CREATE TEMP TABLE made(x)" "CREATE VIEW made AS SELECT 1" "VACUUM INTO 'made'" "SELECT load_extension('made')" \
		"PRAGMA temp_store_directory = '.'" "PRAGMA journal_mode = WAL" "BEGIN;" "INSERT INTO spans(id) VALUES (1)" "DELETE FROM spans" "UPDATE spans SET id = 1" "DROP TABLE spans" \
		"SELECT writefile('made', 'x')" "SELECT readfile('sound.txtrace')" "SELECT * FROM pragma_database_list" "CREATE VIRTUAL TABLE made USING spans" "ANALYZE;" \
		"DETACH main" "SELECT fts3_tokenizer('x')" "WITH x AS (SELECT 1) INSERT INTO spans(id) SELECT * FROM x" "SELECT 1; ATTACH 'made' AS made"; do
		run 2 sql sound.txtrace "$query" || fail "$query" || return
		grep -qE '^txtrace: can.t (understand|answer) the query: ' "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ] || fail "$query: $(cat "$tmp/err")" || return
	done
	after=$(ls -A "$tmp" | grep -vxE 'out|err|said')
	[ "$before" = "$after" ] || fail "it made files: $after"
}

too_large() {
	run 2 sql sound.txtrace "SELECT length(randomblob(1000000000))" && grep -q "too big" "$tmp/err" || return
	run 2 sql sound.txtrace "SELECT length(group_concat(hex(randomblob(1000000)), '')) FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n)" &&
		grep -qE "too big|not enough memory" "$tmp/err"
}

# The rows before the damage and behind it, what is missing once, however often the log is read, and status 1.
damaged() {
	local at
	"$make_log" "$tmp/damaged.txtrace" none <"$logs/sound.txt"
	at=$(grep -abo commit "$tmp/damaged.txtrace" | head -n 1 | cut -d: -f1)
	printf '\xee' | dd of="$tmp/damaged.txtrace" bs=1 seek="$at" conv=notrunc status=none
	run 1 sql --csv damaged.txtrace "SELECT id FROM spans" || return
	[ "$(tr '\n' ' ' <"$tmp/out")" = "id 3 4 9 " ] || fail "it printed $(cat "$tmp/out")" || return
	run 1 report damaged.txtrace && cp "$tmp/err" "$tmp/told" && run 1 sql damaged.txtrace "SELECT count(*) FROM spans a JOIN spans b ON a.pid = b.pid" || return
	diff "$tmp/told" "$tmp/err" || return
	run 1 sql --csv damaged.txtrace "SELECT record_cnt FROM damages" && [ "$(tail -n 1 "$tmp/out")" = 6 ]
}

cut_off() {
	sed 's/^summary.*/abort/' "$logs/sound.txt" | "$make_log" "$tmp/cut.txtrace"
	run 1 sql --csv cut.txtrace.partial "SELECT count(*) FROM spans" && grep -q "has no summary" "$tmp/err"
}


check "rows that are known" known_rows
check "a table" as_table
check "CSV" as_csv
check "text that is hostile" hostile_text
check "it only reads" only_reads
check "values that are too large" too_large
check "a damaged log" damaged
check "a log that was cut off" cut_off
check "every column of every record is as in JSON Lines" against records sound.txtrace small.txtrace blocks.txtrace waits.txtrace export.txtrace cost.txtrace stacks.txtrace neighbours.txtrace
check "the same of the golden logs" against records "$golden"/*.txtrace
check "constraints find what is there" against constraints sound.txtrace waits.txtrace
check "sums are those of the report, and of the waits" against sums sound.txtrace blocks.txtrace waits.txtrace tree.txtrace shop.txtrace
check "joins" against joins waits.txtrace tree.txtrace shop.txtrace
check "no query" complains "QUERY is missing, see 'txtrace sql --help'" sql sound.txtrace small.txtrace
check "no log" complains "FILE is missing, see 'txtrace sql --help'" sql "SELECT 1"
check "an empty query" complains "the query is empty" sql sound.txtrace " -- nothing"
check "a log that is not there" complains "can't read 'nowhere': there is no such file" sql nowhere "SELECT 1"
check "two formats" complains "--csv and --json exclude each other" sql --csv --json sound.txtrace "SELECT 1"
finish
