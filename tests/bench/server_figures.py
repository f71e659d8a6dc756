# SPDX-License-Identifier: BSD-2-Clause
"""
What tracing costs a server: throughput, p99 and CPU for each transaction, of the bank and of PostgreSQL under pgbench, beside perf sched record and
a bpftrace script that does the closest thing. One server for all; the tools take turns around it, in an order of chance in each round, and each is
compared with the untraced windows just before and after.
"""
import os
import random
import re
import shutil
import statistics
import subprocess
import time

import served
from cpu_account import CpuAccount
from figures import title
from workload import SAYS_READY, Tool, quartiles

TRACED_S = 0.6
UNTRACED_S = 0.4
START_S = 0.5  # the recorder reads the symbols of the server's libraries then: 70 ms of CPU, once
SETTLE_S = 0.1
TRANSACTION = "transaction=postgresql:transaction__start..postgresql:transaction__commit|postgresql:transaction__abort"

# Time off the CPU of each thread of the server, blocked and runnable apart, and the wall time of its transactions.
BPFTRACE = """
tracepoint:sched:sched_switch /comm == "%(comm)s"/ { @left[tid] = nsecs; }
tracepoint:sched:sched_switch /@left[args->next_pid]/ {
	$woken = @woken[args->next_pid];
	if ($woken > @left[args->next_pid]) {
		@blocked[args->next_pid] += $woken - @left[args->next_pid];
		@runnable[args->next_pid] += nsecs - $woken;
	} else {
		@runnable[args->next_pid] += nsecs - @left[args->next_pid];
	}
	delete(@left[args->next_pid]);
	delete(@woken[args->next_pid]);
}
tracepoint:sched:sched_wakeup /@left[args->pid]/ { @woken[args->pid] = nsecs; }
%(probes)s
interval:ms:50 /!@told/ { printf("traces\\n"); @told = 1; }
"""
BPFTRACE_PROBES = {
    "postgres": """
usdt:%(path)s:postgresql:transaction__start { @began[tid] = nsecs; }
usdt:%(path)s:postgresql:transaction__commit,usdt:%(path)s:postgresql:transaction__abort /@began[tid]/ {
	@transactions = hist(nsecs - @began[tid]);
	delete(@began[tid]);
}""",
    "bank": """
usdt:%(path)s:txtrace:begin,usdt:%(path)s:txtrace:begin_detached { @began[arg0] = nsecs; }
usdt:%(path)s:txtrace:end /@began[arg0]/ { @spans = hist(nsecs - @began[arg0]); delete(@began[arg0]); }""",
}


