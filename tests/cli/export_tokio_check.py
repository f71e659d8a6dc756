# SPDX-License-Identifier: BSD-2-Clause
"""export_tokio_check.py BEFORE.bin AFTER.bin

Whether two files of Tokio's telemetry, of one of the versions 4 to 6, say the same: each worker's records in the order of time, with their queues and
waits; the queue's samples; and of each active period the CPU time, up to its length. Readings of a CPU clock begin anywhere.
"""
import struct
import sys

LAYOUTS = {0: ("poll start", "IB"), 1: ("poll end", "IB"), 2: ("park", "IBB"), 3: ("unpark", "IBB"), 4: ("sample", "IB"), 5: ("poll start", "IBB"),
           6: ("poll end", "IBB")}


def read(path):
    with open(path, "rb") as opened:
        data = opened.read()
    magic, version = struct.unpack_from("<8sI", data)
    assert magic == b"TOKIOTRC" and version in (4, 5, 6), (magic, version)
    at, workers = 12, {}
    while at < len(data):
        name, layout = LAYOUTS[data[at]]
        layout = "<" + layout + ("I" if name in ("park", "unpark") and version > 4 else "") + ("I" if name == "unpark" and version > 5 else "")
        time, worker, *more = struct.unpack_from(layout, data, at + 1)
        at += 1 + struct.calcsize(layout)
        if name == "sample":
            workers.setdefault("queue", []).append([time, name, worker])
        else:
            workers.setdefault(worker, []).append([time, name, *(more or [0])])
    return version, {worker: measure(sorted(records, key=lambda record: record[0]), version) for worker, records in workers.items()}


def measure(records, version):
    """In the place of a CPU clock's reading: how much of the period that ends there was on a CPU."""
    awake = None
    for record in records:
        if version > 4 and record[1] == "unpark":
            awake, record[3] = (record[0], record[3]), None
        elif version > 4 and record[1] == "park":
            record[3], awake = min((record[3] - awake[1]) % 2**32, record[0] - awake[0]) if awake else None, None
    return records


def main(before, after):
    version, wanted = read(before)
    found_version, found = read(after)
    assert version == found_version, (version, found_version)
    assert set(wanted) == set(found), (set(wanted), set(found))
    for worker, records in wanted.items():
        for one, other in zip(records, found[worker]):
            if one != other:
                sys.exit(f"{worker}: {one} became {other}")
        if len(records) != len(found[worker]):
            sys.exit(f"{worker}: {len(records)} records became {len(found[worker])}")
    print(sum(map(len, wanted.values())), "records")


main(*sys.argv[1:])
