# SPDX-License-Identifier: BSD-2-Clause
"""
What `txtrace sql` says of a log, against what other commands say of it.

sql_check.py records LOG      every table, row by row, against `export --format jsonl`
sql_check.py constraints LOG  each constraint that a scan looks at, against the same one that only SQLite looks at
sql_check.py sums LOG         groups and sums, against `report --json` and `blocked --json`
sql_check.py groups LOG       GROUP BY of a scan that puts rows together, against SQLite's own
sql_check.py joins LOG        a join over ids, against the same one in Python
sql_check.py database LOG     every table of `export --format sqlite`, against the same one of `txtrace sql`

TXTRACE names the program. What differs is printed, and the exit status is 1.
"""
import json
import math
import os
import sqlite3
import subprocess
import sys

TXTRACE = os.environ["TXTRACE"]
PLURALS = {"wake": "wakeups", "process": "processes", "loss": "losses", "frames": "frames", "dropped": "dropped", "summary": "summaries"}
IDS = {"id", "parent", "span", "waker_span", "from", "to"}
# A number that says that nothing is known, or that there is nothing: NULL in SQL.
UNKNOWN_BY_0 = {
	"end_tid", "idle_ns", "waker_tid", "waker_pid", "parent_pid", "inner_pid", "start_ns", "entry_ps", "empty_run_ps", "idle_run_ps", "moved_tid", "moved_pid",
	"calibration_cnt", "cpu_ns", "ring_bytes", "log_bytes",
}
BYTES = {"label", "tag", "comm", "waker_comm", "name", "exe", "command", "container", "pod", "names", "event", "rule"}
wrong = 0


def complain(text):
	global wrong
	wrong += 1
	if wrong < 20:
		print(text)


