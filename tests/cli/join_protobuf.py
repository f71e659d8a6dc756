# SPDX-License-Identifier: BSD-2-Clause
"""join_protobuf.py pack JSON OUT: traces as one TracesData in protobuf, with fields that no version of the format has.
join_protobuf.py unpack BEFORE AFTER: prints the spans of AFTER as JSON; but for attributes of txtrace it must be BEFORE, byte by byte.
"""
import json
import struct
import sys


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def message(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def fixed(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", int(value))


def pack_span(span):
    out = b""
    for number, name in ((1, "traceId"), (2, "spanId"), (4, "parentSpanId")):
        out += message(number, bytes.fromhex(span[name])) if name in span else b""
    for number, name in ((7, "startTimeUnixNano"), (8, "endTimeUnixNano")):
        out += fixed(number, span[name]) if name in span else b""
    for pair in span.get("attributes", []):
        out += message(9, message(1, pair["key"].encode()) + message(2, message(1, pair["value"]["stringValue"].encode())))
    return message(2, out + message(99, b"later")) + message(77, b"also later")


def pack_process(process):
    resource = message(1, message(1, json.dumps(process["resource"]).encode())) + message(55, b"x")
    scopes = b"".join(message(2, message(1, b"") + b"".join(map(pack_span, scope["spans"]))) for scope in process["scopeSpans"])
    return message(1, scopes + resource)


def pack(path, out):
    processes = [process for line in documents(path) for process in line.get("resourceSpans", [])]
    with open(out, "wb") as file:
        file.write(message(44, b"unknown") + b"".join(map(pack_process, processes)) + fixed(45, 7))


def documents(path):
    text, decoder = open(path, encoding="utf-8").read(), json.JSONDecoder()
    at = 0
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at)
        yield document
        at += 1


def fields(data):
    """(number, content, all of the field)"""
    at = 0

    def read():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while at < len(data):
        begin, key = at, read()
        length = {0: lambda: 0, 1: lambda: 8, 2: read, 5: lambda: 4}[key & 7]()
        content = read() if key & 7 == 0 else data[at:at + length]
        at += length
        yield key >> 3, content, data[begin:at]


def unpack_value(value):
    (number, content, _), = fields(value)
    return {1: lambda: {"stringValue": content.decode()}, 2: lambda: {"boolValue": bool(content)}, 3: lambda: {"intValue": str(content)}}[number]()


def unpack_span(data, spans):
    """What the span was before."""
    span, rest = {"attributes": []}, b""
    for number, content, whole in fields(data):
        if number == 2:
            span["spanId"] = content.hex()
        if number == 9:
            pair = {part: inner for part, inner, _ in fields(content)}
            span["attributes"].append({"key": pair[1].decode(), "value": unpack_value(pair[2])})
            if pair[1].startswith(b"txtrace."):
                continue
        rest += whole
    spans.append(span)
    return rest


def strip(data, level, spans):
    out = b""
    for number, content, whole in fields(data):
        if level == 3:
            return unpack_span(data, spans)
        out += message(number, strip(content, level + 1, spans)) if number == (1, 2, 2)[level] else whole
    return unpack_span(data, spans) if level == 3 else out


def unpack(before, after):
    spans = []
    assert strip(open(after, "rb").read(), 0, spans) == open(before, "rb").read()
    for span in spans:
        if span.get("spanId") == "00000000000000a1":
            span["spanId"] = "00000000000000A1"  # as the file in JSON has it
        print(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))


if sys.argv[1] == "pack":
    pack(*sys.argv[2:])
else:
    unpack(*sys.argv[2:])
