# SPDX-License-Identifier: BSD-2-Clause
"""
Text of perf script, ftrace and trace-cmd with known answers, written from what these print.

import_perf_files.py make FOLDER                           the stories below, and what is wrong with files
import_perf_files.py large SWITCHES FILE                   text of perf script, for `make bench`
import_perf_files.py mutate SEED COUNT FOLDER FILE...      files that somebody has changed
"""
import pathlib
import random
import sys

NAMES = {0: "swapper/0", 10: "web server", 11: "worker-1", 12: "sort", 13: "young"}
PIDS = {0: 0, 10: 10, 11: 10, 12: 12, 13: 10}
LONG = "prev_comm={0} prev_pid={1} prev_prio=120 prev_state={4} ==> next_comm={2} next_pid={3} next_prio=120"
SHORT = "{0}:{1} [120] {4} ==> {2}:{3} [120]"


class Text:
    """Lines as one of the tools prints them; times are ms."""

    def __init__(self, tool):
        self.tool, self.lines, self.running, self.names = tool, [], {0: 0, 1: 0}, dict(NAMES)

    def line(self, cpu, ms, event, words, flags="d..2.", tid=None, system="sched:"):
        tid = self.running[cpu] if tid is None else tid
        name, pid, time = self.names[tid], PIDS[tid], f"{100 + ms / 1000:.6f}"
        if self.tool == "perf":
            self.lines.append(f"{name:>16} {tid:5} [{cpu:03}] {time}: {system + event}: {words}")
        elif self.tool == "perf_pid":
            self.lines.append(f"{name:>16} {pid:5}/{tid:<5} [{cpu:03}] {time}: {system + event:>24}: {words}")
        elif self.tool == "ftrace":
            name = "<idle>" if tid == 0 else name
            self.lines.append(f"{name + '-' + str(tid):>20}   ({pid:7}) [{cpu:03}] {flags} {time}: {event}: {words}")
        else:
            name = "<idle>" if tid == 0 else name
            self.lines.append(f"{name + '-' + str(tid):>22}  [{cpu:03}]   {time}: {event:>20}: {words}")

    def switch(self, cpu, ms, state, to):
        prev = self.running[cpu]
        shape = SHORT if self.tool == "trace_cmd" else LONG
        self.line(cpu, ms, "sched_switch", shape.format(self.names[prev], prev, self.names[to], to, state))
        self.running[cpu] = to

    def waking(self, cpu, ms, tid, event="sched_waking", flags="d..2."):
        name = self.names[tid]
        words = f"{name}:{tid} [120] CPU:{cpu:03}" if self.tool == "trace_cmd" else f"comm={name} pid={tid} prio=120 target_cpu={cpu:03}"
        self.line(cpu, ms, event, words, flags)

    def raw(self, text):
        self.lines.append(text)

    def bytes(self):
        head = {"ftrace": "# tracer: nop\n#\n# entries-in-buffer/entries-written: 20/20   #P:2\n#\n", "trace_cmd": "cpus=2\n"}.get(self.tool, "")
        return (head + "\n".join(self.lines) + "\n").encode()


def life(tool):
    """
    Thread 10 runs 100 to 104, sleeps, is woken by 11 at 110, waits for a CPU until 112, runs to 115, is preempted until 118, runs to 120 and dies.
    11 runs on the other CPU from 101 to 111, stops (T), and is woken out of an interrupt at 116, where it runs until 119, the end is 120.
    12 has become "sort" when it is seen; 13 is forked at 105, waits until 111 on CPU 1, and runs to 116.
    """
    text = Text(tool)
    text.switch(0, 0, "R", 10)
    text.switch(1, 1, "R", 11)
    text.switch(0, 4, "S", 0)
    text.line(1, 5, "sched_process_fork", "comm=worker-1 pid=11 child_comm=young child_pid=13")
    text.waking(1, 5, 13, "sched_wakeup_new")
    text.waking(1, 10, 10)
    text.waking(1, 10.5, 10, "sched_wakeup")
    text.switch(1, 11, "T", 13)
    text.switch(0, 12, "R", 10)
    text.switch(0, 15, "R+", 12)
    text.waking(1, 16, 11, flags="d.h2.")
    text.switch(1, 16, "D|K" if tool == "perf" else "D", 11)
    text.switch(0, 18, "S", 10)
    text.switch(1, 19, "S", 0)
    text.line(0, 20, "sched_process_exit", "comm=web server pid=10 prio=120")
    text.switch(0, 20, "X", 0)
    return text.bytes()


def lost(tool):
    """On CPU 1 events were lost between 103 and 110: what 10 and 11 did until they were seen again is unknown."""
    text = Text(tool)
    text.switch(0, 0, "R", 10)
    text.switch(1, 0, "R", 11)
    text.line(1, 3, "timer_start", "timer=1")
    if tool == "ftrace":
        text.raw("CPU:1 [LOST 17 EVENTS]")
    elif tool == "trace_cmd":
        text.raw("CPU:1 [17 EVENTS DROPPED]")
    else:
        text.line(1, 10, "PERF_RECORD_LOST lost 17", "", system="")
        text.lines[-1] = text.lines[-1].replace(" lost 17: ", " lost 17")
    text.line(1, 10, "timer_stop", "timer=1")
    text.switch(0, 12, "S", 0)
    text.switch(1, 14, "S", 0)
    return text.bytes()


