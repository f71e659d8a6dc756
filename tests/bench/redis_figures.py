# SPDX-License-Identifier: BSD-2-Clause
"""
What all marks of tests/trials/marks/redis.marks cost Redis under redis-benchmark, SET with 8 clients: throughput and CPU for each request. Redis is Debian's
source, built with our header. Each tool is compared with the untraced windows just before and after.
"""
import os
import random
import socket
import statistics
import subprocess
import sys
import time

from cpu_account import CpuAccount
from figures import title
from server_figures import SETTLE_S, START_S, TRACED_S, UNTRACED_S, spread
from workload import SAYS_READY, Tool, quartiles

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../trials"))
from trial_sources import TrialError, build  # noqa: E402

COMMANDS = [["make", "-C", "src", "-j2", "MALLOC=libc", "USE_SYSTEMD=no", "redis-server", "redis-cli", "redis-benchmark"]]
REQUESTS = 2000000000  # more than there is time for


class Redis:
    def __init__(self, bench, source, account):
        self.path = os.path.join(bench.scratch, "redis.sock")
        command = [f"{source}/src/redis-server", "--port", "0", "--unixsocket", self.path, "--dir", bench.scratch, "--save", ""]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=account.enter("server"))
        self.pid = self.server.pid
        while not os.path.exists(self.path):
            time.sleep(0.05)
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.connect(self.path)
        # a virtual CPU that halts between two requests wakes up late: then tracing, which keeps it from halting, would make Redis faster
        self.idlers = [subprocess.Popen(["chrt", "--idle", "0", "sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
        clients = [f"{source}/src/redis-benchmark", "-s", self.path, "-n", str(REQUESTS), "-c", "8", "-t", "set", "-q"]
        self.clients = subprocess.Popen(clients, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=account.enter("clients"))
        time.sleep(1)

    def requests(self):
        self.connection.sendall(b"INFO stats\r\n")
        told = b""
        while b"total_commands_processed:" not in told or not told.split(b"total_commands_processed:")[1].count(b"\r\n"):
            told += self.connection.recv(65536)
        time.sleep(0.01)
        self.connection.setblocking(False)
        try:
            while self.connection.recv(65536):
                pass
        except BlockingIOError:
            pass
        self.connection.setblocking(True)
        return int(told.split(b"total_commands_processed:")[1].split(b"\r\n")[0])

    def stop(self):
        for process in (self.clients, *self.idlers, self.server):
            process.kill()
            process.wait()


class Window:
    def __init__(self, redis, account, seconds):
        cnt, before = redis.requests(), account.read()
        time.sleep(seconds)
        after, cnt = account.read(), redis.requests() - cnt
        self.rate = cnt / (after["time"] - before["time"]) * 1e9
        self.cpu_us = sum(after[group] - before[group] for group in ("server", "clients", "tool")) / cnt / 1e3
        self.tool_us = (after["tool"] - before["tool"]) / cnt / 1e3


def tools_of(bench, redis, account):
    join = account.enter("tool")
    command = [bench.recorder_path, "-q", "-o", bench.log, "-p", str(redis.pid)]
    modes = [["--sched", "ledger"], ["--marks", "ring", "--sched", "ledger"], ["--marks", "ring", "--sched", "timeline"]]
    tools = [Tool("txtrace-bpf " + " ".join(mode), command + mode, SAYS_READY, prepare=join) for mode in modes]
    output = os.path.join(bench.scratch, "redis.perf")
    return tools + [Tool("perf sched record", ["perf", "sched", "record", "-o", output], 0.7, prepare=join)]


def take_turns(bench, redis, account, tools):
    """{name: [(untraced, traced, untraced)]}"""
    windows = {tool.name: [] for tool in tools}
    log = os.path.join(bench.scratch, "tool.log")
    before = Window(redis, account, UNTRACED_S)
    for _ in range(bench.rounds):
        for tool in random.sample(tools, len(tools)):
            process = tool.start(log)
            time.sleep(START_S)
            traced = Window(redis, account, TRACED_S)
            tool.stop(process)
            time.sleep(SETTLE_S)
            after = Window(redis, account, UNTRACED_S)
            windows[tool.name].append((before, traced, after))
            before = after
    return windows


def redis(bench):
    title("Redis, marked, redis-benchmark SET with 8 clients: what a request costs")
    try:
        source = build(bench, "redis", COMMANDS, "src/redis-benchmark")
    except TrialError as error:
        print(f"  Redis is not built: {error}")
        return
    account = CpuAccount(["server", "clients", "tool"])
    try:
        server = Redis(bench, source, account)
        try:
            windows = take_turns(bench, server, account, tools_of(bench, server, account))
        finally:
            server.stop()
    finally:
        account.close()
    untraced = [window for of_tool in windows.values() for before, _, after in of_tool for window in (before, after)]
    print(f"  untraced: {spread([window.rate for window in untraced], '{:,.0f}')} requests a second, CPU {spread([window.cpu_us for window in untraced])} µs each")
    print(f"  {'':<44} {'throughput, ratio':<22} {'µs of CPU added to each':<24} its own")
    for name, of_tool in windows.items():
        rates = [traced.rate / statistics.mean((before.rate, after.rate)) for before, traced, after in of_tool]
        added = [traced.cpu_us - statistics.mean((before.cpu_us, after.cpu_us)) for before, traced, after in of_tool]
        print(f"  {name:<44} {spread(rates):<22} {spread(added):<24} {quartiles([traced.tool_us for _, traced, _ in of_tool])[1]:.2f}")
