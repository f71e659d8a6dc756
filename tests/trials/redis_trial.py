# SPDX-License-Identifier: BSD-2-Clause
"""Redis from Debian's source, marked: its own counters, the kernel's accounts and a library that counts fdatasync beside the spans."""
import os
import re
import subprocess

from trial_bench import Account, wait_until
from trial_sources import build

COMMANDS = [["make", "-C", "src", "-j2", "MALLOC=libc", "USE_SYSTEMD=no", "redis-server", "redis-cli", "redis-benchmark"]]
REQUESTS = 20000


class Server:
    def __init__(self, bench, source, environment):
        self.source = source
        self.socket = os.path.join(bench.scratch, "redis.sock")
        command = [f"{source}/src/redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", bench.scratch, "--save", "", "--appendonly", "yes",
                   "--appendfsync", "always", "--daemonize", "no"]
        self.process = subprocess.Popen(command, env=dict(os.environ, **environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        wait_until(lambda: os.path.exists(self.socket) and self.ask("ping") == "PONG", "Redis")

    def ask(self, *words):
        return subprocess.run([f"{self.source}/src/redis-cli", "-s", self.socket, *words], check=False, capture_output=True, text=True).stdout.strip()

    def statistics(self):
        """{command: (calls, ns)} of INFO commandstats."""
        return {name: (int(calls), int(us) * 1000) for name, calls, us in re.findall(r"^cmdstat_(\S+?):calls=(\d+),usec=(\d+)", self.ask("info", "commandstats"), re.M)}

    def load(self, what):
        subprocess.run([f"{self.source}/src/redis-benchmark", "-s", self.socket, "-n", str(REQUESTS), "-c", "8", "-q", "-t", what], check=True,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        if self.process.poll() is None:
            self.ask("shutdown", "nosave")
            self.process.wait(60)


def sets(bench, server, read_calls):
    with bench.off_cpu("redis-server") as beside, bench.record("redis", "-p", str(server.pid)) as recording:
        server.ask("config", "resetstat")
        synced_before = read_calls()
        account = Account(server.pid)
        server.load("set")
        passed = account.passed()
        counted = server.statistics()
        synced = [after - before for after, before in zip(read_calls(), synced_before)]
        waits = beside.stop()
        server.stop()
        recording.wait()
    table = bench.table
    executed, commands = recording.label("execute"), sum(calls for calls, _ in counted.values())
    told = sum(span["label"] == "execute" for span in recording.spans("execute"))
    # INFO and SHUTDOWN come behind the count
    table.row("commands", told, commands + 2, "count", "INFO commandstats, and INFO and SHUTDOWN", must_equal=True)
    table.row("SET", commands and counted["set"][0], REQUESTS, "count", "INFO against redis-benchmark -n")
    table.row("execute: mean", executed["wall_ns"]["mean"], sum(ns for _, ns in counted.values()) / commands, "ns", "commandstats, in which the marks' traps are")
    spans = recording.label("aof.fsync")
    table.row("fdatasync", spans["count"], synced[0], "count", "a preloaded library that counts", must_equal=True)
    table.row("  in all", spans["wall_ns"]["sum"], synced[1], "ns", "the same, by its clock")
    disk = recording.reasons()["disk"]
    table.row("blocked on disk: waits", disk["count"], waits[0], "count", "bpftrace, sched_switch in state D, sched_waking")
    table.row("  in all", disk["sum_ns"], waits[1], "ns", "bpftrace")
    bench.accounts(recording, passed, server.pid, queued_ns=waits[2])
    nesting(table, recording)
    bench.losses(recording)


def nesting(table, recording):
    rows = recording.read("tree")["rows"]
    paths = {}
    for row in rows:
        paths[row["row"]] = paths.get(row["parent_row"], ()) + (row["label"],)
    for path in (("beforeSleep", "aof.flush", "aof.fsync"), ("readQuery", "command", "execute")):
        table.holds("tree: " + " > ".join(path), path in paths.values(), "the program's own calls")
    rows = recording.reasons().values()  # the wait behind a switch that the kernel hides is of unknown reason, its part in a ledger is not
    table.at_most("blocked: in spans, of all", sum(row["in_spans_ns"] for row in rows), sum(row["sum_ns"] for row in rows), "report --by reason")
    for row in rows:
        if row["in_spans_ns"]:
            table.row(f"  {row['name']}: in spans, of all", row["in_spans_ns"], row["sum_ns"], "ns", "report --by reason")


def gets(bench, server):
    with bench.record("redisget", "-p", str(server.pid)) as recording:
        account = Account(server.pid)
        server.load("get")
        passed = account.passed()
    bench.table.row("GET: commands", recording.label("execute")["count"], None)
    bench.accounts(recording, passed, server.pid)


def trial(bench):
    bench.table.title("Redis, marked, appendfsync always, redis-benchmark with 8 clients")
    source = build(bench, "redis", COMMANDS, "src/redis-server")
    environment, read_calls = bench.counter()
    server = Server(bench, source, environment)
    try:
        gets(bench, server)
        sets(bench, server, read_calls)
    finally:
        server.stop()
