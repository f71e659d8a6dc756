# SPDX-License-Identifier: BSD-2-Clause
"""
python3 frozen_attach.py DIRECTORY

A bank is recorded beside a process that nobody traces and whose memory nobody can reach (tests/programs/frozen.c). It has mapped a program that a target
starts then: the kernel cannot set its probes. The bank is recorded without a loss all the while, the file is named, and the program is traced once the
process lets go. Then the same again, and SIGTERM closes the log meanwhile. Then with the program traced from the start: the recorder records the bank all the
same. While the kernel is held up, fork() waits on the whole machine: nothing is started here.

Prints what went wrong, one line each. Exit status 0: nothing went wrong.
"""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys

import frozen_memory
from frozen_memory import BUILD, PROGRAMS, FLUSHES, GROWTH, LIMIT_S

STARTER = 'read -r line; exec "$0" --mode begin-end --rate 1000 --window-ms 50'


class Trial(frozen_memory.Trial):
    def __init__(self, directory, is_at_start):
        super().__init__(directory, "0")
        self.is_at_start = is_at_start

    def begin(self):
        os.mkdir(self.path("mount"))
        shutil.copy(os.path.join(PROGRAMS, "probe_loop"), self.path("mapped"))
        self.frozen = self.start("frozen", os.path.join(PROGRAMS, "frozen"), "--directory", self.path("mount"), "--limit", str(LIMIT_S), "--labels", "1",
                                 "--wait-traced", "0", "--map", self.path("mapped"))
        self.wait_for("the lock", lambda: "hangs" in self.text("frozen.out") or self.frozen.poll() is not None)
        self.server = int(self.text("frozen.out").split()[1])
        self.bank = self.start("bank", os.path.join(PROGRAMS, "bank"), "--directory", self.directory)
        with open(self.path("starter.out"), "w") as out:
            self.starter = subprocess.Popen(["bash", "-c", STARTER, self.path("mapped")], stdin=subprocess.PIPE, stdout=out, stderr=out)
        self.processes.append(self.starter)
        if self.is_at_start:
            self.let_exec()
            self.wait_for("the program", lambda: os.readlink(f"/proc/{self.starter.pid}/exe") == self.path("mapped"))
        self.tracer = self.start("tracer", os.path.join(BUILD, "txtrace-bpf"), "--ring-size", "64M", "--messages", "json", "-f", "-o", self.path("log.txtrace"),
                                 "-p", f"{self.bank.pid},{self.starter.pid}")
        self.wait_for("a recorder", lambda: '"event":"start","message":"recording"' in self.text("tracer.err"))

    def let_exec(self):
        self.starter.stdin.write(b"go\n")
        self.starter.stdin.close()

    def record(self):
        if not self.is_at_start:
            self.let_exec()
        named = f"cannot attach probes to '{self.path('mapped')}'"
        self.wait_for("the name of the file", lambda: named in self.text("tracer.err"))
        for _ in range(FLUSHES):
            before = self.log_bytes()
            self.wait_for("more of the bank", lambda size=before: self.log_bytes() > size + GROWTH)
        self.check("over" not in self.text("frozen.out"), "the lock is not held any more")

    def let_go(self):
        os.kill(self.server, signal.SIGKILL)
        self.server = None
        report = [os.path.join(BUILD, "txtrace"), "report", "--json", self.path("log.txtrace.partial")]
        self.wait_for("spans of the program", lambda: '"loop"' in subprocess.run(report, stdout=subprocess.PIPE, text=True, check=False).stdout)

    def stop(self):
        self.bank.send_signal(signal.SIGTERM)
        self.check(self.bank.wait() == 0, f"the bank ended with {self.bank.returncode}")
        self.tracer.send_signal(signal.SIGTERM)
        self.wait_for("the last words", lambda: '"event":"stop"' in self.text("tracer.err"))
        self.check(os.path.exists(self.path("log.txtrace")), "the log is not closed")
        if self.server:
            self.check(self.tracer.poll() is None, "the recorder has ended")
            os.kill(self.server, signal.SIGKILL)
            self.server = None
        self.check(self.tracer.wait() == 0, f"the recorder ended with {self.tracer.returncode}")

    def judge(self, is_traced):
        lines = subprocess.run([os.path.join(BUILD, "txtrace"), "export", self.path("log.txtrace"), "--format", "jsonl"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
        records = [json.loads(line) for line in lines.splitlines()]
        kinds = collections.Counter(record["type"] for record in records)
        self.check(not kinds["loss"] and not kinds["dropped"], f"something was lost: {kinds}")
        spans = [record for record in records if record["type"] == "span"]
        self.judge_bank("bank", self.bank, [span for span in spans if span["pid"] == self.bank.pid])
        labels = {span["label"] for span in spans if span["pid"] == self.starter.pid}
        self.check(labels == ({"loop"} if is_traced else set()), f"the program has {labels}")


def main():
    problems = []
    for is_traced, is_at_start in ((True, False), (False, False), (True, True), (False, True)):
        directory = os.path.join(sys.argv[1], f"{is_traced}-{is_at_start}")
        os.mkdir(directory)
        trial = Trial(directory, is_at_start)
        try:
            trial.begin()
            trial.record()
            if is_traced:
                trial.let_go()
            trial.stop()
        except (RuntimeError, IndexError, OSError) as error:
            trial.problems.append(repr(error))
        finally:
            trial.end()
        if not trial.problems:
            trial.judge(is_traced)
        if trial.problems:
            problems += trial.problems + [trial.text("tracer.err"), trial.text("frozen.err")]
    print("\n".join(problems))
    sys.exit(bool(problems))


main()
