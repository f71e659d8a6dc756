# SPDX-License-Identifier: BSD-2-Clause
"""What all trials use: the recorder and the reader of this tree, what the kernel accounts of a process, and counters beside them."""
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

from trial_sources import TrialError, run
from trial_table import Table

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bench"))
from workload import SAYS_READY, Tool  # pylint: disable=wrong-import-position

# Time off the CPU in state D, in which threads wait for a disk, and the time from a wakeup's begin to where the thread is in a CPU's queue: what is runnable
# before the scheduler's own account counts it.
OFF_CPU = """
tracepoint:sched:sched_switch /comm == "%(comm)s"/ {
	delete(@left[tid]);
	if (args->prev_state & 0xff) { @left[tid] = nsecs; @state[tid] = args->prev_state; }
}
tracepoint:sched:sched_waking {
	$left = @left[args->pid];
	if ($left) {
		if (@state[args->pid] & 2) { @d_ns = sum(nsecs - $left); @d_count = count(); }
		delete(@left[args->pid]);
		@woken[args->pid] = nsecs;
	}
}
tracepoint:sched:sched_wakeup {
	$woken = @woken[args->pid];
	if ($woken) {
		@queued_ns = sum(nsecs - $woken);
		delete(@woken[args->pid]);
	}
}
interval:ms:50 /!@told/ { printf("traces\\n"); @told = 1; }
END { clear(@left); clear(@state); clear(@woken); clear(@told); }
"""


START_S = 300  # a start takes a second or two, unless the machine is busy


class Account:
    """What the kernel has accounted of all threads of some processes: ns on a CPU, ns waiting for one."""

    def __init__(self, *pids):
        self.pids = pids
        self.on_cpu_ns, self.runnable_ns = self.read()

    def read(self):
        on_cpu_ns = runnable_ns = 0
        for path in (path for pid in self.pids for path in glob.glob(f"/proc/{pid}/task/*/schedstat")):
            with open(path, encoding="ascii") as file:
                ran, waited, _ = map(int, file.read().split())
            on_cpu_ns, runnable_ns = on_cpu_ns + ran, runnable_ns + waited
        return on_cpu_ns, runnable_ns

    def passed(self):
        """(ns on a CPU, ns waiting for one) since this was made."""
        on_cpu_ns, runnable_ns = self.read()
        return on_cpu_ns - self.on_cpu_ns, runnable_ns - self.runnable_ns