def pairs():
    """10 works from 101 to 109, of which it sleeps 102 to 106 and waits to 107; inside, a second one from 107.5 to 108.5. 11 begins one and does not end."""
    text = Text("perf")
    text.switch(0, 0, "R", 10)
    text.line(0, 1, "work", "(401136)", system="probe_app:")
    text.switch(0, 2, "S", 0)
    text.waking(0, 6, 10)
    text.switch(0, 7, "R", 10)
    text.line(0, 7.5, "work", "(401136)", system="probe_app:")
    text.raw("\t          401136 work+0x0 (/usr/bin/app)")
    text.line(0, 8.5, "work__return", "(401180 <- 401136)", system="probe_app:")
    text.line(0, 9, "work__return", "(401180 <- 401136)", system="probe_app:")
    text.line(0, 9, "work__return", "(401180 <- 401136)", system="probe_app:")
    text.switch(1, 9, "R", 11)
    text.line(1, 9.5, "work", "(401136)", system="probe_app:")
    text.switch(0, 10, "S", 0)
    return text.bytes()


def exec_():
    """12 is "sh" first, and becomes "sort", then "uniq"; perf's own records tell its process, which the lines do not."""
    text = Text("perf")
    text.raw("              sh     0 [000]     0.000000: PERF_RECORD_COMM: sh:7/12")
    text.names[12] = "sh"
    text.switch(0, 1, "R", 12)
    text.names[12] = "sort"
    text.raw("            sort    12 [000]   100.002000: PERF_RECORD_COMM exec: sort:7/12")
    text.switch(0, 3, "S", 0)
    text.waking(0, 4, 12)
    text.names[12] = "uniq"
    text.switch(0, 5, "R", 12)
    text.switch(0, 6, "S", 0)
    return text.bytes()


def odd():
    """11 is switched in twice, and its switch out in between is not there; a sleep of 10 has no wakeup; a thread that has gone is -1."""
    text = Text("perf")
    text.switch(0, 0, "R", 10)
    text.switch(1, 0, "R", 11)
    text.switch(0, 2, "S", 0)
    text.running[1] = 0
    text.switch(1, 5, "R", 11)
    text.switch(0, 6, "R", 10)
    text.raw("             :-1    -1 [000]   100.007000: sched:sched_stat_runtime: comm=web server pid=10 runtime=1 [ns]")
    text.switch(0, 8, "S", 0)
    text.switch(1, 9, "S", 0)
    return text.bytes()


def bad():
    """What is no event stands between what is one."""
    lines = life("perf").decode().splitlines()
    lines[3:3] = ["this is no event", "web 10 [000] 100.004500: sched:sched_switch: prev_comm=web"]
    lines[6:6] = ["x" * 70000]
    return "\n".join(lines).encode()


def overwritten():
    return life("ftrace").replace(b"20/20", b"20/50")


def make(folder):
    for tool in ("perf", "perf_pid", "ftrace", "trace_cmd"):
        (folder / f"life_{tool}.txt").write_bytes(life(tool))
        (folder / f"lost_{tool}.txt").write_bytes(lost(tool))
    for story in (pairs, odd, bad, overwritten):
        (folder / f"{story.__name__}.txt").write_bytes(story())
    (folder / "exec.txt").write_bytes(exec_())
    (folder / "cut.txt").write_bytes(life("perf")[:-60])
    (folder / "other.txt").write_bytes(b"a text\nof something else\n")


def large_file(count, path):
    """200 threads on two CPUs that wake each other; each switch has its wakeup."""
    source = random.Random(1)
    idle, running, time = [100 + i for i in range(2, 200)], {0: 100, 1: 101}, 1000.0
    with open(path, "w", encoding="ascii") as out:
        for _ in range(count):
            cpu = source.randrange(2)
            time += 0.000001 * source.randint(1, 90)
            prev, index = running[cpu], source.randrange(len(idle))
            to = idle[index]
            comm = f"thread-{prev}"
            out.write(f"{comm:>16} {prev:5} [{cpu:03}] {time:.6f}:       sched:sched_waking: comm=thread-{to} pid={to} prio=120 target_cpu={cpu:03}\n")
            out.write(f"{comm:>16} {prev:5} [{cpu:03}] {time:.6f}:       sched:sched_switch: prev_comm={comm} prev_pid={prev} prev_prio=120 prev_state=S ==> "
                      f"next_comm=thread-{to} next_pid={to} next_prio=120\n")
            running[cpu], idle[index] = to, prev


def mutate(seed, count, folder, files):
    source = random.Random(seed)
    folder.mkdir()
    for number in range(count):
        data = bytearray(pathlib.Path(source.choice(files)).read_bytes())
        for _ in range(source.randint(1, 5)):
            at, what = source.randrange(len(data)) if data else 0, source.randrange(6)
            if what == 0:
                del data[at:at + source.randint(1, 200)]
            elif what == 1:
                data[at:at] = source.randbytes(source.randint(1, 20))
            elif what == 2:
                data[at:at] = source.choice([b"\n", b"[", b"]", b": ", b"=", b"-", b"prev_pid=", b"99999999999999999999", b"CPU:0 [LOST 5 EVENTS]\n"])
            elif what == 3:
                end = data.find(b"\n", at)
                data[at:at] = data[at:end + 1 if end >= 0 else at]
            elif data:
                data[at] = source.choice(b"0123456789 :=-[]SRDXTx\n")
        (folder / f"{number}.txt").write_bytes(data)


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
elif sys.argv[1] == "large":
    large_file(int(sys.argv[2]), sys.argv[3])
else:
    mutate(int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), sys.argv[5:])
