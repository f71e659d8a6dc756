# SPDX-License-Identifier: BSD-2-Clause
"""ftr_check.py same A B | expected FILE SAMPLE | log FILE RECORDS | safe FILE | text FILE TEXT; several with -- between them

Reads FTR with python3-cbor2 and python3-lz4, independently of txtrace.

same: two files say the same: streams, generators, transactions with their attributes in order, relations. A number may be in single precision in B if
an attribute NAME.exact has it; what B adds to itself (relations' streams) is no difference. expected: FILE says what stands beside the SAMPLE. log:
RECORDS (jsonl) of an imported log say the same as FILE. safe: FILE keeps to what both viewers read. text: so does the text format.
"""
import collections
import io
import json
import math
import pathlib
import re
import struct
import sys

import cbor2
import lz4.block

CLASSES = {7: "BEGIN", 8: "RECORD", 9: "END"}
TYPES = ("BOOLEAN", "ENUMERATION", "INTEGER", "UNSIGNED", "FLOATING_POINT_NUMBER", "BIT_VECTOR", "LOGIC_VECTOR", "FIXED_POINT_INTEGER",
         "UNSIGNED_FIXED_POINT_INTEGER", "POINTER", "STRING", "TIME")
TEXTS = {1, 5, 6, 10}
REALS = {4, 7, 8}


def single(value):
    if math.isfinite(value) and abs(value) > 3.4028234663852886e38:
        return math.copysign(3.4028234663852886e38, value)
    return struct.unpack("<f", struct.pack("<f", value))[0]


class File:
    def __init__(self, path):
        self.info, self.texts, self.streams, self.generators, self.rows, self.relations, self.chunks = None, {}, [], [], [], [], []
        data = pathlib.Path(path).read_bytes()
        assert data[:4] == b"\xd9\xd9\xf7\x9f", data[:4]
        stream = io.BytesIO(data[4:])
        raw_rows, raw_relations, raw_entries = [], [], []
        while True:
            begin = stream.tell()
            head = stream.read(1)
            if not head or head == b"\xff":
                break
            stream.seek(begin)
            try:
                chunk = cbor2.CBORDecoder(stream, tag_hook=lambda decoder, tag: tag).decode()
            except (EOFError, cbor2.CBORDecodeError):
                break  # cut off
            if not isinstance(chunk, cbor2.CBORTag):
                break
            self.add(chunk, raw_rows, raw_relations, raw_entries)
        for entry in raw_entries:
            a, b, c = entry.value
            if entry.tag == 16:
                self.streams.append((a, self.texts[b], self.texts[c]))
            else:
                self.generators.append((a, self.texts[b], c))
        for row, block in raw_rows:
            self.rows.append(self.read_row(row, block))
        for relation in raw_relations:
            self.relations.append((self.texts[relation[0]], *relation[1:3]))
            assert len(relation) in (3, 5)
        self.relation_streams = {tuple(relation[1:]) for relation in raw_relations if len(relation) == 5}

    def add(self, chunk, rows, relations, entries):
        content, block = chunk.value, None
        if chunk.tag in (12, 13):
            block, content = content[:3], content[3:]
        elif isinstance(content, bytes):
            content = [content]
        data = lz4.block.decompress(content[1], uncompressed_size=content[0]) if chunk.tag % 2 else content[0]
        loaded = cbor2.loads(data, tag_hook=lambda decoder, tag: tag)
        self.chunks.append((chunk.tag, block, data))
        if chunk.tag == 6:
            self.info = (loaded[0], int(loaded[1].timestamp()))  # cbor2 knows what a time is
        elif chunk.tag in (8, 9):
            self.texts.update(loaded)
        elif chunk.tag in (10, 11):
            entries += loaded
        elif chunk.tag in (12, 13):
            rows += [(row, block[0]) for row in loaded]
        else:
            assert chunk.tag in (14, 15), chunk.tag
            relations += loaded

    def read_row(self, row, block):
        head, *attributes = row
        assert head.tag == 6, head
        values = []
        for attribute in attributes:
            name, kind, value = attribute.value
            values.append((CLASSES[attribute.tag], self.texts[name], TYPES[kind], self.texts[value] if kind in TEXTS else value))
        return (block, *head.value, tuple(values))


