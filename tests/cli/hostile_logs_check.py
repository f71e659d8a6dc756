# SPDX-License-Identifier: BSD-2-Clause
"""hostile_logs_check.py TXTRACE FOLDER SOUND

Gives every command of TXTRACE the logs FOLDER/0.txtrace, 1.txtrace, ...: `diff` with one on either side and on both, `merge` with a sound one and with
another, and four of the other commands for each log, in turn, so that all of them come. SOUND is a sound log. What has to hold:

* the command ends by itself, with one of the statuses that it documents, within 2 GiB of memory, and within five minutes;
* what a terminal may get has no control, formatting or invalid character, and a message says whose it is;
* what is to be JSON, CSV or XML is that, without control characters;
* of a command that writes a log, 2 says that there is none; 0 and 1, that there is one which can be read. Nothing else is left.

Prints how often each command came. Exit status 1: something did not hold, and every case of it is printed.
"""
import csv
import io
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree

MEMORY_BYTES = 2 << 30
SANITIZER_STATUS = 99
RULES = ("*.wall < 1s; *.wall.p99 < 100us; *.on_cpu.mean > 1us; *.blocked.lock.p50 < 1ms; *.count >= 1; *.self.on_cpu < 1ms; pay.calls.read <= 1; lost == 0; "
         "anomalies == 0; anomalies.late == 0; lower_bounds < 1%; *.lower_bounds < 1%")
CHANGES = "*.wall < +5%; *.on_cpu.p50 < +0.5ms; *.blocked.p99 < +1ms; *.count < +5%; *.wall.p99.9 < 1s; anomalies == 0"
FORMATS = ("terminal", "markdown", "junit", "github", "json", "html")

failures = []
seen = {}


# ---- what output has to be ----

def check_plain(text, categories=("Cc", "Cf", "Zl", "Zp")):
    bad = [hex(ord(c)) for c in text if unicodedata.category(c) in categories and c not in "\n\t"]
    if bad:
        raise ValueError(f"a terminal would obey {bad[:10]}")


# Strings of JSON are what the log says, but for control characters.
def check_json(text):
    check_plain(text, ("Cc",))
    if text:
        json.loads(text, parse_constant=refuse_constant)


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


def check_json_lines(text):
    for line in text.split("\n"):
        check_json(line)


def check_xml(text):
    check_plain(text)
    if text:
        xml.etree.ElementTree.fromstring(text)


def check_csv(text):
    check_plain(text)
    widths = {len(row) for row in csv.reader(io.StringIO(text), strict=True) if row}
    if len(widths) > 1:
        raise ValueError(f"lines of {sorted(widths)} fields")


# What a log says, but for control characters: like strings of JSON. Its lines end as RFC 4180 has it.
def check_csv_of_spans(text):
    check_plain(text.replace("\r\n", "\n"), ("Cc",))
    if len({len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)}) > 1:
        raise ValueError("lines differ in their number of fields")


CHECKS = {"json": check_json, "jsonl": check_json_lines, "chrome": check_json, "junit": check_xml, "svg": check_xml, "csv": check_csv, "csv of spans": check_csv_of_spans, "binary": None}


# ---- what is run ----

VIEWS = [("report",), ("report", "-b", "thread"), ("report", "-b", "process"), ("report", "-b", "track"), ("report", "-b", "reason"), ("report", "-b", "key"),
         ("report", "-b", "tag:k"), ("report", "--cost"), ("report", "--nest", "thread"), ("spans", "-s", "unknown"), ("tree",), ("tail",), ("histogram",),
         ("flame", "--folded"), ("workers",), ("concurrency",), ("concurrency", "-T"), ("blocked",), ("blocked", "-b", "label"), ("blame",), ("neighbours",),
         ("neighbours", "-w", "process", "-b", "thread"), ("info",), ("dump",), ("verify",), ("view",), ("top", "--batch", "1"),
         ("top", "--batch", "1", "--by", "tag", "-w", "60")]
