# SPDX-License-Identifier: BSD-2-Clause
"""Traces: `report --by trace`, `spans --trace` and `show TRACEID` on one log, against what its OTLP export says, and on random trees.

    traces_check.py log TXTRACE LOG         every trace of the log
    traces_check.py random SEED             a log for make_log: random trees of one trace, across four processes
    traces_check.py tree TXTRACE LOG SEED   the tree of that log
"""
import json
import random
import subprocess
import sys

TRACE = "0af7651916cd43dd8448eb211c80319c"


def run(*arguments):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def exported(txtrace, log):
    """trace id -> {(span id, parent's, name)}"""
    traces = {}
    for line in run(txtrace, "export", "--format", "otlp-json", log).splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    traces.setdefault(span["traceId"], []).append((span["spanId"], span.get("parentSpanId") or None, span["name"]))
    return traces


def check_log(txtrace, log):
    traces = exported(txtrace, log)
    rows = {row["name"]: row["count"] for row in json.loads(run(txtrace, "report", "--by", "trace", "--json", log))["rows"]}
    if rows != {trace: len(spans) for trace, spans in traces.items()}:
        sys.exit(f"report --by trace has {rows}")
    for trace, spans in traces.items():
        shown = json.loads(run(txtrace, "show", "--json", log, trace))
        found = [(row["span_id"], row["parent_span_id"], row["span"]["label"]) for row in shown["spans"]]
        if sorted(found, key=str) != sorted(spans, key=str) or shown["span_count"] != len(spans):
            sys.exit(f"show {trace} has {found}, not {spans}")
        listed = [span["label"] for span in json.loads(run(txtrace, "spans", "--json", "--trace", trace, log))["spans"]]
        if sorted(listed) != sorted(name for _, _, name in spans):
            sys.exit(f"spans --trace {trace} has {listed}")
    print(len(traces), "traces")


def random_spans(seed):
    """(id, pid, begin, parent's index or None, whether the parent is known by what it sent)"""
    rng = random.Random(seed)
    spans = []
    for i in range(60):
        parent = rng.randrange(i) if i and rng.random() < 0.9 else None
        pid = rng.randrange(10, 14)
        is_remote = parent is not None and (pid != spans[parent][1] or rng.random() < 0.3)
        spans.append((i + 1, pid, 1000 + 10 * i + rng.randrange(10), parent, is_remote))
    return spans


def write_random(seed):
    print('header pid=10 cpus=1 command="shop" start_monotonic_ns=1')
    spans = random_spans(seed)
    for identity, pid, begin, parent, is_remote in spans:
        if is_remote or parent is None:
            above = f"{0xa000 + parent:016x}" if is_remote else "00000000000000ff"
            print(f'attribute time_ns={begin} pid={pid} tid={pid} span={identity} name="traceparent" value_type=string value="00-{TRACE}-{above}-01"')
        print(f'attribute time_ns={begin} pid={pid} tid={pid} span={identity} name="traceparent.sent" value_type=string '
              f'value="00-{TRACE}-{0xa000 + identity - 1:016x}-01"')
    order = list(range(len(spans)))
    random.Random(seed + 1).shuffle(order)
    for i in order:
        identity, pid, begin, parent, is_remote = spans[i]
        local = spans[parent][0] if parent is not None and not is_remote else 0
        print(f'span begin_ns={begin} end_ns={begin + 5} pid={pid} tid={pid} end_tid={pid} id={identity} parent={local} label="s{identity}" work_ns=5 on_cpu_ns=5')
    print("summary time_ns=100000")


def check_tree(txtrace, log, seed):
    spans = random_spans(seed)
    expected = []

    def walk(parent, depth):
        children = [i for i, span in enumerate(spans) if span[3] == parent]
        for i in sorted(children, key=lambda child: spans[child][2]):
            expected.append((depth, f"s{spans[i][0]}", f"s{spans[parent][0]}" if parent is not None else None))
            walk(i, depth + 1)

    walk(None, 0)
    rows = json.loads(run(txtrace, "show", "--json", log, TRACE))["spans"]
    found = [(row["depth"], row["span"]["label"], rows[row["parent_row"]]["span"]["label"] if row["parent_row"] is not None else None) for row in rows]
    if found != expected or [row["row"] for row in rows] != list(range(len(spans))):
        sys.exit(f"the tree is {found}, not {expected}")


if sys.argv[1] == "log":
    check_log(*sys.argv[2:])
elif sys.argv[1] == "random":
    write_random(int(sys.argv[2]))
else:
    check_tree(sys.argv[2], sys.argv[3], int(sys.argv[4]))
