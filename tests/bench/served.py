# SPDX-License-Identifier: BSD-2-Clause
"""Servers at work without an end, with clients, that say of each transaction when it ended and how long it took (ns, CLOCK_MONOTONIC)."""
import bisect
import glob
import os
import pwd
import shutil
import signal
import struct
import subprocess
import tempfile
import time

BINARIES = "/usr/lib/postgresql/15/bin"


class Transactions:
    """(end_ns, latency_ns), in any order, to be asked by time."""

    def __init__(self, pairs):
        self.pairs = sorted(pairs)

    def between(self, begin_ns, end_ns):
        """The latencies of those that ended in this time, sorted."""
        first, last = (bisect.bisect_left(self.pairs, (ns, 0)) for ns in (begin_ns, end_ns))
        return sorted(latency_ns for _, latency_ns in self.pairs[first:last])


class Bank:
    """tests/programs/bank.c as fast as it can; with a fifth of its computing, so that one audit more or less does not hide what tracing costs."""
    executable = "bank"

    def __init__(self, bench, account):
        self.latencies = os.path.join(bench.scratch, "latencies")
        command = [bench.program("bank"), "--rate", "0", "--cpu-percent", "20", "--directory", bench.scratch, "--latencies", self.latencies]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=account.enter("server"))
        self.pid = self.process.pid
        time.sleep(0.5)

    def stop(self):
        """Returns its transactions."""
        self.process.terminate()
        self.process.wait(30)
        with open(self.latencies, "rb") as file:
            return Transactions(struct.iter_unpack("=QQ", file.read()))


class Postgres:
    """PostgreSQL 15 as Debian has it, under pgbench with four clients. Nothing waits for a disk."""

    def __init__(self, bench, account, script):
        self.bench = bench
        self.user = pwd.getpwnam("postgres")
        self.directory = tempfile.mkdtemp(prefix="txtrace-bench-", dir="/tmp")  # the path of a socket has to be short
        os.chown(self.directory, self.user.pw_uid, self.user.pw_gid)
        self.data = os.path.join(self.directory, "data")
        self._run("initdb", "-D", self.data, "-A", "trust", "--no-sync")
        join = account.enter("server")
        self.process = self._start(["postgres", "-D", self.data, "-k", self.directory, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "autovacuum=off"],
                                   join)
        self.pid = self.process.pid
        for _ in range(600):
            if subprocess.run([f"{BINARIES}/pg_isready", "-q", "-h", self.directory], check=False).returncode == 0:
                break
            time.sleep(0.1)
        self._run("pgbench", "-i", "-q", "-s", "10", "-h", self.directory, "postgres")
        self.realtime_ns = time.time_ns() - time.monotonic_ns()
        self.clients = self._start(["pgbench", "-n", "-c", "4", "-T", "100000", *script, "-l", "--log-prefix", os.path.join(self.directory, "log"),
                                    "-h", self.directory, "postgres"], account.enter("clients"))
        time.sleep(1)

    def _command(self, program, *arguments):
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", f"{BINARIES}/{program}", *arguments]

    def _run(self, program, *arguments):
        subprocess.run(self._command(program, *arguments), check=True, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _start(self, command, join):
        return subprocess.Popen(self._command(*command), cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=join)

    def _transactions(self):
        for path in glob.glob(os.path.join(self.directory, "log.*")):
            with open(path, encoding="ascii") as file:
                for line in file:
                    words = line.split()
                    if len(words) >= 6 and line.endswith("\n"):
                        yield int(words[4]) * 1000000000 + int(words[5]) * 1000 - self.realtime_ns, int(words[2]) * 1000

    def stop(self):
        """Returns its transactions."""
        time.sleep(0.5)  # pgbench writes them in pieces
        self.clients.terminate()
        self.clients.wait(30)
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        transactions = Transactions(self._transactions())
        shutil.rmtree(self.directory)
        return transactions


def select_only(bench, account):
    return Postgres(bench, account, ["-S"])


def tpcb_like(bench, account):
    return Postgres(bench, account, [])