def without_exact(row):
    """What is in single precision has its exact value."""
    values, found = list(row[5]), []
    while values:
        value = values.pop(0)
        if value[2] in ("FLOATING_POINT_NUMBER", "FIXED_POINT_INTEGER", "UNSIGNED_FIXED_POINT_INTEGER") and values:
            exact = values[0]
            if exact[:3] == (value[0], value[1] + ".exact", "STRING"):
                values.pop(0)
                assert single(float(exact[3])) == value[3], (value, exact)
                value = (*value[:3], float(exact[3]))
        found.append(value)
    return (*row[:5], tuple(found))


def differences(what, found, wanted):
    found, wanted = collections.Counter(found), collections.Counter(wanted)
    return [f"{what}: not wanted: {item}" for item in list((found - wanted))[:3]] + [f"{what}: missing: {item}" for item in list((wanted - found))[:3]]


def same(path_a, path_b):
    a, b = File(path_a), File(path_b)
    bad = [] if a.info == b.info else [f"info: {b.info}, not {a.info}"]
    bad += differences("stream", b.streams, a.streams)
    bad += differences("generator", b.generators, a.generators)
    bad += differences("transaction", map(without_exact, b.rows), map(without_exact, a.rows))
    bad += differences("relation", b.relations, a.relations)
    stream_of = {row[1]: row[0] for row in b.rows}
    # a writer may say the streams wrong
    return bad + differences("streams of a relation", b.relation_streams, {(x, y, stream_of[x], stream_of[y]) for x, y, _, _ in b.relation_streams})


def expected(path, sample):
    """The list beside the sample; or of a large one, its counts."""
    file, beside = File(path), pathlib.Path(sample).with_suffix(".expected.jsonl")
    wanted = json.loads(pathlib.Path(sample).with_suffix(".expected.json").read_text(encoding="utf-8"))
    found = {
        "streams": len(file.streams), "generators": len(file.generators), "transactions": len(file.rows), "relations": len(file.relations),
        "attributes": sum(len(without_exact(row)[5]) for row in file.rows), "sum_of_durations": sum(row[4] - row[3] for row in file.rows),
        "zero_length": sum(row[4] == row[3] for row in file.rows),
    }
    bad = [f"{name}: {value}, not {wanted[name]}" for name, value in found.items() if value != wanted[name]]
    if not beside.exists():
        return bad
    lines = [json.loads(line) for line in beside.read_text(encoding="utf-8").splitlines()]
    bad += differences("stream", file.streams, [(line["stream"], line["name"], line["kind"]) for line in lines if "kind" in line])
    bad += differences("generator", file.generators, [(line["generator"], line["name"], line["stream"]) for line in lines if "generator" in line])
    rows = [(line["tx"], line["gen"], line["start"], line["end"], tuple(map(tuple, line["attrs"]))) for line in lines if "tx" in line]
    bad += differences("transaction", [without_exact(row)[1:] for row in file.rows], rows)
    relations = [(line["relation"], line["source_tx"], line["sink_tx"]) for line in lines if "relation" in line]
    return bad + differences("relation", file.relations, relations)


def value_of(line):
    value = line["value"]
    if line["value_type"] == "pointer":
        return int(value, 16)
    return float(value) if line["value_type"] == "double" else value


