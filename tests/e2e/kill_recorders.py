# SPDX-License-Identifier: BSD-2-Clause
"""Kills recorders at random moments, several at a time, and holds what they leave against the diaries of their targets. Prints TAP."""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import kill_check

STEP_FACTOR = 6364136223846793005
STEP_TERM = 1442695040888963407
MASK = (1 << 64) - 1

PAUSES_US = (10000, 5000, 2500, 600)  # of the targets between two spans: little load and much

# When: how often, and what plan() makes of it.
STAGES = {"starting": 4, "first flush": 3, "at a flush": 5, "behind a flush": 3, "any time": 5}

CASES = {
    "opens": "every file opens, what is there is sound, and everybody says that the end is missing",
    "age": "what is missing is at most the last second, and as long as the machine starved",
    "complete": "every span that ended before is there",
    "beginnings": "of every span that was open the beginning is there",
    "true": "nothing is in the logs that the programs did not do",
    "repair": "what is repaired is sound but for the end, and has all spans",
}


def state_after(steps):
    """What so many steps of arithmetic come to, in the logarithm of the time."""
    factor, term, result = STEP_FACTOR, STEP_TERM, 0
    while steps:
        if steps & 1:
            result = (result * factor + term) & MASK
        term = (term * (factor + 1)) & MASK
        factor = factor * factor & MASK
        steps >>= 1
    return result


class Target:
    """A program that keeps a diary."""

    def __init__(self, options, number):
        self.diary = os.path.join(options.scratch, f"diary.{number}")
        command = [os.path.join(options.programs, "diary"), "--diary", self.diary, "--pause-us", str(PAUSES_US[number % len(PAUSES_US)])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while not os.path.exists(self.diary) or not os.path.getsize(self.diary):
            time.sleep(0.01)

    def entry_cnt(self):
        diary = kill_check.Diary(self.diary)
        cnt = sum(diary.cnts)
        diary.close()
        return cnt

    def is_traced(self):
        """Whether somebody traces what it begins now."""
        since = time.monotonic_ns()
        while True:
            time.sleep(0.05)
            diary = kill_check.Diary(self.diary)
            ids = [entry.id for entry in diary.entries_since(since) if entry.kind not in (kill_check.KEYED, len(kill_check.KINDS) - 1)]
            diary.close()
            if len(ids) > 3:
                return any(ids)

    def end(self):
        """What is wrong with its results, or None."""
        self.process.send_signal(signal.SIGTERM)
        text, _ = self.process.communicate()
        if self.process.returncode:
            return f"it ended with {self.process.returncode}"
        result = json.loads(text)
        diary = kill_check.Diary(self.diary)
        for worker, cnt in zip(result["workers"], diary.cnts):
            if worker["state"] != state_after(worker["steps"]) or worker["entries"] != cnt:
                return f"its arithmetic is wrong: {result}"
        diary.close()
        return "it is still traced" if result["traced"] else None


class Recorder:
    """A recorder that will be killed; looked at every few ms."""
    numbers = itertools.count()

    def __init__(self, options, kill):
        self.kill = kill
        self.output = kill.output
        command = [os.path.join(options.build, "txtrace-bpf"), "-q", "--ring-size", "4M", "-o", self.output, "-p", str(kill.pid)]
        command += options.busy_option if kill.is_busy else []
        self.log = open(self.output + ".messages", "w+", encoding="utf-8")
        self.ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.ready.bind(f"\0txtrace-killed-{os.getpid()}-{next(Recorder.numbers)}")
        environment = dict(os.environ, NOTIFY_SOCKET="@" + self.ready.getsockname()[1:].decode())
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment)
        self.proc = f"/proc/{self.process.pid}"

    def look(self):
        """How long it has worked and waited for a CPU, and whether it records: it says so as to a service manager."""
        waited = 0
        for tid in os.listdir(self.proc + "/task"):
            try:
                with open(f"{self.proc}/task/{tid}/schedstat", encoding="ascii") as file:
                    waited += sum(int(word) for word in file.read().split()[:2])
            except (FileNotFoundError, ProcessLookupError):
                pass  # a thread of its that has ended meanwhile
        self.kill.waited.append((time.monotonic_ns(), waited))
        if self.kill.recording_ns is None:
            try:
                if self.ready.recv(4096) == b"READY=1":
                    self.kill.recording_ns = time.monotonic_ns()
            except BlockingIOError:
                pass

    def sleep_until(self, end_ns):
        while True:
            self.look()
            left_ns = end_ns - time.monotonic_ns()
            if left_ns <= 0:
                return
            time.sleep(min(left_ns / 1e9, 0.02))

    def wait_recording(self):
        while self.kill.recording_ns is None and self.process.poll() is None:
            time.sleep(0.003)
            self.look()

    def size(self):
        return sum(os.path.getsize(path) for path in kill_check.log_files(self.output))

    def wait_flush(self):
        before, end_ns = self.size(), time.monotonic_ns() + 20 * kill_check.SECOND_NS
        while self.size() == before and time.monotonic_ns() < end_ns:
            time.sleep(0.002)
            self.look()

    def shoot(self):
        """What is wrong, or None."""
        self.look()
        self.kill.kill_ns = time.monotonic_ns()
        self.process.send_signal(signal.SIGKILL)
        status = self.process.wait()
        self.kill.gone_ns = time.monotonic_ns()
        self.log.seek(0)
        # What tracing takes may be more than a tenth, and is said then.
        said = "".join(line for line in self.log if "tracing takes about" not in line)
        self.log.close()
        self.ready.close()
        os.remove(self.output + ".messages")
        return None if status == -signal.SIGKILL and not said else f"it ended with {status} and said: {said}"


