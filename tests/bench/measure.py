#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What tracing costs, beside the floor and beside peers: medians over interleaved rounds, with quartiles."""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time

import attach_figures
import cost_figures
import export_figures
import fleet_figures
import idle_figures
import live_figures
import log_figures
import mode_figures
import otlp_figures
import page_figures
import path_figures
import peer_figures
import redis_figures
import server_figures
from figures import differences, row, title
from workload import SAYS_READY, Tool, Workload, compare, quartiles


class Bench:
    def __init__(self, options):
        self.build = os.path.abspath(options.build)
        self.scratch = options.scratch
        self.rounds = options.rounds
        self.log = os.path.join(self.scratch, "bench.txtrace")
        self.recorder_path = os.path.join(self.build, "txtrace-bpf")
        self.is_long = "report" in options.parts  # asked for by name: then with what takes minutes

    def program(self, name):
        return os.path.join(self.build, "programs", name)

    def recorder(self, name, pid, *options):
        command = [self.recorder_path, "-p", str(pid), "-q", "-o", self.log]
        return Tool(name, command + list(options), SAYS_READY)

    def floor(self, name, what, pid):
        return Tool(name, [os.path.join(self.build, "bench", "floor"), what, str(pid)], "ready")

    def untraced(self):
        title("Untraced: a begin/end pair in a loop against the same loop without")
        costs = {"empty": [], "begin-end": []}
        for _ in range(self.rounds):
            for mode, values in costs.items():
                out = subprocess.run([self.program("probe_loop"), "--mode", mode, "--iterations", "20000000"], check=True,
                                     capture_output=True, text=True).stdout
                values.append(json.loads(out.splitlines()[-1])["ns_each"])
        pairs = [pair - empty for pair, empty in zip(costs["begin-end"], costs["empty"])]
        row("empty loop", costs["empty"])
        row("one probe (half the pair's difference)", [pair / 2 for pair in pairs], note="aim <= 1")

    def probes(self):
        title("Traced: one probe (half a begin/end pair), ns of the program's CPU")
        workload = Workload([self.program("probe_loop"), "--mode", "begin-end", "--steps", "1000", "--seconds", "3600"], self.scratch)
        pid = workload.pid
        tools = [self.floor("floor", "probes", pid), self.recorder("ours", pid),
                 self.floor("fast floor", "fast-probes", pid), self.recorder("fast ours", pid, "--fast-probes"),
                 self.recorder("ring", pid, "--marks", "ring")]
        if shutil.which("bpftrace"):
            path = self.program("probe_loop")
            script = f"usdt:{path}:txtrace:begin {{ @b = count(); }} usdt:{path}:txtrace:end {{ @e = count(); }}"
            tools.append(Tool("bpftrace", ["bpftrace", "-p", str(pid), "-e", script], "Attaching"))
        try:
            base, added = compare(workload, tools, self.rounds, self.scratch)
        finally:
            workload.stop()
        each = {name: [value / 2 for value in values] for name, values in added.items()}
        row("untraced iteration", base)
        for prefix, what in (("", "the nop that is safe everywhere"), ("fast ", "the nop of --fast-probes")):
            print(f"  on {what}")
            floor = row("  empty uprobe (the floor)", each[prefix + "floor"])
            row("  txtrace-bpf", each[prefix + "ours"], note=f"ratio {quartiles(each[prefix + 'ours'])[1] / floor:.2f}")
            row("    above the floor, round by round", differences(each[prefix + "ours"], each[prefix + "floor"]), note="aim <= 100")
        row("txtrace-bpf --marks ring: no probe, shared memory", each["ring"], note="aim <= 20")
        if "bpftrace" in each:
            row("bpftrace, count()", each["bpftrace"])

    def peers(self):
        peer_figures.peers(self)

    def switches(self):
        title("Context switch with its wakeup (futex ping-pong on one CPU), ns added to each switch")
        workload = Workload([self.program("pingpong"), "--cpu", "1", "--seconds", "3600"], self.scratch)
        perf_data = os.path.join(self.scratch, "perf.data")
        tools = [self.floor("floor", "switches", workload.pid), self.recorder("ours", workload.pid)]
        if shutil.which("perf"):
            tools.append(Tool("perf sched record", ["perf", "sched", "record", "-o", perf_data], 0.7))
        try:
            base, added = compare(workload, tools, self.rounds, self.scratch)
        finally:
            workload.stop()
        row("untraced switch", base)
        row("empty tp_btf/sched_switch (the floor)", added["floor"])
        ours = row("txtrace-bpf", added["ours"], note="aim <= 250")
        row("  above the floor, round by round", differences(added["ours"], added["floor"]))
        if "perf sched record" in added:
            peer = row("perf sched record", added["perf sched record"])
            print(f"  {'  txtrace-bpf / perf sched record':<46} {ours / peer:9.2f}")

    def cost(self):
        cost_figures.cost(self)

    def modes(self):
        mode_figures.modes(self)

    def info(self):
        return log_figures.info(self, self.log)

    def sizes(self):
        log_figures.sizes(self)

    def codec(self):
        log_figures.codec(self)

    def report(self):
        log_figures.report(self)

    def export(self):
        export_figures.export(self)

    def fleet(self):
        fleet_figures.fleet(self)

    def otlp(self):
        otlp_figures.otlp(self)

    def imports(self):
        export_figures.imports(self)

    def sql(self):
        log_figures.sql(self)

    def attach(self):
        attach_figures.attach(self)

    def paths(self):
        path_figures.paths(self)

    def otel(self):
        path_figures.otel(self)

    def waits(self):
        path_figures.waits(self)

    def others(self):
        path_figures.others(self)

    def bank(self):
        server_figures.bank(self)

    def redis(self):
        redis_figures.redis(self)

    def select(self):
        server_figures.select(self)

    def tpcb(self):
        server_figures.tpcb(self)

    def traps(self):
        server_figures.traps(self)

    def reading(self):
        title("Reading a log: records a second of wall time, by the threads that decode ahead of the reader")
        tool = os.path.join(self.build, "txtrace-bpf")
        commands = {"storm of two million switches": ["pingpong", "--cpu", "1", "--switches", "2000000"],
                    "bank": ["bank", "--transactions", "20000", "--rate", "8000"]}
        for name, command in commands.items():
            subprocess.run([tool, "-q", "-o", self.log, "--", self.program(command[0])] + command[1:], check=True, stdout=subprocess.DEVNULL)
            print(f"  {name}: {os.path.getsize(self.log):,} bytes", flush=True)
            subprocess.run([os.path.join(self.build, "bench", "log_threads"), self.log], check=True)

    def idle(self):
        idle_figures.idle(self)

    def live(self):
        live_figures.live(self)

    def page(self):
        page_figures.page(self)

    def writer(self):
        title("The log's writer: what a record costs the thread that records")
        subprocess.run([os.path.join(self.build, "bench", "log_queue")], check=True)

    def rate(self):
        title("Events a second before the first is lost")
        tool = os.path.join(self.build, "txtrace-bpf")
        best = 0
        for rate in (100000, 250000, 400000, 500000, 600000, 800000, 1000000, 1500000, 2000000, 3000000):
            workload = subprocess.Popen([self.program("probe_loop"), "--mode", "begin-end", "--threads", "2", "--rate", str(rate // 4),
                                         "--seconds", "60"], stdout=subprocess.DEVNULL)
            time.sleep(0.2)
            subprocess.run([tool, "-q", "--fast-probes", "-p", str(workload.pid), "-d", "3", "-o", self.log], check=True, stderr=subprocess.DEVNULL)
            workload.terminate()
            workload.wait()
            losses = self.info()["losses"]
            reached = losses["sent"] / 3
            lost = losses["lost"]
            print(f"  asked for {rate:>9,}: {reached:>12,.0f} events/s, {lost:,} lost", flush=True)
            if not lost:
                best = max(best, reached)
            if lost or reached < 0.7 * rate:
                break
        print(f"  most without a loss: {best:,.0f} events/s  aim 500,000")

    def ring_rate(self):
        title("Marks in shared memory: how many of one thread are lost, and what the recorder takes for one")
        for rate in (2000000, 4000000, 6000000, 8000000, 10000000):
            for seconds in (1, 3):
                lost, cpu_ns = [], []
                for _ in range(min(self.rounds, 5)):
                    program = [self.program("probe_loop"), "--mode", "begin-end", "--steps", "1", "--rate", str(rate // 2), "--seconds", str(seconds)]
                    subprocess.run([self.recorder_path, "-q", "--marks", "ring", "--sched", "off", "-o", self.log, "--", *program, "--wait-traced", "5"],
                                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    losses = self.info()["losses"]
                    lost.append(losses["lost"] / losses["sent"] * 100)
                    told = subprocess.run([os.path.join(self.build, "txtrace"), "report", "--cost", "--json", self.log], check=True, capture_output=True)
                    cpu_ns.append(json.loads(told.stdout)["cost"]["recorder_cpu_ns"] / losses["received"])
                row(f"{rate:>10,} a second for {seconds} s: lost", lost, "%")
                row(f"{'':>10} CPU of the whole recorder, ns for each that was read", cpu_ns)
        print("  out of the pool with its time (drain), made a record (push), merged by time; ns for each mark  aim 15 in all")
        subprocess.run([os.path.join(self.build, "bench", "mark_drain"), "100000", "51"], check=True)


# Each is a method of Bench; in this order without a choice.
PARTS = {
    "untraced": "a mark that nobody traces",
    "probes": "a mark that is traced, beside the floor and bpftrace",
    "peers": "a mark in shared memory, hot and with caches evicted, beside LTTng-UST and uftrace",
    "switches": "a context switch with its wakeup, beside the floor and perf",
    "paths": "each BPF program, as the kernel measures it",
    "otel": "a switch of a thread that publishes contexts",
    "waits": "a context switch, by what it waits for: futex, pipe, socket, read, poll, epoll; BASE=PATH: beside another txtrace-bpf",
    "others": "a process that runs a traced file, and is not traced",
    "attach": "starting: 10,000 marks, 5,000 threads",
    "bank": "a transaction of the bank, beside perf and bpftrace",
    "redis": "a request of Redis, built with marks, beside perf",
    "select": "a transaction of PostgreSQL, pgbench select-only",
    "tpcb": "the same, tpcb-like",
    "traps": "what a probe costs in a server: bpftrace at ever more probes of PostgreSQL",
    "sizes": "bytes in the log",
    "codec": "encoding and decoding",
    "reading": "reading a log",
    "cost": "what the recorder says of its own cost, beside the truth",
    "modes": "what is paid for less: --sched ledger and off, --label, --sample",
    "report": "whole reports, beside perf's; by name: of logs up to 1 GB",
    "export": "logs in other formats",
    "imports": "files of other tools",
    "sql": "queries, beside reports",
    "fleet": "logs to ClickHouse",
    "otlp": "spans to a receiver of OpenTelemetry",
    "idle": "a recorder whose threads sleep: its own wakeups",
    "live": "the live view of a log that is being written",
    "page": "a page for a browser",
    "writer": "the log's writer",
    "rate": "events a second before the first is lost",
    "ring_rate": "the same of marks in shared memory, and what the recorder takes for one",
}


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
                                     epilog="parts:\n" + "\n".join(f"  {name:<10} {what}" for name, what in PARTS.items()))
    parser.add_argument("--build", required=True, help="where the programs are")
    parser.add_argument("--scratch", required=True, help="an empty folder")
    parser.add_argument("--rounds", type=int, default=15, help="how many rounds are interleaved")
    parser.add_argument("parts", nargs="*", default=[], metavar="PART", help="what to measure; default: all")
    options = parser.parse_args()
    bench = Bench(options)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        sys.exit(f"bench: no part is called '{unknown[0]}'; there are {', '.join(PARTS)}")
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}; medians [quartiles] of {options.rounds} interleaved rounds")
    for name in options.parts or PARTS:
        getattr(bench, name)()


if __name__ == "__main__":
    main()
