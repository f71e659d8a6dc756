# SPDX-License-Identifier: BSD-2-Clause
"""
python3 attach_steps.py MODE STEPS DIRECTORY

Attaching, with what it attaches to killed, exec'd or ended before each step (tests/programs/stepper.c). MODE is how the targets are chosen (see
MODES). STEPS: "kinds" tries the first step of each kind and one in the middle, and in the other modes some of them; "all" every one. Each run has a victim for each event, whom it meets at that
step of his own, and beside them an innocent program that is traced by the same recorder; or, in mode "alone", one victim and nobody else.

Prints what went wrong, one line each, and how many combinations of step and event were tried. Exit status 0: nothing went wrong.
"""
import collections
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import time

BUILD, PROGRAMS = os.environ["BUILD"], os.environ["PROGRAMS"]
DEATHS, EXECS = ["kill", "zombie", "exit", "fork", "reuse"], ["marked", "plain", "thread", "again"]
ENDS = {"kill": "signal 9", "zombie": "signal 9", "reuse": "signal 9"}  # otherwise: status 0
FEW = 5  # where the steps are mostly those of "named"
LIMIT_S = 900
CLOCK_NS = 1000  # between the clock of a system call and the one of BPF programs

Mode = collections.namedtuple("Mode", "arguments events options is_alone", defaults=([], False))
MODES = {
    "named": Mode(["-p", "VICTIMS,INNOCENT"], DEATHS + EXECS),
    "alone": Mode(["-p", "VICTIMS"], DEATHS + EXECS, [], True),
    "follow": Mode(["-f", "-p", "VICTIMS,INNOCENT"], DEATHS + EXECS),
    "exe": Mode(["EXES"], DEATHS[:-1] + EXECS, ["--open", "1"]),
    "late": Mode(["EXES"], DEATHS[:-1] + EXECS, ["--open", "1", "--late", "1"]),
    "cgroup": Mode(["--cgroup", "CGROUP", "-p", "INNOCENT"], DEATHS + EXECS, ["--open", "1", "--cgroup", "CGROUP"]),
    "command": Mode(["--", "MORTAL"], ["kill"], ["--launched", "1"], True),
}


