# SPDX-License-Identifier: BSD-2-Clause
"""How fast files of other tools become logs."""
import json
import os
import subprocess
import sys

from figures import title
from log_figures import Cost, figure

MAKERS = "tests/cli"
# the maker, the number of what it makes, options of the import
INPUTS = {
    "monad": ("import_monad_files.py", 4_000_000, "events"),
    "perf": ("import_perf_files.py", 1_000_000, "lines"),
}


def records_of(bench, path):
    out = subprocess.run([os.path.join(bench.build, "txtrace"), "info", "--json", path], check=True, capture_output=True, text=True)
    return sum(json.loads(out.stdout)["records"].values())


def imports(bench):
    title("Import, millions of records in a second of CPU (aim: >= 5 where the format allows it)")
    for name, (maker, count, what) in INPUTS.items():
        path, log = os.path.join(bench.scratch, name + ".input"), os.path.join(bench.scratch, name + ".log")
        made = count if what == "events" else count // 2
        subprocess.run([sys.executable, os.path.join(MAKERS, maker), "large", str(made), path], check=True)
        cost = Cost([os.path.join(bench.build, "txtrace"), "import", "-f", name, "-o", log, path], bench.scratch)
        records = records_of(bench, log)
        figure(f"{name}, {count / 1e6:.1f} M {what}, {records / 1e6:.1f} M records", records / cost.cpu / 1e6, "M/s",
               f"{count / cost.cpu / 1e6:.2f} M {what}/s, {os.path.getsize(path) / cost.cpu / 1e6:,.0f} MB/s, {cost.mib:.0f} MiB at most")
        os.remove(path)
        os.remove(log)
