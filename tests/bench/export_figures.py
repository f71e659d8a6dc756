# SPDX-License-Identifier: BSD-2-Clause
"""How fast a log goes out in other formats, and how fast other formats come in."""
import os
import shutil
import subprocess
import sys

from figures import title
from log_figures import Cost, captures, figure, info

MEGABYTES = 20
FORMATS = ("jsonl", "perfetto", "chrome", "ctf", "pprof", "speedscope", "firefox", "csv", "ftr", "ftr-lz4", "ftr-text", "fvm", "otlp", "otlp-json", "sqlite")
# Of an imported format: the script that makes a large file, what it counts, how many records of its own the file has for each of these, and the
# formats that it is exported to again
IMPORTS = {
    "sui": ("import_sui_files.py", 2_000_000, 2, ("sui", "sui-files")),
    "tokio": ("import_tokio_files.py", 2_000_000, 1, ("tokio6",)),
    "ftr": ("ftr_files.py", 500_000, 1, ("ftr",)),
    "fvm": ("fvm_files.py", 1_000_000, 1, ("fvm",)),
    "monad": ("import_monad_files.py", 4_000_000, 1, ()),
    "perf": ("import_perf_files.py", 500_000, 2, ()),
}


def size_of(path):
    return sum(entry.stat().st_size for entry in os.scandir(path)) if os.path.isdir(path) else os.path.getsize(path)


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def go_out(bench, name, path, records, what):
    out = os.path.join(bench.scratch, "exported")
    cost = Cost([os.path.join(bench.build, "txtrace"), "export", "-f", name, "-o", out, path], bench.scratch)
    figure(f"{name}, {records / 1e6:.1f} M {what}", records / cost.cpu / 1e6, "M/s",
           f"{cost.wall:.2f} s, {cost.mib:.0f} MiB at most; {size_of(out) / 1e6:,.1f} MB")
    remove(out)


def come_in(bench, name):
    script, count, each, formats = IMPORTS[name]
    records = count * each
    source, log = (os.path.join(bench.scratch, "imported." + end) for end in ("bin", "txtrace"))
    subprocess.run([sys.executable, os.path.join("tests/cli", script), "large", str(count), source], check=True)
    cost = Cost([os.path.join(bench.build, "txtrace"), "import", "-f", name, "-o", log, source], bench.scratch)
    in_log = sum(info(bench, log)["records"].values())
    figure(f"import {name}, {records / 1e6:.1f} M records", records / cost.cpu / 1e6, "M/s",
           f"{in_log / cost.cpu / 1e6:.2f} M/s of the {in_log / 1e6:.1f} M that are in the log; {cost.wall:.2f} s, {cost.mib:.0f} MiB at most")
    for form in formats:
        go_out(bench, form, log, records, "records of the file")
    remove(source)
    remove(log)


def export(bench):
    title("Export of a long log, millions of records in a second of CPU (aim: >= 5 where the format allows it)")
    path = captures(bench)[1].repeat("exports", "--megabytes", str(MEGABYTES))
    records = sum(info(bench, path)["records"].values())
    for name in FORMATS:
        go_out(bench, name, path, records, "records")
    os.remove(path)


def imports(bench):
    title("Import, and export of what was imported, millions of the file's records in a second of CPU (aim: >= 5)")
    for name in IMPORTS:
        come_in(bench, name)