def log(path, records):
    """Spans, events, attributes and links of a log, whose ids and times are those of the file."""
    file, lines = File(path), [json.loads(line) for line in pathlib.Path(records).read_text(encoding="utf-8").splitlines()]
    stream_of, unit = {}, 10 ** (-9 - (file.info[0] if file.info else -12))
    attributes, links, spans, parents, events = collections.defaultdict(list), [], [], [], []
    names = {line["tid"]: line["comm"] for line in lines if line["type"] == "thread"}
    kinds = {number: kind for number, _, kind in file.streams}
    for line in lines:
        if line["type"] == "instant" and line["span"] == "0" and line["name"].startswith("ftr stream "):
            tid, number = line["name"].split(" ")[2:4]
            stream_of[int(tid)] = int(number)
        elif line["type"] == "instant" and line["span"] != "0":
            events.append((line["time_ns"], int(line["span"]), line["name"]))
        elif line["type"] == "attribute":
            attributes[line["span"]].append((line["name"], value_of(line)))
        elif line["type"] == "link":
            links.append((line["name"], int(line["from"]), int(line["to"])))
        elif line["type"] == "span":
            assert line["unknown_ns"] == line["wall_ns"] == line["work_ns"] and line["on_cpu_ns"] == 0, line
            spans.append(line)
            if line["parent"] != "0":
                parents.append(("parent_of", int(line["parent"]), int(line["id"])))
    names_of = {number: name for number, name, _ in file.generators}
    found, wanted, wanted_events, event_links = [], [], [], []
    for line in spans:
        of = attributes[line["id"]]
        ps = dict(of).get("ftr.ps", 0)
        track = dict(of).get("track")
        stream = stream_of[line["tid"]]
        assert track == (None if kinds[stream] == "thread" else names[line["tid"]]), line
        found.append((stream, int(line["id"]), line["label"], line["begin_ns"] * 1000 + ps // 1000, line["end_ns"] * 1000 + ps % 1000,
                      tuple(item for item in of if item[0] not in ("ftr.ps", "track"))))
    parent_of = {relation[2]: relation[1] for relation in file.relations if relation[0] == "parent_of"}
    for stream, number, generator, begin, end, values in file.rows:
        name = names_of[generator]
        if name.endswith(".events") and number in parent_of and begin == end and [value[:3] for value in values] == [("BEGIN", "name", "STRING")]:
            wanted_events.append((begin // 1000, parent_of[number], values[0][3]))
            event_links.append((name, parent_of[number], number))
            continue
        given = tuple((value[1], value[3] / unit if value[2] == "TIME" else value[3]) for value in values)
        wanted.append((stream, number, name, begin, end, given))
    # no span has the id 0
    wanted = [(row[0], row[1] or 1 << 63, *row[2:]) for row in wanted]
    file.relations = [(name, x or 1 << 63, y or 1 << 63) for name, x, y in file.relations]
    bad = differences("span", found, wanted) + differences("event", events, wanted_events)
    event_relations = {("parent_of", *link[1:]) for link in event_links}
    return bad + differences("link", links + parents, event_links + [item for item in file.relations if item not in event_relations])


def safe(path, native=None):
    """What both viewers read: the sheet's safe subset."""
    data, file, bad = pathlib.Path(path).read_bytes(), File(path), []
    check = lambda fact, what: bad.append(what) if not fact else None
    check(data[-1] == 0xff, "there is no break at the end")
    check(not file.info or (file.chunks[0][0] == 6 and file.info[0] == -12), "info")
    texts, streams, generators, blocks = [], set(), {}, {}
    for tag, block, content in file.chunks:
        if tag in (8, 9):
            check(content[0] >> 5 == 5 and content[0] != 0xbf, "a dictionary is not definite")
            texts += list(cbor2.loads(content).items())
        elif tag != 6:
            check(content[0] == 0x9f and content[-1] == 0xff, f"a chunk {tag} is not an array without length")
        if tag in (10, 11):
            for entry in cbor2.loads(content, tag_hook=lambda decoder, tag: tag):
                (streams.add(entry.value[0]) if entry.tag == 16 else generators.update({entry.value[0]: entry.value[2]}))
        if tag in (12, 13):
            rows = [row[0].value for row in cbor2.loads(content, tag_hook=lambda decoder, tag: tag)]
            check(block[0] in streams and all(generators.get(row[1]) == block[0] for row in rows), "a block is in front of its stream or generator")
            check(block[1:] == [min(row[2] for row in rows), max(row[3] for row in rows)], f"the times of a block: {block}")
            check(len(content) < 70000, "a block is too large")
            ends = [row[3] for row in rows]
            check(ends == sorted(ends), "a block is not in the order of its ends")
            check(blocks.get(block[0], 0) <= ends[0], "blocks are not in the order of their ends")
            blocks[block[0]] = ends[-1]
    check([number for number, _ in texts] == list(range(len(texts))) and texts[0] == (0, ""), "the ids of the dictionary do not count from 0")
    kinds = collections.defaultdict(set)
    for row in file.rows:
        for value in row[5]:
            kinds[value[1]].add(value[:1] + value[2:3])
            if "FLOAT" in value[2] or "FIXED" in value[2]:
                check(isinstance(value[3], float) and single(value[3]) == value[3], f"{value} is not in single precision")
    bad += [f"{name} has several types: {found}" for name, found in kinds.items() if len(found) > 1 and native]
    check(b"\xfb" not in [content[:1] for _, _, content in file.chunks], "a double")
    return bad


PICOSECONDS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}


def read_text(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    found = {"streams": [(int(a), b, "" if c == "<no_stream_kind>" else c) for a, b, c in re.findall(r'^scv_tr_stream \(ID (\d+), name "(.*?)", kind "(.*?)"\)$', text, re.M)]}
    found["generators"] = [(int(a), b, int(c)) for a, b, c in re.findall(r'^scv_tr_generator \(ID (\d+), name "(.*?)", scv_tr_stream (\d+),\n\)$', text, re.M)]
    found["begins"] = [(int(a), int(b), int(c) * PICOSECONDS[d]) for a, b, c, d in re.findall(r"^tx_begin (\d+) (\d+) (\d+) (\w+)$", text, re.M)]
    found["ends"] = [(int(a), int(b), int(c) * PICOSECONDS[d]) for a, b, c, d in re.findall(r"^tx_end (\d+) (\d+) (\d+) (\w+)$", text, re.M)]
    found["attributes"] = re.findall(r'^tx_record_attribute (\d+) "(.*?)" (\w+) = (.*)$', text, re.M)
    found["relations"] = [(a, int(c), int(b)) for a, b, c in re.findall(r'^tx_relation "(.*?)" (\d+) (\d+)$', text, re.M)]
    cnt = len(text.splitlines()) - len(found["generators"])
    assert cnt == sum(map(len, found.values())), (cnt, {name: len(items) for name, items in found.items()})
    return found


def shown(value):
    _, _, kind, what = value
    if kind == "BOOLEAN":
        return ("BOOLEAN", "true" if what else "false")
    if kind == "TIME":
        unit = next((unit for unit, size in PICOSECONDS.items() if what % size == 0))
        return ("STRING", f'"{what // PICOSECONDS[unit]} {unit}"')
    if isinstance(what, float):
        return (kind, float(what))
    return (kind, f'"{what}"' if isinstance(what, str) else str(what))


def text(path, text_path):
    file, found = File(path), read_text(text_path)
    blank = lambda name: name.replace(" ", "_")
    bad = differences("stream", found["streams"], [(a, blank(b), c) for a, b, c in file.streams])
    bad += differences("generator", found["generators"], [(a, blank(b), c) for a, b, c in file.generators])
    bad += differences("begin", found["begins"], [(row[1], row[2], row[3]) for row in file.rows])
    bad += differences("end", found["ends"], [(row[1], row[2], row[4]) for row in file.rows])
    bad += differences("relation", found["relations"], file.relations)
    values = [(int(a), b, c, float(d) if "FLOAT" in c or "FIXED" in c else d) for a, b, c, d in found["attributes"]]
    return bad + differences("attribute", values, [(row[1], blank(value[1]), *shown(value)) for row in file.rows for value in row[5]])


def own_text(path, text_path):
    """The text that the same run of the project's own writer made; it prints attributes of the end under the name of one of the begin."""
    file, found = File(path), read_text(text_path)
    bad = differences("stream", found["streams"], file.streams) + differences("generator", found["generators"], file.generators)
    bad += differences("begin", found["begins"], [(row[1], row[2], row[3]) for row in file.rows])
    bad += differences("end", found["ends"], [(row[1], row[2], row[4]) for row in file.rows])
    return bad + differences("relation", found["relations"], file.relations)


COMMANDS = {"same": same, "expected": expected, "log": log, "safe": safe, "text": text, "own_text": own_text}
problems, arguments = [], sys.argv[1:]
while arguments:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    problems += [f"{arguments[0]}: {problem}" for problem in COMMANDS[arguments[0]](*arguments[1:end])]
    arguments = arguments[end + 1:]
print("\n".join(problems[:10]))
sys.exit(1 if problems else 0)
