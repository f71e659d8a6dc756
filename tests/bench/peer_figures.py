# SPDX-License-Identifier: BSD-2-Clause
"""A begin and an end, beside LTTng-UST and uftrace. Each tool has its own process; in each round they take turns in another order."""
import os
import random
import shutil
import signal
import subprocess

from figures import row, title

# what, KiB that are written before each pair, pairs, the aim of the ring
STATES = [("hot", 0, 200000, "aim <= 20"), ("the core's own caches evicted, 4 MiB", 4096, 4000, "aim <= 100"), ("all caches evicted, 64 MiB", 65536, 200, "")]
DAEMON_PID = "/var/run/lttng/lttng-sessiond.pid"


class Peers:
    def __init__(self, bench):
        self.bench = bench
        self.sources = os.path.dirname(os.path.abspath(__file__))
        self.include = os.path.join(self.sources, "..", "..", "include")
        self.has_lttng = shutil.which("lttng") is not None and self._compile("lttng", ["-DPEER_LTTNG", self._provider()], ["-llttng-ust", "-ldl"])
        self.has_uftrace = shutil.which("uftrace") is not None and self._compile("function", ["-DPEER_FUNCTION", self._function()], [])
        self.has_daemon = os.path.exists(DAEMON_PID)
        if self.has_lttng:
            self._lttng("create", "txtrace-bench", "--output", os.path.join(bench.scratch, "lttng"))
            self._lttng("enable-event", "-u", "txtrace_peer:*")
            self._lttng("start")

    def path(self, name):
        return os.path.join(self.bench.scratch, f"mark_peers_{name}") if name else os.path.join(self.bench.build, "bench", "mark_peers")

    def _compile(self, name, options, libraries):
        command = ["gcc", "-O2", f"-I{self.sources}", f"-I{self.include}", os.path.join(self.sources, "mark_peers.c"), *options, *libraries, "-o", self.path(name)]
        return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0

    def _provider(self):
        path = os.path.join(self.bench.scratch, "provider.c")
        with open(path, "w", encoding="ascii") as file:
            file.write('#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n#define LTTNG_UST_TRACEPOINT_DEFINE\n#include "peer_lttng.h"\n')
        return path

    def _function(self):
        """A begin and an end are a call and a return; it alone is instrumented."""
        path = os.path.join(self.bench.scratch, "function")
        with open(f"{path}.c", "w", encoding="ascii") as file:
            file.write("#include <stdint.h>\nvoid peer_function(uint64_t i);\nvoid peer_function(uint64_t i) { __asm__ volatile(\"\" : : \"r\"(i)); }\n")
        subprocess.run(["gcc", "-O2", "-pg", "-mfentry", "-c", f"{path}.c", "-o", f"{path}.o"], check=False, stderr=subprocess.DEVNULL)
        return f"{path}.o"

    def _lttng(self, *arguments):
        subprocess.run(["lttng", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        if not self.has_lttng:
            return
        self._lttng("destroy", "txtrace-bench")
        if not self.has_daemon:  # `create` has started it
            with open(DAEMON_PID, encoding="ascii") as file:
                os.kill(int(file.read()), signal.SIGTERM)

    def tools(self):
        """{name: the command in front of the program, the program, what it is to do}"""
        recorder = [self.bench.recorder_path, "-q", "-o", self.bench.log]
        result = {"ring": ([*recorder, "--marks", "ring", "--"], "", "txtrace"), "probe": ([*recorder, "--"], "", "txtrace")}
        if self.has_lttng:
            result["lttng"] = ([], "lttng", "peer")
        if self.has_uftrace:
            result["uftrace"] = (["uftrace", "record", "--no-pager", "--no-libcall", "-d", os.path.join(self.bench.scratch, "uftrace")], "function", "peer")
        return result

    def measure(self, tool, kib, pairs):
        before, program, what = self.tools()[tool]
        out = subprocess.run([*before, self.path(program), what, str(kib), str(pairs)], check=True, capture_output=True, text=True).stdout
        return float(out.split()[-1]) / 2


def peers(bench):
    title("One mark (half a begin and end), beside other tracers, ns")
    those = Peers(bench)
    names = {"ring": "txtrace-bpf --marks ring", "probe": "txtrace-bpf, through probes", "lttng": "LTTng-UST", "uftrace": "uftrace, a call or return"}
    try:
        for what, kib, pairs, aim in STATES:
            values = {tool: [] for tool in those.tools()}
            for _ in range(bench.rounds):
                for tool in random.sample(sorted(values), len(values)):
                    values[tool].append(those.measure(tool, kib, pairs))
            print(f"  {what}")
            for tool, measured in values.items():
                row(f"  {names[tool]}", measured, note=aim if tool == "ring" else "")
    finally:
        those.stop()