class Run:
    """One recorder from its start to its end."""

    def __init__(self, suite, events, step):
        self.suite, self.events, self.step = suite, events, step
        self.name = f"{suite.name}: {'+'.join(events)} before {step}"
        self.directory = os.path.join(suite.directory, f"run{next(suite.numbers)}")
        self.problems = []
        self.innocent = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def fill(self, words):
        values = {"INNOCENT": str(self.innocent.pid) if self.innocent else "", "MORTAL": self.mortal[0], "CGROUP": self.cgroup}
        filled = []
        for word in words:
            if word == "EXES":
                filled += [part for file in self.marked + self.mortal for part in ("--exe", file)]
                continue
            for name, value in values.items():
                word = word.replace(name, value)
            filled.append(word)
        return filled

    def start_innocent(self):
        self.innocent = subprocess.Popen([self.marked[-1], "--wait-traced", "60", "--repeat", "5", "--output", self.path("innocent.truth")])
        while os.readlink(f"/proc/{self.innocent.pid}/exe") != self.marked[-1]:
            time.sleep(0.001)
        self.innocent.send_signal(signal.SIGSTOP)

    def go(self):
        mode = self.suite.mode
        os.mkdir(self.directory)
        self.cgroup = os.path.join(self.suite.cgroup, os.path.basename(self.directory)) if self.suite.cgroup else ""
        if self.cgroup:  # its own: two runs go on at once
            os.mkdir(self.cgroup)
        self.marked = [self.path(f"marked.{who}") for who in range(len(self.events))] + [self.path("marked.innocent")]
        self.mortal = [self.path(f"mortal.{who}") for who in range(len(self.events))]
        for original, copies in ("spin", self.marked), ("mortal", self.mortal):
            for copy in copies:  # whose semaphores nobody else's tracing raises
                shutil.copy(os.path.join(PROGRAMS, original), copy)
        if not mode.is_alone:
            self.start_innocent()
        command = [os.path.join(PROGRAMS, "stepper"), "--victims", ",".join(self.events), "--at", self.step, "--mortal", self.path("mortal"),
                   "--becomes", self.path("marked"), "--directory", self.directory] + self.fill(mode.options)
        if self.innocent:
            command += ["--innocent", str(self.innocent.pid)]
        command += ["--", os.path.join(BUILD, "txtrace-bpf"), "-q", "-o", self.path("log.txtrace")] + self.fill(mode.arguments)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
        self.said = done.stderr.splitlines()
        if done.returncode:
            raise RuntimeError(f"{self.name}: stepper ended with {done.returncode}: {done.stderr}")
        self.lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.victims = [line for line in self.lines if "victim" in line]
        self.tracer = self.lines[-1]
        self.steps = [line["step"] for line in self.lines if "step" in line]
        return self

    def check(self, is_fine, what):
        if not is_fine:
            self.problems.append(f"{self.name}: {what}; the recorder ended with {self.tracer['tracer']} and said {self.said}")

    # ---- what must hold ----

    def judge(self):
        is_refused = self.tracer["tracer"] == "status 2"
        self.judge_end(is_refused)
        for victim in self.victims:
            wanted = ENDS.get(victim["event"], "status 0")
            self.check(victim["ended"] == wanted or not victim["is_reached"] or self.suite.name == "command",
                       f"the victim of {victim['event']} ended with {victim['ended']}")
        self.check(self.tracer["programs_left"] == 0, f"{self.tracer['programs_left']} BPF programs are left")
        if self.innocent:
            if is_refused:
                self.innocent.kill()
            status = self.innocent.wait()
            self.check(status == 0 or is_refused, f"the innocent ended with {status}")
        if not is_refused:
            self.judge_log()
        if not self.problems:
            shutil.rmtree(self.directory)

    def judge_end(self, is_refused):
        if is_refused:
            self.check(len(self.said) == 1 and self.said[0].startswith("txtrace-bpf: "), "not one sentence")
            self.check(not os.path.exists(self.path("log.txtrace")), "it refused and left a log")
            self.check(not set(self.events) & {"marked", "thread", "again"}, "it refused a program that only became another one with marks")
            self.check(self.suite.mode.is_alone or self.step in self.suite.opening, "it refused all because of one")
        else:
            fine = ["status 0"] + ["status 137", "status 143"] * (self.suite.name == "command")
            self.check(self.tracer["tracer"] in fine, "it did not end well")
            self.check(self.tracer["programs"] > 0 or self.suite.mode.is_alone, "it held no programs")

    def judge_log(self):
        verified = subprocess.run([os.path.join(BUILD, "txtrace"), "verify", self.path("log.txtrace")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.check(verified.returncode == 0, f"the log: {verified.stdout}")
        with open(self.path("log.jsonl"), "w") as output:
            subprocess.run([os.path.join(BUILD, "txtrace"), "export", self.path("log.txtrace"), "--format", "jsonl"], stdout=output, check=True)
        spans = [json.loads(line) for line in open(self.path("log.jsonl")) if '"type":"span"' in line]
        truths = [f"{victim['pid']}.truth" for victim in self.victims if victim["event"] in ("marked", "thread") and victim["is_reached"]]
        for truth in truths + ["innocent.truth"] * (self.innocent is not None):
            self.judge_spans(truth, {span["id"]: span for span in spans})
        labels = collections.Counter(span["label"] for span in spans)
        reborn = 10 * sum(victim["event"] == "again" and victim["is_reached"] for victim in self.victims)
        # If the kernel keeps the recorder waiting for seconds, as it may on a busy machine, the recorder says that it traces no further program.
        is_held_up = any("holds the lock of its memory; until it lets go" in line for line in self.said)
        self.check(labels["reborn"] == reborn or is_held_up, f"{labels['reborn']} of {reborn} spans of who became itself are in the log")
        self.check(not labels["stranger"], f"{labels['stranger']} spans of a stranger are in the log")

    def judge_spans(self, truth, spans):
        """All that the program made, whole, from where it says to where it says."""
        made = [json.loads(line) for line in open(self.path(truth))] if os.path.exists(self.path(truth)) else []
        self.check(made, f"{truth} is empty")
        for one in made:
            span = spans.get(one["id"])
            if not span:
                self.check(False, f"span {one['id']} of {truth} is not in the log")
                continue
            self.check(span["label"] == one["label"] and not span["lower_bound"], f"span {one['id']} of {truth} is {span}")
            for edge, (least, most) in ("begin_ns", one["begin_ns"]), ("end_ns", one["end_ns"]):
                self.check(least - CLOCK_NS <= span[edge] <= most + CLOCK_NS, f"{edge} of span {one['id']} of {truth} is {span[edge]}, not {least} to {most}")


class Suite:
    def __init__(self, name, directory):
        self.name, self.mode, self.directory = name, MODES[name], os.path.realpath(directory)
        self.cgroup = os.environ.get("CGROUP", "")
        self.numbers = iter(range(1 << 20))
        self.opening = []

    def list_steps(self):
        dry = Run(self, ["none"], "none").go()
        dry.judge()
        if dry.cgroup:
            os.rmdir(dry.cgroup)
        if dry.problems:
            sys.exit("\n".join(dry.problems))
        first_load = next((i for i, step in enumerate(dry.steps) if step.startswith("load program")), 0)
        self.opening = dry.steps[:first_load]
        return dry.steps

    def choose(self, steps, which):
        if self.name == "late":  # nobody is there before it waits
            steps = steps[steps.index("wait#1"):]
        if which == "all":
            return [step for step in steps if not step.startswith("wait#")] + [step for step in steps if step.startswith("wait#")][:5]
        by_kind = collections.defaultdict(list)
        for step in steps:
            by_kind[step.split("#")[0]].append(step)
        first = [kinds_steps[0] for kinds_steps in by_kind.values()]
        if self.name == "alone":
            return first
        if self.name == "named":
            return list(dict.fromkeys(first + [kinds_steps[len(kinds_steps) // 2] for kind, kinds_steps in by_kind.items() if kind not in ("wait", "load program")]))
        return first[::max(1, len(first) // FEW)]

    def few(self, step, number):
        """Of one step's events: while it opens its target all deaths, which end it at once, and one exec; later one of all."""
        execs = [event for event in self.mode.events if event in EXECS]
        if step not in self.opening:
            return [self.mode.events[number % len(self.mode.events)]]
        return [event for event in self.mode.events if event not in execs] + execs[number % len(execs):][:1] if execs else self.mode.events

    def plan(self, steps, which):
        runs = []
        for number, step in enumerate(steps):
            events = self.mode.events
            if step in self.opening or self.mode.is_alone:  # one whose pid is nobody's refuses all
                single = events if self.mode.is_alone else []
                if which != "all" and self.mode.is_alone:
                    single = self.few(step, number)
                if step == self.opening[0]:  # whose pid is another's by then is whom the user named
                    single = [event for event in single if event != "reuse"]
                runs += [Run(self, [event], step) for event in single]
                if not self.mode.is_alone:
                    runs.append(Run(self, EXECS, step))
            else:
                runs.append(Run(self, events, step))
        return runs


def try_run(run):
    try:
        run.go()
        run.judge()
        if any(not victim["is_reached"] for victim in run.victims):  # the recorder did not come by there this time
            return run, False
        return run, True
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        run.problems.append(str(error))
        return run, True
    finally:
        if run.innocent:
            run.innocent.kill()
            run.innocent.wait()
        if run.cgroup:
            os.rmdir(run.cgroup)


def main():
    name, which, directory = sys.argv[1:]
    suite = Suite(name, directory)
    runs = suite.plan(suite.choose(suite.list_steps(), which), which)
    problems, tried, missed = [], 0, []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for run, is_reached in pool.map(try_run, runs):
            problems += run.problems
            tried += sum(victim["is_reached"] for victim in getattr(run, "victims", []))
            if not is_reached:
                missed.append("+".join(victim["event"] for victim in run.victims if not victim["is_reached"]) + " before " + run.step)
    if not tried:
        problems.append(f"{name}: no step was met")
    print("\n".join(problems))
    print(f"# {name}: {tried} combinations in {len(runs)} runs; not met: {missed}")
    sys.exit(bool(problems))


main()
