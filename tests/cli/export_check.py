# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the exports compare.

export_check.py random SEED                     a log for make_log: threads, spans and runs at random, with many equal times
export_check.py schema SCHEMA <JSONL            every line against the JSON schema
export_check.py fields SCHEMA DOCUMENT          every field of the schema is described
export_check.py strict <JSON                    valid JSON for a strict reader: no NaN, valid UTF-8
export_check.py threads JSONL ROWS WORKERS      the viewer's own thread_state and sched (likewise) against the log, and against `txtrace workers`
export_check.py picture FORMAT JSONL ROWS BASE  what the viewer has (queries of export_perfetto_sql.sh) against what the log has

Prints what is wrong; exit status 1 if anything is.
"""
import json
import random
import re
import sys
from collections import Counter

problems = []


def problem(text):
    problems.append(text)


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line, parse_constant=refuse_constant) for line in file]


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


# ---- random ----

def random_log(seed):
    rng = random.Random(int(seed))
    records = []  # (when it was finished, text)
    for tid in range(11, 16):
        for number in range(400):
            begin = 1000 + rng.randrange(3000)
            end = begin + rng.randrange(1 + rng.choice([0, 5, 50, 500]))
            moved = rng.random() < 0.1
            records.append((end, f"span begin_ns={begin} end_ns={end} pid=10 tid={tid} end_tid={15 if moved else tid} "
                            f"id={tid * 1000 + number} label=\"{rng.choice(['a', 'b', 'c'])}\" flags={'moved' if moved else 'keyed'} "
                            f"work_ns={end - begin} on_cpu_ns={end - begin}"))
        now, left = 900, "blocked"
        while now < 4500:
            blocked, runnable, run = left.startswith("blocked") * rng.randrange(20), 1 + rng.randrange(5), 1 + rng.randrange(30)
            gap = rng.choice([0] * 9 + [10]) if blocked and now > 900 else 0  # where events were lost
            begin = now + gap + blocked + runnable
            if left.startswith("blocked") and rng.random() < 0.5:
                records.append((begin - runnable, f"wake time_ns={begin - runnable} pid=10 tid={tid} waker_pid=10 waker_tid=11 cpu=7"))
            now = begin + run
            if rng.random() < 0.1:  # woken before it has left the CPU
                records.append((begin, f"wake time_ns={begin} pid=10 tid={tid} waker_pid=10 waker_tid=12 cpu=7"))
            left = rng.choice(["blocked reason=disk", "blocked reason=lock", "preempted", "yielded"])
            records.append((now, f"run begin_ns={begin} end_ns={now} pid=10 tid={tid} cpu={tid - 11} blocked_ns={blocked} runnable_ns={runnable} "
                            f"left_as={left}" + (" wait_reason=poll wait_object=4" if blocked % 3 == 1 else "")))
            records.append((now, f"counter time_ns={now} pid=10 tid={tid} name=\"c{tid}\" value={rng.randrange(-50, 50)}"))
    print('header pid=10 cpus=5 kernel="6.18.0 x86_64" command="random" start_monotonic_ns=900')
    for _, text in sorted(records, key=lambda record: record[0]):
        print(text)
    print("summary time_ns=5000")


# ---- JSON ----

def check_schema(schema_path):
    import jsonschema
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    types = {name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
             for name in (ref["$ref"].rsplit("/", 1)[1] for ref in schema["oneOf"])}
    lines = [json.loads(line) for line in sys.stdin]
    for number, line in enumerate(lines, 1):
        for error in types[line["type"]].iter_errors(line):
            problem(f"line {number}: {error.json_path}: {error.message[:200]}")
    if [line["type"] for line in (lines[0], lines[-1])] != ["header", "summary"]:
        problem("it does not begin with a header and end with a summary")
    seen = Counter(line["type"] for line in lines)
    for kind, count in lines[-1]["records"].items():
        if kind != "summary" and seen.get(kind, 0) != count:
            problem(f"the summary says {count} {kind} records, there are {seen.get(kind, 0)}")
    missing = set(types) - set(seen) - {"damage"}
    if missing:
        problem(f"the log of this test has no {sorted(missing)}")


def property_names(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from property_names(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from property_names(value)


def check_fields(schema_path, document_path):
    with open(schema_path, encoding="utf-8") as file:
        names = set(property_names(json.load(file)))
    with open(document_path, encoding="utf-8") as file:
        described = set(re.findall(r"`([a-z0-9_]+)`", file.read()))
    for name in sorted(names - described):
        problem(f"{document_path} does not describe `{name}`")


def check_strict():
    document = json.loads(sys.stdin.buffer.read().decode("utf-8"), parse_constant=refuse_constant)
    for event in document["traceEvents"]:
        if event["ph"] not in "MXbeniCsf" or not isinstance(event["pid"], int) or not isinstance(event["tid"], int):
            problem(f"an event that viewers do not know: {event}")
        if event["ph"] != "M" and event["ts"] < 0:
            problem(f"a time that viewers drop: {event}")


# ---- the picture ----

def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def read_rows(path):
    """The results of the queries: a list of lists of tuples of strings."""
    results = [[]]
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line == "--":
                results.append([])
            else:
                results[-1].append(tuple(line.split("|")))
    return results[:-1]


def compare(what, expected, got):
    expected, got = Counter(expected), Counter(got)
    for row, count in (expected - got).items():
        problem(f"{what}: the viewer lacks {row} x {count}")
    for row, count in (got - expected).items():
        problem(f"{what}: the viewer has, and the log has not, {row} x {count}")


def expected_states(records):
    """Running, runnable and blocked of every run, as docs/export.md says."""
    rows, last = [], {}
    for run in (record for record in records if record["type"] == "run"):
        before = last.get((run["pid"], run["tid"]))
        reason = run.get("wait_reason", before["reason"] if before and before["left_as"] == "blocked" else "")
        reason = f": {reason}" if reason else ""
        ready = run["begin_ns"] - run["runnable_ns"]
        for name, begin, end in ((f"blocked{reason}", ready - run["blocked_ns"], ready), ("runnable", ready, run["begin_ns"]),
                                 ("running", run["begin_ns"], run["end_ns"])):
            if end > begin:
                rows.append((str(begin), str(end - begin), name))
        last[run["pid"], run["tid"]] = run
    return rows


def check_spans(records, rows, form, base, last_ns):
    spans = [record for record in records if record["type"] == "span"]
    ended = {(span["pid"], span["id"]) for span in spans}
    for begun in (record for record in records if record["type"] == "open_span"):
        if (begun["pid"], begun["id"]) not in ended:
            spans.append({**begun, "wall_ns": last_ns - begun["begin_ns"], "end_tid": 0, "moved": False, "detached_ns": 0})

    def shown_id(span):
        return str(signed(int(span["id"]))) if form == "perfetto" else span["id"]
    compare("spans", [(str(span["begin_ns"]), str(span["wall_ns"]), shown_id(span)) for span in spans],
            [(str(int(ts) + base), dur, span_id) for ts, dur, span_id, _ in rows])
    by_id = {shown_id(span): span for span in spans}
    for _, _, span_id, tid in rows:
        span = by_id[span_id]
        if tid != "NULL" and (int(tid) != span["tid"] or span["moved"] or span["detached_ns"] or span["end_tid"] not in (0, span["tid"])):
            problem(f"span {span_id} is on the row of thread {tid}")
    return sum(row[3] != "NULL" for row in rows)


def check_picture(form, jsonl, rows_path, base):
    records, results, base = read_jsonl(jsonl), read_rows(rows_path), int(base)
    last_ns = records[-1]["last_ns"]
    errors, spans, states, counters, losses = results
    compare("errors of the import", [], errors)
    nested = check_spans(records, spans, form, base, last_ns)
    compare("states", expected_states(records), [(str(int(ts) + base), dur, name) for ts, dur, name in states])
    compare("counters", [(str(record["time_ns"]), str(record["value"])) for record in records if record["type"] == "counter"],
            [(str(int(ts) + base), value) for ts, value in counters])
    compare("losses", [(str(record["first_ns"]), str(record["last_ns"] - record["first_ns"]))
                       for record in records if record["type"] in ("loss", "dropped")], [(str(int(ts) + base), dur) for ts, dur in losses])
    print(f"{len(spans)} spans, {nested} of them on the rows of their threads, {len(states)} states, {len(counters)} counts")
    if nested < len(spans) / 4:
        problem("hardly any span is on the row of its thread")


# ---- the viewer's own tables ----

def state_of_block(reason):
    return {"disk": "D", "page_fault": "D", "throttled": "D", "stopped": "T"}.get(reason, "S")


def state_when_left(run):
    if run["left_as"] == "blocked":
        return state_of_block(run["reason"])
    return {"preempted": "R+", "yielded": "R", "dead": "X"}.get(run["left_as"], "NULL")


def expected_threads(records):
    """(from, to, tid, state, function, cpu) of each stretch of thread_state that has an end, as docs/export.md says."""
    rows, last = [], {}
    for run in (record for record in records if record["type"] == "run"):
        before = last.get(run["tid"])
        ready = run["begin_ns"] - run["runnable_ns"]
        asleep = ready - run["blocked_ns"]
        reason = run.get("wait_reason", before["reason"] if before and before["left_as"] == "blocked" else "NULL")
        state = state_when_left(before) if before else "S"
        if before and asleep > before["end_ns"]:
            rows.append((before["end_ns"], asleep, run["tid"], state, "unknown", "NULL"))
            state = state_of_block(reason)
        if run["blocked_ns"]:
            rows.append((asleep, ready, run["tid"], state, reason, "NULL"))
        rows.append((ready, run["begin_ns"], run["tid"], state if state == "R+" and not run["blocked_ns"] else "R", "NULL", "NULL"))
        rows.append((run["begin_ns"], run["end_ns"], run["tid"], "Running", "NULL", str(run["cpu"])))
        last[run["tid"]] = run
    return [row for row in rows if row[1] > row[0]]


def check_threads(jsonl, rows_path, workers_path):
    records, (errors, threads, sched, wakers) = read_jsonl(jsonl), read_rows(rows_path)
    compare("errors of the import", [], errors)
    compare("thread states", [tuple(map(str, (begin, end - begin, *rest))) for begin, end, *rest in expected_threads(records)], threads)
    compare("stays on CPUs", [tuple(str(run[name]) for name in ("begin_ns", "tid", "cpu")) +
                              ("NULL" if run["left_as"] == "unknown" else state_when_left(run),)
                              for run in records if run["type"] == "run"], sched)
    woken = {(int(tid), int(ts)) for ts, _, tid, state, *_ in threads if state == "R"}
    compare("wakers", [(str(wake["time_ns"]), str(wake["tid"]), str(wake["waker_tid"])) for wake in records
                       if wake["type"] == "wake" and wake["waker_tid"] and not wake.get("waker_unknown") and (wake["tid"], wake["time_ns"]) in woken], wakers)
    sums = Counter()
    for _, dur, tid, state, function, _ in threads:
        part = {"Running": "on_cpu_ns", "R": "runnable_ns", "R+": "runnable_ns"}.get(state, "blocked_ns")
        if function != "unknown" or part != "blocked_ns":
            sums[int(tid), part] += int(dur)
    with open(workers_path, encoding="utf-8") as file:
        workers = json.load(file)["threads"]
    compare("sums", [(worker["tid"], part, worker[part]) for worker in workers for part in ("on_cpu_ns", "runnable_ns", "blocked_ns") if worker[part]],
            [(*key, value) for key, value in sums.items()])
    print(f"{len(threads)} thread states, {len(wakers)} with a waker, {sum(sums.values())} ns")
    if not threads or not wakers:
        problem("nothing was compared")


def main(command, *args):
    {"threads": check_threads, "random": random_log, "schema": check_schema, "fields": check_fields, "strict": check_strict, "picture": check_picture}[command](*args)
    for text in problems[:20]:
        print(text)
    if len(problems) > 20:
        print(f"and {len(problems) - 20} more")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
