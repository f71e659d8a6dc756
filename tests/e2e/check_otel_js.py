# SPDX-License-Identifier: BSD-2-Clause
"""check_otel_js.py OUTPUT TAKEN: what came through otlp-hop of tests/e2e/unmodified/otel_js.js, against what that program says.

Each span came once, and was off the CPU for as long as it asked. The reader of protobuf is that of tests/cli/otlp_receiver.py.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from otlp_receiver import fields, span_id, spans_of  # pylint: disable=wrong-import-position


def number_of(value):
    """An AnyValue: a number, or True for what is none."""
    return next((number for field, number in fields(value) if field == 3), True)


def read_protobuf(body):
    for _, span in spans_of(body):
        pairs = [dict(fields(value)) for field, value in fields(span) if field == 9]
        yield span_id(span), {pair[1].decode(): number_of(pair[2]) for pair in pairs}


def read_json(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        message, at = decoder.raw_decode(text, at)
        for resource in message["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    yield span["spanId"], {pair["key"]: int(pair["value"].get("intValue", 1)) for pair in span["attributes"]}


def main():
    said_lines = [line.split() for line in open(sys.argv[1], encoding="utf-8") if re.match("[0-9a-f]{32} ", line)]
    asked = {name: int(ms) * 1_000_000 for _, name, ms in said_lines}
    with open(sys.argv[2], "rb") as file:
        body = file.read()
    came = list(read_json(body.decode()) if body.startswith(b"{") else read_protobuf(body))
    spans = dict(came)
    assert len(asked) == 80 and len(spans) == len(came), (len(asked), len(came), len(spans))
    for name, ns in asked.items():
        said = spans[name]
        off = sum(said.get(f"txtrace.{part}_ns", 0) for part in ("blocked", "runnable", "stolen", "unknown"))
        assert off >= ns - 300_000 and said["txtrace.blocked.lock_ns"] > 0, (name, ns, said)
    print(f"# {len(came)} spans, {len(asked)} with {sum(asked.values()) / 1e6:.0f} ms of sleep")


main()