WITH_JSON = ("report", "spans", "tree", "tail", "histogram", "workers", "concurrency", "blocked", "blame", "neighbours", "info", "verify")
OUTPUTS = [("export", "-f", "jsonl"), ("export", "-f", "chrome"), ("export", "-f", "perfetto"), ("export", "-f", "pprof"), ("export", "-f", "speedscope"),
           ("export", "-f", "csv"), ("export", "-f", "sqlite"), ("flame",), ("flame", "-s", "off-cpu", "-w", "blocked"),
           ("concurrency", "--csv")]
COPIES = [("slice", "--from", "0", "--to", "1ms"), ("slice", "--label", "*a*"), ("slice", "--pid", "7"), ("repair",), ("recompress",), ("recompress", "--codec", "lz4"),
          ("anonymize", "--salt", "x")]
# Behind the log: a query.
QUERIES = [("sql", "--json", "SELECT * FROM spans ORDER BY wall_ns DESC LIMIT 100"), ("sql", "--csv", "SELECT * FROM blocks LIMIT 1000"),
           ("sql", "SELECT label, tag, count(*), sum(wall_ns), max(key) FROM spans GROUP BY label, tag ORDER BY 3 DESC LIMIT 100"),
           ("sql", "--json", "SELECT id, count(*) FROM spans WHERE end_ns > 1000 AND end_ns < 4000000000000 GROUP BY id LIMIT 100"),
           ("sql", "--csv", "SELECT s.label, a.name, a.value FROM attributes a JOIN spans s ON s.id = a.span AND s.pid = a.pid LIMIT 1000"),
           ("sql", "--json", "SELECT (SELECT count(*) FROM wakeups), (SELECT max(exit_ns) FROM stays), (SELECT group_concat(name) FROM counters), "
            "(SELECT count(comm) FROM threads), (SELECT sum(span_event_cnt) FROM losses), (SELECT count(object) FROM runs), (SELECT max(command) FROM captures)")]
OF_SPANS = [("show",), ("critical-path",), ("show", "--json"), ("critical-path", "--json")]


DIRECTORIES = [("export", "-f", "ctf", "-o", "directory")]


def kind_of(command):
    if command in DIRECTORIES:
        return "binary"
    if "--json" in command:
        return "json"
    if command[0] == "export":
        return {"jsonl": "jsonl", "chrome": "chrome", "perfetto": "binary", "pprof": "binary", "speedscope": "json", "csv": "csv of spans",
                "sqlite": "binary"}[command[2]]
    if command[0] == "flame":
        return "terminal" if "--folded" in command else "svg"
    return "csv" if "--csv" in command else "terminal"


def single_commands():
    """Every command that takes one log."""
    return VIEWS + [(*view, "--json") for view in VIEWS if view[0] in WITH_JSON] + OUTPUTS + DIRECTORIES + COPIES + QUERIES + OF_SPANS


# ---- how ----

