#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
sql_questions.py docs/sql.md LOG...: runs every query of the document on each log. Each has to find something in one of them, and what another command answers,
too, has to be the same. TXTRACE names the program.
"""
import json
import os
import re
import subprocess
import sys

TXTRACE = os.environ["TXTRACE"]
wrong = []


def run(*arguments):
	done = subprocess.run([TXTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
	if done.returncode > 1:
		raise SystemExit(f"{arguments}: {done.stderr.decode()}")
	return json.loads(done.stdout)


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


ALSO = {1: of_labels, 2: slowest, 3: split, 4: percentile, 5: distribution, 6: reasons, 7: locks, 8: blame, 15: threads, 18: losses}

with open(sys.argv[1], encoding="utf-8") as document:
	questions = re.findall(r"^### (\d+)\. ([^\n]+)$\n\n```sql\n(.*?)```", document.read(), re.M | re.S)
if [int(number) for number, _, _ in questions] != list(range(1, 21)):
	wrong.append(f"the questions are {[number for number, _, _ in questions]}")
for number, question, query in questions:
	found, compared = 0, 0
	for log in sys.argv[2:]:
		rows = run("sql", "--json", log, query)
		found += len(rows)
		if int(number) in ALSO and rows:
			said, told = ALSO[int(number)](log, rows)
			compared += 1
			if said != told:
				wrong.append(f"{number}. {question} In {os.path.basename(log)}: {said}\n  but the command says {told}")
	if not found or (int(number) in ALSO and not compared):
		wrong.append(f"{number}. {question} Nothing was found")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
