# SPDX-License-Identifier: BSD-2-Clause
"""memcached: from source with marks beside its `stats`; and Debian's own by its threads and libc's functions."""
import os
import pwd
import socket
import subprocess
import threading

from trial_bench import Account, wait_until
from trial_sources import build

COMMANDS = [["./configure", "--disable-docs", "--disable-dependency-tracking"], ["make", "-j2", "memcached"]]
CLIENTS = 4
EACH = 2500


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, request, last):
        """The lines of an answer, up to one that begins with any of these."""
        self.socket.sendall(request)
        lines = []
        while not lines or not lines[-1].startswith(last):
            lines.append(self.file.readline())
        return lines

    def close(self):
        self.file.close()
        self.socket.close()


class Server:
    def __init__(self, bench, program, name):
        self.path = os.path.join(bench.scratch, f"{name}.sock")
        user = pwd.getpwnam("nobody").pw_name
        os.chmod(bench.scratch, 0o777)  # its socket is nobody's
        self.process = subprocess.Popen([program, "-u", user, "-s", self.path, "-t", str(CLIENTS)], stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        wait_until(lambda: os.path.exists(self.path), "memcached")

    def statistics(self):
        client = Client(self.path)
        told = {words[1].decode(): words[2].decode() for words in (line.split() for line in client.ask(b"stats\r\n", b"END")) if len(words) == 3}
        client.close()
        return told

    def work(self, number):
        client = Client(self.path)
        for i in range(EACH):
            key = b"key-%d-%d" % (number, i % 100)
            client.ask(b"set %s 0 0 5\r\nvalue\r\n" % key, b"STORED")
            client.ask(b"get %s\r\n" % key, b"END")
        client.close()

    def load(self):
        threads = [threading.Thread(target=self.work, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def marked(bench, program):
    table = bench.table
    server = Server(bench, program, "marked")
    try:
        with bench.record("memcached", "-p", str(server.pid)) as recording:
            account = Account(server.pid)
            server.load()
            passed = account.passed()
            told = server.statistics()
    finally:
        server.stop()
    table.row("get", recording.label("get")["count"], int(told["cmd_get"]), "count", "stats, cmd_get", must_equal=True)
    table.row("set", recording.label("set")["count"], int(told["cmd_set"]), "count", "stats, cmd_set", must_equal=True)
    # one more: the command `stats` itself
    table.row("commands", recording.label("command")["count"], int(told["cmd_get"]) + int(told["cmd_set"]) + 1, "count", "stats, and the command stats", must_equal=True)
    bench.accounts(recording, passed, server.pid)
    reasons = recording.reasons()
    for name, row in reasons.items():
        if row["count"]:
            table.row(f"blocked: {name}", row["sum_ns"], None, "ns")
    bench.losses(recording)


def debian(bench):
    table = bench.table
    server = Server(bench, "/usr/bin/memcached", "debian")
    try:
        with bench.record("memthreads", "-p", str(server.pid), "--threads") as recording:
            account = Account(server.pid)
            server.load()
            passed = account.passed()
        table.row("Debian's memcached, --threads", recording.read("report")["totals"]["exact"]["count"], 0, "count", "no spans", must_equal=True)
        bench.accounts(recording, passed, server.pid)
        with bench.record("memlibc", "-p", str(server.pid), "--func", "libc:sendmsg") as recording:
            server.load()
        table.row("  sendmsg", recording.label("sendmsg")["count"], 2 * CLIENTS * EACH, "count", "answers that the clients got", must_equal=True)
        bench.losses(recording)
    finally:
        server.stop()


def trial(bench):
    bench.table.title(f"memcached, {CLIENTS} threads, {CLIENTS} clients")
    source = build(bench, "memcached", COMMANDS, "memcached")
    marked(bench, f"{source}/memcached")
    if os.path.exists("/usr/bin/memcached"):
        debian(bench)
    else:
        bench.table.note("Debian's memcached is not installed")
