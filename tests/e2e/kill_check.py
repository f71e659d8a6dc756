# SPDX-License-Identifier: BSD-2-Clause
"""What must be in the log of a recorder that was killed, by the diary of its target (tests/programs/diary.c)."""
import bisect
import collections
import glob
import json
import mmap
import os
import struct
import subprocess

SECOND_NS = 1000000000
WORKER_MAX = 16
ENTRY_BYTES = 64
NAP_BYTES = 16
KINDS = ("compute", "nap", "keyed", "detached", "long")
KEYED = KINDS.index("keyed")

Entry = collections.namedtuple("Entry", "id begin_from begin_to end_from end_to kind tid key")


class Diary:
    """The file as it is now; entries are read where they are needed."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.worker_cnt, self.capacity, self.nap_cnt = struct.unpack_from("<3Q", self.bytes, 0)
        self.cnts = [struct.unpack_from("<Q", self.bytes, ENTRY_BYTES * (1 + i))[0] for i in range(self.worker_cnt)]
        self.base = ENTRY_BYTES * (1 + WORKER_MAX)

    def close(self):
        self.bytes.close()

    def entry(self, worker, idx):
        where = self.base + ENTRY_BYTES * (worker * self.capacity + idx)
        number, begin_from, begin_to, end_from, end_to, kind, tid = struct.unpack_from("<5Q2I", self.bytes, where)
        key = f"diary-{worker}-{idx}" if kind == KEYED else None
        return Entry(number, begin_from, begin_to, end_from, end_to, kind, tid, key)

    def entries_since(self, time_ns):
        """Those that began at time_ns or later, worker by worker."""
        for worker, cnt in enumerate(self.cnts):
            first = bisect.bisect_left(range(cnt), time_ns, key=lambda idx, worker=worker: self.entry(worker, idx).begin_from)
            for idx in range(first, cnt):
                yield self.entry(worker, idx)

    def late_ns(self, from_ns, to_ns):
        """How much too long the sentinel slept between these times: what is less than a step of its own is nobody's starvation."""
        base = self.base + ENTRY_BYTES * self.worker_cnt * self.capacity

        def nap(idx):
            return struct.unpack_from("<2Q", self.bytes, base + NAP_BYTES * idx)

        first = bisect.bisect_left(range(self.nap_cnt), from_ns, key=lambda idx: nap(idx)[0])
        late = 0
        for idx in range(first, self.nap_cnt):
            end_ns, late_ns = nap(idx)
            late += late_ns if late_ns > 10000000 else 0
            if end_ns > to_ns:
                break
        return late


class Kill:
    """One recorder that was killed: times in CLOCK_MONOTONIC ns."""

    def __init__(self, name, stage, pid, diary, output):
        self.name = name
        self.stage = stage
        self.pid = pid  # of the target
        self.diary = diary
        self.output = output
        self.is_busy = False  # of the target with the most spans
        self.recording_ns = None  # when it was seen to record; None: it was not
        self.kill_ns = 0  # just before the signal
        self.gone_ns = 0  # it had ended
        self.waited = []  # (time_ns, ns that the recorder had worked or waited for a CPU until then)

    def starved_ns(self):
        """How much later than on an idle machine the recorder can be with what it does each second: its own CPU time, its waits for a CPU and the
        machine's stops, over the last second and over as much before it as it was late."""
        diary = Diary(self.diary)
        starved = 0
        for _ in range(8):
            since = self.kill_ns - SECOND_NS - starved
            before = [waited for time_ns, waited in self.waited if time_ns <= since] or [0]
            now = (self.waited[-1][1] if self.waited else 0) - before[-1] + diary.late_ns(since, self.kill_ns)
            if now <= starved:
                break
            starved = now
        diary.close()
        return starved


class Finding:
    """What is wrong, by the case of the test that it fails."""

    def __init__(self, kill):
        self.kill = kill
        self.wrong = []
        self.spans = 0
        self.checkpoints = 0
        self.lost = 0
        self.age_ns = None  # of the youngest record when the recorder was killed
        self.starved_ns = 0
        self.file_cnt = 0
        self.state = "nothing"  # that was left: nothing, an empty file, a header, batches

    def fail(self, case, text):
        if len(self.wrong) < 10:
            self.wrong.append((case, f"{self.kill.name} ({self.kill.stage}): {text}"))