class Runner:
    def __init__(self, txtrace, scratch):
        self.txtrace, self.scratch = txtrace, scratch
        self.environment = dict(os.environ, TXTRACE_PAGER="", LC_ALL="C")
        self.limits = {resource.RLIMIT_CORE: 0}
        if "sanitize" in str(txtrace):
            for name, more in {"ASAN_OPTIONS": f":hard_rss_limit_mb={MEMORY_BYTES >> 20}", "UBSAN_OPTIONS": ""}.items():
                self.environment[name] = f"{os.environ.get(name, '')}:exitcode={SANITIZER_STATUS}{more}"
        else:
            self.limits[resource.RLIMIT_AS] = MEMORY_BYTES

    def limit(self):
        for which, size in self.limits.items():
            resource.setrlimit(which, (size, size))

    def run(self, arguments):
        return subprocess.run([self.txtrace, *arguments], cwd=self.scratch, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=300, check=False, preexec_fn=self.limit)

    def check(self, arguments, kind="terminal", statuses=(0, 1, 2)):
        """Returns the status, None if something did not hold."""
        seen[arguments[0]] = seen.get(arguments[0], 0) + 1
        try:
            done = self.run(arguments)
            if done.returncode not in statuses:
                raise ValueError(f"the status is {done.returncode}: {done.stderr.decode(errors='replace')}")
            said = done.stderr.decode()
            check_plain(said)
            if done.returncode == 2 and not said and "check" not in arguments and "diff" not in arguments:
                raise ValueError("it fails and says nothing")
            if not all(line.startswith(("txtrace: ", " ", "try ")) for line in said.splitlines()):
                raise ValueError(f"whose is '{said}'?")
            check = CHECKS.get(kind, check_plain)
            if check and not (done.returncode == 2 and kind in ("csv", "jsonl")):
                check(done.stdout.decode())
        except (ValueError, subprocess.TimeoutExpired, xml.etree.ElementTree.ParseError, csv.Error, RecursionError) as error:
            failures.append(f"{' '.join(arguments)}: {error}")
            return None
        return done.returncode

    def check_copy(self, arguments):
        """A command that writes the log `out`."""
        out = self.scratch / "out"
        status = self.check([arguments[0], "-o", "out", *arguments[1:]])
        left = sorted(path.name for path in self.scratch.glob("out*"))
        if status is not None and left != ([] if status == 2 else ["out"]):
            failures.append(f"{' '.join(arguments)}: with status {status}, {left} is left")
        elif left == ["out"] and self.check(["dump", "out"]) == 2:
            failures.append(f"{' '.join(arguments)}: the log that it wrote can't be read")
        out.unlink(missing_ok=True)


    def check_directory(self, arguments):
        """A command that writes files into the directory `directory`. What is in it is for readers that may not be here."""
        directory = self.scratch / "directory"
        status = self.check(arguments)
        left = sorted(path.name for path in self.scratch.glob("directory*"))
        if status is not None and left != ([] if status == 2 else ["directory"]):
            failures.append(f"{' '.join(arguments)}: with status {status}, {left} is left")
        shutil.rmtree(directory, ignore_errors=True)


def span_of(runner, log):
    """The id of a span, if there is one that can be shown."""
    try:
        return json.loads(runner.run(["spans", "--json", "-n", "1", log]).stdout)["spans"][0]["id"]
    except (ValueError, LookupError):
        return "1"


def run_single(runner, command, log):
    kind = kind_of(command)
    if command[0] in ("show", "critical-path"):
        runner.check([*command, log, str(span_of(runner, log))], kind)
    elif command in DIRECTORIES:
        runner.check_directory([*command, log])
    elif command in QUERIES:
        runner.check([*command[:-1], log, command[-1]], kind)
    elif command in COPIES:
        runner.check_copy([*command, log])
    else:
        runner.check([*command, log], kind)


def run_together(runner, number, log, other, sound):
    kind = FORMATS[number % len(FORMATS)]
    runner.check(["check", "-f", kind, log, RULES], kind, (0, 1, 2, 3))
    sides = [(sound, log), (log, sound), (log, other)][number % 3]
    gate = ["-g", CHANGES] if number % 2 else []
    runner.check(["diff", "-f", kind, *gate, sides[0], "--", sides[1]], kind, (0, 1, 2, 3))
    if number % 5 == 0:  # enough of a side to compute with
        runner.check(["diff", "-f", kind, "--pair", "always", *gate, *[sides[0]] * 5, "--", *[sides[1]] * 5], kind, (0, 1, 2, 3))
    runner.check_copy(["merge", log, other] if number % 2 else ["merge", *sides])


def main():
    txtrace, folder, sound = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), str(pathlib.Path(sys.argv[3]).resolve())
    logs = sorted(folder.glob("*.txtrace"), key=lambda path: int(path.stem))
    commands = single_commands()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        runner = Runner(txtrace, pathlib.Path(scratch))
        turn = 0
        for number, path in enumerate(logs):
            other = str(logs[(number * 7 + 1) % len(logs)])
            for _ in range(4):
                run_single(runner, commands[turn % len(commands)], str(path))
                turn += 1
            run_together(runner, number, str(path), other, sound)
    print(f"{len(logs)} logs, {turn} turns of {len(commands)} commands:", " ".join(f"{name}={cnt}" for name, cnt in sorted(seen.items())))
    print("\n".join(failures))
    if not logs or turn < len(commands):
        sys.exit("there are not enough logs for every command")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
