#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: some seconds of a CPU
# The log in SQL: the same as the other commands say, for all logs of this folder and all golden ones; and nothing but reading.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

for name in sound small blocks waits export hostile cost stacks neighbours tree; do make_from $name; done
python3 tests/cli/make_run.py --run 1 --spans 60 | "$make_log" "$tmp/shop.txtrace"
compare=$PWD/tests/cli/sql_check.py
golden=$PWD/tests/golden
export TXTRACE=$txtrace
python3 tests/cli/make_run.py --run 2 --spans 1500 | "$make_log" "$tmp/large.txtrace"

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

# With zeros, without any, and none: they are no text, here and in a file of SQLite's.
bytes_are_blobs() {
	{
		echo 'header pid=1 cpus=1 start_monotonic_ns=1'
		for value in '\x00\xff' '' '\x00\xff' 'ab'; do
			echo "attribute time_ns=11 pid=1 tid=1 span=1 name=\"n\" value_type=bytes value=\"$value\""
		done
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n" value_type=string value="ab"'
		echo 'summary time_ns=20'
	} | "$make_log" "$tmp/bytes.txtrace" && run 0 sql --json bytes.txtrace "SELECT typeof(value) AS type, hex(value) AS hex, count(*) AS cnt FROM attributes GROUP BY value" || return
	[ "$(jq -c '.[] | [.type, .hex, .cnt]' "$tmp/out" | tr '\n' ' ')" = '["text","6162",1] ["blob","",1] ["blob","00FF",2] ["blob","6162",1] ' ] || fail "$(cat "$tmp/out")" || return
	run 0 export --format sqlite -o bytes.sqlite bytes.txtrace && python3 - "$tmp/bytes.sqlite" <<-'END'
		import sqlite3, sys
		values = [value for value, in sqlite3.connect(sys.argv[1]).execute("SELECT value FROM attributes ORDER BY rowid")]
		assert values == [b"\0\xff", b"", b"\0\xff", b"ab", "ab"], values
	END
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

files_made() {
	find "$tmp" -mindepth 1 ! -name out ! -name err ! -name said | sort
}

# Nothing of this runs, no file is made, and the sentence says what can be done.
only_reads() {
	local query before after
	before=$(files_made)
	for query in "ATTACH 'made' AS made" "CREATE TABLE made(x)" "CREATE TEMP TABLE made(x)" "CREATE VIEW made AS SELECT 1" "VACUUM INTO 'made'" "SELECT load_extension('made')" \
		"PRAGMA temp_store_directory = '.'" "PRAGMA journal_mode = WAL" "BEGIN;" "INSERT INTO spans(id) VALUES (1)" "DELETE FROM spans" "UPDATE spans SET id = 1" "DROP TABLE spans" \
		"SELECT writefile('made', 'x')" "SELECT readfile('sound.txtrace')" "SELECT * FROM pragma_database_list" "CREATE VIRTUAL TABLE made USING spans" "ANALYZE;" \
		"DETACH main" "SELECT fts3_tokenizer('x')" "WITH x AS (SELECT 1) INSERT INTO spans(id) SELECT * FROM x" "SELECT 1; ATTACH 'made' AS made"; do
		run 2 sql sound.txtrace "$query" || fail "$query" || return
		grep -qE '^txtrace: can.t (understand|answer) the query: ' "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ] || fail "$query: $(cat "$tmp/err")" || return
	done
	after=$(files_made)
	[ "$before" = "$after" ] || fail "it made files: $after"
}

too_large() {
	run 2 sql sound.txtrace "SELECT length(randomblob(1000000000))" && grep -q "too big" "$tmp/err" || return
	run 2 sql sound.txtrace "SELECT length(group_concat(hex(zeroblob(1000000)), '')) FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n)" &&
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

# More groups than are put together: the log is read twice, and what is missing is told once.
damaged_with_many_groups() {
	python3 tests/cli/make_run.py --run 2 --spans 1500 | sed '100s/^/flush\n/' | "$make_log" "$tmp/damaged.txtrace" none
	printf '\xee' | dd of="$tmp/damaged.txtrace" bs=1 seek=900 conv=notrunc status=none
	run 1 report damaged.txtrace && grep -q "is damaged at byte" "$tmp/err" && cp "$tmp/err" "$tmp/told" || return
	run 1 sql --csv damaged.txtrace "SELECT id, count(*) FROM spans GROUP BY id" && diff "$tmp/told" "$tmp/err" && [ "$(wc -l <"$tmp/out")" -gt 5000 ]
}

cut_off() {
	sed 's/^summary.*/abort/' "$logs/sound.txt" | "$make_log" "$tmp/cut.txtrace"
	run 1 sql --csv cut.txtrace.partial "SELECT count(*) FROM spans" && grep -q "has no summary" "$tmp/err"
}

# Five batches, whose records are finished at 100, 6000, 200, 9500 and 9700 ns: the first span ends before it begins, the third record is late.
times_of_batches() {
	cat <<-END
		header pid=1 cpus=1 command="bank" start_monotonic_ns=0 start_realtime_ns=1763725203000000000
		span begin_ns=9000 end_ns=100 pid=1 tid=1 end_tid=1 id=1 label="turned" flags=lower_bound
		flush
		span begin_ns=5000 end_ns=6000 pid=1 tid=1 end_tid=1 id=2 label="damaged" work_ns=1000 on_cpu_ns=1000
		flush
		span begin_ns=50 end_ns=200 pid=1 tid=1 end_tid=1 id=3 label="late" work_ns=150 on_cpu_ns=150
		flush
		span begin_ns=8000 end_ns=9500 pid=1 tid=1 end_tid=1 id=4 label="a" work_ns=1500 on_cpu_ns=1500
		flush
		span begin_ns=9600 end_ns=9700 pid=1 tid=1 end_tid=1 id=5 label="b" work_ns=100 on_cpu_ns=100
		summary time_ns=10000 sent_cnt=10 received_cnt=10
	END
}

finds() { # finds STATUS CONDITION IDS
	run "$1" sql --csv times.txtrace "SELECT id FROM spans WHERE $2" && [ "$(tail -n +2 "$tmp/out" | tr '\n' ' ')" = "$3" ] || fail "$2: $(cat "$tmp/out" "$tmp/err")"
}

times_of_hostile_logs() {
	times_of_batches | "$make_log" "$tmp/times.txtrace" none
	finds 0 "begin_ns >= 8000" "1 4 5 " && finds 0 "begin_ns > 5000 AND end_ns < 5000" "1 " && finds 0 "end_ns <= 250" "1 3 " && finds 0 "end_ns BETWEEN 150 AND 250" "3 " &&
		finds 0 "end_ns > 250" "2 4 5 " && finds 0 "end_ns = 9500" "4 " && finds 0 "end_ns < 100" "" && finds 0 "end_ns >= 0 AND end_ns <= 9223372036854775807" "1 2 3 4 5 "
}

# What no condition wants is not read: so damage there is not met.
only_what_is_wanted() {
	local at
	at=$(grep -abo damaged "$tmp/times.txtrace" | head -n 1 | cut -d: -f1)
	printf '\xee' | dd of="$tmp/times.txtrace" bs=1 seek="$at" conv=notrunc status=none
	finds 1 "label <> 'x'" "1 3 4 5 " && finds 0 "end_ns <= 250" "1 3 " && finds 0 "end_ns > 7000" "4 5 " && finds 1 "end_ns > 250" "4 5 "
}

# Several captures are numbered in their order, whatever part of them a condition wants.
captures() {
	local number
	for number in 1 2 3; do
		"$make_log" "$tmp/capture$number.txtrace" <<-END
			header pid=$number cpus=1 command="bank" host="host$number" capture_id="$number" start_monotonic_ns=${number}000 start_realtime_ns=1763725203000000000
			span begin_ns=${number}100 end_ns=${number}200 pid=$number tid=1 end_tid=1 id=1 label="a" work_ns=100 on_cpu_ns=100
			summary time_ns=${number}300 sent_cnt=2 received_cnt=2
		END
	done
	run 0 sql --csv capture3.txtrace capture1.txtrace capture2.txtrace "SELECT s.capture, c.host, s.pid FROM spans s JOIN captures c ON c.capture = s.capture WHERE s.end_ns >= 2200" || return
	diff - "$tmp/out" <<-CSV || return
		capture,host,pid
		2,host2,2
		3,host3,3
	CSV
	run 0 sql --csv capture1.txtrace capture2.txtrace capture3.txtrace "SELECT capture FROM spans WHERE end_ns < 2000 OR end_ns = 3200" && [ "$(tr '\n' ' ' <"$tmp/out")" = "capture 1 3 " ]
}

# In a join, the inner table is asked for what the outer one says: by id and process, or a range of times.
plans() {
	local query
	for query in "attributes a JOIN spans s ON s.id = a.span AND s.pid = a.pid" "spans s JOIN attributes a ON a.span = s.id AND a.pid = s.pid" "spans s JOIN spans p ON p.id = s.parent AND p.pid = s.pid"; do
		run 0 sql --csv sound.txtrace "EXPLAIN QUERY PLAN SELECT count(*) FROM $query" && [ "$(tail -n 1 "$tmp/out" | grep -o '=[0-9]*;' | wc -l)" = 2 ] || fail "$query: $(cat "$tmp/out")" || return
	done
	run 0 sql --csv sound.txtrace "EXPLAIN QUERY PLAN SELECT count(*) FROM spans s JOIN wakeups w ON w.time_ns BETWEEN s.begin_ns AND s.end_ns" && tail -n 1 "$tmp/out" | grep -q 'G0;L0;' ||
		fail "$(cat "$tmp/out")"
}

# What comes of a query that lacks room for its temporary files; and nothing is left.
no_room() {
	local query
	mkdir -p "$tmp/work"
	for query in "SELECT label, group_concat(id), max(begin_ns), max(tid), max(work_ns) FROM spans GROUP BY label" \
		"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT hex(randomblob(50)) AS x FROM n ORDER BY x"; do
		(cd "$tmp" && trap '' XFSZ && ulimit -f 64 && TMPDIR=$tmp/work "$txtrace" sql large.txtrace "$query" >out 2>err)
		[ $? = 2 ] && [ ! -s "$tmp/out" ] && grep -qE "^txtrace: can't answer the query: can't (keep rows in a temporary file|write temporary files) in '$tmp/work': .*; set TMPDIR to another directory$" "$tmp/err" ||
			fail "$query: $(cat "$tmp/err")" || return
		[ -z "$(ls -A "$tmp/work")" ] || fail "it left $(ls -A "$tmp/work")" || return
	done
}

# Where the fault is: characters, not bytes, count from 1, in what was given.
places() {
	complains "can't understand the query: no such column: lable, at character 8" sql sound.txtrace "SELECT lable FROM spans" &&
		complains "can't understand the query: near \"spans\": syntax error, in line 2, at character 8" sql sound.txtrace $'SELECT 2\n  FORM spans' &&
		complains "can't understand the query: no such column: lable, at character 14" sql sound.txtrace "SELECT 'äö', lable FROM spans" &&
		complains "can't understand the query: no such table: made" sql sound.txtrace "SELECT * FROM made"
}

questions() {
	(cd "$tmp" && python3 "$OLDPWD/tests/cli/sql_questions.py" "$OLDPWD/docs/sql.md" waits.txtrace export.txtrace shop.txtrace blocks.txtrace sound.txtrace)
}

# Nothing is left where SQLite has worked.
database_output() {
	mkdir "$tmp/work"
	(cd "$tmp" && TMPDIR=$tmp/work "$txtrace" export -f sqlite sound.txtrace | cmp - sound.txtrace.db) || return
	[ -z "$(ls -A "$tmp/work")" ] || fail "it left $(ls -A "$tmp/work")" || return
	! (cd "$tmp" && trap '' XFSZ && ulimit -f 64 && TMPDIR=$tmp/work "$txtrace" export -o nothing.db sound.txtrace) 2>"$tmp/err" && [ ! -e "$tmp/nothing.db" ] &&
		[ "$(cat "$tmp/err")" = "txtrace: can't write 'nothing.db', with a temporary file in '$tmp/work': Input/output error; set TMPDIR to another directory" ] ||
		fail "it said $(cat "$tmp/err")" || return
	[ -z "$(ls -A "$tmp/work")" ] || fail "it left $(ls -A "$tmp/work")"
}

shell() { # shell STATUS ARGUMENT...: with stdin
	local wanted=$1 status
	shift
	(cd "$tmp" && "$txtrace" sql "$@" >"$tmp/out" 2>"$tmp/err")
	status=$?
	[ $status = "$wanted" ] || fail "the status is $status: $(cat "$tmp/err")"
}

the_shell() {
	shell 0 --csv sound.txtrace <<<$'SELECT count(*) AS cnt\nFROM spans;\n\n.mode json\nSELECT 1 AS one; SELECT 2 AS two;\n.schema stays\n.quit\nSELECT 4;' || return
	diff - "$tmp/out" <<'OUT' || return
cnt
5
[
{"one":1}]
[
{"two":2}]
CREATE TABLE "stays" ("enter_ns" INTEGER, "exit_ns" INTEGER, "pid" INTEGER, "tid" INTEGER, "span" TEXT, "span_pid" INTEGER, "keyed" INTEGER, "capture" INTEGER);
OUT
	shell 0 sound.txtrace <<<.tables && grep -q '^spans  *spans that have ended' "$tmp/out" && shell 0 sound.txtrace <<<.help && grep -q '^\.schema' "$tmp/out"
}

shell_failures() {
	shell 2 --csv sound.txtrace <<<$'SELECT nothing;\n.nothing\nATTACH \'made\' AS made;\nSELECT 3 AS three' || return
	[ "$(tr '\n' ' ' <"$tmp/out")" = "three 3 " ] && [ "$(wc -l <"$tmp/err")" = 3 ] && [ ! -e "$tmp/made" ] || fail "$(cat "$tmp/out" "$tmp/err")"
}

# A query without an end is interrupted; the shell answers the next one.
on_a_terminal() {
	python3 - "$txtrace" "$tmp/sound.txtrace" <<'PYTHON'
import os, pty, signal, sys, time
signal.alarm(60)
pid, fd = pty.fork()
if pid == 0:
	os.execv(sys.argv[1], [sys.argv[1], "sql", sys.argv[2]])
said = b""


def wait_for(text):
	global said
	while text not in said:
		said += os.read(fd, 4096)
	said = said[said.index(text) + len(text):]


wait_for(b"txtrace> ")
os.write(fd, b"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;\n")
wait_for(b"\n")
time.sleep(0.3)
os.write(fd, b"\x03")
wait_for(b"interrupted")
wait_for(b"txtrace> ")
os.write(fd, b"SELECT 40 + 2;\n")
wait_for(b"42")
os.write(fd, b".quit\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 2)
PYTHON
}

check "rows that are known" known_rows
check "bytes are blobs" bytes_are_blobs
check "a table" as_table
check "CSV" as_csv
check "text that is hostile" hostile_text
check "it only reads" only_reads
check "values that are too large" too_large
check "a damaged log" damaged
check "a damaged log with many groups" damaged_with_many_groups
check "a log that was cut off" cut_off
check "every column of every record is as in JSON Lines" against records sound.txtrace small.txtrace blocks.txtrace waits.txtrace export.txtrace cost.txtrace stacks.txtrace neighbours.txtrace
check "the same of the golden logs" against records "$golden"/*.txtrace
check "constraints find what is there" against constraints sound.txtrace waits.txtrace
check "conditions on times of a log that lies" times_of_hostile_logs
check "what no condition on a time wants is not read" only_what_is_wanted
check "groups, few and many" against groups sound.txtrace waits.txtrace large.txtrace "$golden"/log-1.0-extreme-none.txtrace
check "several captures" captures
check "plans of joins" plans
check "no room for temporary files" no_room
check "the place of a fault" places
check "sums are those of the report, and of the waits" against sums sound.txtrace blocks.txtrace waits.txtrace tree.txtrace shop.txtrace
check "joins" against joins waits.txtrace tree.txtrace shop.txtrace
check "the questions of docs/sql.md" questions
check "the shell" the_shell
check "the shell goes on after a failure" shell_failures
check "the shell on a terminal, with Ctrl-C" on_a_terminal
check "a database file has the same rows" against database sound.txtrace waits.txtrace export.txtrace hostile.txtrace shop.txtrace
check "a database file into a pipe, and none that is cut off" database_output
check "no log" complains "FILE is missing, see 'txtrace sql --help'" sql "SELECT 1"
check "an empty query" complains "the query is empty" sql sound.txtrace " -- nothing"
check "a log that is not there" complains "can't read 'nowhere': there is no such file" sql nowhere "SELECT 1"
check "two formats" complains "--csv and --json exclude each other" sql --csv --json sound.txtrace "SELECT 1"
finish