class Tool:
    def __init__(self, path, finding):
        self.path = path
        self.finding = finding

    def run(self, *arguments):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1, 2):
            self.finding.fail("opens", f"'{' '.join(arguments)}' ended with {done.returncode}: {done.stderr}")
        return done


def log_files(output):
    """All files of the capture, the oldest first."""
    stem, dot, extension = output.rpartition(".")
    return sorted(glob.glob(f"{glob.escape(stem)}.[0-9]*{dot}{extension}")) + glob.glob(glob.escape(output)) + glob.glob(
        glob.escape(output) + ".partial")


def problems(done):
    """The checks of `txtrace verify --json` that found something."""
    return {name: check["problems"] for name, check in json.loads(done.stdout)["checks"].items() if check["problems"]}


def check_finished(tool, finding, path, is_last):
    """A file behind which the recorder went on in another one. Killed just between the two, it says so."""
    done = tool.run("verify", "--json", path)
    if done.returncode or problems(done):
        finding.fail("opens", f"verify finds, with status {done.returncode}: {problems(done)}")
    if is_last:
        done = tool.run("report", path)
        if done.returncode or "after it is in other files" not in done.stderr:
            finding.fail("opens", f"report says, with status {done.returncode}: {done.stderr}")


def check_unfinished(tool, finding, path):
    """The newest file: what there is of it is sound, and everybody says that its end is missing."""
    for command in ("info", "report"):
        done = tool.run(command, path)
        if done.returncode != 1 or "recording did not end cleanly" not in done.stderr:
            finding.fail("opens", f"{command} says, with status {done.returncode}: {done.stdout[-300:]} {done.stderr}")
    done = tool.run("verify", "--json", path)
    found = problems(done)
    torn = "in the middle of a batch" in done.stdout
    if done.returncode != 1 or set(found) - {"index", "summary"} - ({"damage"} if torn else set()) or found.get("damage", 1) != 1:
        finding.fail("opens", f"verify finds, with status {done.returncode}: {found}")


def check_repaired(tool, finding, path, spans):
    repaired = path + ".repaired"
    done = tool.run("repair", "-o", repaired, path)
    if done.returncode != 1:
        finding.fail("repair", f"repair ended with {done.returncode}: {done.stderr}")
        return
    done = tool.run("verify", "--json", repaired)
    found = problems(done)
    if set(found) - {"summary"} - ({"damage"} if "batches are missing" in done.stdout else set()):
        finding.fail("repair", f"verify finds in what was repaired: {found}")
    if json.loads(done.stdout)["checks"]["balance"]["checked"] != spans:
        finding.fail("repair", f"of {spans} spans the repaired log has {json.loads(done.stdout)['checks']['balance']['checked']}")
    os.remove(repaired)


class Log:
    """What the files of a capture hold."""

    def __init__(self, tool, finding, pid):
        self.tool = tool
        self.finding = finding
        self.pid = pid
        self.spans = {}
        self.opened = {}
        self.losses = []
        self.last_ns = 0
        self.record_cnt = 0

    def read(self, path):
        """Returns how many spans the file has."""
        done = self.tool.run("export", "--format", "jsonl", path)
        span_cnt = 0
        for line in done.stdout.splitlines():
            if line.startswith('{"type":"span"'):
                self._add(self.spans, json.loads(line))
                span_cnt += 1
            elif line.startswith('{"type":"open_span"'):
                record = json.loads(line)
                self._add(self.opened, record)
                self.last_ns = max(self.last_ns, record["time_ns"])
            elif line.startswith('{"type":"loss"'):
                self.losses.append(json.loads(line))
            elif line.startswith('{"type":"damage"'):
                self._damage(json.loads(line), path)
            elif line.startswith('{"type":"summary"'):
                summary = json.loads(line)
                self.last_ns = max(self.last_ns, summary["last_ns"])
                self.record_cnt += sum(summary["records"].values())
        return span_cnt

    def _add(self, spans, record):
        if record["pid"] == self.pid:
            spans[record.get("key_text") or int(record["id"])] = record

    def _damage(self, damage, path):
        if damage["offset_bytes"] + damage["length_bytes"] != os.path.getsize(path) or "in the middle of a batch" not in damage["reason"]:
            self.finding.fail("opens", f"{path}: {damage}")

    def is_lost(self, entry):
        end = entry.end_to or self.finding.kill.gone_ns
        return any(loss["first_ns"] <= end and loss["last_ns"] >= entry.begin_from for loss in self.losses)