class Window:
    """One look at the server, traced or not. Its transactions come when the server has ended."""

    def __init__(self, before, after):
        self.begin_ns, self.end_ns = before["time"], after["time"]
        self.used = {group: after[group] - before[group] for group in before}

    def figure(self, transactions):
        latencies = transactions.between(self.begin_ns, self.end_ns)
        if len(latencies) < 100:
            return None
        cpu_ns = sum(self.used[group] for group in ("server", "clients", "tool"))
        return {"rate": len(latencies) / (self.end_ns - self.begin_ns) * 1e9, "p99": latencies[len(latencies) * 99 // 100] / 1e3,
                "cpu": cpu_ns / len(latencies) / 1e3, "tool": self.used["tool"] / len(latencies) / 1e3, "nobody": self.used["nobody"] / len(latencies) / 1e3}


class Peer:
    """A tool that traces the server, and how much it writes."""

    def __init__(self, tool, output=None):
        self.tool = tool
        self.name = tool.name
        self.output = output
        self.windows = []  # (before, traced, after)
        self.written = []  # (bytes, seconds that they tell of), for each of the windows
        self.seconds = 0

    def length(self):
        if not self.output:
            return None
        if not self.output.endswith(".perf"):
            return os.path.getsize(self.output), self.seconds
        told = subprocess.run(["perf", "report", "--header-only", "-i", self.output], check=True, capture_output=True, text=True).stdout
        return os.path.getsize(self.output), float(re.search(r"sample duration : *([\d.]+) ms", told).group(1)) / 1e3

    def run(self, account, log):
        if self.output and os.path.exists(self.output):
            os.remove(self.output)
        process = self.tool.start(log)
        begin = time.monotonic()
        time.sleep(START_S)
        window = look(account, TRACED_S)
        self.seconds = time.monotonic() - begin
        self.tool.stop(process)
        self.written.append(self.length())
        time.sleep(SETTLE_S)
        return window


def look(account, seconds):
    before = account.read()
    time.sleep(seconds)
    return Window(before, account.read())


def sched_modes(bench):
    told = subprocess.run([bench.recorder_path, "--help"], check=True, capture_output=True, text=True).stdout
    return ["timeline", "ledger", "off"] if "--sched" in told else [None]


def peers(bench, account, server, spans=()):
    spans = list(spans)
    join = account.enter("tool")
    command = [bench.recorder_path, "-q", "-o", bench.log, "-p", str(server.pid)]
    choices = [(f"txtrace-bpf --sched {mode}" if mode else "txtrace-bpf", spans + (["--sched", mode] if mode else [])) for mode in sched_modes(bench)]
    if not spans:  # marks of its own
        choices += [(f"  the same, --marks ring, --sched {mode}", ["--marks", "ring", "--sched", mode]) for mode in ("timeline", "ledger")]
    if spans:
        choices += [(f"txtrace-bpf --sched {mode}, no spans", ["-f", "--sched", mode]) for mode in ("timeline", "ledger")]
        choices.append(("  the same, --preset postgresql", ["-f", "--preset", "postgresql"]))
    tools = [Peer(Tool(name, command + options, SAYS_READY, prepare=join), bench.log) for name, options in choices]
    if shutil.which("perf"):
        output = os.path.join(bench.scratch, "server.perf")
        tools.append(Peer(Tool("perf sched record", ["perf", "sched", "record", "-o", output], 0.7, prepare=join), output))
    if shutil.which("bpftrace"):
        path = os.path.realpath(f"/proc/{server.pid}/exe")
        comm = os.path.basename(path)
        threads = 'comm == "teller"' if comm == "bank" else f'comm == "{comm}"'
        script = BPFTRACE.replace('comm == "%(comm)s"', threads) % {"probes": BPFTRACE_PROBES[comm] % {"path": path}}
        tools.append(Peer(Tool("bpftrace: spans and time off the CPU", ["bpftrace", "-e", script], "traces", prepare=join)))
    return tools


# Each is hit once in a transaction of pgbench's select-only, the last one twice.
PROBES = ["transaction__start", "transaction__commit", "query__start", "query__done", "statement__status"]


def trap_tools(bench, account, server):
    """Programs that only count, at ever more of PostgreSQL's own probes, and at a function; beside them the recorder without the scheduler's events."""
    join = account.enter("tool")
    path = os.path.realpath(f"/proc/{server.pid}/exe")
    counted = [(f"{cnt} probes", [f"usdt:{path}:{name}" for name in PROBES[:cnt]]) for cnt in (0, 1, 2, 5)]
    counted += [("a function's begin", [f"uprobe:{path}:PortalRun"]), ("its begin and its return", [f"uprobe:{path}:PortalRun", f"uretprobe:{path}:PortalRun"])]
    tools = [Peer(Tool(f"bpftrace, count(): {name}", ["bpftrace", "-e", 'BEGIN { printf("traces\\n"); } interval:s:100 { } ' +
                                                      " ".join(f"{probe} {{ @ = count(); }}" for probe in probes)], "traces", prepare=join))
             for name, probes in counted]
    command = [bench.recorder_path, "-q", "-o", bench.log, "-p", str(server.pid), "-f", "--sched", "off"]
    return tools + [Peer(Tool(name, command + options, SAYS_READY, prepare=join), bench.log)
                    for name, options in (("txtrace-bpf --sched off, no spans", []), ("txtrace-bpf --sched off, 2 probes", ["--span", TRANSACTION]))]


def take_turns(bench, account, tools):
    log = os.path.join(bench.scratch, "tool.log")
    before = look(account, UNTRACED_S)
    for _ in range(bench.rounds):
        for peer in random.sample(tools, len(tools)):
            traced = peer.run(account, log)
            after = look(account, UNTRACED_S)
            peer.windows.append((before, traced, after))
            before = after


def spread(values, form="{:.2f}"):
    low, middle, high = (form.format(value) for value in quartiles(values))
    return f"{middle} [{low} .. {high}]"


class Result:
    """What the windows of a tool say, each beside its neighbours."""

    def __init__(self, peer, transactions):
        self.name = peer.name
        self.base, self.ratios, self.added, self.bytes = [], {"rate": [], "p99": []}, {"cpu": [], "tool": [], "nobody": []}, []
        for windows, written in zip(peer.windows, peer.written):
            before, traced, after = (window.figure(transactions) for window in windows)
            if not before or not traced or not after:
                continue
            untraced = {name: statistics.mean((before[name], after[name])) for name in before}
            self.base.append(untraced)
            for name, values in self.ratios.items():
                values.append(traced[name] / untraced[name])
            for name, values in self.added.items():
                values.append(traced[name] - untraced[name])
            if written:
                self.bytes.append(written[0] / (traced["rate"] * written[1]))

    def cost(self):
        return quartiles(self.added["cpu"])[1]

    def print(self):
        _, cpu, _ = quartiles([figure["cpu"] for figure in self.base])
        print(f"  {self.name:<40} {spread(self.added['cpu']):<24} {self.cost() / cpu * 100:6.1f} % {quartiles(self.added['tool'])[1]:7.2f} "
              f"{quartiles(self.added['nobody'])[1]:7.2f}   {spread(self.ratios['rate']):<22} {spread(self.ratios['p99']):<22}"
              + (f" {quartiles(self.bytes)[1]:9.1f}" if self.bytes else ""), flush=True)


def print_results(results):
    base = [figure for result in results for figure in result.base]
    print(f"  untraced: {spread([figure['rate'] for figure in base], '{:,.0f}')} transactions a second, CPU {spread([figure['cpu'] for figure in base])} µs each, "
          f"p99 {spread([figure['p99'] for figure in base], '{:,.0f}')} µs")
    print(f"  {'':<40} {'µs of CPU added to each':<24} {'':>8} {'its own':>7} {'nobody':>7}   {'throughput, ratio':<22} {'p99, ratio':<22} {'bytes':>9}")
    for result in results:
        result.print()
    peer = next((result for result in results if result.name == "perf sched record"), None)
    for result in results if peer else []:
        if result.name.startswith("txtrace-bpf"):
            ratio = f"bytes {quartiles(peer.bytes)[1] / quartiles(result.bytes)[1]:.0f} times fewer" if result.bytes and peer.bytes else ""
            print(f"  {result.name} / perf sched record: CPU added {result.cost() / peer.cost():.2f}, {ratio}")


def measure(bench, name, start, make_tools):
    title(f"{name}: what a transaction costs")
    account = CpuAccount(["server", "clients", "tool"])
    try:
        server = start(bench, account)
        tools = make_tools(bench, account, server)
        try:
            take_turns(bench, account, tools)
        finally:
            transactions = server.stop()
    finally:
        account.close()
    print_results([Result(peer, transactions) for peer in tools])


def bank(bench):
    measure(bench, "The bank, as fast as it can", served.Bank, peers)


def with_transactions(bench, account, server):
    return peers(bench, account, server, ["-f", "--span", TRANSACTION])


def postgres(bench, name, start, make_tools=with_transactions):
    if not os.path.exists(f"{served.BINARIES}/pgbench"):
        print(f"\nPostgreSQL, {name}: postgresql-15 is not installed")
        return
    measure(bench, f"PostgreSQL 15, pgbench {name} with 4 clients", start, make_tools)


def select(bench):
    postgres(bench, "select-only", served.select_only)


def tpcb(bench):
    postgres(bench, "tpcb-like", served.tpcb_like)


def traps(bench):
    if not shutil.which("bpftrace"):
        print("\nPostgreSQL's own probes: bpftrace is not installed")
        return
    postgres(bench, "select-only", served.select_only, trap_tools)
