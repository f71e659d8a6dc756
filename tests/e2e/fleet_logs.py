# SPDX-License-Identifier: BSD-2-Clause
"""fleet_logs.py write MAKE_LOG FOLDER: logs of three hosts with five captures each of three parts, whose spans are made up here.
fleet_logs.py check WHAT ARGUMENT... <JSON: what a command answered is what follows from these spans."""
import json
import math
import random
import subprocess
import sys

HOSTS = ["web1", "web2", "db'\\1"]
# Labels as a hostile program has them: quotes, ends of lines and of literals, wildcards, no UTF-8.
LABELS = ["checkout", "checkout.pay", "it's", "a\\b\tc\nd", "50%_[x]*?", "\u00e9\u20ac", "');DROP TABLE spans;--"]
REASONS = "lock disk network sleep page_fault pipe wait stopped other throttled poll".split()
PARTS = ["on_cpu", "runnable"] + REASONS + ["detached", "unknown", "interrupt", "stolen"]
START_S = 1795000000
SPAN_CNT = 160  # of a part
CAPTURE_CNT = 5


def spans_of(host, capture, part):
    """Of a file, the same at each call."""
    dice = random.Random(f"{host} {capture} {part}")
    now = 1000000000 * (part + 1)
    for number in range(SPAN_CNT):
        label = dice.choice(LABELS)
        wall = int(dice.lognormvariate(13, 1)) * (3 if host == "web2" and label == "checkout" else 1)
        now += dice.randrange(100000)
        cuts = sorted(dice.randrange(wall + 1) for _ in range(4))
        parts = dict.fromkeys(PARTS, 0)
        for length in (a - b for a, b in zip(cuts + [wall], [0] + cuts)):
            parts[dice.choice(PARTS)] += length
        yield {"id": part * SPAN_CNT + number + 1, "pid": 100 + HOSTS.index(host), "tid": dice.randrange(200, 204), "label": label, "wall": wall,
               "begin": now, "end": now + wall, "parts": parts, "lower_bound": dice.random() < 0.05, "tag": f"shard={number % 3}",
               "host": host, "capture": capture, "part": part}


def files():
    for host in HOSTS:
        for capture in range(CAPTURE_CNT):
            for part in range(3):
                yield host, capture, part


def name_of(host, capture):
    return f"c{HOSTS.index(host)}{capture}"


def quote(text):
    return '"' + "".join(c if c.isascii() and c.isalnum() or c in " .%_[]*?');-=:/" and c != '"' else "".join(f"\\x{b:02x}" for b in c.encode())
                         for c in text) + '"'


def text_of(host, capture, part):
    spans = sorted(spans_of(host, capture, part), key=lambda span: span["end"])
    container = quote(f"{HOSTS.index(host):064x}")
    yield (f'header host={quote(host)} capture_id={quote(name_of(host, capture))} boot_id="b" part={part} start_monotonic_ns=1000000000 '
           f'start_realtime_ns={(START_S + 3600 * capture) * 10**9} first_sequence={part}')
    yield f'process pid={100 + HOSTS.index(host)} time_ns=1000000000 command="shop" container={container}'
    for span in spans:
        parts = " ".join(f"{part}_ns={ns}" for part, ns in span["parts"].items() if ns)
        yield (f'span id={span["id"]} pid={span["pid"]} tid={span["tid"]} label={quote(span["label"])} tag={quote(span["tag"])} '
               f'begin_ns={span["begin"]} end_ns={span["end"]} work_ns={span["wall"]} {parts} flags={"lower_bound" if span["lower_bound"] else "none"}')


def write(make_log, folder):
    for host, capture, part in files():
        path = f"{folder}/{name_of(host, capture)}.{part + 1:06}.txtrace"
        subprocess.run([make_log, path], input="\n".join(text_of(host, capture, part)) + "\n", text=True, check=True)


def chosen(host=None, capture=None, label=None):
    for where in files():
        if (host is None or where[0] in host) and (capture is None or where[1] in capture):
            yield from (span for span in spans_of(*where) if label is None or span["label"] in label)


def quantile(values, fraction):
    values = sorted(values)
    return values[max(1, math.ceil(fraction * len(values))) - 1] if values else 0


def figures(spans):
    exact = [span for span in spans if not span["lower_bound"]]
    walls = [span["wall"] for span in exact]
    row = {"spans": len(exact), "lower_bounds": len(spans) - len(exact), "wall_ns": sum(walls), "work_ns": sum(walls),
           "hosts": len({span["host"] for span in spans}), "min_ns": min(walls, default=0), "max_ns": max(walls, default=0)}
    for percent in 50, 90, 99:
        row[f"p{percent}_ns"] = quantile(walls, percent / 100)
    for part in PARTS:
        row[f"{part}_ns"] = sum(span["parts"][part] for span in exact)
    return row


def by(spans, key):
    groups = {}
    for span in spans:
        groups.setdefault(key(span), []).append(span)
    return groups


