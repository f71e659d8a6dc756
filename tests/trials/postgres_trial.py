# SPDX-License-Identifier: BSD-2-Clause
"""PostgreSQL by the preset: pgbench's own log beside it, the server's log of long waits for locks, and what tracing costs."""
import glob
import os
import pwd
import re
import shutil
import statistics
import subprocess
import tempfile

from trial_bench import wait_until
from trial_sources import TrialError
from trial_table import quantiles

CLIENTS = 4
EACH = 1500
LONG_NS = 1000000  # from this on the server's log tells of waits for locks: deadlock_timeout


class Server:
    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        if not found:
            raise TrialError("PostgreSQL is not installed")
        self.binaries = found[-1]
        self.session_options = ""
        user = pwd.getpwnam("postgres")
        self.directory = tempfile.mkdtemp(prefix="txtrace-trial-", dir="/tmp")  # the path of a socket has to be short
        os.chown(self.directory, user.pw_uid, user.pw_gid)
        self.data = os.path.join(self.directory, "data")
        self.log = os.path.join(self.directory, "log")
        self.run("initdb", "-D", self.data, "-A", "trust", "--no-sync")
        with open(self.log, "w", encoding="utf-8") as log:
            settings = ["listen_addresses=", "autovacuum=off", "log_lock_waits=on", "log_line_prefix=%p %n "]
            options = [word for setting in settings for word in ("-c", setting)]
            self.process = subprocess.Popen(self.command("postgres", "-D", self.data, "-k", self.directory, *options), cwd=self.directory, stdout=log,
                                            stderr=log)
        ready = self.command("pg_isready", "-q", "-h", self.directory)
        wait_until(lambda: subprocess.run(ready, check=False, cwd=self.directory).returncode == 0, "PostgreSQL's start")
        self.pid = self.process.pid
        self.run("pgbench", "-i", "-q", "-s", "1", "-h", self.directory, "postgres")

    def command(self, program, *arguments):
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", f"{self.binaries}/{program}", *arguments]

    def run(self, program, *arguments):
        done = subprocess.run(self.command(program, *arguments), check=False, cwd=self.directory, capture_output=True, text=True,
                              env=dict(os.environ, PGOPTIONS=self.session_options))
        if done.returncode:
            raise TrialError(f"{program} failed: {done.stderr[-300:]}")
        return done.stdout

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as file:
            return set(file.read().split())

    def pgbench(self, *options):
        """What pgbench says, once its sessions have ended."""
        before = self.children()
        said = self.run("pgbench", "-n", "-c", str(CLIENTS), "-j", "2", *options, "-h", self.directory, "postgres")
        wait_until(lambda: self.children() <= before, "the end of pgbench's sessions")
        return said

    def children_cpu_ns(self):
        """Of the sessions that have ended, as their parent's account has it."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[13]) + int(words[14])) * 1000000000 // os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def said_transactions(said):
    return int(re.search(r"^number of transactions actually processed: (\d+)/", said, re.M).group(1))


def is_parent(spans):
    """The ids of spans, by process, that are parents."""
    return {(span["pid"], span["parent"]) for span in spans if span["parent"] != "0"}


def tpcb(bench, server):
    prefix = os.path.join(server.directory, "latencies")
    with bench.record("pg", "-p", str(server.pid), "-f", "--preset", "postgresql") as recording:
        before = server.children_cpu_ns()
        said = server.pgbench("-t", str(EACH), "-l", "--log-prefix", prefix)
        passed = server.children_cpu_ns() - before
    theirs = []
    for path in glob.glob(prefix + ".*"):
        with open(path, encoding="ascii") as file:
            theirs += [int(line.split()[2]) * 1000 for line in file]
    spans = recording.spans("transaction", "query", "execute", "lock-wait")
    transactions = [span for span in spans if span["label"] == "transaction"]
    parents = is_parent(spans)
    ours = [span for span in transactions if (span["pid"], span["id"]) in parents]  # those of a session's start have no queries in them
    table = bench.table
    table.row("transactions with queries", len(ours), said_transactions(said), "count", "pgbench", must_equal=True)
    table.row("  others (sessions' starts)", len(transactions) - len(ours), None)
    sessions = {span["pid"] for span in ours}
    queries = sum(span["label"] == "query" and span["pid"] in sessions for span in spans)
    table.row("queries of these sessions", queries, 7 * said_transactions(said), "count", "7 in each of pgbench's transactions", must_equal=True)
    quantiles(table, "transaction", [span["wall_ns"] for span in ours], theirs, "pgbench -l (BEGIN and the way to the client are in it)")
    blamed(table, recording, [span for span in spans if span["label"] == "lock-wait"])
    table.row("on-CPU, sessions", recording.workers(*sessions)["on_cpu_ns"], passed, "ns", "/proc/POSTMASTER/stat, cutime + cstime, in 10 ms")
    bench.losses(recording)


def blamed(table, recording, spans):
    """Who releases a row is a transaction, or a query of one."""
    blocked = sum(span["blocked_ns"] for span in spans)
    if blocked:
        table.row("lock-wait: blocked on a lock", sum(span["blocked"]["lock"] for span in spans) / blocked * 100, 100, "%", "what a wait for a row's lock is")
    pairs = [pair for pair in recording.read("blame")["pairs"] if pair["waiter"]["name"] == "lock-wait"]
    total = sum(pair["ns"] for pair in pairs)
    if total:
        on_spans = sum(pair["ns"] for pair in pairs if pair["waker"]["kind"] == "span")
        table.row("  blamed on a span of the releaser", on_spans / total * 100, 100, "%", "only a transaction releases a row")


def matched(spans, said, offset_ns):
    """Pairs of ns: for each wait that the server tells of, the span of that process that had begun as long before that, and was not over: the server writes the
    line, with a time in whole ms, while it is in the wait."""
    for pid, end_ns, wait_ns in said:
        around = [span for span in spans if span["pid"] == pid and span["begin_ns"] + offset_ns + wait_ns <= end_ns + 1000000 <= span["end_ns"] + offset_ns + 1000000]
        if around:
            yield min(around, key=lambda span: abs(span["begin_ns"] + offset_ns + wait_ns - end_ns))["wall_ns"], wait_ns


def lock_waits(bench, server):
    """The server says how long a wait took that was not over when it looked for a deadlock, here after 1 ms. Its timer disturbs waits: so this is a run apart."""
    server.session_options = f"-c deadlock_timeout={LONG_NS // 1000000}ms"
    size = os.path.getsize(server.log)
    with bench.record("pglocks", "-p", str(server.pid), "-f", "--preset", "postgresql") as recording:
        server.pgbench("-t", str(EACH // 5))
    server.session_options = ""
    with open(server.log, encoding="utf-8") as file:
        file.seek(size)
        said = [(int(pid), int(float(end_s) * 1e9), float(ms) * 1e6) for pid, end_s, ms in
                re.findall(r"^(\d+) ([\d.]+) LOG: +process \d+ acquired \w+ on .* after ([\d.]+) ms", file.read(), re.M)]
    capture = recording.read("report")["capture"]
    pairs = list(matched(recording.spans("lock-wait"), said, capture["start_realtime_ns"] - capture["start_monotonic_ns"]))
    table = bench.table
    table.row("waits for rows, of those logged", len(pairs), len(said), "count", "log_lock_waits, deadlock_timeout 1 ms", must_equal=True)
    quantiles(table, "lock-wait", [ours for ours, _ in pairs], [theirs for _, theirs in pairs], "log_lock_waits")
    bench.losses(recording)


def cost(bench, server):
    """Pairs of runs, one after the other, traced and not: the CPU time of a transaction, which the machine's other work disturbs less than its latency."""
    transactions = 20000
    measured, told, rates = [], [], []

    def untraced():
        before = server.children_cpu_ns()
        rate = float(re.search(r"^tps = ([\d.]+)", server.pgbench("-S", "-t", str(transactions // CLIENTS)), re.M).group(1))
        return (server.children_cpu_ns() - before) / transactions, rate

    for _ in range(bench.rounds):
        plain_ns, plain_rate = untraced()
        with bench.record("pgcost", "-p", str(server.pid), "-f", "--preset", "postgresql") as recording:
            traced_ns, traced_rate = untraced()
        report = recording.read("report", "--cost")["cost"]
        measured.append(traced_ns - plain_ns)
        told.append(report["total_ns"] / transactions)
        rates.append(traced_rate / plain_rate * 100)
    bench.table.row("cost: CPU of a select", statistics.median(told), statistics.median(measured), "ns",
                    f"CPU of sessions, traced less untraced, median of {bench.rounds} pairs")
    bench.table.row("  tps traced, of untraced", None, statistics.median(rates), "%", "pgbench -S, the recorder shares the CPUs")


def trial(bench):
    bench.table.title("PostgreSQL, pgbench with 4 clients, --preset postgresql -f")
    bench.need("setpriv")
    server = Server()
    try:
        tpcb(bench, server)
        lock_waits(bench, server)
        cost(bench, server)
    finally:
        server.stop()