def run(*arguments):
	done = subprocess.run([TXTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
	if done.returncode > 1:
		raise SystemExit(f"{arguments}: {done.returncode} {done.stderr.decode()}")
	return done.stdout.decode()


def ask(log, query):
	return json.loads(run("sql", "--json", log, query))


# What SQL says where JSON Lines says this.
def wanted(kind, name, value):
	if isinstance(value, bool):
		return int(value)
	if name in IDS and value == "0":
		return None
	if name in UNKNOWN_BY_0 and value == 0 and kind not in ("run", "other_run") or (name in ("idle_ns", "moved_tid", "moved_pid") and value == 0):
		return None
	if kind == "trigger" and name in ("pid", "tid", "wall_ns") and value == 0:
		return None
	if name == "reasons":
		return ",".join(value) or None
	if name == "cpu" and value == 65535:
		return None
	if name in BYTES and value == "":
		return None
	if isinstance(value, int) and value > 2**63 - 1:
		return str(value) if (kind, name) == ("attribute", "value") else float(value)
	return value


def compare_row(kind, number, record, row):
	for name, value in record.items():
		if name == "blocked" and isinstance(value, dict):
			for reason, ns in value.items():
				if row[f"{reason}_ns"] != wanted(kind, "ns", ns):
					complain(f"{kind} {number}: {reason}_ns is {row[f'{reason}_ns']}, not {ns}")
			continue
		if name == "key":
			continue # bytes; JSON Lines has them in hexadecimal digits
		if name in row and row[name] != wanted(kind, name, value):
			complain(f"{kind} {number}: {name} is {row[name]!r}, not {value!r}")
		if name not in row and name not in ("type", "key_text", "records") and not name.endswith("_hex"):
			complain(f"{kind}: there is no column {name}")


def records(log):
	by_kind = {}
	for line in run("export", "-f", "jsonl", log).splitlines():
		record = json.loads(line)
		by_kind.setdefault(record["type"], []).append(record)
	compared = 0
	for kind, all_of in by_kind.items():
		if kind in ("header", "summary", "overlap", "continued"):
			continue
		rows = ask(log, f"SELECT * FROM {PLURALS.get(kind, kind + 's')}")
		if len(rows) != len(all_of):
			complain(f"{kind}: {len(rows)} rows, not {len(all_of)}")
		for number, (record, row) in enumerate(zip(all_of, rows)):
			compare_row(kind, number, record, row)
			compared += 1
	keys = [span.get("key", "") for span in by_kind.get("span", [])]
	if [row["key"].lower() for row in ask(log, "SELECT hex(key) AS key FROM spans")] != keys:
		complain("the keys of spans differ")
	if compared == 0:
		complain("nothing was compared")


# The rows of each query, by one process.
def ask_all(log, queries):
	text, decoder, answers, at = run("sql", "--json", log, "; ".join(queries)), json.JSONDecoder(), [], 0
	while len(answers) < len(queries):
		rows, at = decoder.raw_decode(text, at)
		answers.append(rows)
		at += 1 # the line's end
	return answers


def literals(rows, column):
	values = sorted({row[column] for row in rows if isinstance(row[column], (int, str))}, key=str)
	for value in values[:: max(1, len(values) // 4)]:
		if isinstance(value, int) or "\0" not in value:
			yield str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


# A `+` in front of a column keeps a constraint from the scan.
def constraints(log):
	matched = 0
	for table, columns in {
		"spans": ["id", "pid", "tid", "label", "begin_ns", "end_ns", "parent", "wall_ns", "end_tid", "key"],
		"runs": ["pid", "tid", "begin_ns", "end_ns", "blocked_ns", "reason"],
		"wakeups": ["time_ns", "pid", "span"],
		"blocks": ["pid", "tid", "reason", "begin_ns", "end_ns", "object"],
	}.items():
		rows = ask(log, f"SELECT * FROM {table}")
		wheres = [f"{column} {operator} {literal}" for column in columns for literal in literals(rows, column) for operator in ("=", "<", "<=", ">", ">=", "<>")]
		queries = [f"SELECT * FROM {table} WHERE {plus}{where}" for where in wheres for plus in ("", "+")]
		answers = ask_all(log, queries) if queries else []
		for query, scanned, all_of in zip(queries[::2], answers[::2], answers[1::2]):
			matched += len(scanned)
			if scanned != all_of:
				complain(f"{query}: {len(scanned)} rows, not {len(all_of)}")
	if matched == 0:
		complain("no constraint matched a row")


def sums(log):
	rows = ask(log, "SELECT label, count(*) AS cnt, sum(wall_ns) AS ns, max(wall_ns) AS most FROM spans WHERE NOT lower_bound GROUP BY label")
	found = {row["label"] or "": (row["cnt"], row["ns"], row["most"]) for row in rows}
	report = json.loads(run("report", "--json", log))
	told = {row["label"]: (row["count"], row["wall_ns"]["sum"], row["wall_ns"]["max"]) for row in report["labels"] if row["count"]}
	if found != told:
		complain(f"labels: {found}, not {told}")
	rows = ask(log, "SELECT coalesce(reason, 'unknown') AS reason, count(*) AS cnt, sum(blocked_ns) AS ns, max(blocked_ns) AS most FROM blocks GROUP BY 1")
	found = {row["reason"]: (row["cnt"], row["ns"], row["most"]) for row in rows}
	blocked = json.loads(run("blocked", "--by", "reason", "--json", log))
	told = {row["reason"]: (row["count"], row["ns"], row["max_ns"]) for row in blocked["reasons"]}
	if found != told:
		complain(f"reasons: {found}, not {told}")
	if not report["labels"]:
		complain("there is no label")


# A `+` in front of a column leaves the grouping to SQLite.
def groups(log):
	found = 0
	for table, keys, number in (("spans", ("label",), "wall_ns"), ("spans", ("pid", "label"), "lock_ns"), ("spans", ("tag", "lower_bound", "parent"), "begin_ns"),
			("spans", ("id",), "end_ns"), ("spans", ("end_ns",), "begin_ns"), ("runs", ("left_as", "cpu"), "end_ns"), ("wakeups", ("waker_comm",), "time_ns")):
		for order in ("", f"ORDER BY {', '.join(keys)}", f"ORDER BY {keys[0]} DESC", "ORDER BY ns DESC, cnt", f"HAVING cnt > 1 ORDER BY {keys[-1]}"):
			queries = [f"SELECT {', '.join(keys)}, count(*) AS cnt, total({number}) AS ns, min({number}) AS least, max({number}) AS most FROM {table} "
				f"GROUP BY {', '.join(plus + key for key in keys)} {order}" for plus in ("", "+")]
			together, sorted_first = ask_all(log, queries)
			found += len(together)
			if not order or order.endswith("cnt"):
				together, sorted_first = (sorted(rows, key=str) for rows in (together, sorted_first))
			if keys[1:] and "cnt" not in order and order:
				# rows that are equal by what they are sorted by may come in any order
				together, sorted_first = (sorted(rows, key=lambda row: str([row[key] for key in keys])) for rows in (together, sorted_first))
			if together != sorted_first:
				complain(f"{queries[0]}: {together[:3]}, not {sorted_first[:3]}")
	plan = str(ask(log, "EXPLAIN QUERY PLAN SELECT label, count(*) FROM spans GROUP BY label"))
	if "B-TREE" in plan or not found:
		complain(f"nothing was put together: {plan}")


def joins(log):
	spans = ask(log, "SELECT pid, id, parent, label FROM spans WHERE NOT keyed AND NOT parent_keyed")
	by_id = {}
	for span in spans:
		by_id.setdefault((span["pid"], span["id"]), []).append(span)
	told = sorted((span["id"], parent["id"], parent["label"] or "") for span in spans for parent in by_id.get((span["pid"], span["parent"]), []))
	rows = ask(log, "SELECT s.id AS id, p.id AS parent, p.label AS label FROM spans s JOIN spans p ON p.pid = s.pid AND p.id = s.parent "
		"WHERE NOT s.keyed AND NOT s.parent_keyed AND NOT p.keyed AND NOT p.parent_keyed")
	found = sorted((row["id"], row["parent"], row["label"] or "") for row in rows)
	if found != told or not told:
		complain(f"parents: {len(found)} rows, not {len(told)}")
	# Overlap in time has no equality: each scan asks for a range.
	found = ask(log, "SELECT count(*) AS cnt FROM spans s JOIN wakeups w ON w.time_ns BETWEEN s.begin_ns AND s.end_ns")[0]["cnt"]
	wakes = [row["time_ns"] for row in ask(log, "SELECT time_ns FROM wakeups")]
	told = sum(span["begin_ns"] <= time <= span["end_ns"] for span in ask(log, "SELECT begin_ns, end_ns FROM spans") for time in wakes)
	if found != told:
		complain(f"wakes within spans: {found}, not {told}")


# The file holds what the queries find, but for the number of the capture.
def database(log):
	path = log + ".db"
	run("export", "-f", "sqlite", "-o", path, log)
	with sqlite3.connect(path) as opened:
		opened.text_factory = lambda text: text.decode(errors="replace")
		opened.row_factory = sqlite3.Row
		if opened.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
			complain("the file is not sound")
		tables = [row[0] for row in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
		if len(tables) < 20:
			complain(f"there are only the tables {tables}")
		for table in tables:
			stored = [dict(row) for row in opened.execute(f"SELECT * FROM {table}")]
			asked = ask(log, f"SELECT * FROM {table}")
			for row in asked:
				if table != "captures":
					row.pop("capture", None)
			# JSON has no number for infinities
			stored = [{name: {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, value) for name, value in row.items()} for row in stored]
			if stored != asked:
				complain(f"{table}: {stored[:3]}, not {asked[:3]}")


{"database": database, "records": records, "constraints": constraints, "groups": groups, "sums": sums, "joins": joins}[sys.argv[1]](sys.argv[2])
sys.exit(1 if wrong else 0)
