# SPDX-License-Identifier: BSD-2-Clause
"""How fast a log goes out in other formats, and how fast other formats come in."""
import os
import shutil
import subprocess
import sys

from figures import title
from log_figures import Cost, captures, figure, info

MEGABYTES = 20
FORMATS = ("jsonl", "perfetto", "chrome", "ctf", "pprof", "speedscope", "csv", "ftr", "ftr-lz4", "ftr-text", "fvm")
# format, script that makes a large file of it, with so many of what it counts
INPUTS = (("ftr", "tests/cli/ftr_files.py", 500_000), ("fvm", "tests/cli/fvm_files.py", 1_000_000))


def export(bench):
    title("Export of a long log, millions of records in a second of CPU (aim: >= 5 where the format allows it)")
    path = captures(bench)[1].repeat("exports", "--megabytes", str(MEGABYTES))
    records = sum(info(bench, path)["records"].values())
    for name in FORMATS:
        out = os.path.join(bench.scratch, "exported")
        cost = Cost([os.path.join(bench.build, "txtrace"), "export", "-f", name, "-o", out, path], bench.scratch)
        size = sum(entry.stat().st_size for entry in os.scandir(out)) if os.path.isdir(out) else os.path.getsize(out)
        figure(f"{name}, {records / 1e6:.1f} M records", records / cost.cpu / 1e6, "M/s",
               f"{cost.wall:.2f} s, {cost.mib:.0f} MiB at most; {size / 1e6:,.1f} MB")
        shutil.rmtree(out) if os.path.isdir(out) else os.remove(out)
    os.remove(path)
    imports(bench)


def imports(bench):
    title("Import of long files, millions of records in a second of CPU (aim: >= 5 where the format allows it)")
    for name, script, count in INPUTS:
        path, log = os.path.join(bench.scratch, "large"), os.path.join(bench.scratch, "imported.txtrace")
        subprocess.run([sys.executable, script, "large", str(count), path], check=True)
        cost = Cost([os.path.join(bench.build, "txtrace"), "import", "-f", name, "-o", log, path], bench.scratch)
        records = sum(info(bench, log)["records"].values())
        figure(f"{name}, {records / 1e6:.1f} M records", records / cost.cpu / 1e6, "M/s",
               f"{cost.wall:.2f} s, {cost.mib:.0f} MiB at most; {os.path.getsize(path) / 1e6:,.1f} MB")
        os.remove(path)
        os.remove(log)