def check_spans(finding, log, diary):
    """The diary's entries against the log, and the log's spans against the diary."""
    kill = finding.kill
    since = min([span["begin_ns"] for span in log.spans.values()] + [kill.recording_ns or kill.kill_ns])
    limit = kill.kill_ns - SECOND_NS - finding.starved_ns
    known = {}
    for entry in diary.entries_since(since - SECOND_NS):
        name = entry.key or entry.id
        known[name] = entry
        if not name or kill.recording_ns is None or entry.begin_from < kill.recording_ns or entry.begin_to > limit:
            continue
        is_due = entry.end_to and entry.end_to <= limit
        if name in log.spans:
            finding.spans += 1
        elif name in log.opened:
            finding.checkpoints += 1
            if is_due:
                finding.fail("complete", f"the log has only the beginning of a span that ended {(kill.kill_ns - entry.end_to) / 1e9:.3f} s before: {entry}")
        elif log.is_lost(entry):
            finding.lost += 1
        else:
            finding.fail("complete" if is_due else "beginnings",
                         f"not in the log: a span that began {(kill.kill_ns - entry.begin_to) / 1e9:.3f} s before: {entry}")
    for name, span in list(log.spans.items()) + list(log.opened.items()):
        check_span(finding, span, known.get(name))


def check_span(finding, span, entry):
    if not entry or span["label"] != KINDS[entry.kind] or not entry.begin_from <= span["begin_ns"] <= entry.begin_to or span["tid"] != entry.tid:
        finding.fail("true", f"{span} is not what the program did: {entry}")
    elif span["type"] == "span" and not (entry.end_from and entry.end_from <= span["end_ns"] <= (entry.end_to or finding.kill.gone_ns)):
        finding.fail("true", f"{span} did not end when the program ended it: {entry}")


def check_age(finding, log):
    kill = finding.kill
    limit = SECOND_NS + finding.starved_ns
    if log.last_ns > kill.gone_ns:
        finding.fail("true", f"a record is {(log.last_ns - kill.gone_ns) / 1e9} s younger than its recorder")
    if kill.recording_ns is None or kill.kill_ns - kill.recording_ns <= limit:
        return
    finding.age_ns = kill.kill_ns - log.last_ns
    if finding.age_ns > limit:
        finding.fail("age", f"the youngest record is {finding.age_ns / 1e9:.3f} s old, more than a second and {finding.starved_ns / 1e9:.3f} s of starvation")


def check_files(finding, tool, log):
    files = log_files(finding.kill.output)
    if files and os.path.getsize(files[-1]) == 0:
        done = tool.run("info", files[-1])
        if done.returncode != 2 or "the file is empty" not in done.stderr:
            finding.fail("opens", f"info says of an empty file, with status {done.returncode}: {done.stderr}")
        finding.state = "an empty file"
        files.pop()
    for path in files:
        spans = log.read(path)
        finding.state = "batches" if log.record_cnt else "a header"
        if path.endswith(".partial"):
            check_unfinished(tool, finding, path)
            check_repaired(tool, finding, path, spans)
        else:
            check_finished(tool, finding, path, path == files[-1])
    finding.file_cnt = len(files)
    if finding.kill.recording_ns and finding.state in ("nothing", "an empty file"):
        finding.fail("opens", f"it recorded, and left {finding.state}")
    return files


def check(kill, tool_path):
    finding = Finding(kill)
    tool = Tool(tool_path, finding)
    log = Log(tool, finding, kill.pid)
    finding.starved_ns = kill.starved_ns()
    files = check_files(finding, tool, log)
    check_age(finding, log)
    diary = Diary(kill.diary)
    check_spans(finding, log, diary)
    diary.close()
    if not finding.wrong:
        for path in files:
            os.remove(path)
    return finding