KEYS = {"label": lambda span: span["label"], "host": lambda span: span["host"], "container": lambda span: f'{HOSTS.index(span["host"]):064x}',
        "tag": lambda span: span["tag"], "process": lambda span: f'{span["host"]} {span["pid"]}'}


def check_report(answer, key="label", loose="", **choice):
    """loose: quantiles are estimates."""
    groups = by(list(chosen(**choice)), KEYS[key])
    assert len(answer["rows"]) == len(groups), (len(answer["rows"]), sorted(groups))
    for row in answer["rows"]:
        for name, value in figures(groups[row["name"]]).items():
            slack = 0.03 * value if loose and name[0] == "p" and name[1].isdigit() else 0
            assert abs(row[name] - value) <= slack, (row["name"], name, row[name], value)


def check_tail(answer, percent):
    groups = by([span for span in chosen() if not span["lower_bound"]], KEYS["label"])
    assert len(answer["labels"]) == len(groups)
    for row in answer["labels"]:
        spans = groups[row["label"]]
        walls = [span["wall"] for span in spans]
        high, low, top = (quantile(walls, fraction) for fraction in (percent / 100, 0.4, 0.6))
        assert (row["high_ns"], row["middle"]["from_ns"], row["middle"]["to_ns"]) == (high, low, top), row
        for name, band in ("middle", [s for s in spans if low <= s["wall"] <= top]), ("tail", [s for s in spans if s["wall"] >= high]):
            assert row[name]["count"] == len(band), (name, row[name]["count"], len(band))
            assert row[name]["mean"]["on_cpu_ns"] == sum(span["parts"]["on_cpu"] for span in band) // len(band)
            assert row[name]["mean"]["blocked"]["disk"] == sum(span["parts"]["disk"] for span in band) // len(band)


def check_spans(answer, sort):
    value = (lambda span: span["wall"]) if sort == "wall" else lambda span: span["parts"][sort]
    expected = sorted(chosen(), key=value, reverse=True)[:len(answer["rows"])]
    assert len(answer["rows"]) == 20
    assert [row[f"{sort}_ns"] for row in answer["rows"]] == [value(span) for span in expected]
    for row in answer["rows"]:
        span = next(s for s in chosen(host=[row["host"]]) if s["wall"] == row["wall_ns"] and str(s["id"]) == str(row["id"]))
        assert (row["label"], row["tag"], row["pid"]) == (span["label"], span["tag"], span["pid"]), (row, span)


def check_diff(answer, verdicts, capture=None):
    """web1 against web2: only checkout is three times as long. verdicts: of that, and of the others."""
    slower, other = verdicts.split(",")
    assert len(answer["rows"]) == len(LABELS)
    sides = [by([s for s in chosen(host=[host], capture=capture) if not s["lower_bound"]], KEYS["label"]) for host in ("web1", "web2")]
    for row in answer["rows"]:
        means = [sum(s["wall"] for s in side[row["label"]]) // len(side[row["label"]]) for side in sides]
        assert [row["base_mean_ns"], row["new_mean_ns"]] == means, (row, means)
        assert row["more_ns"] == means[1] - means[0]
        assert row["verdict"] == (slower if row["label"] == "checkout" else other), row
    assert answer["rows"][0]["label"] == "checkout", answer["rows"][0]


def check_same(answer, path):
    """As `txtrace report --json` says of the same logs: sums exactly, quantiles within those of its histogram."""
    with open(path, encoding="utf-8") as file:
        theirs = {row["label"]: row for row in json.load(file)["labels"]}
    assert len(theirs) == len(answer["rows"])
    for row in answer["rows"]:
        other = theirs[row["name"]]
        assert row["spans"] == other["count"] and row["lower_bounds"] == (other["lower_bounds"] or {"count": 0})["count"]
        total = other["sum"]
        for part in "on_cpu", "runnable", "detached", "unknown":
            assert row[f"{part}_ns"] == total[f"{part}_ns"], (part, row, total)
        for reason in REASONS:
            assert row[f"{reason}_ns"] == total["blocked"][reason], (reason, row, total)
        assert row["wall_ns"] == total["wall_ns"] and row["work_ns"] == total["work_ns"]
        for name in "min", "max", "p50", "p90", "p99":
            assert abs(row[f"{name}_ns"] - other["wall_ns"][name]) <= 0.004 * other["wall_ns"][name] + 1, (name, row, other)


def check_schema(answer):
    try:
        import jsonschema
    except ImportError:
        return
    with open("docs/commands.schema.json", encoding="utf-8") as file:
        jsonschema.validate(answer, json.load(file))


def main():
    if sys.argv[1] == "write":
        return write(*sys.argv[2:])
    answer = json.load(sys.stdin)
    check_schema(answer)
    arguments = dict(argument.split("=", 1) for argument in sys.argv[3:])
    for name in "host", "label":
        if name in arguments:
            arguments[name] = arguments[name].split(",")
    if "capture" in arguments:
        arguments["capture"] = [int(arguments["capture"])]
    if "percent" in arguments:
        arguments["percent"] = float(arguments["percent"])
    return globals()[f"check_{sys.argv[2]}"](answer, **arguments)


if __name__ == "__main__":
    main()
