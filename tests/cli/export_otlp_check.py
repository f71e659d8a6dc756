# SPDX-License-Identifier: BSD-2-Clause
"""export_otlp_check.py COMMAND FILE...: what an export to OTLP (JSON) must be, worked out a second time.

spans OTLP JSONL     every span, its ids, times, ledger, names and attributes, from the JSON Lines of the same log
same OTLP DECODED    what OpenTelemetry's own decoder made of the protobuf says the same
traces OTLP          prints "NAME | TRACE | PARENT FLAGS STATE" for each span, by name; traces that are not told from
                     outside get numbers in their order, and parents that are missing no name
marks OTLP           prints the events and links of each span
"""
import hashlib
import json
import struct
import sys

REASONS = "lock disk network sleep page_fault pipe wait stopped other throttled poll".split()
MASK = (1 << 64) - 1


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def value_of(value):
    (kind, content), = value.items()
    return int(content) if kind == "intValue" else content


def attributes_of(element):
    pairs = [(pair["key"], value_of(pair["value"])) for pair in element.get("attributes", [])]
    assert len(dict(pairs)) == len(pairs), f"a name twice: {pairs}"
    return dict(pairs)


def spans_of(path):
    """Of all messages: (resource attributes, span)."""
    for message in lines(path):
        total = 0
        for resource in message["resourceSpans"]:
            scope, = resource["scopeSpans"]
            assert scope["scope"]["name"] == "txtrace" and scope["spans"]
            total += len(scope["spans"])
            for span in scope["spans"]:
                yield attributes_of(resource["resource"]), span
        assert 0 < total <= 512


def mix(value):
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


def span_id(trace, owner, number):
    high, low = struct.unpack(">QQ", trace)
    return struct.pack(">Q", mix(high ^ mix(low ^ mix(owner ^ mix(number)))) or 1).hex()


def traceparent(text):
    """(trace id, span id), or None"""
    parts = text.split("-")
    if len(parts) < 4 or [len(part) for part in parts[:4]] != [2, 32, 16, 2]:
        return None
    if any(c not in "0123456789abcdef" for c in "".join(parts[:4])) or parts[0] == "ff":
        return None
    if parts[0] == "00" and len(parts) > 4 or not int(parts[1], 16) or not int(parts[2], 16):
        return None
    return bytes.fromhex(parts[1]), parts[2]


class Log:
    def __init__(self, path):
        self.records = lines(path)
        self.header = self.records[0]
        self.spans = [record for record in self.records if record["type"] == "span"]
        self.by_name = {self.name(span): span for span in self.spans}
        self.attributes, self.contexts = {}, {}
        for record in self.records:
            if record["type"] == "attribute" and not record.get("truncated"):
                self.contexts.setdefault((record["pid"], record["span"]), {})[record["name"]] = record["value"]
            if record["type"] == "attribute":
                self.attributes.setdefault((record["pid"], record["span"]), {})[record["name"]] = record["value"]

    @staticmethod
    def name(span):
        return (1 << 32 if span.get("keyed") else span["pid"]), int(span["id"])

    @staticmethod
    def parent(span):
        if span["parent"] == "0":
            return None
        return (1 << 32 if span.get("parent_keyed") else span["pid"]), int(span["parent"])

    def context(self, span):
        return traceparent(str(self.contexts.get((span["pid"], span["id"]), {}).get("traceparent", "")))

    def hash(self, content):
        return hashlib.sha256(bytes.fromhex(self.header["capture_id"]) + content).digest()[:16]

    def trace(self, name, way=()):
        span = self.by_name.get(name)
        if name in way:
            return None  # parents in a circle: any one trace
        if span and self.context(span):
            return self.context(span)[0]
        if span and self.parent(span):
            return self.trace(self.parent(span), (*way, name))
        if span and span.get("key"):
            key = bytes.fromhex(span["key"])
            return key if len(key) == 16 and any(key) else self.hash(key)
        return self.hash(struct.pack("<QQ", *name))


def ledger_of(span):
    wanted = {f"txtrace.{name}": span[name] for name in ("work_ns", "on_cpu_ns", "blocked_ns", "unknown_ns")}
    for name in "runnable_ns stolen_ns stolen_max_ns detached_ns interrupt_ns".split():
        if span.get(name):
            wanted[f"txtrace.{name}"] = span[name]
    for reason in REASONS:
        if span["blocked"].get(reason):
            wanted[f"txtrace.blocked.{reason}_ns"] = span["blocked"][reason]
    for flag in ("lower_bound", "unfinished"):
        if span.get(flag):
            wanted[f"txtrace.{flag}"] = True
    if span.get("loss") or span.get("parent_lost"):
        wanted["txtrace.loss"] = True
    return wanted


