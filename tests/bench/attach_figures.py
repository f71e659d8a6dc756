# SPDX-License-Identifier: BSD-2-Clause
"""How long the recorder takes to start: to have its BPF programs accepted, and then to attach to a program with many marks, or with many threads."""
import json
import os
import subprocess
import time

from figures import row, title
from workload import SAYS_READY, Tool

USES = 10000
USES_OF_A_FUNCTION = 100
ROUNDS_MAX = 7


def write_uses(path):
    """A program with so many marks, each with a label of its own, which waits until its input ends."""
    functions = range(USES // USES_OF_A_FUNCTION)
    with open(path, "w", encoding="ascii") as file:
        file.write('#include <stdio.h>\n#include "txtrace.h"\n')
        for function in functions:
            file.write(f"static void __attribute__((noinline)) f{function}(int use)\n{{\n\tswitch (use) {{\n")
            for use in range(USES_OF_A_FUNCTION):
                file.write(f'\tcase {use}: {{ TXTRACE_SPAN("use {function * USES_OF_A_FUNCTION + use}"); getchar(); break; }}\n')
            file.write("\t}\n}\n")
        file.write('int main(void)\n{\n\tputs("begun");\n\tfflush(stdout);\n\tgetchar();\n')
        for function in functions:
            file.write(f"\tf{function}({function});\n")
        file.write("\treturn 0;\n}\n")


def build_uses(bench):
    source, program = os.path.join(bench.scratch, "uses.c"), os.path.join(bench.scratch, "uses")
    write_uses(source)
    subprocess.run(["cc", "-O1", "-Iinclude", "-o", program, source], check=True)
    return program


def look(bench, pid):
    """ms: {what: value} of one start and end."""
    log = os.path.join(bench.scratch, "tool.log")
    command = [bench.recorder_path, "-p", str(pid), "-o", bench.log, "--messages", "json"]
    tool = Tool("txtrace-bpf", command, SAYS_READY)
    begin = time.monotonic()
    process = tool.start(log)
    ready = time.monotonic()
    time.sleep(0.1)
    end = time.monotonic()
    tool.stop(process)
    with open(log, encoding="utf-8") as file:
        told = next(line for line in map(json.loads, file) if line["event"] == "start")
    return {"attach": told["attach_us"] / 1e3, "load": told["load_us"] / 1e3, "all": (ready - begin) * 1e3, "stop": (time.monotonic() - end) * 1e3}


def attach(bench):
    title("Starting: ms from the start of txtrace-bpf until it records")
    programs = [("one mark, one thread", [bench.program("crowd"), "--threads", "1"], ""),
                (f"{USES:,} marks", [build_uses(bench)], "aim <= 100"),
                ("5,000 threads, each asleep in a span", [bench.program("crowd"), "--threads", "5000"], "aim <= 1000")]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _, command, _ in programs]
    for process in running:
        process.stdout.readline()
    values = [[] for _ in programs]
    try:
        for _ in range(min(bench.rounds, ROUNDS_MAX)):
            for process, found in zip(running, values):
                found.append(look(bench, process.pid))
    finally:
        for process in running:
            process.kill()
            process.wait()
    for (name, _, aim), found in zip(programs, values):
        print(f"  {name}")
        for what, key, note in (("attached", "attach", aim), ("the BPF programs accepted by the kernel", "load", ""), ("in all", "all", ""),
                                ("and to its end again", "stop", "")):
            row("  " + what, [figure[key] for figure in found], "ms", note)