class Recording:
    """A recorder at work, used by `with`: it records within, and its log is complete behind."""

    def __init__(self, bench, name, *options):
        self.bench = bench
        self.log = os.path.join(bench.scratch, f"{name}.txtrace")
        self.messages = os.path.join(bench.scratch, f"{name}.said")
        self.tool = Tool("txtrace-bpf", [bench.recorder_path, "--ring-size", "64M", "-o", self.log, *options], SAYS_READY, patience_s=START_S)
        self.process = None

    def __enter__(self):
        self.process = self.tool.start(self.messages)
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise TrialError("the recorder did not end within two minutes") from None
        if status not in (0, 130) and kind is None:
            raise TrialError(f"the recorder ended with {status}: {self.said()[-400:]}")

    def wait(self, seconds=300):
        """Until all that is traced has ended."""
        self.process.wait(seconds)

    def said(self):
        with open(self.messages, encoding="utf-8", errors="replace") as file:
            return file.read()

    def warnings(self):
        """What the recorder said that is no report."""
        return [line for line in self.said().splitlines() if line.startswith("txtrace-bpf: ")]

    def read(self, command, *options):
        told = subprocess.run([self.bench.reader_path, command, *options, "--json", self.log], check=True, capture_output=True, text=True).stdout
        return json.loads(told)

    def text(self, command, *options):
        return subprocess.run([self.bench.reader_path, command, *options, self.log], check=True, capture_output=True, text=True,
                              env=dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8")).stdout

    def spans(self, *labels):
        """All spans, or those with one of the labels, each as `export -f jsonl` writes it."""
        exported = subprocess.run([self.bench.reader_path, "export", "-f", "jsonl", self.log], check=True, capture_output=True, text=True).stdout
        spans = (json.loads(line) for line in exported.splitlines() if '"type":"span"' in line or '"type": "span"' in line)
        return [span for span in spans if not labels or span["label"] in labels]

    def label(self, name):
        """The row of `report` for a label; with a count of 0 if it has none."""
        rows = {row["label"]: row for row in self.read("report")["labels"]}
        return rows.get(name, {"count": 0, "wall_ns": {"sum": 0, "mean": 0}, "sum": {"on_cpu_ns": 0, "blocked": {}}})

    def reasons(self):
        return {row["name"]: row for row in self.read("report", "--by", "reason")["rows"]}

    def workers(self, *pids):
        """{on_cpu_ns, runnable_ns, unknown_ns} of all threads of these processes, or of all."""
        threads = [thread for thread in self.read("workers")["threads"] if not pids or thread["pid"] in pids]
        sums = {part: sum(thread[part] for thread in threads) for part in ("on_cpu_ns", "runnable_ns", "blocked_ns")}
        return dict(sums, unknown_ns=sum(thread["to_ns"] - thread["from_ns"] for thread in threads) - sum(sums.values()))


class Bench:
    def __init__(self, options):
        self.build = os.path.abspath(options.build)
        self.scratch = options.scratch
        self.rounds = options.rounds
        self.recorder_path = os.path.join(self.build, "txtrace-bpf")
        self.reader_path = os.path.join(self.build, "txtrace")
        self.table = Table()

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                raise TrialError(f"'{program}' is not installed")

    def record(self, name, *options):
        return Recording(self, name, *options)

    def accounts(self, recording, passed, *pids, queued_ns=None):
        """Rows for the time on CPUs and the time waiting for them; queued_ns: what an OffCpu says."""
        ours = recording.workers(*pids)
        self.table.row("on-CPU", ours["on_cpu_ns"], passed[0], "ns", "/proc/PID/task/*/schedstat")
        if ours["unknown_ns"]:
            self.table.row("  in no known state besides", ours["unknown_ns"], None, "ns", "a switch that the kernel hid, and the last state of each thread")
        self.table.row("runnable", ours["runnable_ns"], passed[1], "ns", "schedstat, run_delay: from the queue on")
        if queued_ns is not None:
            self.table.row("runnable", ours["runnable_ns"], passed[1] + queued_ns, "ns", "the same, and bpftrace: sched_waking to sched_wakeup")

    def losses(self, recording):
        """What has to be so in every recording."""
        report = recording.read("report")
        losses, anomalies = report["losses"], report["anomalies"]
        self.table.row("events lost", losses["lost"], 0, "count", "none is expected")
        self.table.row("events received", losses["received"], losses["sent"] - losses["lost"], "count", "sent less lost, by the kernel side", must_equal=True)
        wrong = report["unbalanced_ledgers"] + anomalies["imbalance"] + anomalies["clock_mismatch"]
        self.table.row("ledgers and clocks out of balance", wrong, 0, "count", "none may be", must_equal=True)

    def counter(self):
        """The environment that makes a program count its calls of fsync and fdatasync, and a function that says (calls, ns) so far."""
        library, told = os.path.join(self.scratch, "count_calls.so"), os.path.join(self.scratch, "calls")
        if not os.path.exists(library):
            run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC", "-O2", "-o", library, "tests/trials/count_calls.c", "-ldl"], ".", told + ".log")
        with open(told, "wb") as file:
            file.write(bytes(16))
        os.chmod(told, 0o666)

        def read():
            with open(told, "rb") as file:
                return struct.unpack("=QQ", file.read(16))
        return {"LD_PRELOAD": library, "COUNT_CALLS": told}, read

    def off_cpu(self, comm):
        """bpftrace beside the recorder, by the name of the threads; used by `with`. Its tracefs is its own."""
        return OffCpu(self, comm)


class OffCpu:
    def __init__(self, bench, comm):
        self.output = os.path.join(bench.scratch, "bpftrace.log")
        self.process = None
        if not shutil.which("bpftrace"):
            return
        script = OFF_CPU % {"comm": comm}
        mounts = "{ mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing; } && exec bpftrace -e \"$1\""
        tool = Tool("bpftrace", ["unshare", "-m", "sh", "-c", mounts, "sh", script], "traces", patience_s=START_S)
        self.process = tool.start(self.output)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        """(waits in state D, their ns, ns from wakeups to the queues); three times None without bpftrace."""
        if not self.process:
            return None, None, None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        with open(self.output, encoding="utf-8", errors="replace") as file:
            told = dict(re.findall(r"^@(\w+): (\d+)$", file.read(), re.M))
        return int(told.get("d_count", 0)), int(told.get("d_ns", 0)), int(told.get("queued_ns", 0))


def wait_until(is_so, what, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TrialError(f"{what} did not come within {seconds} s")
        time.sleep(0.02)