def check_spans(otlp, jsonl):
    log = Log(jsonl)
    shift = log.header["start_realtime_ns"] - log.header["start_monotonic_ns"]
    found = list(spans_of(otlp))
    left = {}
    for resource, written in found:
        left.setdefault((resource["process.pid"], written["spanId"]), []).append((resource, written))
    assert len(found) == len(log.spans), (len(found), len(log.spans))
    for span in log.spans:
        trace = log.trace(log.name(span))
        if not trace:
            continue
        own, parent = span_id(trace, *log.name(span)), log.parent(span)
        resource, written = left[span["pid"], own].pop(0)
        attributes = attributes_of(written)
        assert written["traceId"] == trace.hex(), (span, written)
        wanted = log.context(span)[1] if log.context(span) else parent and span_id(trace, *parent)
        assert written.get("parentSpanId") == wanted, (span, written)
        assert written["kind"] == 1 and written["name"], written
        assert int(written["startTimeUnixNano"]) == span["begin_ns"] + shift, written
        assert int(written["endTimeUnixNano"]) == max(span["end_ns"], span["begin_ns"]) + shift, written
        for name, value in ledger_of(span).items():
            assert attributes.pop(name) == value, (name, value, written)
        assert attributes.pop("txtrace.thread.tid") == span["tid"]
        if span["end_tid"] not in (0, span["tid"]):
            assert attributes.pop("txtrace.thread.end_tid") == span["end_tid"]
        if span.get("key"):
            assert attributes.pop("txtrace.key") == span["key"]
        assert ("txtrace.tag" in attributes) == bool(span["tag"] or span.get("tag_hex"))
        attributes.pop("txtrace.tag", None)
        attributes.pop("thread.name", None)
        of_program = log.attributes.get((span["pid"], span["id"]), {})
        assert set(attributes) == set(of_program), (attributes, of_program)
        for name, value in of_program.items():
            assert attributes[name] == value or value is None, (name, value, attributes)
        inner = {record["inner_pid"] for record in log.records if record["type"] == "process" and record["pid"] == span["pid"]} - {0, None, span["pid"]}
        assert resource.get("process.vpid") in (inner or {None}), resource
        for name, member in (("container.id", "container"), ("k8s.pod.uid", "pod")):
            assert resource.get(name, "") in {record[member] for record in log.records if record["type"] == "process" and record["pid"] == span["pid"]} | {""}, resource
        assert resource["service.name"].startswith("unknown_service") and resource["txtrace.capture_id"] == log.header["capture_id"]
    lost = sum(record.get("span_event_cnt", 0) for record in log.records if record["type"] == "loss")
    assert found[-1][0].get("txtrace.lost.span_events", 0) == lost
    assert found[-1][0].get("txtrace.incomplete", False) == (not log.records[-1]["complete"])


def plain(value, name=""):
    """Either of the two forms without what is 0 or empty, and ids and numbers as text."""
    if isinstance(value, dict):
        content = {key: plain(inner, key) for key, inner in value.items()}
        return {key: inner for key, inner in content.items() if inner not in ("0", "", [], {}) or key.endswith("Value")}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value if isinstance(value, bool) else str(value)


def check_same(otlp, decoded):
    with open(decoded, encoding="utf-8") as file:
        of_protobuf = json.load(file)
    resources = [resource for message in lines(otlp) for resource in message["resourceSpans"]]
    assert plain(resources) == plain(of_protobuf["resourceSpans"])


def print_traces(otlp):
    spans = [span for _, span in spans_of(otlp)]
    names = {span["spanId"]: span["name"] for span in spans}
    numbers = {}
    for span in sorted(spans, key=lambda span: span["name"]):
        trace, parent = span["traceId"], span.get("parentSpanId", "-")
        if not trace.startswith(("0af7", "1111", "3031")):
            trace = numbers.setdefault(trace, len(numbers) + 1)
            parent = names.get(parent, parent if parent == "-" else "MISSING")
        else:
            parent = names.get(parent, parent)
        print(span["name"], trace, f"{parent} {span['flags']} {span.get('traceState', '-')}", sep=" | ")


def print_marks(otlp):
    spans = [span for _, span in spans_of(otlp)]
    names = {(span["traceId"], span["spanId"]): span["name"] for span in spans}
    for span in spans:
        for event in span.get("events", []):
            words = [f"{name}={value}" for name, value in attributes_of(event).items()]
            print(span["name"], int(event["timeUnixNano"]) - int(span["startTimeUnixNano"]), event["name"], *words)
        for link in span.get("links", []):
            print(span["name"], "->", names.get((link["traceId"], link["spanId"]), "?"), attributes_of(link).get("txtrace.link", "-"))
        for name in ("droppedAttributesCount", "droppedEventsCount", "droppedLinksCount"):
            if name in span:
                print(span["name"], name, span[name])


COMMANDS = {"spans": check_spans, "same": check_same, "traces": print_traces, "marks": print_marks}

if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
