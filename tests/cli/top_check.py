# SPDX-License-Identifier: BSD-2-Clause
"""The pages of `txtrace top` against `txtrace report` of the same seconds.

top_check.py random SEED             text for make_log: 75 s, five labels, spans with random ledgers
top_check.py compare TXTRACE LOG     prints what differs; exit status 1 if anything does
"""
import json
import random
import re
import subprocess
import sys

SECOND = 1_000_000_000
PARTS = ("on_cpu_ns", "runnable_ns", "lock_ns", "disk_ns", "network_ns", "sleep_ns", "detached_ns")
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def make(seed):
    rng = random.Random(int(seed))
    ends = sorted(rng.randrange(SECOND, 75 * SECOND) for _ in range(3000))
    print('header pid=10 cpus=1 command="random" start_monotonic_ns=0')
    for number, end in enumerate(ends, 1):
        wall = rng.randrange(1, SECOND // 2) if rng.random() < 0.5 else rng.randrange(1, 1000)
        cuts = sorted(rng.randrange(wall + 1) for _ in PARTS[1:])
        parts = [b - a for a, b in zip([0, *cuts], [*cuts, wall])]
        flags = " flags=lower_bound" if rng.random() < 0.05 else ""
        print(f'span begin_ns={end - wall} end_ns={end} pid=10 tid=11 end_tid=11 id={number} label="{rng.choice("abcde")}" work_ns={wall} ' +
              " ".join(f"{name}={ns}" for name, ns in zip(PARTS, parts)) + flags)
    print(f"summary time_ns={ends[-1]} sent_cnt=1 received_cnt=1")


def run(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def rows_of(page):
    """label: (spans a second, open, p50 in ns, p99 in ns); the numbers as they are printed, three digits."""
    rows = {}
    for line in page.splitlines():
        match = re.match(r"([a-e])  +([\d.,]+)  +(\d+)  +([\d.]+) (\S+)  +([\d.]+) (\S+)", line)
        if match:
            rows[match[1]] = (float(match[2].replace(",", "")), float(match[4]) * UNITS[match[5]], float(match[6]) * UNITS[match[7]])
    return rows


def is_near(shown, exact, relative):
    return abs(shown - exact) <= relative * max(shown, exact) + 1


def compare(txtrace, log):
    wrong = []
    end = int(json.loads(run(txtrace, "info", "--json", log))["range"]["last_ns"]) // SECOND + 1
    for window in 1, 10, 60:
        rows = rows_of(run(txtrace, "top", "--batch", "1", "-w", str(window), log))
        report = json.loads(run(txtrace, "report", "--json", "--from", f"{(end - window) * SECOND}abs", "--to", f"{end * SECOND}abs", log))
        labels = {row["label"]: row for row in report["labels"] if row["label"]}
        if set(rows) != set(labels):
            wrong.append(f"{window} s: rows {sorted(rows)}, not {sorted(labels)}")
        for label, row in labels.items():
            cnt = row["count"] + (row["lower_bounds"]["count"] if row["lower_bounds"] else 0)
            wanted = (cnt / window, row["wall_ns"]["p50"], row["wall_ns"]["p99"])
            shown = rows.get(label, (0, 0, 0))
            # printed with three digits; quantiles are within 0.4 %
            if not is_near(shown[0] * window, cnt, 0.006) or not all(is_near(s, w, 0.012) for s, w in zip(shown[1:], wanted[1:])):
                wrong.append(f"{window} s, {label}: {shown}, not {wanted}")
    print("\n".join(wrong))
    return bool(wrong)


if sys.argv[1] == "random":
    make(sys.argv[2])
else:
    sys.exit(compare(*sys.argv[2:]))
