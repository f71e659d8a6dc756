# SPDX-License-Identifier: BSD-2-Clause
"""The SQLite shell: inserts that are on the disk before the next one, by functions of its library."""
import os
import re
import subprocess
import time

from trial_bench import Account, wait_until
from trial_sources import TrialError

INSERTS = 300
FUNCTIONS = "libsqlite3:sqlite3_step,sqlite3_prepare_v2"


class Shell:
    """A shell that waits for statements."""

    def __init__(self, bench, environment):
        self.database = os.path.join(bench.scratch, "trial.db")
        self.output = os.path.join(bench.scratch, "sqlite.out")
        with open(self.output, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(["sqlite3", "-batch", self.database], stdin=subprocess.PIPE, stdout=out, stderr=out, text=True,
                                            env=dict(os.environ, **environment))
        self.pid = self.process.pid

    def say(self, text, answer):
        """Hands over lines, and waits until the last of them has printed its answer."""
        self.process.stdin.write(f"{text}\nselect '{answer}';\n")
        self.process.stdin.flush()
        wait_until(lambda: answer in self.said().split("\n"), f"the shell's answer '{answer}'", 300)

    def said(self):
        with open(self.output, encoding="utf-8") as file:
            return file.read()


def trial(bench):
    table = bench.table
    table.title(f"SQLite shell, {INSERTS} inserts, a transaction each, --func of libsqlite3 and libc:fdatasync")
    bench.need("sqlite3")
    environment, read_calls = bench.counter()
    shell = Shell(bench, environment)
    try:
        shell.say("create table t(i integer, s text);\npragma synchronous=full;", "made")
        synced_before = read_calls()
        options = ("-p", str(shell.pid), "--func", FUNCTIONS, "--func", "libc:fdatasync,fsync")
        with bench.off_cpu("sqlite3") as beside, bench.record("sqlite", *options) as recording:
            account = Account(shell.pid)
            before = time.monotonic_ns()
            shell.say(".timer on\n" + "\n".join(f"insert into t values({i}, 'text {i}');" for i in range(INSERTS)) + "\n.timer off", "done")
            elapsed = time.monotonic_ns() - before
            passed = account.passed()
            waits = beside.stop()
    finally:
        shell.process.stdin.close()
        shell.process.wait(60)
    counted = [after - before for after, before in zip(read_calls(), synced_before)]
    if not counted[0]:
        raise TrialError("the shell synchronizes nothing")
    report(bench, recording, shell, counted, waits, passed, elapsed)


def report(bench, recording, shell, counted, waits, passed, elapsed):
    table = bench.table
    timers = re.findall(r"^Run Time: real ([\d.]+) user ([\d.]+) sys ([\d.]+)", shell.said(), re.M)
    steps = recording.label("sqlite3_step")
    # one more: the select that prints the answer, which has a step for its row
    table.row("sqlite3_prepare_v2", recording.label("sqlite3_prepare_v2")["count"], len(timers) + 1, "count", ".timer, a line each", must_equal=True)
    table.row("sqlite3_step", steps["count"], len(timers) + 2, "count", "the same", must_equal=True)
    table.row("  in all", steps["wall_ns"]["sum"], sum(float(real) for real, _, _ in timers) * 1e9, "ns", ".timer, real (parsing is in it)")
    synced = [recording.label(name) for name in ("fdatasync", "fsync")]
    table.row("fdatasync and fsync", sum(row["count"] for row in synced), counted[0], "count", "a preloaded library that counts", must_equal=True)
    table.row("  in all", sum(row["wall_ns"]["sum"] for row in synced), counted[1], "ns", "the same, by its clock")
    disk = recording.reasons()["disk"]
    table.row("blocked on disk: waits", disk["count"], waits[0], "count", "bpftrace, sched_switch in state D, sched_waking")
    table.row("  in all", disk["sum_ns"], waits[1], "ns", "bpftrace")
    bench.accounts(recording, passed, shell.pid, queued_ns=waits[2])
    table.note(f"{elapsed / 1e6:.0f} ms in all")
    bench.losses(recording)
