# SPDX-License-Identifier: BSD-2-Clause
"""check_otel.py LOG.jsonl WRITER.out

What txtrace-bpf --otel has recorded of tests/programs/otel_writer.c, against what that program has measured: of each span

* the time off the CPU is exact: runnable, blocked and stolen together are what the program's own clocks say, to 250 us and 2 %. They
  may be more by what the thread's clock has too much: it begins when the scheduler has chosen the thread, and the switch is told
  later, by up to a millisecond if somebody changes the kernel's code meanwhile or new memory is touched;
* off the CPU and on one, it was not longer in the span than the program was;
* the time on a CPU is within its bounds: [on-CPU - after, on-CPU + before], with the same excuse.

What a switch took that the kernel hid is in neither, but in what is unknown.

Of the spans that the program had before it was recorded, some may be there. On an emulated machine (TXTRACE_EMULATED=1) an interrupt takes 25 ms. A span may be
missing if its thread did not leave its CPU in it: a sleep may be over before that. No span may be there that the program did not have.
Prints how far off the CPU times were, and how wide the bounds.
"""
import collections
import json
import os
import sys

EMULATED = os.environ.get("TXTRACE_EMULATED") == "1"
INTERRUPT_NS = 25_000_000 if EMULATED else 250_000
SHARE = 0.8 if EMULATED else 0.99


def read_log(path):
    stays, said = {}, collections.defaultdict(dict)
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if record["type"] == "span" and record["label"] == "otel":
            stays[record["pid"], record["id"]] = record
        elif record["type"] == "attribute":
            said[record["pid"], record["span"]][record["name"]] = record["value"]
    sums = collections.defaultdict(lambda: [0, 0, 0, 0, 0, 0])
    for key, stay in stays.items():
        attributes = said[key]
        version, trace, span, flags = attributes["traceparent"].split("-")
        assert (version, flags) == ("00", "01"), attributes
        assert not stay["unfinished"], stay
        part = sums[trace, span]
        part[0] += stay["runnable_ns"] + stay["blocked_ns"] + stay.get("stolen_ns", 0)
        part[1] += stay["on_cpu_ns"]
        part[2] += attributes["otel.before_ns"]
        part[3] += attributes["otel.after_ns"]
        part[4] += stay["unknown_ns"]
        part[5] += stay.get("stolen_ns", 0)
    return sums


def main():
    sums = read_log(sys.argv[1])
    wrong, missing, spans, before_spans, width, worst, total = [], 0, set(), set(), 0, 0, [0, 0]
    for line in open(sys.argv[2], encoding="utf-8"):
        if line.startswith("before "):
            before_spans.add(tuple(line.split()[1:]))
            continue
        trace, span, *times = line.split()
        off_least, off_most, on_least, on_most, left_cnt = map(int, times)
        spans.add((trace, span))
        if (trace, span) not in sums:
            missing += left_cnt > 0
            continue
        off, on, before, after, unknown, stolen = sums[trace, span]
        slack = INTERRUPT_NS + off_most // 50
        late = max(0, off - off_least)  # a thread that was pushed off its CPU within a change has wide bounds
        total = [total[0] + off_least - unknown, total[1] + off]
        worst = max(worst, off_least - unknown - off, off - off_most)
        width += before + after
        if off < off_least - unknown - slack or off + unknown + on - after > off_most + on_most + slack:
            wrong.append(f"{span}: {off} ns off the CPU, {unknown} unknown, {stolen} stolen, and it was {off_least} to {off_most}")
        if on - after > on_most + slack or on + before + unknown < on_least - slack - late:
            wrong.append(f"{span}: on a CPU for {on - after} to {on + before} ns, and it was {on_least} to {on_most}")
    if total[1] < total[0] * SHARE:
        wrong.append(f"all: {total[1]} ns off the CPU, and it was {total[0]} at least")
    wrong += [f"{span}: no such span" for trace, span in sums if (trace, span) not in spans | before_spans]
    if missing:
        wrong.append(f"{missing} of {len(spans)} spans are missing")
    print(f"# {len(spans)} spans, {missing} missing; off the CPU at most {worst / 1000:.1f} us off; "
          f"on a CPU known to {width / max(1, len(spans) - missing) / 1000:.1f} us")
    print("\n".join(wrong[:10]))
    return 1 if wrong or not spans else 0


sys.exit(main())
