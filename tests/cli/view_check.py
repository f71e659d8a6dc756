# SPDX-License-Identifier: BSD-2-Clause
"""view_check.py compare TXTRACE LOG PAGE: what a page holds, against the records of the log and the report.
view_check.py document PAGE: prints what it holds.
view_check.py random SEED: a log for make_log: spans, and stays of threads with the waits before them.
"""
import base64
import gzip
import json
import random
import re
import subprocess
import sys

PARTS = ["on_cpu", "runnable", "lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "throttled", "poll", "detached", "unknown", "interrupt", "stolen"]
REASONS = PARTS[2:13]
FIRST_BLOCKED = 3


def read_document(path):
	with open(path, encoding="utf-8") as opened:
		page = opened.read()
	held = re.findall(r'<script type="application/gzip" id="data">([A-Za-z0-9+/=]*)</script>', page)
	assert len(held) == 1, f"{path} has {len(held)} documents"
	return json.loads(gzip.decompress(base64.b64decode(held[0], validate=True)))


def records_of(txtrace, log):
	out = subprocess.run([txtrace, "export", "--format", "jsonl", log], capture_output=True, text=True, check=False).stdout
	return [json.loads(line) for line in out.splitlines()]


def same(what, got, wanted):
	if got != wanted:
		sys.exit(f"{what}: {got}, not {wanted}")


def ledger_of(span):
	parts = {0: span["on_cpu_ns"], 1: span["runnable_ns"], 13: span["detached_ns"], 14: span["unknown_ns"], 15: span.get("interrupt_ns", 0), 16: span.get("stolen_ns", 0)}
	for reason, ns in span["blocked"].items():
		parts[2 + REASONS.index(reason.removesuffix("_ns"))] = ns
	return {part: ns for part, ns in parts.items() if ns}


def check_spans(page, records):
	spans = page["spans"]
	wanted = [span for span in records if span["type"] == "span"]
	same("all spans", spans["all"], len(wanted))
	kept = [span for span in wanted if max(span["end_ns"] - span["begin_ns"], 0) >= spans["least_ns"]]
	same("spans", len(spans["begin"]), len(kept))
	begin_ns = int(page["begin_ns"])
	for i, span in enumerate(kept):
		same(f"begin of span {i}", (begin_ns + spans["begin"][i]) % 2**64, span["begin_ns"])
		same(f"work of span {i}", spans["work"][i], span["work_ns"])
		same(f"id of span {i}", int(spans["id"][i]), int(span["id"]))
		listed = spans["parts"][i]
		same(f"ledger of span {i}", dict(zip(listed[::2], listed[1::2])), ledger_of(span))
		if len(span["label"].encode()) < 256:
			same(f"label of span {i}", page["strings"][spans["label"][i]] if spans["label"][i] >= 0 else "", span["label"])


def check_segments(page, records):
	"""All that is too short to be here one by one, and all else, is in the sums."""
	segments = page["segments"]
	runs = [run for run in records if run["type"] == "run" and run["end_ns"] > run["begin_ns"]]
	long_runs = [run for run in runs if run["end_ns"] - run["begin_ns"] >= segments["least_ns"]]
	on_cpu = [i for i, state in enumerate(segments["state"]) if state == 0]
	same("stays on a CPU", len(on_cpu), len(long_runs))
	same("their time", sum(segments["length"][i] for i in on_cpu), sum(run["end_ns"] - run["begin_ns"] for run in long_runs))
	sums = {}
	for cells in page["grid"]["threads"]:
		for state, ns in zip(cells[1::3], cells[2::3]):
			sums[state] = sums.get(state, 0) + ns
	same("on-CPU and stolen of all threads", sums.get(0, 0) + sums.get(1, 0), sum(run["end_ns"] - run["begin_ns"] for run in runs))
	same("stolen of all threads", sums.get(1, 0), sum(min(run.get("stolen_ns", 0), run["end_ns"] - run["begin_ns"]) for run in runs))
	return sums


def check_stays(page, records):
	wanted = [(int(stay["span"]), stay["enter_ns"], max(stay["exit_ns"] - stay["enter_ns"], 0)) for stay in records if stay["type"] == "stay"]
	wanted = [stay for stay in wanted if stay[2] >= page["stays"]["least_ns"]]
	stays = page["stays"]
	got = [(int(span), (int(page["begin_ns"]) + enter) % 2**64, length) for span, enter, length in zip(stays["span"], stays["enter"], stays["length"])]
	same("stays in spans", got, wanted)


def check_marks(page, records):
	"""What the program said of spans that are in the page."""
	kept = set(zip(page["spans"]["pid"], map(int, page["spans"]["id"])))
	said = [(record["pid"], int(record["from"] if record["type"] == "link" else record["span"]), record["time_ns"]) for record in records if record["type"] in ("attribute", "instant", "link")]
	marks = page["marks"]
	got = [(pid, int(span), (int(page["begin_ns"]) + time) % 2**64) for pid, span, time in zip(marks["pid"], marks["span"], marks["time"])]
	same("attributes, instants and links", got, [mark for mark in said if mark[1] and mark[:2] in kept])


def check_neighbours(page, txtrace, log):
	said = json.loads(subprocess.run([txtrace, "neighbours", "--json", "--by", "label", log], capture_output=True, text=True, check=False).stdout)
	rows = [row for row in said["rows"][:100] if row["runnable_ns"]]
	for row in rows:
		row["neighbours"] = row["neighbours"][:20]
	same("neighbours", page["neighbours"], rows)


def check_flames(page, txtrace, log):
	"""What each frame has of its own, as folded stacks have it."""
	options = {"all time": [], "on-CPU": ["--weight", "on-cpu"], "blocked": ["--weight", "blocked"], "on-CPU, with code": ["--stacks", "on-cpu"], "blocked, with code": ["--stacks", "off-cpu"]}
	for flame in page["flames"]:
		folded = subprocess.run([txtrace, "flame", "--folded", *options[flame["title"]], log], capture_output=True, text=True, check=False).stdout
		wanted = sorted(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
		same(f"flame graph: {flame['title']}", sorted(row[3] for row in flame["rows"] if row[3]), wanted)
		same(f"its total: {flame['title']}", flame["total_ns"], min(sum(wanted), 2**64 - 1))
	code = {f"{name}, with code" for name, what in (("on-CPU", "on_cpu"), ("blocked", "off_cpu")) if any(record["type"] == "stack" and record["what"] == what for record in records_of(txtrace, log))}
	same("flame graphs with code", {flame["title"] for flame in page["flames"] if "code" in flame["title"]}, code)


def check_grid(page, records):
	exact = [span for span in records if span["type"] == "span" and not span["lower_bound"]]
	grids = page["grid"]["labels"]
	same("spans in the buckets", sum(bucket[1] for grid in grids for bucket in grid["buckets"]), len(exact))
	same("spans in the heat map", sum(cnt for grid in grids for cnt in grid["heat"][2::3]), len(exact))
	same("work in the buckets", sum(bucket[4] for grid in grids for bucket in grid["buckets"]), sum(span["work_ns"] for span in exact))
	wanted, names = {}, {grid["label"] for grid in grids if not grid["is_rest"]}
	for span in exact:
		label = span["label"] or None
		since = max(span["end_ns"] - int(page["begin_ns"]), 0)
		key = (label if label in names else "", since // page["grid"]["width_ns"], bin_of(max(span["end_ns"] - span["begin_ns"], 0)))
		wanted[key] = wanted.get(key, 0) + 1
	got = {}
	for grid in grids:
		for bucket, number, cnt in zip(grid["heat"][::3], grid["heat"][1::3], grid["heat"][2::3]):
			got["" if grid["is_rest"] else grid["label"], bucket, number] = cnt
	same("the heat map", got, wanted)


def bin_of(wall_ns):
	"""Two for each power of two: up to 1.5 times it, and up to twice."""
	number, edge = 0, 256
	while number < 79 and wall_ns >= (edge * 3 // 2 if number % 2 == 0 else edge * 2):
		edge *= 2 if number % 2 else 1
		number += 1
	return number


def compare(txtrace, log, path):
	page = read_document(path)
	records = records_of(txtrace, log)
	report = json.loads(subprocess.run([txtrace, "report", "--json", log], capture_output=True, text=True, check=False).stdout)
	same("the report", page["report"]["labels"], report["labels"][:1000])
	same("its totals", page["report"]["totals"], report["totals"])
	same("its losses", page["losses"], report["losses"])
	same("its capture", page["capture"], report["capture"])
	check_spans(page, records)
	check_segments(page, records)
	check_stays(page, records)
	check_grid(page, records)
	check_marks(page, records)
	check_neighbours(page, txtrace, log)
	check_flames(page, txtrace, log)


def random_log(seed):
	"""Threads that wake each other while they run, or that timers wake; and spans that they are in, nested or across each other."""
	rng = random.Random(seed)
	start = 1000000000
	print(f'header pid=10 cpus=4 start_monotonic_ns={start} start_realtime_ns=1700000000000000000 host="h" kernel="6.18.0 x86_64" command="shop"')
	now = {tid: start + rng.randrange(1000000) for tid in range(11, 15)}
	last, events = {}, []
	for tid, time in now.items():
		events.append((time, f'thread time_ns={time} pid=10 tid={tid} comm="worker-{tid}"'))
	for number in range(400):
		tid = min(now, key=lambda other: now[other]) if rng.random() < 0.7 else rng.choice(list(now))
		runnable, blocked, woken = rng.choice([0, rng.randrange(1, 100000)]), 0, ""
		ready = now[tid]
		wakers = [other for other in last if other != tid and last[other][1] > ready]
		if wakers and rng.random() < 0.8:
			waker = rng.choice(wakers)
			ready = rng.randrange(max(ready, last[waker][0]) + 1, last[waker][1] + 1)
			woken = f"waker_pid=10 waker_tid={waker} cpu=0"
		elif rng.random() < 0.5:
			ready += rng.randrange(1, 5000000)
			woken = "flags=interrupt,timer cpu=1"
		blocked = ready - now[tid]
		begin = ready + runnable
		end = begin + rng.randrange(1, 3000000)
		stolen = rng.choice([0, 0, (end - begin) // 3])
		if blocked:
			events.append((ready, f"wake time_ns={ready} pid=10 tid={tid} {woken}"))
		events.append((end, f'run pid=10 tid={tid} cpu={number % 4} begin_ns={begin} end_ns={end} blocked_ns={blocked} runnable_ns={runnable} stolen_ns={stolen} left_as={rng.choice(["blocked", "preempted"])} reason={rng.choice(REASONS)} syscall_nr=-1'))
		now[tid], last[tid] = end, (begin, end)
		length = min(rng.choice([rng.randrange(1, 20000000), rng.randrange(1, 2000000)]), end - start - 1 - number) # no two begin at once
		on_cpu = rng.randrange(length + 1)
		label = rng.choice(["order", "payment", "ship"])
		events.append((end, f'span id={number + 1} pid=10 tid={tid} end_tid={tid} begin_ns={end - length} end_ns={end} work_ns={length} on_cpu_ns={on_cpu} lock_ns={length - on_cpu} label="{label}" tag="shard={number % 3}"'))
	for _, line in sorted(events, key=lambda event: event[0]):
		print(line)
	print(f"summary time_ns={max(now.values())}")


if sys.argv[1] == "compare":
	compare(*sys.argv[2:])
elif sys.argv[1] == "random":
	random_log(int(sys.argv[2]))
else:
	print(json.dumps(read_document(sys.argv[2]), indent=1))