def wait_moment(recorder, stage, chance):
    if stage == "starting":
        recorder.sleep_until(time.monotonic_ns() + int(chance.uniform(0, 0.5e9)))
        return
    recorder.wait_recording()
    if stage == "first flush":
        recorder.sleep_until(recorder.kill.recording_ns + int(chance.uniform(0.5e9, 1.3e9)))
    elif stage == "any time":
        recorder.sleep_until(recorder.kill.recording_ns + int(chance.uniform(0, 4e9)))
    else:
        recorder.sleep_until(recorder.kill.recording_ns + int(chance.uniform(0, 2e9)))
        recorder.wait_flush()
        delay_ns = chance.uniform(0, 5e6) if stage == "behind a flush" else chance.uniform(0.6e9, 1.1e9)
        recorder.sleep_until(time.monotonic_ns() + int(delay_ns))


class Test:
    def __init__(self, options):
        self.options = options
        self.chance = random.Random(options.seed)
        self.names = iter(range(options.kills))
        self.lock = threading.Lock()
        self.checks = []
        self.wrong = []  # beside what is found in the logs
        self.targets = [Target(options, i) for i in range(options.targets)]
        self.pool = None

    def next(self, lane):
        with self.lock:
            number = next(self.names, None)
            if number is None:
                return None, None
            stage = self.chance.choices(list(STAGES), STAGES.values())[0]
            chance = random.Random(self.chance.random())
        target = self.targets[lane % len(self.targets)]
        output = os.path.join(self.options.scratch, f"kill-{number}.txtrace")
        kill = kill_check.Kill(f"kill {number}", stage, target.process.pid, target.diary, output)
        kill.is_busy = target is self.targets[-1]
        return kill, chance

    def run_lane(self, lane):
        target = self.targets[lane % len(self.targets)]
        try:
            while True:
                kill, chance = self.next(lane)
                if not kill:
                    return
                recorder = Recorder(self.options, kill)
                wait_moment(recorder, kill.stage, chance)
                before = target.entry_cnt()
                wrong = recorder.shoot()
                if wrong:
                    self.wrong.append(f"{kill.name} ({kill.stage}): {wrong}")
                self.await_progress(target, before)
                self.checks.append(self.pool.submit(kill_check.check, kill, os.path.join(self.options.build, "txtrace")))
        except Exception:  # a thread that dies must be heard
            self.wrong.append(traceback.format_exc())

    def await_progress(self, target, before):
        while target.entry_cnt() <= before:
            if target.process.poll() is not None:
                raise RuntimeError(f"the program ended with {target.process.returncode} when its recorder was killed")
            time.sleep(0.01)

    def run(self):
        with concurrent.futures.ProcessPoolExecutor(2) as self.pool:
            self.pool.submit(time.monotonic_ns).result()  # forks its processes before there are threads
            lanes = [threading.Thread(target=self.run_lane, args=(lane,)) for lane in range(self.options.lanes)]
            for lane in lanes:
                lane.start()
            for lane in lanes:
                lane.join()
            return [check.result() for check in self.checks]

    def end_targets(self):
        """What is wrong with the programs when all recorders have gone."""
        traced = [f"{target.diary}: it is still traced" for target in self.targets if target.is_traced()]
        ends = [target.end() for target in self.targets]
        return traced + [f"{target.diary}: {wrong}" for target, wrong in zip(self.targets, ends) if wrong]


