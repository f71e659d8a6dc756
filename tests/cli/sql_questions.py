# SPDX-License-Identifier: BSD-2-Clause
"""
sql_questions.py docs/sql.md LOG...: runs every query of the document on each log. Each has to find something in one of them, and to say the same as another
command of txtrace on all of them; what the document prints has to be the answer of one. TXTRACE names the program.
"""
import datetime
import json
import os
import re
import subprocess
import sys

TXTRACE = os.environ["TXTRACE"]
wrong = []


def text_of(*arguments):
	done = subprocess.run([TXTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
	if done.returncode > 1:
		raise SystemExit(f"{arguments}: {done.stderr.decode()}")
	return done.stdout.decode()


def run(*arguments):
	return json.loads(text_of(*arguments))


def exported(log, kind):
	return [record for record in map(json.loads, text_of("export", "-f", "jsonl", log).splitlines()) if record["type"] == kind]


def table(rows, *names):
	return sorted(([row[name] for name in names] for row in rows), key=str)


def labels(log):
	return [label for label in run("report", "--json", log)["labels"] if label["count"]]


def of_labels(log, rows):
	told = [[row["label"] or None, row["count"], row["wall_ns"]["sum"], row["wall_ns"]["min"], row["wall_ns"]["max"]] for row in labels(log)]
	return table(rows, "label", "spans", "sum_ns", "min_ns", "max_ns"), sorted(told, key=str)


def slowest(log, rows):
	return [row["wall_ns"] for row in rows], [span["wall_ns"] for span in run("spans", "-n", "5", "--json", log)["spans"]]


def split(log, rows):
	told = [[row["label"] or None] + [row["sum"][name] for name in ("work_ns", "on_cpu_ns", "runnable_ns", "blocked_ns")] +
		[row["sum"]["blocked"][name] for name in ("lock", "disk", "network")] for row in labels(log)]
	return table(rows, "label", "work_ns", "on_cpu_ns", "runnable_ns", "blocked_ns", "lock_ns", "disk_ns", "network_ns"), sorted(told, key=str)


def percentile(log, rows):
	told = {row["label"] or None: row["wall_ns"]["p99"] for row in labels(log)}
	far = [row for row in rows if abs(row["p99_ns"] - told[row["label"]]) > 0.005 * told[row["label"]] + 1]
	return [len(rows), far], [len(told), []]


def distribution(log, rows):
	told = []
	for row in run("histogram", "--json", log)["labels"]:
		counts = [0, 0, 0]
		for bucket in row["buckets"]:
			counts[(bucket["from_ns"] >= 500000) + (bucket["from_ns"] >= 1000000)] += bucket["count"]
		if sum(counts):
			told.append([row["label"] or None] + counts)
	return table(rows, "label", "below_500us", "below_1ms", "longer"), sorted(told, key=str)


def reasons(log, rows):
	told = [[row["reason"], row["count"], row["ns"], row["max_ns"]] for row in run("blocked", "--by", "reason", "--json", log)["reasons"]]
	return table(rows, "reason", "waits", "ns", "max_ns"), sorted(told, key=str)


def locks(log, rows):
	told = [[row["pid"], row["address"], row["count"], row["ns"]] for row in run("blocked", "--json", log)["objects"] if row["kind"] == "futex"]
	return table(rows, "pid", "object", "waits", "ns"), sorted(told, key=str)


# Spans that are only in a checkpoint have no row in `spans`.
def blame(log, rows):
	closed = {row["label"] for row in run("sql", "--json", log, "SELECT DISTINCT label FROM spans")}
	told = [[pair["waiter"]["name"], pair["waker"]["name"], pair["count"], pair["ns"]] for pair in run("blame", "-n", "0", "--json", log)["pairs"]
		if pair["waiter"]["kind"] == pair["waker"]["kind"] == "span" and {pair["waiter"]["name"], pair["waker"]["name"]} <= closed]
	return table(rows, "waiter", "waker", "waits", "ns"), sorted(told, key=str)


def threads(log, rows):
	told = [[row["pid"], row["tid"], row["runs"], row["on_cpu_ns"]] for row in run("workers", "-n", "0", "--json", log)["threads"] if row["runs"]]
	return table(rows, "pid", "tid", "runs", "on_cpu_ns"), sorted(told, key=str)


def losses(log, rows):
	told = run("info", "--json", log)["losses"]
	return [rows[0]["records"], rows[0]["span_events"], rows[0]["sched_events"]], [told["records"], told["span_events"], told["sched_events"]]


# What `show` draws of the same span: its blocks, from its begin on.
def waits_of_slowest(log, rows):
	span = run("spans", "-n", "1", "--json", log)["spans"][0]
	shown = run("show", "--json", *(["--keyed"] if span["keyed"] else ["--pid", str(span["pid"])]), log, span["id"])
	told = [[segment["from_ns"] - span["begin_ns"], segment["to_ns"] - segment["from_ns"], segment["reason"]]
		for stay in shown["stays"] for segment in stay["segments"] if segment["state"] == "blocked"]
	return [[row["after_ns"], row["blocked_ns"], row["reason"]] for row in rows], told


def counted(items):
	counts = {}
	for item in items:
		counts[item] = counts.get(item, 0) + 1
	return sorted(([*key, cnt] for key, cnt in counts.items()), key=str)


def roots(log, rows):
	return table(rows, "label", "roots"), counted((span["label"] or None,) for span in exported(log, "span") if span["parent"] == "0")


# Rows of `tree` are paths: the same pair of labels may stand below several. Some parents have no row in `spans`.
def children(log, rows):
	told, tree = {}, {row["row"]: row for row in run("tree", "--json", log)["rows"]}
	for row in tree.values():
		if row["parent_row"] is None or tree[row["parent_row"]]["kind"] != "label" or not row["count"]:
			continue
		pair = told.setdefault((tree[row["parent_row"]]["label"], row["label"]), [0, 0])
		pair[0] += row["count"]
		pair[1] += row["total"]["wall_ns"]
	return table(rows, "parent", "child", "spans", "child_ns"), sorted(([*key, *value] for key, value in told.items()), key=str)


def values(log, rows):
	spans = {}
	for span in exported(log, "span"):
		spans.setdefault((span["pid"], span["id"]), []).append(span["wall_ns"])
	told = {}
	for attribute in exported(log, "attribute"):
		value = int(attribute["value"]) if isinstance(attribute["value"], bool) else attribute["value"]
		told.setdefault((attribute["name"], str(value)), []).extend(spans.get((attribute["pid"], attribute["span"]), []))
	told = [[name, value, len(walls), sum(walls) / len(walls)] for (name, value), walls in told.items() if walls]
	return sorted(([row["name"], str(row["value"]), row["spans"], row["mean_ns"]] for row in rows), key=str), sorted(told, key=str)


def counters(log, rows):
	told = {}
	for counter in exported(log, "counter"):
		told.setdefault(counter["name"], []).append(counter["value"])
	told = [[name, len(samples), min(samples), max(samples), sum(samples) / len(samples)] for name, samples in told.items()]
	return table(rows, "name", "samples", "least", "most", "mean"), sorted(told, key=str)


def names(log, rows):
	told = {(thread["pid"], thread["tid"], thread["comm"]) for thread in exported(log, "thread") if thread["comm"]}
	return table(rows, "pid", "tid", "comm"), sorted((list(thread) for thread in told), key=str)


def window(log, rows):
	lines = text_of("dump", "-k", "span", "--to", "3s", log).splitlines()
	told = [[int(re.search(rf" {name}=(\d+)", line)[1]) for name in ("id", "begin_ns", "end_ns")] for line in lines]
	return [[int(row["id"]), row["begin_ns"], row["end_ns"]] for row in rows], told


def tenths(log, rows):
	return table(rows, "tenth", "label", "spans"), counted((span["end_ns"] // 10**8, span["label"] or None) for span in exported(log, "span"))


def wall_clock(log, rows):
	told = run("spans", "-n", "1", "--json", log)
	capture, span = told["capture"], told["spans"][0]
	realtime_ns = capture["start_realtime_ns"] + span["begin_ns"] - capture["start_monotonic_ns"]
	began = datetime.datetime.fromtimestamp(realtime_ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
	return [[row["label"], row["wall_ns"], row["began"]] for row in rows], [[span["label"], span["wall_ns"], began]]


def departures(log, rows):
	told = {}
	for stay in exported(log, "run"):
		told.setdefault(stay["left_as"], []).append(stay["end_ns"] - stay["begin_ns"])
	told = [[left_as, len(ns), round(sum(ns) / len(ns), 3)] for left_as, ns in told.items()]
	return sorted(([row["left_as"], row["runs"], round(row["mean_ns"], 3)] for row in rows), key=str), sorted(told, key=str)


ALSO = [of_labels, slowest, split, percentile, distribution, reasons, locks, blame, waits_of_slowest, roots, children, values, counters, names, threads, window, tenths,
	losses, wall_clock, departures]

with open(sys.argv[1], encoding="utf-8") as document:
	questions = re.findall(r"^### (\d+)\. ([^\n]+)$\n\n```sql\n(.*?)```\n\n```text\n(.*?)```", document.read(), re.M | re.S)
if [int(number) for number, *_ in questions] != list(range(1, len(ALSO) + 1)):
	wrong.append(f"the questions are {[number for number, *_ in questions]}")
for (number, question, query, printed), also in zip(questions, ALSO):
	found, is_printed = 0, False
	for log in sys.argv[2:]:
		rows = run("sql", "--json", log, query)
		found += len(rows)
		is_printed = is_printed or text_of("sql", log, query) == printed
		if not rows:
			continue
		said, told = also(log, rows)
		if said != told:
			wrong.append(f"{number}. {question} In {os.path.basename(log)}: {said}\n  but the command says {told}")
	if not found:
		wrong.append(f"{number}. {question} Nothing was found")
	if not is_printed:
		wrong.append(f"{number}. {question} No log has the answer that the document prints")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
