# SPDX-License-Identifier: BSD-2-Clause
"""Python by the preset: its collections, which it times itself, and the modules that it imports."""
import json
import subprocess

from trial_table import quantiles

COLLECTIONS = 200
SCRIPT = """
import gc, json, os, sys, time
gc.disable()
times, begins = [], []
def watch(phase, info):
    if phase == "start":
        begins.append(time.perf_counter_ns())
    else:
        times.append(time.perf_counter_ns() - begins.pop())
kept = [[i] for i in range(20000)]
print("ready", flush=True)
sys.stdin.readline()
gc.callbacks.append(watch)
freed = 0
for number in range(%d):
    for _ in range(10):
        cycle = []
        cycle.append(cycle)
        del cycle
    freed += gc.collect()
del gc.callbacks[:]
asked = []
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        asked.append(name)
sys.meta_path.insert(0, Finder)
import decimal, csv, configparser
print(json.dumps({"times": times, "freed": freed, "imports": len(asked)}), flush=True)
os._exit(0)  # without the collections of its end
""" % COLLECTIONS


def trial(bench):
    table = bench.table
    table.title("Python, collections and imports, --preset python")
    with subprocess.Popen(["/usr/bin/python3", "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        with bench.record("python", "-p", str(process.pid), "--preset", "python") as recording:
            process.stdin.write("go\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            process.wait()
            recording.wait()
    labels = {row["label"]: row["count"] for row in recording.read("report")["labels"]}
    spans = recording.spans("gc")
    table.row("collections", len(spans), len(said["times"]), "count", "gc.callbacks", must_equal=True)
    freed = sum(int(tag.partition("freed=")[2] or 0) for tag in (span["tag"] for span in spans))
    table.row("  objects freed", freed, said["freed"], "count", "what gc.collect() returned", must_equal=True)
    quantiles(table, "gc", [span["wall_ns"] for span in spans], said["times"], "gc.callbacks, perf_counter")
    table.row("imports", labels.get("import", 0), said["imports"], "count", "sys.meta_path, asked for each module that is not loaded", must_equal=True)
    bench.losses(recording)