class Tap:
    def __init__(self):
        self.number = 0

    def case(self, name, wrong):
        self.number += 1
        print(f"{'not ok' if wrong else 'ok'} {self.number} - {name}")
        for line in wrong[:20]:
            for part in line.splitlines()[:20]:
                print(f"# {part[:600]}")


def middle(values):
    values = sorted(values)
    return f"{values[len(values) // 2] / 1e9:.3f}, at most {values[-1] / 1e9:.3f}" if values else "none"


def tell(findings, seconds):
    print(f"# {len(findings)} killed in {seconds:.0f} s; by moment: {dict(collections.Counter(f.kill.stage for f in findings))}")
    print(f"# left: {dict(collections.Counter(f.state for f in findings))}; several files: {sum(f.file_cnt > 1 for f in findings)}")
    print(f"# age of the youngest record: {middle([f.age_ns for f in findings if f.age_ns is not None])} s; starved: "
          f"{middle([f.starved_ns for f in findings])} s")
    print(f"# {sum(f.spans for f in findings)} spans that had to be there, {sum(f.checkpoints for f in findings)} beginnings, "
          f"{sum(f.lost for f in findings)} lost and said to be")


def covers(findings, options):
    """A test that looked at nothing has proved nothing."""
    wrong = []
    if len(findings) != options.kills:
        wrong.append(f"{len(findings)} recorders were killed, not {options.kills}")
    aged = any(f.age_ns is not None for f in findings)
    if not aged:
        wrong.append("none had recorded for longer than what it may lose")
    if options.busy_option and not any(f.file_cnt > 1 for f in findings):
        wrong.append("no recorder had come to its second file")
    if not any(f.spans for f in findings) or not any(f.checkpoints for f in findings):
        wrong.append("no span or no beginning had to be there")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--lanes", type=int, default=12)
    parser.add_argument("--targets", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--busy-option", action="append", default=[], help="for the recorders of the busiest target")
    options = parser.parse_args()
    print(f"# seed {options.seed}", flush=True)
    begin = time.monotonic()
    test = Test(options)
    findings = test.run()
    wrong = test.end_targets()
    tap = Tap()
    tell(findings, time.monotonic() - begin)
    tap.case(f"{options.kills} recorders are killed, while they start, at a flush and at any time", test.wrong + covers(findings, options))
    tap.case("their targets run on, with the right results, and are traced no more", wrong)
    for case, name in CASES.items():
        tap.case(name, [text for finding in findings for what, text in finding.wrong if what == case])
    print(f"1..{tap.number}")


main()
