# SPDX-License-Identifier: BSD-2-Clause
"""
python3 frozen_memory.py DIRECTORY USER_NAMESPACE

Two banks are recorded beside a process whose memory nobody can read (tests/programs/frozen.c): what the banks do is recorded without a loss, also after
one has ended, the other process is named, and the log is closed by SIGTERM while the probes cannot be taken out yet. While that is so, fork() waits on the
whole machine: from the end of the first bank until the FUSE server is killed, nothing is started here.

Prints what went wrong, one line each. Exit status 0: nothing went wrong.
"""
import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

BUILD, PROGRAMS = os.environ["BUILD"], os.environ["PROGRAMS"]
LIMIT_S = 100  # stands for never; then the FUSE server ends by itself
BANKS = ["first bank", "second bank"]
FLUSHES = 6  # of the log: what the last has was recorded after the first
GROWTH = 16 << 10  # bytes


class Trial:
    def __init__(self, directory, user_namespace):
        self.directory, self.user_namespace = directory, user_namespace
        self.problems, self.server = [], None
        self.processes = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def text(self, name):
        with open(self.path(name), errors="replace") as file:
            return file.read()

    def check(self, is_fine, what):
        if not is_fine:
            self.problems.append(what)

    def start(self, name, *command):
        with open(self.path(name + ".out"), "w") as out, open(self.path(name + ".err"), "w") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.processes.append(process)
        return process

    def wait_for(self, what, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"in vain: {what}; the recorder said {self.text('tracer.err')!r}")
            time.sleep(0.02)

    def log_bytes(self):
        return sum(os.path.getsize(self.path(name)) for name in os.listdir(self.directory) if ".txtrace" in name)

    def begin(self):
        os.mkdir(self.path("mount"))
        self.frozen = self.start("frozen", os.path.join(PROGRAMS, "frozen"), "--directory", self.path("mount"), "--limit", str(LIMIT_S), "--labels", "1",
                                 "--user-namespace", self.user_namespace, "--go", self.path("go"))
        self.wait_for("a FUSE server", lambda: self.text("frozen.out").startswith("server ") or self.frozen.poll() is not None)
        self.server = int(self.text("frozen.out").split()[1])
        self.banks = [self.start(name, os.path.join(PROGRAMS, "bank"), "--directory", self.directory) for name in BANKS]
        pids = ",".join(str(process.pid) for process in [self.frozen] + self.banks)
        self.tracer = self.start("tracer", os.path.join(BUILD, "txtrace-bpf"), "--ring-size", "64M", "--messages", "json", "--func", "libc:fsync",
                                 "-o", self.path("log.txtrace"), "-p", pids)
        self.wait_for("the recording", lambda: '"event":"start"' in self.text("tracer.err"))
        self.tracer.send_signal(signal.SIGSTOP)  # it comes to the label when the memory is frozen
        open(self.path("go"), "w").close()
        self.wait_for("the lock", lambda: "hangs" in self.text("frozen.out"))
        self.tracer.send_signal(signal.SIGCONT)

    def record(self):
        named = f"process {self.frozen.pid} ('frozen') blocks reads of its memory"
        self.wait_for("its name", lambda: named in self.text("tracer.err"))
        for bank in self.banks:  # of the first the probes in libc cannot be taken out any more, as the frozen process has mapped libc, too
            for _ in range(FLUSHES):
                before = self.log_bytes()
                self.wait_for("more of the banks", lambda size=before: self.log_bytes() > size + GROWTH)
            bank.send_signal(signal.SIGTERM)
            self.check(bank.wait() == 0, f"a bank ended with {bank.returncode}")

    def stop(self, wants_second):
        """Nothing is forked here."""
        self.tracer.send_signal(signal.SIGTERM)
        self.wait_for("the last words", lambda: '"event":"stop"' in self.text("tracer.err"))
        self.check(os.path.exists(self.path("log.txtrace")) and not os.path.exists(self.path("log.txtrace.partial")), "the log is not closed")
        self.closed = open(self.path("log.txtrace"), "rb").read()
        self.check("over" not in self.text("frozen.out"), "the lock is not held any more")
        self.wait_for("what holds it", lambda: "these processes block access to their memory" in self.text("tracer.err"))
        self.check(f"memory: {self.frozen.pid} ('frozen')" in self.text("tracer.err"), "nobody is named")
        self.check(self.tracer.poll() is None, "the recorder has ended")
        if wants_second:
            self.tracer.send_signal(signal.SIGTERM)
        os.kill(self.server, signal.SIGKILL)
        self.server = None
        ends = [0, -signal.SIGTERM] if wants_second else [0]
        self.check(self.tracer.wait() in ends, f"the recorder ended with {self.tracer.returncode}")
        self.check(self.frozen.wait() == 0, f"the frozen one ended with {self.frozen.returncode}")

    def judge(self):
        reader = os.path.join(BUILD, "txtrace")
        self.check(open(self.path("log.txtrace"), "rb").read() == self.closed, "the log was written to after it was closed")
        verified = subprocess.run([reader, "verify", self.path("log.txtrace")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.check(verified.returncode == 0, f"the log: {verified.stdout}")
        lines = subprocess.run([reader, "export", self.path("log.txtrace"), "--format", "jsonl"], stdout=subprocess.PIPE, text=True, check=True).stdout
        records = [json.loads(line) for line in lines.splitlines()]
        kinds = collections.Counter(record["type"] for record in records)
        self.check(not kinds["loss"] and not kinds["dropped"], f"something was lost: {kinds}")
        for summary in (record["recorder"] for record in records if record["type"] == "summary"):
            self.check(summary["sent_cnt"] == summary["received_cnt"] and not summary["lost_cnt"], f"events are missing: {summary}")
        for name, bank in zip(BANKS, self.banks):
            self.judge_bank(name, bank, [record for record in records if record["type"] == "span" and record["pid"] == bank.pid])

    def judge_bank(self, name, bank, records):
        """Nothing was lost, so what it did since the recorder records is there; a moment before, it was traced already."""
        counts = dict(re.findall(r"traced_(\w+)=(\d+)", self.text(name + ".out")))
        spans = collections.Counter(record["label"] for record in records)
        self.check(len(counts) == 5 and int(counts["deposit"]) > 0, f"the {name} counts {counts}")
        for label, count in counts.items():
            self.check(int(count) * 0.5 < spans[label] <= int(count), f"{spans[label]} of the {name}'s {count} spans '{label}' are in the log")
        self.check(all(spans), f"spans of the {name} have no label: {spans}")

    def end(self):
        if self.server:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.server, signal.SIGKILL)
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def main():
    trial = Trial(sys.argv[1], sys.argv[2])
    try:
        trial.begin()
        trial.record()
        trial.stop(trial.user_namespace == "1")
    except (RuntimeError, IndexError, OSError) as error:
        trial.problems.append(repr(error))
    finally:
        trial.end()
    if not trial.problems:
        trial.judge()
    print("\n".join(trial.problems))
    if trial.problems:
        print(trial.text("tracer.err"), trial.text("frozen.err"))
    sys.exit(bool(trial.problems))


if __name__ == "__main__":
    main()
